"""Fixtures of the tests in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import hiero
from hiero.base import tables
from support.paths import FRENCH
from support.pretended_run import Runs, pretended_runs, run_files


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    french = FRENCH
    packed = tmp_path_factory.mktemp("cli") / "grammar.hrt"
    tables.pack(french / "grammar.txt", packed)
    return ["--grammar", packed, "--lm", french / "lm.arpa", "--weights", french / "weights.txt", "--quiet"]


@pytest.fixture(scope="module")
def tuning_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with bad weights, and a tuning set that good ones translate."""
    french = FRENCH
    folder = tmp_path_factory.mktemp("tune")
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    lines = [line for line in (french / "input.fr").read_text().splitlines() if line.strip()]
    (folder / "source").write_text("".join(line + "\n" for line in lines))
    texts = [result.text for result in hiero.Decoder(model).translate_batch(lines)]
    (folder / "references").write_text("".join(text + "\n" for text in texts))
    # No two alike, which would make ties that one direction alone does not break.
    worse = {name: 0.1 * (n + 1) for n, name in enumerate(model.weights)} | {
        "LM0": -0.5 * model.weights["LM0"]
    }
    weights = folder / "start.txt"
    weights.write_text("".join(f"{name} {weight}\n" for name, weight in worse.items()))
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], weights).save(folder / "model")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bitext, sets for tuning and testing, and text, for `hiero run`."""
    return run_files(tmp_path)


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """A function that runs `hiero run` on these files, whose commands only pretend. It returns these commands
    with their parameters."""
    return pretended_runs(folder, monkeypatch)
