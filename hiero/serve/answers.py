"""Answers to requests: what is translated, looked up or learned, on a thread of the server."""

from __future__ import annotations

import re
import time
from typing import Any

import numpy as np

from hiero._core import Deadline, Rule, Translation
from hiero.adapt import Correction
from hiero.decode.decoder import Decoder, Keep
from hiero.decode.model import Model
from hiero.decode.why_not import why_not
from hiero.features.glossary import Glossary, Term
from hiero.features.markup import Markup, Phrase
from hiero.features.sentence import Sentence
from hiero.forest.derivations import derivation_tree
from hiero.pages.views import Write, candidate_view, cell_views, item_views, rule_view, sentence_view
from hiero.serve import messages as m
from hiero.serve.catalogue import Catalogue, ServedModel
from hiero.text import TextSide
from hiero.text.schemes import is_wide
from hiero.text.sentences import split_text

MOST_WORDS = 300  # of a sentence, and of a prefix
# Of a sentence that is asked about, and of the translation that was wanted. Without a limit on the spans of
# rules, time and memory grow with the cube of their words.
MOST_ASKED_WORDS = 100
# Nonterminals of a rule of a request, and words that it may span. Without limits, the time to match it grows
# with a power of the sentence's length.
_GAP = re.compile(r"\[.+,\d+\]")
_MOST_GAPS = 2
_MOST_SPAN = 40
_MOST_EDGES = 30_000  # of a forest that is answered
_MOST_DETAILED = 100  # sentences of an answer with alternatives or details
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
        of_one_sentence = [name for name in ("prefix", "phrases") if getattr(request, name)]
        sentences: list[m.SentenceAnswer] = []
        parts: list[str] = []  # sentences, and what stands behind each
        weights = dict(model.decoder.weights)
        keep: Keep = "forest" if request.details or request.alternatives else "none"
        for piece, space in pieces:
            if piece.strip():
                if sentences and of_one_sentence:
                    raise ValueError(f"{of_one_sentence[0]} is of one sentence: send one, or split: false")
                if keep != "none" and len(sentences) == _MOST_DETAILED:
                    raise TooLongError(
                        f"ask for details or alternatives of at most {_MOST_DETAILED} sentences"
                    )
                if deadline.passed:
                    raise TooLongError(f"no time for the text behind {len(sentences)} sentences: send less")
                result, write = self._search(model, request, piece, keep, deadline)
                sentences.append(_sentence_answer(request, result, write))
                weights = result.weights
                if parts and not parts[-1] and parts[-2] and not is_wide(parts[-2][-1]):
                    parts[-1] = " "  # between sentences that had none, as Japanese ones
                parts.append(result.text)
            parts.append(space)
        milliseconds = round(1e3 * (time.perf_counter() - started), 3)
        return {
            "text": "".join(parts),
            "sentences": sentences,
            "weights": weights,
            "milliseconds": milliseconds,
        }

    def split(self, request: m.SplitRequest, deadline: Deadline) -> m.SplitAnswer:
        language = self.catalogue.model(request.model).decoder.model.text.source.language
        sentences: list[m.TextPart] = []
        line = 0
        for piece, space in split_text(request.text, language):
            if piece.strip():
                sentences.append({"text": piece, "line": line})
            line += space.count("\n")
        return {"sentences": sentences}

    def _search(
        self, model: ServedModel, request: m.SentenceRequest, piece: str, keep: Keep, deadline: Deadline
    ) -> tuple[Translation, Write]:
        """Returns the translation of a sentence, and what writes tokens as text."""
        decoder, sentence, weights = self._resolved(model, request, piece, deadline)
        result = decoder.translate(sentence, keep=keep, weights=weights or None, deadline=deadline)
        write = decoder.model.text.target.text
        if not sentence.is_raw:
            result.text = write(result.tokens)
        return result, write

    def _resolved(
        self, model: ServedModel, request: m.SentenceRequest, piece: str, deadline: Deadline
    ) -> tuple[Decoder, Sentence, dict[str, float]]:
        if request.context is None:
            return model.decoder, _sentence(model.decoder.model, request, piece), request.weights
        with model.contexts.use(request.context, deadline) as session:
            return session.resolve(_sentence(session.model, request, piece), request.weights)

    def chart(self, request: m.ChartRequest, deadline: Deadline) -> m.ChartAnswer:
        model = self.catalogue.model(request.model)
        result, write = self._search(model, request, request.text, "chart", deadline)
        items = []
        if request.span is not None and request.span in result.chart.spans:
            items = item_views(result.chart, request.span, result.weights, write, request.items)
        return {"source": result.source, "cells": cell_views(result.chart, write), "items": items}

    def forest(self, request: m.SentenceRequest, deadline: Deadline) -> m.ForestAnswer:
        model = self.catalogue.model(request.model)
        forest = self._search(model, request, request.text, "forest", deadline)[0].forest
        if forest.edge_count > _MOST_EDGES:
            raise TooLongError(
                f"the forest has {forest.edge_count:,} edges, more than {_MOST_EDGES:,}: use hiero.Decoder"
            )
        values: dict[str, Any] = {name: getattr(forest, name) for name in _FOREST}
        arrays = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
        }
        rows, names = forest.features, forest.feature_names
        features = [{names[f]: float(v) for f, v in zip(row.indices, row.data, strict=True)} for row in rows]
        return {**arrays, "features": features}

    def why_not(self, request: m.WhyNotRequest, deadline: Deadline) -> m.WhyNotAnswer:
        model = self.catalogue.model(request.model)
        text = model.decoder.model.text
        _check_length(text.source, request.text, MOST_ASKED_WORDS)
        _check_length(text.target, request.wanted, MOST_ASKED_WORDS)
        decoder, sentence, weights = self._resolved(model, request, request.text, deadline)
        answer = why_not(decoder, sentence, request.wanted, weights, deadline)
        write = decoder.model.text.target.text
        pruned: m.PrunedAnswer | None = None
        if answer.pruned is not None:
            lost = answer.pruned
            pruned = {
                "span": lost.span,
                "label": lost.label,
                "text": write(lost.derivation.tokens),
                "score": lost.derivation.score,
                "rank": lost.rank,
                "made": lost.made,
                "rule": rule_view(derivation_tree(lost.derivation), answer.best.weights),
                "winners": [candidate_view(winner, write) for winner in lost.winners[:10]],
            }
        results = (
            result if result is not None and result.has_parse else None
            for result in (answer.best, answer.wanted)
        )
        best, wanted = (
            None if result is None else candidate_view(result.derivation, write) for result in results
        )
        return {
            "reason": answer.reason,
            "tokens": list(answer.tokens),
            "source": answer.best.source,
            "best": best,
            "wanted": wanted,
            "source_words": list(answer.source_words),
            "target_words": list(answer.target_words),
            "limits": list(answer.limits),
            "differences": answer.feature_differences(),
            "pruned": pruned,
        }

    def correct(self, request: m.CorrectRequest, deadline: Deadline) -> m.CorrectionAnswer:
        model = self.catalogue.model(request.model)
        with model.contexts.use(request.context, deadline) as session:
            for side, text in (
                (session.model.text.source, request.source),
                (session.model.text.target, request.target),
            ):
                _check_length(side, text)
            return _correction(session.correct(request.source, request.target, deadline=deadline))

    def undo(self, request: m.UndoRequest, deadline: Deadline) -> m.CorrectionAnswer:
        contexts = self.catalogue.model(request.model).contexts
        return _correction(contexts.undo(request.context, request.id, deadline))

    def context(self, request: m.ContextRequest, deadline: Deadline) -> m.ContextAnswer:
        with self.catalogue.model(request.model).contexts.use(request.context, deadline) as session:
            corrections = list(map(_correction, session.corrections))
            return {"corrections": corrections, "rules": session.rule_count, "weights": session.weights}

    def models(self) -> list[m.ModelAnswer]:
        return [_model_answer(model) for model in self.catalogue]


