"""Limits of weights: what is free, clipped and scaled."""

from __future__ import annotations

import numpy as np
import pytest

from hiero import FeatureNames
from hiero.tune import Limits
from hiero.tune.run.limits import run_limits

NAMES = FeatureNames(["a", "b", "c", "d"])


def test_clipping() -> None:
    bounds = np.array([[-1.0, 1.0], [0.0, np.inf], [-np.inf, np.inf], [-2.0, -1.0]])
    limits = Limits([0, 1, 3], bounds)
    weights = np.array([3.0, -1.0, 7.0, -5.0])
    assert limits.fixed.tolist() == [False, False, True, False]
    assert limits.clip(weights).tolist() == [1.0, 0.0, 7.0, -2.0]
    assert limits.clip_at(np.array([3, 0]), np.array([0.0, 0.5])).tolist() == [-1.0, 0.5]
    start = np.array([0.5, 0.5, 0.25, -1.5])
    assert limits.clip_free(weights, start).tolist() == [1.0, 0.0, 0.25, -2.0]
    assert start.tolist() == [0.5, 0.5, 0.25, -1.5] and weights[0] == 3.0
    narrowed = limits.narrowed([1])
    assert narrowed.fixed.tolist() == [True, False, True, True] and narrowed.bounds is bounds


def test_scaling() -> None:
    ones, unlimited = np.ones(4), Limits.unlimited(4)
    assert unlimited.allow_scaling(ones) and not unlimited.fixed.any()
    # A fixed zero stays one, as does the sign of a weight that 0 bounds.
    assert unlimited.narrowed([0, 1, 2]).allow_scaling(np.array([1.0, 1.0, 1.0, 0.0]))
    assert not unlimited.narrowed([0, 1, 2]).allow_scaling(ones)
    signs = np.array([[0.0, np.inf], [-np.inf, 0.0], [-np.inf, np.inf], [-np.inf, np.inf]])
    assert Limits(range(4), signs).allow_scaling(ones)
    assert not Limits(range(4), np.where(signs == 0, 0.5, signs)).allow_scaling(ones)


def test_limits_of_a_run() -> None:
    start = np.array([1.0, -2.0, 0.5, 0.0])
    free = run_limits(start, NAMES, (), {})
    assert list(free.free) == [0, 1, 2, 3] and np.isinf(free.bounds).all()
    fixed = run_limits(start, NAMES, ["b"], {"d": (-30.0, np.inf)})
    assert list(fixed.free) == [0, 2, 3]
    # Ten times the largest weight or bound keeps free weights from growing.
    assert fixed.bounds[[0, 2, 3]].tolist() == [[-300, 300], [-300, 300], [-30, 300]]
    assert np.isinf(fixed.bounds[1]).all()
    zero = run_limits(start, NAMES, ["d"], {})
    assert list(zero.free) == [0, 1, 2] and np.isinf(zero.bounds).all()
    with pytest.raises(ValueError, match="all features are fixed"):
        run_limits(start, NAMES, list(NAMES), {})
