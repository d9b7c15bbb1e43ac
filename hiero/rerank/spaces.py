"""The risk of the examples of several folds, which are in blocks wherever they are.

Sums are made over blocks of 16 sentences. Those of a fold are added up in their order, then those of the
folds, so that the last bits depend neither on threads nor on places of a cluster. A place adds up what a fold
begins with. Of the gradients of other blocks, which have few of all n-grams, it returns what is not 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hiero._core import ForestError
from hiero.base.parallel import ordered_map, spread_parts
from hiero.rerank.examples import Block, Examples
from hiero.tune.methods.risk.spaces import Expectations, ForestRisk

Array = npt.NDArray[np.float64]


class FoldsRisk:
    """The derivations of several folds; ``RiskSpace`` says the rest."""

    def __init__(self, folds: Sequence[Examples], spread: Array, threads: int) -> None:
        """Raises FormatError and ForestError for damaged files, OSError."""
        self.sentences = sum(len(fold.offsets) - 1 for fold in folds)
        self.spread = spread
        blocks = [block for k, fold in enumerate(folds) for block in fold.blocks(k)]
        self._parts = spread_parts(_Spaces, blocks, 1, threads)

    def counts(self, weights: Array, gamma: float) -> Array:
        return np.asarray(np.sum([fold.counts for fold in self._sums(weights, gamma)], axis=0))

    def risk(self, weights: Array, gamma: float, temperature: float, loss: Array) -> Expectations:
        folds = self._sums(weights, gamma, temperature, loss)
        return Expectations(
            np.sum([fold.counts for fold in folds], axis=0),
            sum(fold.entropy for fold in folds),
            np.sum([fold.gradient(len(weights)) for fold in folds], axis=0),
            sum(fold.gamma for fold in folds),
        )

    def _sums(self, weights: Array, *arguments: object) -> list[_Sum]:
        """Returns the sums of each fold."""
        parts = self._parts.call(_Spaces.sums, weights, *arguments)
        return list(_added(itertools.chain.from_iterable(parts), len(weights)))


@dataclass(frozen=True)
class _Sum:
    """Sums over a block of a fold, or over the blocks that it begins with: ``counts``, ``entropy`` and
    ``gamma`` as in ``Expectations``, and the derivatives in weights that are not 0, with the ids of these."""

    fold: int
    is_beginning: bool
    counts: Array
    entropy: float
    gamma: float
    ids: npt.NDArray[np.intp]
    theta: Array

    def gradient(self, features: int) -> Array:
        """Returns the derivatives in all weights, float64 (features)."""
        gradient = np.zeros(features)
        gradient[self.ids] = self.theta
        return gradient


def _added(sums: Iterable[_Sum], features: int) -> Iterator[_Sum]:
    """Adds up the sums of each fold from its beginning. If that is elsewhere, sums stay as they are."""
    for _, group in itertools.groupby(sums, lambda one: one.fold):
        of_fold = iter(group)
        first = next(of_fold)
        if first.is_beginning:
            yield _total(first, of_fold, features)
        else:
            yield first
            yield from of_fold


def _total(first: _Sum, others: Iterable[_Sum], features: int) -> _Sum:
    counts, entropy, gamma = first.counts, first.entropy, first.gamma
    gradient = first.gradient(features)
    for one in others:
        counts = counts + one.counts
        entropy += one.entropy
        gamma += one.gamma
        gradient[one.ids] += one.theta
    ids = np.flatnonzero(gradient)
    return replace(first, counts=counts, entropy=entropy, gamma=gamma, ids=ids, theta=gradient[ids])


class _Spaces:
    """Consecutive blocks, in this process or at a place of a cluster."""

    def __init__(self, _: int, blocks: Sequence[Block], threads: int) -> None:
        self._spaces = [(block, _space(block)) for block in blocks]
        self._threads = threads

    def sums(
        self, weights: Array, gamma: float, temperature: float = 0.0, loss: Array | None = None
    ) -> list[_Sum]:
        """Returns sums that ``_added`` has added up; without a loss only those of counts."""

        def of_block(one: tuple[Block, ForestRisk]) -> _Sum:
            block, space = one
            try:
                if loss is None:
                    made = Expectations(space.counts(weights, gamma), 0.0, np.zeros(0), 0.0)
                else:
                    made = space.risk(weights, gamma, temperature, loss)
            except (ForestError, ValueError) as error:
                raise type(error)(f"{block.place}: {error}") from None
            ids = np.flatnonzero(made.theta)
            is_beginning = block.begin == 0
            return _Sum(block.fold, is_beginning, made.counts, made.entropy, made.gamma, ids, made.theta[ids])

        return list(_added(ordered_map(of_block, self._spaces, self._threads), len(weights)))


def _space(block: Block) -> ForestRisk:
    return ForestRisk(block.forests.source(), block.counts, block.offsets, np.zeros(0))
