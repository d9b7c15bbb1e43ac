"""Fixtures for all tests."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.train import TrainInputs, train, weights
from support.files import SharedFolder, head, write
from support.paths import DEMO, FRENCH, SHARED


def pytest_configure() -> None:
    """Stops the garbage collector while tests are imported and collected. Nothing of this is freed, and
    looking at it takes a quarter of the time."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the test that takes longest by far, which would run alone at the end."""
    items.sort(key=lambda item: item.name != "test_readme_and_tour")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """The default handler of SIGINT. Shells let background processes ignore it; tests that interrupt would
    hang."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def no_disk() -> Iterator[None]:
    """An fsync that does nothing, which saves a tenth of the time. Commands that run as programs do sync;
    tests that check when files are synced replace the function themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_lengths() -> Iterator[int]:
    """A limit of 30 translations whose lengths training compares, since this takes most of its time. The
    value is the usual limit."""
    number = weights._SENTENCES
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_SENTENCES", 30)
        yield number


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> SharedFolder:
    """A function that makes a folder with a name once for all workers that run tests; the others wait for
    it."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make_shared(name: str, make: Callable[[Path], None]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # a worker may have failed before
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return make_shared


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A page of a browser. Tests that use it skip where there is no browser."""
    from support.browser import chromium  # imported here because it takes a second

    with chromium() as page:
        yield page


@pytest.fixture(scope="session")
def french() -> Path:
    """The folder of a small system from French into English, written by hand."""
    return FRENCH


@pytest.fixture(scope="session")
def demo() -> Path:
    """The folder of the demo corpus."""
    return DEMO


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and prepared systems. Tests that use it skip where it is missing."""
    if not (SHARED / "ja-en" / "system").is_dir():
        pytest.skip("no prepared systems beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the French model and small sets, for tests of commands that stop before they do their
    work."""
    folder = tmp_path_factory.mktemp("handed")
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(folder / "model")
    write(folder / "dev.fr", ["le chat", "le chien dort"])
    write(folder / "dev.en", ["the cat", "the dog sleeps"])
    write(folder / "dev.en1", ["a cat", "a dog sleeps now"])
    write(folder / "out.fr", ["la maison"])
    write(folder / "out.en", ["the house ."])
    write(folder / "dev.trees", ["(S (X le) (X chat))", "(S (X le) (Y chien) (X dort))"])
    write(folder / "out.trees", ["(T (X la) (Z maison))"])
    write(folder / "links", ["0-0 1-1", "0-0 1-1 2-2"])
    write(folder / "weights", ["LM0 2", "WordPenalty -0.5"])
    return folder


# Sentence pairs that `trained_model` learns from.
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
