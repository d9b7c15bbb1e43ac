"""Tests of settings: Python, documentation and the command line have the settings of the core."""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal, get_type_hints

import numpy as np
import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

import hiero
from hiero import _core
from hiero.cli.base.option_groups import expanded
from hiero.cli.base.settings import SettingOptions, VariantOptions
from hiero.decode.settings import DecodingArguments
from hiero.train import ExtractSettings, ScoreSettings, TrainSettings
from hiero.train.rules import ExtractArguments, Ranges, ScoreArguments
from support.commands import call
from support.paths import DOCS


@pytest.mark.parametrize("options", [_core.DecoderOptions, _core.ExtractOptions, _core.ScoreOptions])
def test_what_the_core_tells_of_its_settings(options: type) -> None:
    settings = options.settings()
    assert len({setting.name for setting in settings}) == len(settings) >= 5
    for setting in settings:
        assert setting.meaning
        assert not setting.choices or setting.default in setting.choices
        options(**{setting.name: setting.default})
        for limit, beyond in ((setting.least, -1), (setting.most, 1)):
            if limit is not None:
                options(**{setting.name: limit})
                with pytest.raises(ValueError, match=setting.name):
                    options(**{setting.name: limit + beyond})
        if setting.choices:
            with pytest.raises(ValueError, match=f"{setting.name}: expected .* not other"):
                options(**{setting.name: "other"})
    with pytest.raises(TypeError, match="no setting is named other"):
        options(other=1)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (DecodingArguments, hiero.DecodingSettings),
        (ExtractArguments, ExtractSettings),
        (ScoreArguments, ScoreSettings),
    ],
)
def test_arguments_are_the_settings(arguments: type, settings: type[BaseModel]) -> None:
    """The declarations for type checkers have the settings of the core, in its order."""
    kinds = {name: get_type_hints(settings)[name] for name in settings.model_fields}
    ranges = {name: kind | str for name, kind in kinds.items() if kind == Ranges}
    assert get_type_hints(arguments) == kinds | ranges
    assert list(arguments.__annotations__) == list(kinds)


