"""Options of tuning: their effects, refused values, and the defaults that the command states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer

from hiero import FormatError
from hiero.cli import _imported
from hiero.cli.base.commands import add_command
from hiero.evaluate import Bleu, Nist
from hiero.tune import METHODS, TuneOptions, tune
from hiero.tune.run.protocol import Array, KBestList
from support.synthetic_decoder import solvable
from support.tuning import BEST, START, run


@pytest.mark.parametrize("method", sorted(METHODS))
def test_fixed_features_and_bounds(method: str, tmp_path: Path) -> None:
    # Weights whose sums are rounded.
    decoder, references = solvable(1, BEST)
    start, bounds = {**START, "f0": 0.3}, {"f1": (-np.inf, -0.1), "f2": (0.0, 0.7)}
    options = TuneOptions(method, fixed=("f0",), bounds=bounds, iterations=8)
    result = tune(decoder, Bleu(references), start, tmp_path, options)
    for iteration in result.iterations:
        assert iteration.weights["f0"] == 0.3
        assert iteration.weights["f1"] <= -0.1 and 0 <= iteration.weights["f2"] <= 0.7
    assert result.iterations[-1].weights["f3"] != 1.0


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("mert", {"directions": 1, "restarts": 0}),
        ("pro", {"interpolation": 0.5}),
        ("mira-batch", {"c": 0.001}),
        ("mira", {"c": 0.001}),
        ("risk", {"loss": "linear-bleu"}),
    ],
)
def test_methods_use_their_options(method: str, options: dict[str, object], tmp_path: Path) -> None:
    default = run(tmp_path / "default", method, small=True, iterations=2)
    other = run(tmp_path / "other", method, small=True, iterations=2, **options)
    assert default.iterations[0] == other.iterations[0]
    assert default.iterations[1].weights != other.iterations[1].weights


@pytest.mark.parametrize("method", ["mert", "hypergraph-mert"])
def test_restarts(method: str, tmp_path: Path) -> None:
    few, many = (run(tmp_path / str(n), method, iterations=3, restarts=n) for n in (0, 8))
    assert few.iterations[0] == many.iterations[0] and few.iterations[1] != many.iterations[1]


def test_the_options_that_a_run_is_recognised_by() -> None:
    """Options that only stop a run are none. In search-aware tuning, chance also says how weights go on."""
    known = TuneOptions("mert").identity()
    for changes in ({"iterations": 3}, {"patience": 1}, {"chance": 0.5}):
        assert TuneOptions("mert", **changes).identity() == known
    aware = TuneOptions("mert", search_aware="guided")
    assert TuneOptions("mert", search_aware="guided", patience=1).identity() == aware.identity()
    assert TuneOptions("mert", search_aware="guided", chance=0.5).identity() != aware.identity()


def test_bad_options(tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST)
    with pytest.raises(ValueError, match="unknown method 'mret'"):
        tune(decoder, Bleu(references), START, tmp_path, TuneOptions("mret"))
    for method in ("pro", "mira-batch"):
        with pytest.raises(ValueError, match=f"{method} learns from BLEU alone"):
            tune(decoder, Nist(references), START, tmp_path / "new", TuneOptions(method))
    assert not (tmp_path / "new").exists()
    with pytest.raises(FormatError, match="no such feature: g"):
        run(tmp_path, fixed=("g",))
    with pytest.raises(FormatError, match="no such feature: g"):
        run(tmp_path, bounds={"g": (0, 1)})
    with pytest.raises(ValueError, match=r"bounds of f0: 1 to 0 is no interval"):
        run(tmp_path, bounds={"f0": (1, 0)})
    for low, high in ((np.nan, 1), (np.inf, np.inf), (3e307, np.inf), (0, 1e7)):
        with pytest.raises(ValueError, match=r"bounds of f0: "):
            run(tmp_path, bounds={"f0": (low, high)})
    with pytest.raises(ValueError, match="fixed and bound: f0"):
        run(tmp_path, fixed=("f0",), bounds={"f0": (0, 1)})
    for method, options in (("simplex", {"k": 5}), ("pro", {"restarts": 1}), ("mert", {"free_scale": True})):
        with pytest.raises(
            ValueError, match=f"{method} takes no {next(iter(options))}, which is an option of "
        ):
            run(tmp_path, method, **options)  # type: ignore[arg-type]
    for name in ("k", "iterations", "patience"):
        with pytest.raises(ValueError, match=f"{name} must be at least 1"):
            TuneOptions(**{name: 0})  # type: ignore[arg-type]
    decoder, references = solvable(1, BEST)
    decoder.feature_names = ["#f", "f1", "f2", "f3"]
    with pytest.raises(FormatError, match="feature '#f': a name has no white space"):
        tune(decoder, Bleu(references), {}, tmp_path, TuneOptions())
    decoder, references = solvable(1, BEST)
    for weight, message in ((0.0, "all weights are zero"), (1e7, "has grown"), (np.nan, "not finite")):
        with pytest.raises((ValueError, FormatError), match=message):
            tune(decoder, Bleu(references), dict.fromkeys(START, weight), tmp_path, TuneOptions())
    with pytest.raises(ValueError, match="all features are fixed"):
        run(tmp_path, fixed=("f0", "f1", "f2", "f3"))
    assert not (tmp_path / "run.json").exists()


def test_defaults_are_those_that_the_command_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = typer.Typer()
    add_command(app, _imported("tune"), "tune")
    helps = {param.name: param.help for param in typer.main.get_command(app).params if hasattr(param, "help")}

    def stated(option: str, method: str) -> int:
        """Returns the default that the help of an option states for a method."""
        text = str(helps[option])
        found = re.search(rf"[(; ,]{method}: (\d+)", text) or re.search(r"[(; ](\d+)[;)]", text)
        assert found is not None, text
        return int(found[1])

    for name, method in METHODS.items():
        assert (method.iterations, method.patience) == (stated("iterations", name), stated("patience", name))
    assert stated("iterations", "pro") > stated("iterations", "mert")
    # That these climb as often is asked of them elsewhere.
    assert (stated("restarts", "mert"), stated("restarts", "hypergraph-mert")) == (9, 4)
    asked: list[int] = []

    def counted(weights: Array, k: int) -> Iterator[KBestList]:
        asked.append(k)
        return decoder_kbest(weights, k)

    decoder, references = solvable(1, BEST, sentences=3)
    decoder_kbest = decoder.kbest
    monkeypatch.setattr(decoder, "kbest", counted)
    tune(decoder, Bleu(references), START, tmp_path, TuneOptions("pro", iterations=1))
    assert asked == [stated("k", "pro")]
    monkeypatch.setattr(
        "hiero.tune.methods.simplex.next_point", lambda *_, restarts, **__: asked.append(restarts)
    )
    tune(decoder, Bleu(references), START, tmp_path / "simplex", TuneOptions("simplex", iterations=2))
    assert asked[-1] == stated("restarts", "simplex")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_options_are_shown_as_the_call_that_makes_them(method: str) -> None:
    assert repr(TuneOptions(method)) == f"TuneOptions({method!r})"
    options = TuneOptions(
        method, seed=7, fixed=("LM0",), bounds={"Glue": (-1.0, 0.5)}, iterations=3, patience=2
    )
    shown = repr(options)
    assert "seed=7" in shown and "iterations=3" in shown and "patience=2" in shown
    assert eval(shown) == options
