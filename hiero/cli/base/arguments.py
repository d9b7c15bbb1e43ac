"""Arguments of commands: an option that may be repeated also takes several values at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import typer
from typer.core import TyperArgument, TyperOption


@dataclass
class _Group:
    """An option that may be repeated with its values, or other words, which have no such option."""

    option: str = ""
    words: list[str] = field(default_factory=list)


def repeat_options(arguments: Sequence[str], params: Sequence[Any]) -> Iterator[str]:
    """Yields arguments in which `--mono a b` has become `--mono a --mono b`, for the parameters of a command.

    The values end with the next option or with `--`. Where they leave the command without a positional
    argument that it requires, this is the last of the values: in `hiero tune --references r1 r2 MODEL`.
    Raises BadParameter where an option stands in place of a value of another.
    """
    options = {name: param for param in params if isinstance(param, TyperOption) for name in param.opts}
    end = arguments.index("--") if "--" in arguments else len(arguments)
    groups, positional = _grouped(arguments[:end], options)
    required = sum(isinstance(param, TyperArgument) and param.required for param in params)
    _release_positional(groups, required - positional - len(arguments[end + 1 :]))
    for group in groups:
        for word in group.words:
            yield from (group.option, word) if group.option else (word,)
    yield from arguments[end:]


def _release_positional(groups: list[_Group], missing: int) -> None:
    """Makes the last values of the last option that has several the positional arguments that are missing."""
    for place, group in reversed(list(enumerate(groups))):
        # The option keeps one value: without any it would be another mistake.
        spare = min(missing, len(group.words) - 1) if group.option else 0
        if spare > 0:
            groups.insert(place + 1, _Group("", group.words[-spare:]))
            del group.words[-spare:]
            return


def _grouped(arguments: Sequence[str], options: dict[str, TyperOption]) -> tuple[list[_Group], int]:
    """Returns the arguments before a `--` in groups, and how many of them are positional. Raises BadParameter
    where an option stands in place of a value of another."""
    groups: list[_Group] = []
    positional = 0
    # The last option, how many values it still needs, and whether it takes more than these.
    last, owed, takes_more = "", 0, False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if owed and name in options:
            needed = options[last].metavar
            raise typer.BadParameter(f"{last}: expected {needed}, and found the option {name} in its place")
        if owed:
            groups[-1].words.append(argument)
            owed -= 1
        elif argument.startswith("-") and argument != "-":
            last, option = name, options.get(name)
            takes_more = option is not None and option.multiple
            owed = 0 if equals or option is None or option.is_flag else option.nargs
            groups.append(_Group(name, [value] * len(equals)) if takes_more else _Group("", [argument]))
        elif takes_more:
            groups[-1].words.append(argument)
        else:
            groups.append(_Group("", [argument]))
            positional += 1
    return groups, positional
