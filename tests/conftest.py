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
from hiero.train import weights
from support.files import MadeOnce, write
from support.paths import DEMO, FRENCH, SHARED


def pytest_configure() -> None:
    """Stops looking for garbage in what is imported and collected, which stays: it takes a quarter of the
    time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Shells start what runs in the background with SIGINT ignored; tests that interrupt would never end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def no_disk() -> Iterator[None]:
    """Tests need what they write to be on no disk, and would wait for one a tenth of their time. Commands do
    wait; what tells when files are synced wraps the function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_lengths() -> Iterator[int]:
    """Training compares the lengths of few translations, which most of its time would go into here. Gives the
    number that it compares otherwise."""
    number = weights._SENTENCES
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_SENTENCES", 30)
        yield number


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """Makes a folder by a name once for all workers that run tests; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name: str, make: Callable[[Path], None]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # where another failed
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser to look at pages; tests that want it skip where there is none."""
    from support.browser import chromium  # here, as its import takes a second

    with chromium() as found:
        yield found


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
    """Real corpora and prepared systems; tests that want them skip where they are missing."""
    if not (SHARED / "ja-en" / "system").is_dir():
        pytest.skip("no prepared systems beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the French model and small sets, for commands that stop before they do their work."""
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
