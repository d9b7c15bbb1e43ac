"""How commands read their arguments: an option that may be repeated also takes several values at once."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.models import ArgumentInfo, OptionInfo

from hiero import __version__
from hiero.cli.base.files import guarded
from hiero.cli.base.help import command_help, group_help, metavar
from hiero.cli.base.settings import expanded


@contextmanager
def usage(settings: Iterable[str] = ()) -> Iterator[None]:
    """Makes a ValueError of the block one of how the command is used, with exit 2. Settings that it names are
    named as the options that they were given by."""
    try:
        yield
    except ValueError as error:
        options = {name: f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}" for name in settings}
        raise typer.BadParameter(re.sub(r"\w+", lambda w: options.get(w[0], w[0]), str(error))) from None


def check_plot(path: Path | None) -> None:
    """Refuses, as wrong usage, a picture that is asked for where matplotlib is not installed."""
    if path is not None and importlib.util.find_spec("matplotlib") is None:
        raise typer.BadParameter("--plot needs the package matplotlib: pip install matplotlib")


@dataclass
class _Words:
    """An option that may be repeated and its values, or words as they are."""

    option: str = ""
    words: list[str] = field(default_factory=list)


F = TypeVar("F", bound=Callable[..., Any])
Threads = Annotated[int, typer.Option(min=1, help="The result is the same for any number.")]


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
HELP = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """Takes `--mono a b` as `--mono a --mono b`.

    The values end with the next option or with `--`. Where they leave the command without a positional
    argument that it requires, this is the last of the values: in `hiero tune --references r1 r2 MODEL`.
    """

    def get_help(self, ctx: Any) -> str:
        return command_help(f"{ctx.command_path} {_usage(self)}", self.help or "", self.get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_usage(self)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_repeated(args, self.params)))


class Group(TyperGroup):
    """Commands that are imported when they are asked for."""

    def get_help(self, ctx: Any) -> str:
        usage = f"{ctx.command_path} COMMAND [OPTIONS]"
        rows = {"Commands": [(name, summary(command.help or "")) for name, command in self.commands.items()]}
        return group_help(usage, self.help or "", rows)


def summary(text: str) -> str:
    """The first paragraph."""
    found = " ".join(text.replace("`", "").split("\n\n")[0].split())
    return found[:1].upper() + found[1:]


def new_app(**settings: Any) -> typer.Typer:
    """A program, or a group of commands."""
    shared = {
        "cls": Group,
        "add_completion": False,
        "pretty_exceptions_enable": False,
        "no_args_is_help": True,
    }
    return typer.Typer(context_settings=HELP, **{**shared, **settings})


def add_command(app: typer.Typer, function: F, name: str | None = None) -> F:
    """Makes a function a command: with its settings as options, and with a watch on what files it writes."""
    command = expanded(guarded(function))
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *marks = get_args(parameter.annotation) or [parameter.annotation]
        for mark in marks:
            if isinstance(mark, OptionInfo | ArgumentInfo) and mark.metavar is None:
                mark.metavar = metavar(kind, parameter.name, option=isinstance(mark, OptionInfo))
    app.command(name, cls=Command, context_settings=HELP)(command)
    return function


def _usage(command: TyperCommand) -> str:
    """Makes the part of the usage line that follows the name of a command."""
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    return " ".join(["[OPTIONS]", *(str(p.metavar) if p.required else f"[{p.metavar}]" for p in arguments)])


def _repeated(arguments: Sequence[str], params: Sequence[Any]) -> Iterator[str]:
    options = {name: param for param in params if isinstance(param, TyperOption) for name in param.opts}
    end = arguments.index("--") if "--" in arguments else len(arguments)
    groups, positional = _grouped(arguments[:end], options)
    required = sum(isinstance(param, TyperArgument) and param.required for param in params)
    missing = required - positional - len(arguments[end + 1 :])
    for place, group in reversed(list(enumerate(groups))):
        # An option without a value would be another mistake.
        spare = min(missing, len(group.words) - 1) if group.option else 0
        if spare > 0:
            groups.insert(place + 1, _Words("", group.words[-spare:]))
            del group.words[-spare:]
            break
    for group in groups:
        for word in group.words:
            yield from (group.option, word) if group.option else (word,)
    yield from arguments[end:]


def _grouped(arguments: Sequence[str], options: dict[str, TyperOption]) -> tuple[list[_Words], int]:
    """The arguments before a `--`, and how many of them are positional. Raises BadParameter where an option
    stands in place of a value of another."""
    groups: list[_Words] = []
    positional = 0
    # Values that the last option must have, and whether it takes more.
    given, owed, more = "", 0, False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if owed and name in options:
            needed = options[given].metavar
            raise typer.BadParameter(f"{given}: expected {needed}, and found the option {name} in its place")
        if owed:
            groups[-1].words.append(argument)
            owed -= 1
        elif argument.startswith("-") and argument != "-":
            given, option = name, options.get(name)
            more = option is not None and option.multiple
            owed = 0 if equals or option is None or option.is_flag else option.nargs
            groups.append(_Words(name, [value] * len(equals)) if more else _Words("", [argument]))
        elif more:
            groups[-1].words.append(argument)
        else:
            groups.append(_Words("", [argument]))
            positional += 1
    return groups, positional
