"""The benchmarks' share of experiments: times of runs, and passes of minimum risk."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.paths import ROOT


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("experiment_times")


def test_seconds_of_iterations(times: Any, tmp_path: Path) -> None:
    """Two runs that decoded three times and twice and chose weights twice and once; a row without runs."""
    for run, seconds in (("run-1", [(0, 3), (1, 2), (3, 4)]), ("run-2", [(0, 1), (5, 5)])):
        for number, (choosing, decoding) in enumerate(seconds):
            folder = tmp_path / "mert-guided" / run / f"iteration-{number:03}"
            folder.mkdir(parents=True)
            (folder / "times.json").write_text(json.dumps({"choosing": choosing, "decoding": decoding}))
    (tmp_path / "risk-large" / "run-1").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for system in ("mert-guided", "risk-large"):
        (tmp_path / system / "row.json").write_text("{}")
    # 15 s of decoding and 9 s of choosing weights: 0.2 minutes a run.
    assert list(times.rows(tmp_path)) == [["mert-guided", "0.2", "3.0", "3.0"]]


def test_an_experiment_on_corpora(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A benchmark configures and runs the experiment for each corpus, prints times, and measures more."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    corpora = importlib.import_module("corpora")
    steps: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        corpora, "_prepare", lambda data, name, folder: steps.append(("prepare", data, name, folder))
    )
    run = SimpleNamespace(run=lambda words, check: steps.append(tuple(words[1:])))
    monkeypatch.setattr(corpora, "subprocess", run)
    monkeypatch.setattr(corpora, "print_times", lambda results: steps.append(("times", results)))
    monkeypatch.setattr(
        "sys.argv", ["x", "data", str(tmp_path), "--corpora", "demo", "ja-en", "--threads", "3"]
    )
    corpora.run(
        "paper",
        None,
        ["demo", "ja-en"],
        lambda data, name, path: steps.append(("configure", data, name, path)),
        lambda configuration, results: steps.append(("after", configuration, results)),
    )
    assert steps == [
        step
        for name in ("demo", "ja-en")
        for folder in [tmp_path / name]
        for step in (
            ("prepare", Path("data"), name, folder),
            ("configure", Path("data"), name, folder / "paper.toml"),
            *[
                tuple(
                    map(
                        str,
                        (
                            "experiment",
                            "paper",
                            folder / "paper.toml",
                            "-o",
                            folder / "paper",
                            "--threads",
                            3,
                        ),
                    )
                )
            ],
            ("times", folder / "paper"),
            ("after", folder / "paper.toml", folder / "paper"),
        )
    ]


def test_the_table_of_times(times: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times.print_times(tmp_path)
    expected = (
        "| system | minutes a run | decoding, s | choosing weights, s |\n| --- | ---: | ---: | ---: |\n"
    )
    assert capsys.readouterr().out == expected
