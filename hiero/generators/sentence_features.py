"""Features of single sentences as features of a model, so that tuning weighs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hiero._core import Rule
from hiero.base.settings import Settings
from hiero.features.sentence import Sentence


class SentenceFeatures(Settings):
    """A generator without rules that gives a model the features ``names``.

    They are features of what sentences bring: of their rules, their marked phrases (``Markup`` and
    ``MarkupProbability``) and the arcs of their lattices (``Lattice0``, ...). A model without them decodes
    such sentences as well, with weights that are given, but these cannot be tuned.
    """

    kind: Literal["sentence"] = "sentence"
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.kind

    @property
    def features(self) -> Sequence[str]:
        return self.names

    def rules(self, sentence: Sentence) -> list[Rule]:
        return []
