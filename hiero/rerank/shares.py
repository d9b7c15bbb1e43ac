"""The share of the trained weights of n-grams with which a second stage translates best.

Weights of n-grams fit the forests that they are learnt on better than others. Multiplied by a share below 1
they mostly translate other sentences better. The share is chosen by cross-validation over the folds of the
bitext: weights that are trained on all folds but one choose translations from the forests of that fold, by
every share; BLEU statistics add up over folds, and the share with the highest BLEU is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from hiero._core import Forest, ForestError
from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.parallel import ordered_map, spread_parts
from hiero.evaluate.bleu import Bleu
from hiero.forest.losses import BleuColumns
from hiero.rerank.examples import Block, Examples

Array = npt.NDArray[np.float64]

# The shares that are tried, in rising order: 0, 0.1, ... 1.2.
SHARES = tuple(tenths / 10 for tenths in range(13))

_Row = Annotated[list[float], Field(min_length=BleuColumns.WIDTH, max_length=BleuColumns.WIDTH)]


class LeftOut(BaseModel):
    """The BLEU statistics of a fold that was left out, by share: those of ``SHARES``, in their order."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    statistics: list[_Row] = Field(min_length=len(SHARES), max_length=len(SHARES))


class Tried(BaseModel):
    """A share, and BLEU of all folds when each was left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    share: float
    bleu: float


class ShareChoice(BaseModel):
    """The share that was chosen, and all that were tried."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    share: float
    tried: list[Tried]

    @staticmethod
    def load(path: Path) -> ShareChoice:
        """Reads a file that ``save`` wrote. Raises FormatError for another file, OSError."""
        return read_json(path, ShareChoice)

    def save(self, path: Path) -> None:
        """Writes a JSON file."""
        write_atomically(path, self.model_dump_json(indent=1) + "\n")


def left_out_statistics(
    examples: Examples, weights: Array, references: Sequence[Sequence[str]], threads: int = 1
) -> Array:
    """Translates the sentences of a fold with the weights of all features, float64 (features), those of
    n-grams multiplied by each share. Returns the sums of BLEU statistics, float64 (shares, 10). A sentence
    without derivations counts as an empty translation. Raises ForestError for a damaged file, OSError."""
    if not references:
        return np.zeros((len(SHARES), BleuColumns.WIDTH))
    parts = spread_parts(_Blocks, examples.blocks(), 1, threads).call(_Blocks.translations, weights)
    lines = [texts for part in parts for block in part for texts in block]
    metric = Bleu(references)
    return np.array([metric.statistics(list(texts)).sum(axis=0) for texts in zip(*lines, strict=True)])


class _Blocks:
    """Consecutive blocks of examples, in this process or at a place of a cluster."""

    def __init__(self, _: int, blocks: Sequence[Block], threads: int) -> None:
        self._blocks = blocks
        self._threads = threads

    def translations(self, weights: Array) -> list[list[list[str]]]:
        """Returns the translations of each block's sentences by every share."""
        score, ngrams = weights.copy(), weights.copy()
        score[1:] = 0.0
        ngrams[0] = 0.0

        def of_forest(forest: Forest) -> list[str]:
            if forest.root < 0:
                return [""] * len(SHARES)
            features = forest.features
            by_score, by_ngrams = features @ score, features @ ngrams
            every = [forest.viterbi(by_score + share * by_ngrams) for share in SHARES]
            return ["" if best is None else " ".join(best.tokens) for best in every]

        def of_block(block: Block) -> list[list[str]]:
            try:
                return list(map(of_forest, block.forests))
            except ForestError as error:
                raise ForestError(f"{block.place}: {error}") from None

        return list(ordered_map(of_block, self._blocks, self._threads))


def choose_share(statistics: Sequence[Array], metric: Bleu) -> ShareChoice:
    """Chooses the share with the highest BLEU from the statistics of folds, float64 (shares, 10) each; the
    smallest one if several have it."""
    scores = metric.score(np.sum(statistics, axis=0)).tolist()
    tried = [Tried(share=share, bleu=score) for share, score in zip(SHARES, scores, strict=True)]
    return ShareChoice(share=max(tried, key=lambda each: each.bleu).share, tried=tried)
