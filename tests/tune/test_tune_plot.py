"""The picture of tuning runs: ticks at iterations, and every line in the legend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hiero.tune import Iteration, TuneResult, plot_runs

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


def result(scores: Sequence[float], held_out: Sequence[float | None], best: int) -> TuneResult:
    pairs = zip(scores, held_out, strict=True)
    return TuneResult([Iteration({}, score, other, 1, 1) for score, other in pairs], best, "")


RUNS = {
    "one": ({"": result([1.0, 3.0, 2.0], [None] * 3, 1)}, ["tuning set", "best"]),
    "one iteration": ({"": result([1.0], [None], 0)}, ["tuning set", "best"]),
    "two": (
        {"a": result([1.0, 3.0, 2.0], [5.0, 4.0, 6.0], 2), "b": result([1.0, 2.0], [None] * 2, 1)},
        ["a: tuning set", "a: held-out set", "a: best", "b: tuning set", "b: best"],
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_plot(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []
    write = Figure.savefig

    def savefig(figure: Figure, *args: Any, **options: Any) -> None:
        figures.append(figure)
        write(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    runs, names = RUNS[case]
    plot_runs(runs, "BLEU", tmp_path / "runs.png")
    assert (tmp_path / "runs.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figures[0].axes
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines) == [text.get_text() for text in figures[0].legends[0].get_texts()] == names
    assert [tick for tick in axes.get_xticks() if tick != round(tick)] == []
    if case == "two":
        assert lines["a: held-out set"].get_linestyle() == "--"
        # Where it was judged.
        assert lines["a: best"].get_xydata().tolist() == [[2.0, 6.0]]
