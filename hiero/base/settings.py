"""Settings of the core as models of pydantic; what there are, with defaults and limits, is said there.
And settings that would do nothing, which are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hiero._core import Setting
from hiero.base.json_files import complaint, is_of_type

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class OneLineErrors(ModelMetaclass):
    """Makes of what pydantic says of a call one line, as of any function's arguments. Files are read by
    ``model_validate``, which this leaves alone."""

    if not TYPE_CHECKING:

        def __call__(self, *args: Any, **values: Any) -> Any:
            try:
                return super().__call__(*args, **values)
            except ValidationError as error:
                kind = TypeError if is_of_type(error) else ValueError
                raise kind(complaint(error, self)) from None


class Settings(BaseModel, metaclass=OneLineErrors):
    """Settings that never change. Raises TypeError for a value of another type; ValueError for one that
    cannot be, and for a name that there is not, which tells the names that are near."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Options(Protocol):
    """An options struct of the core."""

    def __init__(self, **values: Any) -> None: ...

    @staticmethod
    def settings() -> list[Setting]: ...


def settings_model(options: type[Options]) -> Any:
    """A frozen model to inherit from, with a field for every setting."""
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
    """Raises ValueError, with ``why``, where one of these settings is not its default."""
    for name in names:
        if getattr(settings, name) != type(settings).model_fields[name].default:
            raise ValueError(f"{name.replace('_', ' ')} {why}")
