"""Options of a command from a file, which those of the command line override."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from hiero import FormatError

# The options of the file that the running command reads, by the names of parameters.
_GIVEN: ContextVar[Mapping[str, Any]] = ContextVar("given", default=MappingProxyType({}))


def _read_options(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the options of a file the defaults of a command."""
    context.default_map = {} if path is None else options_of(context, path)
    _GIVEN.set(context.default_map)
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        is_eager=True,
        callback=_read_options,
        help="TOML file with options, by their names without dashes in front; those given here come first.",
    ),
]


def is_from_file(name: str, value: object) -> bool:
    """Tells whether the file of options of the running command gives a parameter this value."""
    given = _GIVEN.get()
    return name in given and str(given[name]) == str(value)


def options_of(context: Any, path: Path) -> dict[str, Any]:
    """Reads options of the command of a context: values by the names of its parameters.

    Raises FormatError, which names the line, for a file that is not TOML, for an option that the command does
    not have, and for a value that it does not take; OSError.
    """
    options = {
        name.lstrip("-"): param
        for param in context.command.params
        if param.param_type_name == "option" and not param.is_eager
        for name in param.opts
    }
    text, values = _read(path), {}
    for name, value in _parsed(path, text).items():
        place = f"{path}:{_line(text, name)}"
        if name not in options:
            near = get_close_matches(name, options)
            question = f"is it {', '.join(near)}?" if near else "--help lists them"
            raise FormatError(f"{place}: no option {name} of {context.info_name}: {question}")
        param = options[name]
        if (problem := _wrong_shape(param, value)) is not None:
            raise FormatError(f"{place}: {name}: {problem}")
        given = _value(param, value)
        try:
            param.process_value(context, given)
        except typer.BadParameter as error:
            raise FormatError(f"{place}: {name}: {error.message}") from None
        values[param.name] = given
    return values


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: {error}") from None


def _parsed(path: Path, text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: {error}") from None


def _line(text: str, name: str) -> int:
    """Returns the number of the line that gives an option its value."""
    names = [line.partition("=")[0].strip(" \t[]\"'") for line in text.splitlines()]
    return names.index(name) + 1 if name in names else 1


def _wrong_shape(param: Any, value: Any) -> str | None:
    """Returns what is expected of a list, a table or a single value in place of another of these."""
    if param.nargs > 1 and (not isinstance(value, list) or len(value) != param.nargs):
        return f"expected a list of {param.nargs} values"
    if param.nargs == 1 and not param.multiple and isinstance(value, list):
        return "expected one value, found a list"
    return "expected a value, found a table" if isinstance(value, dict) else None


def _value(param: Any, value: Any) -> Any:
    """Returns a value as the command line would give it: text, or a list of texts; flags as they are."""
    if isinstance(value, list):
        return list(map(str, value))
    text = value if isinstance(value, bool) else str(value)
    return [text] if param.multiple else text
