"""Fixtures for tests of learning from corrections."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hiero.train import TrainInputs, train
from support.files import head, write
from support.paths import DEMO

PAIRS = 400


@pytest.fixture(scope="session")
def trained_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of some hundred pairs of the demo corpus."""
    folder = tmp_path_factory.mktemp("trained")
    sides = [write(folder / side, head(DEMO / f"train.{side}", PAIRS)) for side in ("zh", "en")]
    train(TrainInputs(*sides), folder / "model")
    return folder / "model"


@pytest.fixture
def model(trained_model: Path, tmp_path: Path) -> Path:
    """A copy of it for one test, which has no contexts."""
    shutil.copytree(trained_model, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="session")
def document() -> list[tuple[str, str]]:
    """Sentences that the model was not trained on, with their translations."""
    sides = [head(DEMO / f"train.{side}", PAIRS + 12)[PAIRS:] for side in ("zh", "en")]
    return list(zip(*sides, strict=True))
