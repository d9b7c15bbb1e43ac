"""How a decoder searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from hiero import _core
from hiero.base.settings import settings_model


class DecodingArguments(TypedDict, total=False):
    """The settings' names and types, for those who check types and complete names."""

    pop_limit: int
    span_limit: int
    beam_size: int
    beam_threshold: float
    ttable_limit: int
    pass_through: Literal["unknown", "all", "none"]
    unknown_words: Literal["copy", "mark", "drop"]


class DecodingSettings(settings_model(_core.DecoderOptions)):  # type: ignore[misc]
    """Every decoding setting with its default; scores and thresholds are natural logs.

    What settings there are and what they mean is said in ``cpp/hiero/decode/options.h``, and told by
    ``DecodingSettings.model_fields``.
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[DecodingArguments]) -> None: ...

    def options(self) -> _core.DecoderOptions:
        """The settings as the core takes them."""
        return _core.DecoderOptions(**self.model_dump())
