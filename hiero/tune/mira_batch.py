"""Batch MIRA (Cherry and Foster 2012): online large-margin updates over a fixed pool of hypotheses.

Of each sentence, hope = argmax h . w + B and fear = argmax h . w - B; w moves along h_hope - h_fear by
min(C, loss / |h_hope - h_fear|^2), the loss being what the margin lacks of B(hope) - B(fear). B is BLEU of
the hypothesis together with a background of the hopes before, which decays, times the reference length of
both (Chiang et al. 2008, section 2.2, with reference words for source words).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hiero._core import bleu
from hiero.base.settings import Settings
from hiero.evaluate.metrics import Metric
from hiero.tune.limits import restrained
from hiero.tune.objective import gain
from hiero.tune.pool import PoolArrays
from hiero.tune.protocol import Array


class MiraOptions(Settings):
    """As published (Cherry and Foster 2012, section 4)."""

    passes: int = Field(60, ge=1, description="over the pool")
    c: float = Field(0.01, gt=0, description="the longest step of an update")
    decay: float = Field(0.999, ge=0, le=1, description="of the background with every sentence")


@dataclass(frozen=True)
class MiraResult:
    """The averaged weights of the best pass, and BLEU of the pool by pass."""

    weights: Array
    scores: list[float]


def background_bleu(statistics: Array, background: Array) -> Array:
    """B of rows (k, 10) together with background counts (10); 0 where an order has no match at all."""
    counts = statistics + background
    return np.asarray(bleu(counts) * counts[:, 1])


def mira_batch(
    pool: PoolArrays,
    metric: Metric,
    start: Array,
    *,
    free: Sequence[int],
    bounds: Array,
    seed: int,
    options: MiraOptions | None = None,
) -> MiraResult:
    """Runs over the pool in random orders; averages over all updates; the pass with the best BLEU wins. The
    start stays where the pool is empty.

    Statistics of the pool are BLEU's, which ``metric`` is. ``bounds`` are (features, 2).
    """
    chosen = options if options is not None else MiraOptions()
    rng = np.random.default_rng(seed)
    rows = list(itertools.pairwise(pool.offsets.tolist()))
    sentences = [s for s, (begin, end) in enumerate(rows) if end > begin]
    if not sentences:
        return MiraResult(start.copy(), [])
    features = {s: pool.features[slice(*rows[s])] for s in sentences}
    statistics = {s: pool.statistics[slice(*rows[s])] for s in sentences}
    is_fixed = np.ones(len(start), dtype=bool)
    is_fixed[list(free)] = False
    # What the sum of the weights after every update lacks of that many times the weights now: a change costs
    # what it touches.
    weights, late, updates = start.copy(), np.zeros_like(start), 0
    background = np.ones(10)
    best, best_score, scores = start.copy(), -np.inf, []
    for _ in range(chosen.passes):
        for sentence in rng.permutation(sentences).tolist():
            model = features[sentence] @ weights
            quality = background_bleu(statistics[sentence], background)
            hope, fear = int((model + quality).argmax()), int((model - quality).argmax())
            loss = (quality[hope] - quality[fear]) - (model[hope] - model[fear])
            if hope != fear:
                ids, move = _difference(features[sentence], hope, fear)
                move[is_fixed[ids]] = 0.0
                length = float(np.square(move).sum())
                if length > 0 and loss > 0:
                    before = weights[ids]
                    weights[ids] = np.clip(before + min(chosen.c, loss / length) * move, *bounds[ids].T)
                    late[ids] += updates * (weights[ids] - before)
                background = chosen.decay * (background + statistics[sentence][hope])
            updates += 1
        average = restrained(weights - late / updates, start, free, bounds)
        scores.append(float(gain(metric, pool.total(pool.winners(average)))))
        if scores[-1] > best_score:
            best, best_score = average, scores[-1]
    return MiraResult(best, scores)


def _difference(features: Any, row: int, other: int) -> tuple[npt.NDArray[Any], Array]:
    """One row of a csr_array less another: ids of features that either has, and values."""
    entries = [slice(*features.indptr[each : each + 2]) for each in (row, other)]
    ids, places = np.unique(np.concatenate([features.indices[each] for each in entries]), return_inverse=True)
    values = np.concatenate([features.data[entries[0]], -features.data[entries[1]]])
    return np.asarray(ids), np.asarray(np.bincount(places, values, len(ids)), dtype=np.float64)
