"""Commands, and groups of them, made of functions whose parameters typer can read."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from hiero import __version__
from hiero.cli.base.arguments import repeat_options
from hiero.cli.base.files import checking_files
from hiero.cli.base.help import command_help, group_help, metavar
from hiero.cli.base.option_groups import expanded

F = TypeVar("F", bound=Callable[..., Any])
HELP = {"help_option_names": ["-h", "--help"]}


def _show_version(asked: bool) -> None:
    if asked:
        print(f"hiero {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "-V", "--version", is_eager=True, callback=_show_version, help="Show the version of hiero and exit."
    ),
]


class Command(TyperCommand):
    """A command with this program's help, in which options that may be repeated take several values."""

    def get_help(self, ctx: Any) -> str:
        return command_help(f"{ctx.command_path} {_usage(self)}", self.help or "", self.get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_usage(self)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(repeat_options(args, self.params)))


class Group(TyperGroup):
    """Several commands under one name, with this program's help."""

    def get_help(self, ctx: Any) -> str:
        usage = f"{ctx.command_path} COMMAND [OPTIONS]"
        rows = {"Commands": [(name, summary(command.help or "")) for name, command in self.commands.items()]}
        return group_help(usage, self.help or "", rows)


def summary(text: str) -> str:
    """Returns the first paragraph of a docstring as one line."""
    line = " ".join(text.replace("`", "").split("\n\n")[0].split())
    return line[:1].upper() + line[1:]


def new_app(**settings: Any) -> typer.Typer:
    """Makes a program, or a group of commands."""
    shared = {
        "cls": Group,
        "add_completion": False,
        "pretty_exceptions_enable": False,
        "no_args_is_help": True,
    }
    return typer.Typer(context_settings=HELP, **{**shared, **settings})


def add_command(app: typer.Typer, function: F, name: str | None = None) -> F:
    """Makes a function a command, with records and settings as options, and checks of the files it writes."""
    command = checking_files(expanded(function))
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *marks = get_args(parameter.annotation) or [parameter.annotation]
        for mark in marks:
            if isinstance(mark, OptionInfo | ArgumentInfo) and mark.metavar is None:
                mark.metavar = metavar(kind, parameter.name, option=isinstance(mark, OptionInfo))
    app.command(name, cls=Command, context_settings=HELP)(command)
    return function


@contextmanager
def usage(settings: Iterable[str] = ()) -> Iterator[None]:
    """Makes a ValueError of the block an error of usage (exit 2). Where its message names one of the
    ``settings``, the new message names the option."""
    try:
        yield
    except ValueError as error:
        options = {name: f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}" for name in settings}
        raise typer.BadParameter(re.sub(r"\w+", lambda w: options.get(w[0], w[0]), str(error))) from None


def check_plot(path: Path | None) -> None:
    """Raises BadParameter if a picture is asked for and matplotlib is not installed."""
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise typer.BadParameter("--plot needs the package matplotlib: pip install matplotlib")


def _usage(command: TyperCommand) -> str:
    """Returns the part of the usage line that follows the name of a command."""
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    return " ".join(["[OPTIONS]", *(str(p.metavar) if p.required else f"[{p.metavar}]" for p in arguments)])
