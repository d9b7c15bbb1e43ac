"""Answers to requests: what is translated, looked up or learned, on a thread of the server."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hiero._core import Deadline, Rule, Translation
from hiero.adapt.adapted_decoder import Correction
from hiero.decode.decoder import Decoder, Keep
from hiero.decode.why_not import why_not
from hiero.features.glossary import Glossary, Term
from hiero.features.markup import Markup, Phrase
from hiero.features.sentence import Sentence
from hiero.forest.derivations import derivation_tree
from hiero.pages.views import candidate_view, cell_views, item_views, rule_view
from hiero.serve import messages as m
from hiero.serve.catalogue import Catalogue, ServedModel
from hiero.text.sentences import split_text

MOST_WORDS = 300  # of a sentence
# Attributes of forests that are answered.
_FOREST = (
    *("root", "source", "words", "labels", "node_spans", "node_labels", "edge_offsets", "tail_offsets"),
    *("tails", "edge_targets", "target_offsets", "target_symbols"),
)


class TooLongError(ValueError):
    """A sentence has too many words."""


class Answers:
    """Answers requests about the models of a catalogue. Any number of threads may use it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def translate(self, request: m.TranslateRequest, deadline: Deadline) -> m.TranslateAnswer:
        started = time.perf_counter()
        model = self.catalogue.model(request.model)
        language = model.decoder.model.text.source.language
        pieces = split_text(request.text, language) if request.split else [(request.text, "")]
        sentences: list[m.SentenceAnswer] = []
        text, weights = [], dict(model.decoder.weights)
        for piece, space in pieces:
            if piece.strip():
                keep: Keep = "forest" if request.details or request.alternatives else "none"
                result = self._search(model, request, piece, keep, deadline)
                sentences.append(_sentence_answer(model, request, result))
                weights = result.weights
                text.append(result.text)
            text.append(space)
        milliseconds = round(1e3 * (time.perf_counter() - started), 3)
        return {
            "text": "".join(text),
            "sentences": sentences,
            "weights": weights,
            "milliseconds": milliseconds,
        }

    def _search(
        self, model: ServedModel, request: m.SentenceRequest, piece: str, keep: Keep, deadline: Deadline
    ) -> Translation:
        decoder, sentence, weights = self._resolved(model, request, piece)
        result = decoder.translate(sentence, keep=keep, weights=weights or None, deadline=deadline)
        if not sentence.is_raw:
            result.text = model.decoder.model.text.target.text(result.tokens)
        return result

    def _resolved(
        self, model: ServedModel, request: m.SentenceRequest, piece: str
    ) -> tuple[Decoder, Sentence, dict[str, float]]:
        sentence = _sentence(model, request, piece)
        if request.context is None:
            return model.decoder, sentence, request.weights
        return model.session(request.context).resolve(sentence, request.weights)

    def chart(self, request: m.ChartRequest, deadline: Deadline) -> m.ChartAnswer:
        model = self.catalogue.model(request.model)
        result = self._search(model, request, request.text, "chart", deadline)
        write, items = model.decoder.model.text.target.text, []
        if request.span is not None and request.span in result.chart.spans:
            items = item_views(result.chart, request.span, result.weights, write, request.items)
        return {"source": result.source, "cells": cell_views(result.chart, write), "items": items}

    def forest(self, request: m.SentenceRequest, deadline: Deadline) -> m.ForestAnswer:
        model = self.catalogue.model(request.model)
        forest = self._search(model, request, request.text, "forest", deadline).forest
        values: dict[str, Any] = {name: getattr(forest, name) for name in _FOREST}
        arrays = {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in values.items()}
        rows, names = forest.features, forest.feature_names
        features = [{names[f]: float(v) for f, v in zip(row.indices, row.data, strict=True)} for row in rows]
        return {**arrays, "features": features}

    def why_not(self, request: m.WhyNotRequest, deadline: Deadline) -> m.WhyNotAnswer:
        model = self.catalogue.model(request.model)
        decoder, sentence, weights = self._resolved(model, request, request.text)
        found = why_not(decoder, sentence, request.wanted, weights)
        write = model.decoder.model.text.target.text
        pruned: m.PrunedAnswer | None = None
        if found.pruned is not None:
            lost = found.pruned
            pruned = {
                "span": lost.span,
                "label": lost.label,
                "text": write(lost.derivation.tokens),
                "score": lost.derivation.score,
                "rank": lost.rank,
                "made": lost.made,
                "rule": rule_view(derivation_tree(lost.derivation), found.best.weights),
                "winners": [candidate_view(one, write) for one in lost.winners[:10]],
            }
        results = (one if one is not None and one.has_parse else None for one in (found.best, found.wanted))
        best, wanted = (None if one is None else candidate_view(one.derivation, write) for one in results)
        return {
            "reason": found.reason,
            "tokens": list(found.tokens),
            "source": found.best.source,
            "best": best,
            "wanted": wanted,
            "source_words": list(found.source_words),
            "target_words": list(found.target_words),
            "limits": list(found.limits),
            "differences": found.feature_differences(),
            "pruned": pruned,
        }

    def correct(self, request: m.CorrectRequest, deadline: Deadline) -> m.CorrectionAnswer:
        model = self.catalogue.model(request.model)
        _check_length(model, request.source)
        return _correction(model.session(request.context).correct(request.source, request.target))

    def undo(self, request: m.UndoRequest, deadline: Deadline) -> m.CorrectionAnswer:
        return _correction(self.catalogue.model(request.model).session(request.context).undo(request.id))

    def context(self, request: m.ContextRequest, deadline: Deadline) -> m.ContextAnswer:
        session = self.catalogue.model(request.model).session(request.context)
        corrections = list(map(_correction, session.corrections))
        return {"corrections": corrections, "rules": session.rule_count, "weights": session.weights}

    def models(self) -> list[m.ModelAnswer]:
        return [
            {
                "name": one.name,
                "source": one.source,
                "target": one.target,
                "learns": one.decoder.model.learning is not None,
                "weights": {
                    name: one.decoder.weights.get(name, 0.0) for name in one.decoder.model.feature_names
                },
            }
            for one in map(self.catalogue.model, self.catalogue.names())
        ]


