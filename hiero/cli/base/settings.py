"""Options of commands that are settings: made of the settings themselves, with their defaults and limits.

A parameter of a command that is annotated with ``SettingOptions`` stands for an option per setting:
``expanded`` makes a function of it that typer can read.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hiero.base.json_files import first_error, is_model

# What the user gave, by the names of settings.
Given = Mapping[str, Any]


class Options:
    """Stands for options of a command."""

    def parameters(self) -> Iterator[inspect.Parameter]:
        raise NotImplementedError

    def value(self, given: Given) -> Any:
        """Makes the value for the command from the user's values by option name."""
        raise NotImplementedError


@dataclass(frozen=True)
class SettingOptions(Options):
    """An option for each setting of a model, and of the models in it, but for those ``without`` one; ``only``
    some, if they are named. The command gets the model.

    Where they are ``overrides`` of settings that stand elsewhere, no option has a default, and the command
    gets what is given: ``overrides`` says whose those are, "" that nothing but the defaults may stand there.
    The help shows them as a ``group``; a model within the model is one of its own, if it has a title.
    """

    kind: type[BaseModel]
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    overrides: str | None = None
    group: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        for name, info in self._fields(self.kind):
            group = self._groups.get(name, self.group)
            default = None if self.overrides is not None else info.default
            text = info.description or ""
            if self.overrides is not None:
                text += f" ({self.overrides or _text(info.default)})"
            yield _parameter(self.renamed.get(name, name), info, default, text, group)

    @property
    def _groups(self) -> dict[str, str]:
        """Maps settings of nested models to their groups."""
        inner: list[Any] = [i.annotation for i in self.kind.model_fields.values() if is_model(i.annotation)]
        titled = [(kind, kind.model_config.get("title")) for kind in inner]
        return {name: title for kind, title in titled if title for name in kind.model_fields}

    def _fields(self, kind: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
        for name, info in kind.model_fields.items():
            if is_model(info.annotation):
                yield from self._fields(info.annotation)
            elif name not in self.without and (not self.only or name in self.only):
                yield name, info

    def value(self, given: Given) -> Any:
        names = {name: self.renamed.get(name, name) for name, _ in self._fields(self.kind)}
        values = {name: given[option] for name, option in names.items() if given[option] is not None}
        try:
            model = self.kind.model_validate(self._nested(self.kind, values))
        except ValidationError as error:
            place, message = first_error(error)
            option = next((names[part] for part in map(str, place) if part in names), "")
            where = f"--{option.replace('_', '-')}: " if option else ""
            raise typer.BadParameter(f"{where}{message}") from None
        return values if self.overrides is not None else model

    def given(self, model: BaseModel) -> dict[str, Any]:
        """The options that ``value`` would make the model of: those that are not as the defaults are."""
        found: dict[str, Any] = {}
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if is_model(info.annotation):
                found |= self.given(value)
            elif value != info.default:
                found[self.renamed.get(name, name)] = _written(value)
        return found

    def _nested(self, kind: type[BaseModel], values: Given) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, info in kind.model_fields.items():
            if is_model(info.annotation):
                out[name] = self._nested(info.annotation, values)
            elif name in values:
                out[name] = values[name]
        return out


@dataclass(frozen=True)
class VariantOptions(Options):
    """An option for each setting that one of several models has, which say their defaults; the command gets
    what is given."""

    variants: Mapping[str, BaseModel]
    group: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        names = dict.fromkeys(name for each in self.variants.values() for name in type(each).model_fields)
        for name in names:
            having = {v: each for v, each in self.variants.items() if name in type(each).model_fields}
            info = type(next(iter(having.values()))).model_fields[name]
            # What only one has stands apart.
            alone = self.group is not None and len(having) == 1
            # What it means, and to which of the variants.
            meanings: dict[str, dict[str, Any]] = {}
            for variant, each in having.items():
                meaning = type(each).model_fields[name].description or ""
                meanings.setdefault(meaning, {})[variant] = getattr(each, name)
            text = "; ".join(
                f"{meaning}{_defaults(values, alone or len(having) == len(self.variants))}"
                for meaning, values in meanings.items()
            )
            group = f"{self.group} {next(iter(having))}" if alone else self.group
            yield _parameter(name, info, False if info.annotation is bool else None, text, group)

    def value(self, given: Given) -> Any:
        return {name: value for name, value in given.items() if value is not None and value is not False}


def _defaults(values: Mapping[str, Any], known: bool) -> str:
    """By variant; the most common one goes without their names if it is ``known`` whose it is."""
    if all(value is False for value in values.values()):
        return ""
    variants: dict[Any, list[str]] = {}
    for name, value in values.items():
        variants.setdefault(value, []).append(name)
    parts = []
    for number, value in enumerate(sorted(variants, key=lambda value: -len(variants[value]))):
        parts.append(f"{value}" if known and number == 0 else f"{', '.join(variants[value])}: {value}")
    return f" ({'; '.join(parts)})"


def _parameter(name: str, info: FieldInfo, default: Any, text: str, group: str | None) -> inspect.Parameter:
    """The parameter of a command for a setting; a name of one letter is a short option."""
    kind = _kind(info.annotation)
    if isinstance(default, tuple):
        default = None
    least: Any = next((limit.ge for limit in info.metadata if isinstance(limit, Ge)), None)
    most: Any = next((limit.le for limit in info.metadata if isinstance(limit, Le)), None)
    # What a type can hold says nothing to users.
    most = most if most is not None and most < 1 << 31 else None
    dashed = name.replace("_", "-")
    names = [f"-{name}"] if len(name) == 1 else []
    if kind is bool:
        # What overrides something may also say no.
        names = [f"--{dashed}/--no-{dashed}" if default is None else f"--{dashed}"]
    limits = {"min": least, "max": most} if kind in (int, float) else {}
    meaning = f"{text[:1].upper()}{text[1:].removesuffix('.')}."
    option = typer.Option(*names, help=meaning, rich_help_panel=group, **limits)
    if default is None:
        kind = kind | None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _kind(annotation: Any) -> Any:
    """The type of an option; what is neither a number nor a choice is text, which the settings read."""
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) in (Union, UnionType) and len(parts) == 1:
        annotation = parts[0]
    return annotation if annotation in (bool, int, float) or get_origin(annotation) is Literal else str


def _written(value: Any) -> Any:
    """A setting as its option takes it: ranges of lines are text, such as 1-9,20-30."""
    return ",".join(f"{first}-{last}" for first, last in value) if isinstance(value, tuple) else value


def _text(default: Any) -> str:
    return "off" if isinstance(default, float) and math.isinf(default) else str(default)


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with options in place of the parameters that stand for several."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, tuple[Options, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        marks = getattr(parameter.annotation, "__metadata__", ())
        options = next((mark for mark in marks if isinstance(mark, Options)), None)
        made = [parameter] if options is None else list(options.parameters())
        if options is not None:
            groups[parameter.name] = options, [each.name for each in made]
        parameters += [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in made]
    if not groups:
        return command

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        for name, (options, names) in groups.items():
            values[name] = options.value({each: values.pop(each) for each in names})
        return command(**values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
