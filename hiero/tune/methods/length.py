"""The best length of translations: a line search on ``WordPenalty`` after a method has chosen weights.

Margins, pairs and expectations of single sentences only meet the length of a whole set by and large, and its
brevity penalty costs more than they see. The metric itself along one coordinate is cheap, and exact for the
hypotheses so far. These were decoded with earlier weights, though: where translations are far too long at the
start, the search goes too far, so that it is an option (docs/tuning.md has figures).
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from hiero.base.settings import Settings
from hiero.tune.methods.mert.climb import Lines, step_interval
from hiero.tune.methods.mert.line_search import search
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.method import TuningState
from hiero.tune.run.protocol import Array

_LENGTH = "WordPenalty"
# The share of the line's intervals on either side that an interval is averaged with, as in MERT.
_SMOOTHING = 0.1


class LengthSearch(Settings):
    """The option of methods that search for the best length."""

    length_search: bool = Field(
        False,
        description="after each choice of weights, search for the best WordPenalty by the metric",
    )

    def with_best_length(self, weights: Array, lines: Lines, state: TuningState) -> Array:
        """Returns weights, float64 (features), with the ``WordPenalty`` for which the best hypotheses have
        the best metric, and all of them scaled to the sum that they had, if the limits allow it.

        ``lines`` returns the hypotheses, as in ``climb``. Weights stay as they are without this search,
        without such a feature, and where it is fixed.
        """
        names = list(state.decoder.feature_names)
        if not self.length_search or _LENGTH not in names or state.limits.fixed[names.index(_LENGTH)]:
            return weights
        direction = np.zeros(len(weights))
        direction[names.index(_LENGTH)] = 1.0
        pool, intercepts, slopes = lines(weights, direction)
        low, high = step_interval(weights, direction, state.limits.bounds)
        best = search(pool, state.metric, intercepts, slopes, low, high, _SMOOTHING)
        if best.gamma == 0:
            return weights
        moved = state.limits.clip(weights + best.gamma * direction)
        return state.limits.with_length_of(weights, moved)


def list_lines(pool: PoolArrays) -> Lines:
    """Returns the lines of all hypotheses of a pool."""
    return lambda weights, direction: (pool, pool.features @ weights, pool.features @ direction)