def test_limits_that_the_type_does_not_have() -> None:
    with pytest.raises(ValueError, match="span_limit must be at least 1"):
        _core.DecoderOptions(span_limit=0)
    with pytest.raises(ValueError, match="max_phrase must be at most 100"):
        _core.ExtractOptions(max_phrase=101)
    with pytest.raises(ValueError, match="beam_threshold must be at least 0, not nan"):
        _core.DecoderOptions(beam_threshold=math.nan)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (_core.DecoderOptions, "pop_limit", np.float32(2.7)),
        (_core.DecoderOptions, "pop_limit", True),
        (_core.DecoderOptions, "pop_limit", "2"),
        (_core.DecoderOptions, "beam_threshold", "2"),
        (_core.DecoderOptions, "beam_threshold", False),
        (_core.DecoderOptions, "pass_through", 3),
        (_core.ExtractOptions, "unaligned_edges", 7),
        (_core.ExtractOptions, "unaligned_edges", None),
        (_core.ExtractOptions, "phrase_lines", ((-1, 2),)),
        (_core.ExtractOptions, "phrase_lines", "x"),
        (_core.ScoreOptions, "owner", 3),
    ],
)
def test_values_of_another_type(options: type, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{name}: .* is no such value"):
        options(**{name: value})


def test_values_that_are_numbers_all_the_same() -> None:
    _core.DecoderOptions(pop_limit=np.int64(3), beam_threshold=2)
    _core.ExtractOptions(phrase_lines=[(1, 2)], unaligned_edges=True)


def test_models_have_the_settings_of_the_core() -> None:
    assert hiero.DecodingSettings().model_dump() == {
        "pop_limit": 100,
        "span_limit": 10,
        "beam_size": 0,
        "beam_threshold": math.inf,
        "ttable_limit": 0,
        "exact": 0,
        "pass_through": "unknown",
        "unknown_words": "copy",
        "confidence_temperature": 1.0,
    }
    assert ExtractSettings().model_dump() == {
        "max_phrase": None,  # chosen by the alignment
        "max_symbols": 5,
        "max_nonterminals": 2,
        "min_gap": 1,
        "unaligned_edges": False,
        "phrase_lines": (),
        "hierarchical_lines": (),
    }
    assert ScoreSettings().model_dump() == {
        "discount": "none",
        "min_count": 1,
        "ttable_limit": 0,
        "owner": "",
        "span_limit": 0,
        "significance": None,
    }
    for bad in (
        {"pop_limit": -1},
        {"pop_limit": 2**32},
        {"span_limit": 0},
        {"pass_through": "some"},
        {"x": 1},
    ):
        with pytest.raises(ValueError):
            hiero.DecodingSettings(**bad)
    assert "pop_limit" in hiero.DecodingSettings.model_fields
    settings = hiero.DecodingSettings()
    with pytest.raises(ValueError):
        settings.pop_limit = 3


def test_documented_defaults_of_decoding() -> None:
    text = (DOCS / "decoding.md").read_text()
    (search,) = re.findall(r"^## Search .*?(?=^## )", text, re.DOTALL | re.MULTILINE)
    rows = dict(re.findall(r"^\| `--([a-z-]+)` \| (off|\d+) \|", search, re.MULTILINE))
    assert len(rows) == 5
    stated = {name.replace("-", "_"): value for name, value in rows.items()}
    for name, value in hiero.DecodingSettings().model_dump().items():
        if name in stated:
            off = value in (0, math.inf)
            assert stated.pop(name) == ("off" if off else str(value))
        else:
            assert re.search(rf"`--{name.replace('_', '-')}", text), name
    assert stated == {}
    assert re.search(r"^\| `--span-limit` \| the model's \|", search, re.MULTILINE)
    assert re.search(r"^\| `copy` \(the default\) \|", text, re.MULTILINE)


def unframed(text: str) -> str:
    """Returns the words of a help text without its lines, frames and limits."""
    return " ".join(re.sub(r"[│╭╮╰╯─]|\[\S*x\S*\]", " ", text).split())


def test_help_states_defaults() -> None:
    text = unframed(call("hiero-decode", "--help").stdout.decode())
    for stated in (
        "no limit (default: 100).",
        "exempt (default: 10).",
        "0: all (default: 0).",
        "items are pruned (default: off).",
        "nothing (default: copy).",
    ):
        assert stated in text
    text = call("hiero", "train", "--help").stdout.decode()
    for setting in ("--max-phrase", "--lm-type", "--discount", "--heuristic", "--unaligned-edges"):
        assert setting in text
    for other in ("--owner", "--span-limit", "--text", "--extract"):
        assert other not in text


class Inner(BaseModel):
    depth: int = Field(3, ge=1, le=9, description="of all")
    kind: Literal["a", "b"] = "a"
    flag: bool = Field(False, description="whether")


class Outer(BaseModel):
    inner: Inner = Inner()
    share: float = Field(0.5, ge=0, description="some part")
    pairs: tuple[tuple[int, int], ...] = ()
    size: int | None = Field(None, ge=2)
    left_out: str = ""


def run(options: object, *arguments: str) -> tuple[int, str, object]:
    """Runs a command with these options, and returns its exit code, its output and the value that it
    received."""
    got: list[object] = []

    def command(*, settings: Annotated[object, options]) -> None:
        got.append(settings)

    command.__annotations__ = {"settings": Annotated[object, options]}
    app = typer.Typer()
    app.command()(expanded(command))
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output, got[0] if got else None


def test_a_command_gets_the_model() -> None:
    options = SettingOptions(Outer, without=("left_out",), renamed={"size": "length"})
    assert run(options) == (0, "", Outer())
    arguments = ("--depth", "4", "--kind", "b", "--flag", "--share", "1.5", "--length", "2")
    expected = Outer(inner=Inner(depth=4, kind="b", flag=True), share=1.5, size=2)
    assert run(options, *arguments) == (0, "", expected)
    for bad in (("--depth", "0"), ("--depth", "10"), ("--kind", "c"), ("--length", "1"), ("--pairs", "x")):
        code, output, _ = run(options, *bad)
        assert code == 2 and bad[0] in output
    for unknown in ("--left-out", "--size", "--inner"):
        assert run(options, unknown, "3")[0] == 2


def test_a_command_gets_what_overrides() -> None:
    options = SettingOptions(Outer, only=("depth", "share"), overrides="elsewhere")
    assert run(options) == (0, "", {})
    assert run(options, "--depth", "3") == (0, "", {"depth": 3})
    assert run(options, "--depth", "10")[0] == 2 and run(options, "--kind", "a")[0] == 2
    whole = SettingOptions(Inner, overrides="")
    assert run(whole) == (0, "", {})
    assert run(whole, "--no-flag") == (0, "", {"flag": False}) and run(whole, "--flag")[2] == {"flag": True}
    assert "Of all (default: elsewhere)." in unframed(run(options, "--help")[1])
    assert "Of all (default: 3)." in unframed(run(SettingOptions(Outer, overrides=""), "--help")[1])


def test_options_of_variants_state_their_defaults() -> None:
    class Other(BaseModel):
        depth: int = Field(7, ge=2, description="of all")
        k: int = Field(1, description="only here")

    class Third(Inner):
        depth: int = Field(3, ge=1, description="of all")

    options = VariantOptions({"one": Inner(), "two": Other(), "three": Third()})
    text = unframed(run(options, "--help")[1])
    assert "Of all (default: 3; for two: 7)." in text and "Whether." in text
    assert re.search(r"-k\b.* Only here \(default for two: 1\)\.", text)
    assert run(options, "-k", "0", "--flag")[2] == {"k": 0, "flag": True}
    assert run(options)[2] == {}


def test_a_command_without_settings_stays_what_it_is() -> None:
    def plain(name: str) -> None: ...

    assert expanded(plain) is plain


def test_training_has_the_settings_of_its_steps() -> None:
    names = set(TrainSettings.model_fields)
    alignment = {"aligner", "samplers", "heuristic", "seed"}
    steps = {"max_length", "max_ratio", "extract", "score", "leave_out"}
    assert names == alignment | steps | {"text", "truecase", "lms", "lm_order", "lm_binary", "lm_quantize"}
    assert (TrainSettings().lm_order, TrainSettings().lm_binary, TrainSettings().lm_quantize) == (
        5,
        "probing",
        None,
    )
    for bad in ({"lm_order": 7}, {"lm_quantize": 1}, {"max_length": 0}, {"seed": -1}):
        with pytest.raises(ValueError):
            TrainSettings(**bad)
