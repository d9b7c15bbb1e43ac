"""Arguments that `hiero analyse` passes to the functions that do its work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.cli import analyse
from hiero.tune.analysis import Analysis
from support.commands import call, handed

WEIGHTS = {"LM0": 2.0, "WordPenalty": -0.5}
DOG = "(S (X le) (Y chien) (X dort))"


def test_analyse(files: Path, tmp_path: Path) -> None:
    sets = (
        "--source",
        files / "dev.fr",
        "--references",
        files / "dev.en",
        files / "dev.en1",
        "--tokens",
    )
    more = (
        "-k",
        4,
        "--beam",
        6,
        "--order",
        3,
        "--effective-length",
        "shortest",
        "--weights",
        files / "weights",
    )
    command = ("analyse", files / "model", *sets, *more, "--parses", files / "dev.trees")
    found = handed(analyse, "analyse", *command)
    assert (found["k"], found["beam"], found["order"]) == (4, 6, 3)
    assert "shortest" in found["metric"].signature and str(found["decoder"]._sentences[1].parse) == DOG
    model = hiero.Model.load(files / "model")
    merged = {**model.weights, **WEIGHTS}
    assert merged != WEIGHTS and found["weights"].tolist() == model.weight_vector(merged).tolist()
    page = ("--page", tmp_path / "page.html", "--sentence", 1)
    found = handed(analyse, "chart_page", *command, *page)
    assert list(found["outside"].chart.forest.source) == ["le", "chien", "dort"]
    # It is the shortest of its own references.
    assert " ".join(found["outside"].oracle) == "the dog sleeps"
    assert found["outside"].oracle_bleu == pytest.approx(1.0)
    wide = handed(analyse, "chart_page", *command, *page, "--pass-through", "all")
    edges = [each["outside"].chart.forest.edge_count for each in (found, wide)]
    assert edges[0] < edges[1]
    assert (found["weights"], found["title"]) == (merged, "Sentence 1")


def test_pop_limits_of_the_picture(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each point is decoded with its pop limit and the other settings; the limits are those of --beams."""
    pytest.importorskip("matplotlib")
    settings: list[dict[str, Any]] = []

    def decoder(model: hiero.Model, **values: Any) -> hiero.Decoder:
        settings.append(values)
        return hiero.Decoder(model, **values)

    monkeypatch.setattr(analyse, "Decoder", decoder)
    sets = ("--source", files / "dev.fr", "--references", files / "dev.en", "--tokens", "-k", 2)
    command = ("analyse", files / "model", *sets, "--span-limit", 5, "--plot", tmp_path / "picture.png")
    for options, limits in (((), [2, 4, 8, 16, 30]), (("--beams", 3, 9), [3, 9])):
        settings.clear()
        curves = handed(analyse, "plot_beams", *command, *options)["curves"]
        assert [list(curve) for curve in curves.values()] == [limits]
        assert [values["pop_limit"] for values in settings[1:]] == limits
        assert all(values["span_limit"] == 5 for values in settings)


def test_columns_of_analyses(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "analyse", lambda *_, **__: Analysis(1.0, 2.0, 3.0, 0.4, 0.5, 0.625))
    sets = (
        "--source",
        files / "dev.fr",
        "--references",
        files / "dev.en",
        "--tokens",
        "-k",
        7,
    )
    head, row = call("hiero", "analyse", files / "model", *sets).stdout.decode().splitlines()
    names = ("best", "7-best oracle", "guided oracle", "diversity", "top-down reach", "guided reach")
    assert re.split("  +", head.strip()) == list(names)
    assert re.split("  +", row) == ["the model's", "1.00", "2.00", "3.00", "0.4000", "50.0%", "62.5%"]