def _model_answer(served: ServedModel) -> m.ModelAnswer:
    served.refresh()
    model, weights = served.decoder.model, served.decoder.weights
    return {
        "name": served.name,
        "source": served.source,
        "target": served.target,
        "learns": model.learning is not None,
        "weights": {name: weights.get(name, 0.0) for name in model.feature_names},
        "rule_features": sorted({name for table in model.tables for name in table.feature_names}),
    }


def _sentence_answer(request: m.TranslateRequest, result: Translation, write: Write) -> m.SentenceAnswer:
    alternatives = result.kbest(request.alternatives + 1, unique=True)[1:] if request.alternatives else []
    return {
        **sentence_view(result, request.details),
        "late": result.was_late,
        "alternatives": [candidate_view(derivation, write) for derivation in alternatives],
    }


def _check_length(side: TextSide, text: str, most: int = MOST_WORDS) -> None:
    """Raises TooLongError for a sentence of too many words."""
    words = len(side.tokens(text))
    if words > most:
        raise TooLongError(f"a sentence has {words:,} words: send at most {most} in a sentence")


def _sentence(model: Model, request: m.SentenceRequest, text: str) -> Sentence:
    """Makes the sentence of a request. Raises FormatError, ValueError."""
    side = model.text.source
    _check_length(side, text)
    _check_length(model.text.target, request.prefix)
    rules, hidden = (list(map(Rule, texts)) for texts in (request.rules, request.hidden))
    if any(sum(_GAP.fullmatch(token) is not None for token in rule.source) > _MOST_GAPS for rule in rules):
        raise ValueError(f"a rule has more than {_MOST_GAPS} nonterminals")
    sentence = Sentence(text, prefix=request.prefix, rules=rules, hidden=hidden, rule_span_limit=_MOST_SPAN)
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
        kept_terms = [
            term
            for term in sentence.markup.phrases
            if all(term.end <= one.begin or one.end <= term.begin for one in phrases)
        ]
        sentence = Sentence.from_source(sentence, markup=Markup([*phrases, *kept_terms]))
    return sentence


def _correction(correction: Correction) -> m.CorrectionAnswer:
    source, target = (
        text if isinstance(text, str) else " ".join(text) for text in (correction.source, correction.target)
    )
    return {
        "id": correction.id,
        "source": source,
        "target": target,
        "translation": correction.translation,
        "links": correction.links,
        "weights": dict(correction.weights),
    }
