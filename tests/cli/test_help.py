"""The text of `--help`, of every command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import pytest
import typer
from typer.core import TyperArgument

import hiero
from hiero.cli import _COMMANDS, _PLACES, _imported, _summary
from support.commands import BIN, COMMANDS, call


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_shown_in_full(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = call("hiero", *name.split(), "-h")
    assert (shown.returncode, shown.stderr) == (0, b"")
    text = shown.stdout.decode()
    assert text == call("hiero", *name.split(), "--help").stdout.decode()
    assert "<" not in text.replace("<s>", "").replace("<unk>", "").replace("</s>", "").replace(
        " < new.de", ""
    )
    assert not re.search(r"…|[│╭]| \.[ \n]|default: \)", text)
    lines = text.splitlines()
    assert lines[0].startswith(f"Usage: hiero {name} [OPTIONS]")
    for param in COMMANDS[name].params:
        assert param.help and param.help[0].isupper() | param.help.startswith(("n", "b")), param.name
        names = [param.metavar] if isinstance(param, TyperArgument) else [*param.opts, *param.secondary_opts]
        for each in names:
            assert re.search(rf"^  (\S+, )*{re.escape(each)}( |,|$)", text, re.MULTILINE), each
    # Texts are wrapped; examples, and names that are longer, are not.
    for line in lines:
        assert len(line) <= columns or line.startswith(("    hiero", "  --", "Usage"))


def test_all_commands_by_what_they_are_for() -> None:
    shown = call("hiero", "--help")
    assert shown.returncode == 0
    lines = shown.stdout.decode().splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"  \w", line)]
    assert listed == list(_PLACES) == [name for group in _COMMANDS.values() for name in group]
    assert [f"{group}:" in lines for group in _COMMANDS] == [True] * len(_COMMANDS)


@pytest.mark.parametrize("name", _PLACES)
def test_a_summary_is_that_of_the_command(name: str) -> None:
    found: Any = _imported(name)
    text = _summary(*_PLACES[name])
    assert text[0].isupper() and text[-1] == "." and "`" not in text
    if not isinstance(found, typer.Typer):
        assert " ".join(found.__doc__.split()).replace("`", "").startswith(text)


def test_defaults_that_are_chosen() -> None:
    """Tuning chooses the span limit, where other commands have the model's."""
    for command, expected in (("tune", "chosen on the tuning set"), ("analyse", "the model's")):
        text = " ".join(call("hiero", command, "--help").stdout.decode().split())
        assert f"glue is exempt (default: {expected})" in text


def test_examples_stand_line_by_line() -> None:
    shown = call("hiero", "rules", "-h").stdout.decode()
    assert '\n    hiero rules my-model --source "ne [X] pas"\n    hiero rules my-model --prefix ne ' in shown


def test_versions_and_names() -> None:
    version = f"hiero {hiero.__version__}\n".encode()
    assert call("hiero", "--version").stdout == version
    assert call("hiero", "-h").returncode == 0
    assert call("hiero-decode", "--version").stdout == version
    assert b"Usage: hiero tune [OPTIONS] MODEL\n" in call("hiero", "tune").stderr
    unknown = call("hiero", "evl")
    assert unknown.returncode == 2 and b"no command 'evl': is it eval?" in unknown.stderr
    assert b"unpack" in call("hiero", "xyz").stderr
    assert call("hiero").returncode == 2


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-P", "-m", "hiero", "--version"], capture_output=True, check=True)
    assert done.stdout == f"hiero {hiero.__version__}\n".encode()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hiero tr", ["train", "truecaser", "train-reranker"]),
        ("hiero train --so", ["--source"]),
        ("hiero forest sh", ["show"]),
        ("hiero-decode --unk", ["--unknown-words"]),
    ],
)
def test_completion(typed: str, expected: list[str]) -> None:
    name = typed.split()[0]
    asked = {
        f"_{name.replace('-', '_').upper()}_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = subprocess.run([BIN / name], env={**os.environ, **asked}, capture_output=True)
    assert done.stdout.decode().split() == expected
