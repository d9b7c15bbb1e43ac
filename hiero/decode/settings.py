"""Settings of the decoder's search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from hiero import _core
from hiero.base.settings import settings_model

# The span limits that training and tuning choose among. The papers of ``hiero.tune`` have 15 and 20.
SPAN_LIMITS = (10, 15, 20)


class DecodingArguments(TypedDict, total=False):
    """Names and types of the settings, for type checkers and editors."""

    pop_limit: int
    span_limit: int
    beam_size: int
    beam_threshold: float
    ttable_limit: int
    exact: int
    pass_through: Literal["unknown", "all", "none"]
    unknown_words: Literal["copy", "mark", "drop"]
    confidence_temperature: float


class DecodingSettings(settings_model(_core.DecoderOptions)):  # type: ignore[misc]
    """All decoding settings with their defaults. Scores and thresholds are natural logs.

    The settings are defined in ``cpp/hiero/decode/options.h``; ``DecodingSettings.model_fields`` describes
    them.
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[DecodingArguments]) -> None: ...

    def options(self) -> _core.DecoderOptions:
        """Returns the settings as an options struct of the core."""
        return _core.DecoderOptions(**self.model_dump())
