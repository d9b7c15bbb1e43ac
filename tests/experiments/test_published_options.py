"""Tests that experiments tune as the papers do, without what this project has added by default."""

from __future__ import annotations

import math

import pytest

from hiero.experiments.systems import published_options
from hiero.tune import METHODS


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_rise_counts(method: str) -> None:
    options = published_options(method, {"iterations": 4}, ["LM0"])
    assert (options.method, options.fixed, options.settings.iterations) == (method, ("LM0",), 4)
    assert options.settings.chance == 1
    assert options.settings.patience == {"mira": 3, "pro": 10, "simplex": 200}.get(method, 5)
    given = published_options(method, {"chance": 0.2, "patience": 7}).settings
    assert (given.chance, given.patience) == (0.2, 7)


def test_all_recovered_derivations_are_added_and_no_run_steps_back() -> None:
    options = published_options("mert", {"search_aware": "guided"}).settings
    assert options.margin == math.inf != METHODS["mert"].margin  # type: ignore[attr-defined]
    assert not options.steps_back
    assert published_options("mert", {}).settings.margin == 0  # type: ignore[attr-defined]
