"""Parameters of commands that stand for several options each.

``expanded`` makes a function that typer can read from a command with such parameters:

- A parameter whose type is a dataclass, a record of options, stands for an option for each of its fields.
  Fields are annotated as parameters of a command are, and may stand for several options in turn. The record
  checks the options when it is made, in ``__post_init__``, and raises typer.BadParameter.
- A parameter annotated with ``Options``, such as ``SettingOptions``, stands for those options.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, get_type_hints

# Values of options by the names of their parameters.
OptionValues = Mapping[str, Any]


class Options(ABC):
    """Several options, and the one value that a command gets for them."""

    @abstractmethod
    def parameters(self) -> Iterator[inspect.Parameter]:
        """Yields the parameters that typer makes the options of."""

    @abstractmethod
    def value(self, values: OptionValues) -> Any:
        """Makes the value for the command. Raises typer.BadParameter for options that cannot be so."""


@dataclass(frozen=True)
class RecordOptions(Options):
    """An option for each field of a dataclass."""

    kind: type

    def parameters(self) -> Iterator[inspect.Parameter]:
        return iter(self._expansion.options)

    def value(self, values: OptionValues) -> Any:
        return self.kind(**self._expansion.arguments(values))

    @functools.cached_property
    def _expansion(self) -> Expansion:
        types = get_type_hints(self.kind, include_extras=True)
        return Expansion(_parameter(field, types[field.name]) for field in fields(self.kind))


class Expansion:
    """Parameters of a function, with the options that they stand for in their place."""

    def __init__(self, parameters: Iterable[inspect.Parameter]) -> None:
        self.options: list[inspect.Parameter] = []
        # For each parameter, the group that it stands for and the names of its options.
        self._groups: dict[str, tuple[Options | None, list[str]]] = {}
        for parameter in parameters:
            group = _options_of(parameter.annotation)
            options = [parameter] if group is None else list(group.parameters())
            self._groups[parameter.name] = group, [option.name for option in options]
            self.options += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]

    @property
    def is_plain(self) -> bool:
        """Whether every parameter is an option itself."""
        return all(group is None for group, _ in self._groups.values())

    def arguments(self, values: OptionValues) -> dict[str, Any]:
        """Makes the arguments of the function from the values of the options. Raises typer.BadParameter."""
        return {
            name: values[name]
            if group is None
            else group.value({option: values[option] for option in options})
            for name, (group, options) in self._groups.items()
        }


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a command with options in place of the parameters that stand for several."""
    signature = inspect.signature(command, eval_str=True)
    expansion = Expansion(signature.parameters.values())
    if expansion.is_plain:
        return command

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        return command(**expansion.arguments(values))

    run.__signature__ = signature.replace(parameters=expansion.options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in expansion.options}
    return run


def _options_of(annotation: Any) -> Options | None:
    """Returns the options that a parameter stands for, None if it is an option itself."""
    marks = getattr(annotation, "__metadata__", ())
    options = next((mark for mark in marks if isinstance(mark, Options)), None)
    if options is None and isinstance(annotation, type) and is_dataclass(annotation):
        return RecordOptions(annotation)
    return options


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    """Returns the parameter for a field of a record."""
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, kind, default=default, annotation=annotation)