def _sentence_answer(
    model: ServedModel, request: m.TranslateRequest, result: Translation
) -> m.SentenceAnswer:
    write = model.decoder.model.text.target.text
    more = result.kbest(request.alternatives + 1, unique=True)[1:] if request.alternatives else []
    details = request.details and result.has_parse
    return {
        "source": result.source,
        "tokens": result.tokens,
        "text": result.text,
        "score": result.score if result.has_parse else 0.0,
        "alignment": result.alignment,
        "unknown": result.unknown,
        "late": result.was_late,
        "confidence": result.confidence() if details else [],
        "features": result.features if details else {},
        "alternatives": [candidate_view(one, write) for one in more],
        "derivation": rule_view(derivation_tree(result.derivation), result.weights) if details else None,
    }


def _check_length(model: ServedModel, text: str) -> None:
    """Raises TooLongError for a sentence of too many words."""
    words = len(model.decoder.model.text.source.tokens(text))
    if words > MOST_WORDS:
        raise TooLongError(f"a sentence has {words:,} words: send at most {MOST_WORDS} in a sentence")


def _sentence(model: ServedModel, request: m.SentenceRequest, text: str) -> Sentence:
    """Makes the sentence of a request. Raises FormatError, ValueError."""
    _check_length(model, text)
    side = model.decoder.model.text.source
    rules, hidden = (list(map(Rule, texts)) for texts in (request.rules, request.hidden))
    sentence = Sentence(text, prefix=request.prefix, rules=rules, hidden=hidden)
    if request.terms:
        targets: dict[str, list[str]] = {}
        for term, translation in request.terms:
            targets.setdefault(term, []).append(translation)
        glossary = Glossary([Term(term, tuple(translations)) for term, translations in targets.items()])
        sentence = glossary.marked(sentence, side)
    if request.phrases:
        # Phrases are of tokens. Of the marks of terms, those that they meet give way.
        sentence = sentence.with_tokens(side)
        phrases = [Phrase(begin, end, [translation]) for begin, end, translation in request.phrases]
        others = [
            term
            for term in sentence.markup.phrases
            if all(term.end <= one.begin or one.end <= term.begin for one in phrases)
        ]
        sentence = Sentence.from_source(sentence, markup=Markup([*phrases, *others]))
    return sentence


def _correction(one: Correction) -> m.CorrectionAnswer:
    source, target = (text if isinstance(text, str) else " ".join(text) for text in (one.source, one.target))
    return {
        "id": one.id,
        "source": source,
        "target": target,
        "translation": one.translation,
        "links": one.links,
        "weights": dict(one.weights),
    }
