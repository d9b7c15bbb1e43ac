"""How a decoder searches."""

from __future__ import annotations

from hiero import _core
from hiero.base.settings import settings_model


class DecodingSettings(settings_model(_core.DecoderOptions)):  # type: ignore[misc]
    """Every decoding setting with its default; scores and thresholds are natural logs.

    What settings there are and what they mean is said in ``cpp/hiero/decode/options.h``, and told by
    ``DecodingSettings.model_fields``.
    """

    def options(self) -> _core.DecoderOptions:
        """The settings as the core takes them."""
        return _core.DecoderOptions(**self.model_dump())
