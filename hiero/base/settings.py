"""Settings of the core as models of pydantic; what there are, with defaults and limits, is said there.
And settings that would do nothing, which are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, create_model

from hiero._core import Setting


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
    return create_model("Settings", __config__=ConfigDict(extra="forbid", frozen=True), **fields)


def refuse_idle(settings: BaseModel, names: Iterable[str], why: str) -> None:
    """Raises ValueError, with ``why``, where one of these settings is not its default."""
    for name in names:
        if getattr(settings, name) != type(settings).model_fields[name].default:
            raise ValueError(f"{name.replace('_', ' ')} {why}")
