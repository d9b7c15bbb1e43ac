"""Records of options: a command gets dataclasses, typer sees an option for each of their fields."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from hiero.cli.base.commands import add_command
from hiero.cli.base.files import Writes
from hiero.cli.base.option_groups import expanded
from hiero.cli.base.settings import SettingOptions


class Depth(BaseModel):
    depth: int = Field(3, ge=1, description="greatest depth")
    wide: bool = False


@dataclass(frozen=True, kw_only=True)
class Size:
    size: Annotated[int, typer.Option(min=0, help="Number of parts.")] = 2

    def __post_init__(self) -> None:
        if self.size == 7:
            raise typer.BadParameter("--size 7 is refused")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A record with an argument, an output, settings and another record."""

    source: Annotated[Path, typer.Argument(help="File to read.")]
    output: Annotated[Path | None, Writes(), typer.Option("-o", "--output", help="File to write.")] = None
    settings: Annotated[Depth, SettingOptions(Depth)]
    inner: Size
    names: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Names.")] = None


GOT: list[object] = []


def command(
    *, before: Annotated[int, typer.Option(help="Before.")] = 1, part: Part, last: bool = False
) -> None:
    """Keeps what it gets."""
    GOT.append((before, part, last))


def run(*arguments: object) -> tuple[int, str, object]:
    """Returns exit code and output, and the values that the command got."""
    GOT.clear()
    app = typer.Typer()
    add_command(app, command, "command")
    done = CliRunner().invoke(app, list(map(str, arguments)))
    return done.exit_code, done.output, GOT[0] if GOT else None


def test_a_command_gets_records() -> None:
    plain = Part(source=Path("a"), settings=Depth(), inner=Size())
    assert run("a") == (0, "", (1, plain, False))
    words = (
        "a",
        "-o",
        "b",
        "--depth",
        5,
        "--wide",
        "--size",
        4,
        "--names",
        "x",
        "y",
        "--before",
        9,
        "--last",
    )
    full = Part(
        source=Path("a"),
        output=Path("b"),
        settings=Depth(depth=5, wide=True),
        inner=Size(size=4),
        names=["x", "y"],
    )
    assert run(*words) == (0, "", (9, full, True))


def test_options_stand_in_the_order_of_parameters_and_fields() -> None:
    names = list(inspect.signature(expanded(command)).parameters)
    assert names == ["before", "source", "output", "depth", "wide", "size", "names", "last"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "--size", 7), "--size 7 is refused"),
        (("a", "--size", -1), "--size"),
        (("a", "--depth", 0), "--depth"),
        (("a", "-o", "a"), "is read, and would be written over"),
        ((), "SOURCE"),
    ],
)
def test_mistakes_are_of_usage(words: tuple[object, ...], message: str) -> None:
    code, output, got = run(*words)
    assert (code, got) == (2, None) and output.count("Error") == 1
    assert message in " ".join(output.replace("│", " ").split())


def test_two_options_of_one_name_are_a_mistake_in_the_command() -> None:
    def twice(*, size: int = 1, part: Size) -> None: ...

    twice.__annotations__ = {"size": int, "part": Size}
    with pytest.raises(ValueError, match="duplicate parameter name: 'size'"):
        expanded(twice)
