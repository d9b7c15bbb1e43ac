"""Fixtures for tests of training."""

from __future__ import annotations

import pytest

from hiero.train import TrainInputs
from support.files import head, write
from support.paths import DEMO
from support.training_command import PAIRS


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> TrainInputs:
    """Training inputs: a few pairs of the demo corpus, a dictionary and monolingual text."""
    demo = DEMO
    folder = tmp_path_factory.mktemp("corpus")
    return TrainInputs(
        write(folder / "zh", head(demo / "train.zh", PAIRS)),
        write(folder / "en", head(demo / "train.en", PAIRS)),
        (write(folder / "d.zh", ["小 猫", "酋长"]), write(folder / "d.en", ["kitten", "chieftain"])),
        [write(folder / "mono", head(demo / "train.en", 3 * PAIRS)[PAIRS:])],
    )
