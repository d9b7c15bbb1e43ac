"""Groups of options made from settings, which are models of pydantic, with their defaults and limits."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hiero.base.json_files import first_error, is_model
from hiero.cli.base.option_groups import Options, OptionValues


@dataclass(frozen=True)
class SettingOptions(Options):
    """An option for each setting of a model, and of the models in it; the command gets the model.

    ``only`` names the settings that have an option (by default all), ``without`` those that have none, and
    ``renamed`` options with another name than their setting's.

    With ``overrides`` the options have no default, and the command gets the settings that the user gave, by
    name: settings of this kind stand elsewhere, and these override them. ``overrides`` tells the help whose
    settings those are ("the model's"); "" stands for the defaults of the settings themselves.

    The help shows the options as ``group``; those of an inner model that has a title, under its title.
    """

    kind: type[BaseModel]
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    overrides: str | None = None
    overriding: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        for name, info in self._fields(self.kind):
            group = self._groups.get(name, self.group)
            default = None if self.overrides is not None else info.default
            text = info.description or ""
            if self.overrides is not None:
                told = self.overriding.get(name, self.overrides) or _default_text(info.default)
                text = f"{text.removesuffix('.')} (default: {told})"
            yield _parameter(self.renamed.get(name, name), info, default, text, group)

    @property
    def _groups(self) -> dict[str, str]:
        """Maps settings of inner models to the titles of these."""
        inner: list[Any] = [i.annotation for i in self.kind.model_fields.values() if is_model(i.annotation)]
        titled = [(kind, kind.model_config.get("title")) for kind in inner]
        return {name: title for kind, title in titled if title for name in kind.model_fields}

    def _fields(self, kind: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
        for name, info in kind.model_fields.items():
            if is_model(info.annotation):
                yield from self._fields(info.annotation)
            elif name not in self.without and (not self.only or name in self.only):
                yield name, info

    def value(self, values: OptionValues) -> Any:
        options = {name: self.renamed.get(name, name) for name, _ in self._fields(self.kind)}
        settings = {name: values[option] for name, option in options.items() if values[option] is not None}
        try:
            model = self.kind.model_validate(self._nested(self.kind, settings))
        except ValidationError as error:
            place, message = first_error(error)
            option = next((options[part] for part in map(str, place) if part in options), "")
            where = f"--{option.replace('_', '-')}: " if option else ""
            raise typer.BadParameter(f"{where}{message}") from None
        return settings if self.overrides is not None else model

    def options_for(self, model: BaseModel) -> dict[str, Any]:
        """Returns the options that ``value`` makes the model from: those whose settings are not default."""
        options: dict[str, Any] = {}
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if is_model(info.annotation):
                options |= self.options_for(value)
            elif value != info.default:
                options[self.renamed.get(name, name)] = _option_text(value)
        return options

    def _nested(self, kind: type[BaseModel], values: OptionValues) -> dict[str, Any]:
        """Sorts values by setting into the model and its inner models."""
        nested: dict[str, Any] = {}
        for name, info in kind.model_fields.items():
            if is_model(info.annotation):
                nested[name] = self._nested(info.annotation, values)
            elif name in values:
                nested[name] = values[name]
        return nested


@dataclass(frozen=True)
class VariantOptions(Options):
    """An option for each setting that one or more of several models have; the command gets the settings that
    the user gave. The help tells the default of each variant, which is an instance of its model.

    The help shows the options as ``group``, and those of a single variant as ``group`` with its name.
    """

    variants: Mapping[str, BaseModel]
    group: str | None = None

    def parameters(self) -> Iterator[inspect.Parameter]:
        names = dict.fromkeys(name for model in self.variants.values() for name in type(model).model_fields)
        for name in names:
            having = {v: model for v, model in self.variants.items() if name in type(model).model_fields}
            info = type(next(iter(having.values()))).model_fields[name]
            is_alone = self.group is not None and len(having) == 1
            group = f"{self.group} {next(iter(having))}" if is_alone else self.group
            text = self._text(name, having, is_alone)
            yield _parameter(name, info, False if info.annotation is bool else None, text, group)

    def _text(self, name: str, having: Mapping[str, BaseModel], is_alone: bool) -> str:
        """Describes a setting, by variant where it means different things."""
        defaults: dict[str, dict[str, Any]] = {}
        for variant, model in having.items():
            meaning = (type(model).model_fields[name].description or "").removesuffix(".")
            defaults.setdefault(meaning, {})[variant] = getattr(model, name)
        unnamed = is_alone or len(having) == len(self.variants)
        return "; ".join(f"{text}{_defaults_text(values, unnamed)}" for text, values in defaults.items())

    def value(self, values: OptionValues) -> Any:
        return {name: value for name, value in values.items() if value is not None and value is not False}


def _defaults_text(values: Mapping[str, Any], unnamed: bool) -> str:
    """Tells defaults by variant; with ``unnamed``, the most common default stands first and without names."""
    if all(value is False for value in values.values()):
        return ""
    variants: dict[Any, list[str]] = {}
    for name, value in values.items():
        variants.setdefault(value, []).append(name)
    ordered = sorted(variants, key=lambda value: -len(variants[value]))
    parts = [f" for {', '.join(variants[value])}: {_default_text(value)}" for value in ordered]
    if unnamed:
        parts[0] = f": {_default_text(ordered[0])}"
    return f" (default{';'.join(parts)})"


def _parameter(name: str, info: FieldInfo, default: Any, text: str, group: str | None) -> inspect.Parameter:
    """Makes the parameter of a command for a setting; a name of one letter is a short option."""
    kind = _kind(info.annotation)
    if isinstance(default, tuple):
        default = None
    least: Any = next((limit.ge for limit in info.metadata if isinstance(limit, Ge)), None)
    most: Any = next((limit.le for limit in info.metadata if isinstance(limit, Le)), None)
    # The greatest number that a type can hold tells users nothing.
    most = most if most is not None and most < 1 << 31 else None
    dashed = name.replace("_", "-")
    names = [f"-{name}"] if len(name) == 1 else []
    if kind is bool:
        # An option that overrides a setting can also switch it off.
        names = [f"--{dashed}/--no-{dashed}" if default is None else f"--{dashed}"]
    limits = {"min": least, "max": most} if kind in (int, float) else {}
    meaning = f"{text[:1].upper()}{text[1:].removesuffix('.')}."
    metavar = f"{'|'.join(choices)}..." if (choices := _choices(info.annotation)) else None
    option = typer.Option(*names, help=meaning, metavar=metavar, rich_help_panel=group, **limits)
    if default is None:
        kind = kind | None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _choices(annotation: Any) -> tuple[str, ...]:
    """Returns the choices of a setting of several, nothing for another setting."""
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else None
    return get_args(inner) if get_origin(inner) is Literal else ()


def _kind(annotation: Any) -> Any:
    """Returns the type of an option: text for a setting that is neither a number, a flag nor a choice, which
    the settings then read. A setting of several choices has an option that may be repeated."""
    if _choices(annotation):
        return list[str]  # typer has no lists of choices; the settings check them
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) in (Union, UnionType) and len(parts) == 1:
        annotation = parts[0]
    return annotation if annotation in (bool, int, float) or get_origin(annotation) is Literal else str


def _option_text(value: Any) -> Any:
    """Returns the value of a setting as its option takes it: ranges of lines as text, such as 1-9,20-30, and
    several choices as a list."""
    if not isinstance(value, tuple):
        return value
    if all(isinstance(part, str) for part in value):
        return list(value)
    return ",".join(f"{first}-{last}" for first, last in value)


def _default_text(default: Any) -> str:
    is_off = default is None or (isinstance(default, float) and math.isinf(default))
    return "off" if is_off else str(default)
