"""The features of marked phrases as features of a model, so that tuning weighs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hiero._core import Rule
from hiero.base.settings import Settings
from hiero.features.markup import MARKUP_FEATURES
from hiero.features.sentence import Sentence


class MarkedPhrases(Settings):
    """A generator that gives a model the features ``Markup`` and ``MarkupProbability``.

    The decoder itself makes the rules of phrases that are marked in a sentence. They have these features also
    in a model without this generator, but then at fixed weights, which tuning does not change.
    """

    kind: Literal["marked"] = "marked"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def features(self) -> Sequence[str]:
        return MARKUP_FEATURES

    def rules(self, sentence: Sentence) -> list[Rule]:
        return []
