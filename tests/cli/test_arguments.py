"""Options of several values beside positional arguments, in every command that has both."""

from __future__ import annotations

from typing import Any

import pytest
from typer.core import TyperArgument, TyperOption

from support.commands import COMMANDS, call, one_error_line


def _required(command: Any) -> list[Any]:
    return [param for param in command.params if isinstance(param, TyperArgument) and param.required]


MIXED = [
    (name, option, argument)
    for name, command in COMMANDS.items()
    for argument in (required[0] for required in [_required(command)] if len(required) == 1)
    for option in command.params
    if isinstance(option, TyperOption) and option.multiple
]


def parsed(command: str, *arguments: str) -> dict[str, Any]:
    """Parses the arguments of a command; those that are missing are not asked for."""
    found = COMMANDS[command].make_context(command, list(arguments), resilient_parsing=True).params
    return {name: list(map(str, v)) if isinstance(v, list) else v and str(v) for name, v in found.items()}


@pytest.mark.parametrize(("command", "option", "argument"), MIXED, ids=lambda part: str(part))
def test_a_required_argument_behind_several_values(command: str, option: Any, argument: Any) -> None:
    name = option.opts[0]
    values = ["5", "2"] if name in ("--sentence", "--beams") else ["0.5", "2.0"]
    others = {"forest oracle": "--weights", "analyse": "--plot", "serve": "--host"}
    single = others.get(command, "--output")
    with_single = (
        [name, values[0], single, "1.0", name, values[1], "1.0"],
        [single, "1.0", name, *values, "1.0", single, "1"],
    )
    for arguments in (
        ["1.0", name, *values],
        [name, *values, "1.0"],
        [f"{name}={values[0]}", values[1], "1.0"],
        [name, values[0], name, values[1], "1.0"],
        [name, *values, "--", "1.0"],
        *(with_single if command != "check" else ()),  # which has one option
    ):
        found = parsed(command, *arguments)
        expected = ["1.0"] if argument.nargs == -1 else "1.0"
        assert (found[argument.name], found[option.name]) == (expected, values), arguments
    # With nothing to spare it is the argument that is missing.
    assert parsed(command, name, values[0])[option.name] == [values[0]]


@pytest.mark.parametrize("command", [("hiero", "decode"), ("hiero-decode",)])
def test_several_grammars_behind_one_option(command: tuple[str, ...], tmp_path: Any) -> None:
    for word in "ab":
        (tmp_path / word).write_text(f"[X] ||| {word} ||| {word.upper()} ||| 0\n")
    done = call(*command, "--grammar", tmp_path / "a", tmp_path / "b", "--quiet", stdin="a b\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"A B\n", b"")


def test_such_commands_are_there() -> None:
    found = {(name, option.opts[0]) for name, option, _ in MIXED}
    expected = {"tune", "experiment cettolo2004", "forest oracle", "forest show", "forest stats", "analyse"}
    expected |= {"train-reranker", "check", "features", "tokenize", "detokenize", "truecaser", "serve"}
    expected |= {f"experiment {name}" for name in ("chiang2008", "li2009", "zhai2015")}
    assert {name for name, _ in found} == expected
    assert {("tune", "--references"), ("tune", "--fix"), ("forest oracle", "--mu")} <= found


def test_the_last_values_to_spare_are_the_argument() -> None:
    found = parsed("tune", "--references", "r1", "r2", "m", "--fix", "LM0", "--method", "mert")
    assert (found["model"], found["references"], found["fix"]) == ("m", ["r1", "r2"], ["LM0"])
    found = parsed("weights", "--load", "own:A", "own:B", "m", "w")
    assert (found["model"], found["weights"], found["load"]) == ("m", "w", ["own:A", "own:B"])
    found = parsed("tune", "--references", "r1", "r2", "--fix", "LM0", "LM1", "m", "--tokens")
    assert (found["model"], found["references"], found["fix"]) == ("m", ["r1", "r2"], ["LM0", "LM1"])


def test_values_that_no_argument_needs_stay() -> None:
    assert parsed("train", "--mono", "a", "b", "--quiet")["mono"] == ["a", "b"]
    # Two values of one option are no positional arguments.
    found = parsed("assemble", "--tokenize", "ja:none", "en:moses", "--grammar", "a", "b", "--lm=c", "d")
    assert (found["grammar"], found["lm"]) == (["a", "b"], ["c", "d"])
    found = parsed("eval", "--references", "a", "b", "-", "--compare", "x", "y", "--quiet")
    assert (found["references"], found["compare"]) == (["a", "b", "-"], ["x", "y"])
    # Behind -- there are no options.
    assert parsed("tune", "--references", "r", "--", "--fix")["model"] == "--fix"


def test_too_many_and_too_few(french: Any) -> None:
    assert call("hiero", "forest", "oracle", "--references", "a").returncode == 2
    missing = call("hiero", "forest", "oracle", "--weights", french / "weights.txt", "--references", "r", "f")
    assert one_error_line(missing, 1) == "hiero: r: No such file or directory\n"
    assert b"several values" in call("hiero", "--help").stdout.replace(b"\n", b" ")
