"""Pydantic models for the settings of the core.

The core defines the names, defaults and limits. Settings that would have no effect are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hiero._core import Setting
from hiero.base.json_files import is_type_error, validation_message

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class OneLineErrors(ModelMetaclass):
    """A metaclass that turns pydantic's errors for a constructor call into a TypeError or ValueError.

    The message has one line. ``model_validate``, which reads files, is not affected.
    """

    if not TYPE_CHECKING:

        def __call__(self, *args: Any, **values: Any) -> Any:
            try:
                return super().__call__(*args, **values)
            except ValidationError as error:
                kind = TypeError if is_type_error(error) else ValueError
                raise kind(validation_message(error, self)) from None


class Settings(BaseModel, metaclass=OneLineErrors):
    """Immutable settings. Raises TypeError for a value of a wrong type, ValueError for an invalid value.

    Raises ValueError for an unknown name, and suggests similar names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class Options(Protocol):
    """An options struct of the core."""

    def __init__(self, **values: Any) -> None: ...

    @staticmethod
    def settings() -> list[Setting]: ...


def settings_model(options: type[Options]) -> Any:
    """Returns a frozen pydantic model with a field for every setting, to be used as a base class."""
    fields: dict[str, Any] = {}
    for setting in options.settings():
        kind: Any = type(setting.default)
        if setting.choices:
            kind = Literal[tuple(setting.choices)]
        elif kind is tuple:
            kind = tuple[tuple[int, int], ...]
        info = Field(setting.default, ge=setting.least, le=setting.most, description=setting.meaning)
        fields[setting.name] = (kind, info)
    return create_model("CoreSettings", __base__=Settings, **fields)


def refuse_idle(settings: BaseModel, names: Iterable[str], why: str) -> None:
    """Raises ValueError with the reason ``why`` if one of these settings differs from its default."""
    for name in names:
        if getattr(settings, name) != type(settings).model_fields[name].default:
            raise ValueError(f"{name.replace('_', ' ')} {why}")
