"""A decoder that corrections change: by their rules, and by steps of the weights."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hiero._core import Deadline, Error, Rule, Translation
from hiero.adapt.learning_model import LearningModel
from hiero.adapt.rules import CORRECTED, RuleMemory
from hiero.adapt.settings import AdaptSettings
from hiero.decode.decoder import Decoder, Source
from hiero.features.sentence import Sentence
from hiero.forest.losses import BleuDocument
from hiero.text import TextSide
from hiero.train.alignment import Links
from hiero.tune.methods.mira.constraints import HopeFearSelection, solve_batch
from hiero.tune.methods.mira.online import TOLERANCE

# The sum of the absolute weights of the model while a step is taken. Translations do not depend on the scale
# of weights, but margins of MIRA do, which are in units of B: small weights violate all of them, so that
# every sentence moves them, and they fit the last ones alone (benchmarks/results/learning.md).
_SCALE = 15.0
# Raw text, or its tokens.
Text = str | Sequence[str]


@dataclass(frozen=True)
class Correction:
    """A correction that was learned from.

    ``translation`` is what ``source`` was translated as before, and ``links`` are the word alignment of the
    tokens of source and target. ``weights`` are those that were moved, with their new values, and
    ``document`` is the pseudo-document after the translation.
    """

    id: int
    source: Text
    target: Text
    translation: str
    links: Links
    weights: Mapping[str, float]
    document: BleuDocument = field(repr=False, compare=False)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        counts = record["document"]
        return cls(
            record["correction"],
            record["source"],
            record["target"],
            record["translation"],
            [(source, target) for source, target in record["links"]],
            record["weights"],
            BleuDocument(np.array(counts[:-1]), counts[-1]),
        )

    def to_record(self) -> dict[str, Any]:
        return {
            "correction": self.id,
            "source": self.source,
            "target": self.target,
            "translation": self.translation,
            "links": self.links,
            "weights": dict(self.weights),
            "document": [*self.document.counts.tolist(), self.document.source],
        }


class AdaptedDecoder:
    """A decoder with the rules of some corrections, and weights that they moved.

    Any number of threads may translate while one applies updates. Raises Error for a model without the files
    that learning rules needs.
    """

    def __init__(self, model: LearningModel, settings: AdaptSettings) -> None:
        self.settings = settings
        self.corrections: list[Correction] = []
        self._model = model
        self._decoder = model.decoder
        self._scale = _SCALE / (sum(map(abs, model.decoder.weights.values())) or _SCALE)
        self._memory: RuleMemory | None = None
        self._document = BleuDocument()
        self._own_weights: dict[str, float] = {}  # of features that the model does not have
        self._lock = threading.Lock()
        if settings.rules:
            if model.words is None:
                raise Error(
                    "the model cannot align corrections, because hiero's own aligner did not align its"
                    " training: learn weights alone"
                )
            self._memory = RuleMemory(model.decoder.model, model.words)
            self._own_weights = {CORRECTED: 0.0}

    @property
    def weights(self) -> dict[str, float]:
        """The weights by feature name."""
        with self._lock:
            return {**self._decoder.weights, **self._own_weights}

    @property
    def rule_count(self) -> int:
        """The number of different rules of corrections."""
        return 0 if self._memory is None else len(self._memory)

    def resolve(
        self, source: Source, weights: Mapping[str, float]
    ) -> tuple[Decoder, Sentence, dict[str, float]]:
        """Returns the decoder, the sentence with its rules of corrections, and the weights for this call.

        Rules of corrections that the sentence hides are left out.
        """
        sentence = Sentence.from_source(source)
        tokens = sentence.with_tokens(self._decoder.model.text.source).tokens
        with self._lock:
            decoder, own_weights = self._decoder, self._own_weights
            rules = [] if self._memory is None else self._memory.rules_for(tokens)
        hidden = set(map(_sides, sentence.hidden))
        rules = [rule for rule in rules if _sides(rule) not in hidden]
        if rules:
            # As if the training had them: rules of a sentence alone may span any number of words.
            limit = decoder.model.tables[0].span_limit or decoder.settings.span_limit
            sentence = Sentence.from_source(sentence, rules=[*sentence.rules, *rules], rule_span_limit=limit)
            return decoder, sentence, {**own_weights, **weights}
        return (
            decoder,
            sentence,
            {name: weight for name, weight in weights.items() if name not in own_weights},
        )

    def update(self, number: int, source: Text, target: Text, deadline: Deadline | None = None) -> Correction:
        """Computes what a correction changes, without changing it.

        Raises TimeoutError if the deadline ends the search, whose forest is then too small to learn from.
        """
        text = self._decoder.model.text
        tokens, reference = tokens_of(source, text.source), tokens_of(target, text.target)
        decoder, sentence, own_weights = self.resolve(source, {})
        result = decoder.translate(sentence, keep="forest", weights=own_weights, deadline=deadline)
        if result.was_late:
            raise TimeoutError("there was no time to learn from a correction")
        weights, document = self._moved_weights(result, reference)
        links = self._model.align(tokens, reference) if self._memory is not None else []
        return Correction(number, source, target, result.text, links, weights, document)

    def apply(self, correction: Correction) -> None:
        """Applies an update that was computed after all that were applied so far."""
        text = self._decoder.model.text
        source = tokens_of(correction.source, text.source)
        target = tokens_of(correction.target, text.target)
        own = {name: weight for name, weight in correction.weights.items() if name in self._own_weights}
        others = {name: weight for name, weight in correction.weights.items() if name not in own}
        decoder = self._decoder.with_weights(others) if others else self._decoder
        with self._lock:
            if self._memory is not None:
                self._memory.add(source, target, correction.links)
            self._decoder = decoder
            self._own_weights = {**self._own_weights, **own}
            self._document = correction.document
            self.corrections.append(correction)

    def _moved_weights(
        self, result: Translation, reference: Sequence[str]
    ) -> tuple[dict[str, float], BleuDocument]:
        """Returns the weights that a step of MIRA moves, and the document after the translation."""
        settings = self.settings
        if not (settings.weights and result.has_parse):
            return {}, self._document
        forest = result.forest
        names = forest.feature_names
        before = [result.weights.get(name, 0.0) for name in names]
        weights = self._scale * np.array(before)
        selection = HopeFearSelection(settings.k, settings.mu, "forest", True, "closest")
        constraints, document = selection.select(forest, weights, [reference], self._document)
        fixed = np.zeros(len(weights), dtype=bool)
        step = solve_batch([constraints], weights, fixed, settings.c, TOLERANCE)
        moved = {
            names[number]: before[number] + change / self._scale
            for number, change in zip(step.ids.tolist(), step.changes.tolist(), strict=True)
            if change
        }
        return moved, document


def tokens_of(text: Text, side: TextSide) -> list[str]:
    """Returns the tokens of raw text, or those that are given."""
    return side.tokens(text) if isinstance(text, str) else list(text)


def _sides(rule: Rule) -> tuple[str, ...]:
    return rule.lhs, *rule.source, "|||", *rule.target
