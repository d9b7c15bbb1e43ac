"""Weights to decode with before they are tuned."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hiero.base.parallel import processors
from hiero.base.text import split
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]
# Sentence pairs whose lengths are compared, of at most so many tokens a side, and the hypotheses a span.
_SENTENCES = 500
_LONGEST = 40
_POP_LIMIT = 100
# How far lengths may be apart, and what WordPenalty is changed by, so many times at most.
_TOLERANCE = 0.02
_STEP = 0.1
_STEPS = 5
# Of rules seen once: one may come from the very sentence that is translated.
_SINGLETON = -10.0


class LengthRatio(NamedTuple):
    """``WordPenalty``, and how long it makes translations, of their references' length."""

    word_penalty: float
    ratio: float


def default_weights(feature_names: Sequence[str]) -> dict[str, float]:
    """The LMs share 0.5, the four translation probabilities have 0.2 each, WordPenalty -1, all others 0."""
    lms = [name for name in feature_names if name.removeprefix("LM").isdecimal()]
    known = dict.fromkeys(("PhraseFE", "PhraseEF", "LexFE", "LexEF"), 0.2) | {"WordPenalty": -1.0}
    known |= {name: 0.5 / len(lms) for name in lms}
    return {name: known.get(name, 0.0) for name in feature_names}


def weights_by_length(
    model: Model,
    corpus: Iterator[tuple[str, str]],
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[dict[str, float], LengthRatio | None]:
    """``default_weights`` with ``fitting_word_penalty`` for a sample of a corpus in tokens, and that; None if
    all of its sentences are too long. ``progress`` is called with the sentences translated so far."""
    weights = default_weights(model.feature_names)
    some = sample(corpus, seed)
    if not some:
        return weights, None
    found = fitting_word_penalty(model, some, progress)
    return {**weights, "WordPenalty": found.word_penalty}, found


def fitting_word_penalty(
    model: Model, pairs: Pairs, progress: Callable[[int], object] | None = None
) -> LengthRatio:
    """``WordPenalty`` by length: that of ``default_weights``, moved until translations of the source sides
    are together as long as the target sides, within two per cent.

    Both sides are tokens of sentences, one or more, that the model may have been trained on. Of what is tried
    the first that fits is taken, else the one that comes closest.
    """
    decoder = Decoder(model, pop_limit=_POP_LIMIT)
    weights = default_weights(model.feature_names)
    if "Singleton" in weights:
        weights["Singleton"] = _SINGLETON
    tried: list[LengthRatio] = []
    direction = 0
    for step in range(_STEPS + 1):
        weights["WordPenalty"] = round(-1.0 + direction * step * _STEP, 3)
        ratio = _ratio(decoder.with_weights(model.weight_vector(weights)), pairs)
        tried.append(LengthRatio(weights["WordPenalty"], ratio))
        if progress is not None:
            progress(len(tried) * len(pairs))
        if abs(ratio - 1) <= _TOLERANCE or (tried[0].ratio > 1) != (ratio > 1):
            break
        direction = 1 if ratio > 1 else -1
    return min(tried, key=lambda each: abs(each.ratio - 1))


def _ratio(decoder: Decoder, pairs: Pairs) -> float:
    found = decoder.translate_batch([source for source, _ in pairs], threads=processors())
    return sum(len(each.tokens) for each in found) / sum(len(target) for _, target in pairs)


def sample(pairs: Iterator[tuple[str, str]], seed: int) -> list[tuple[list[str], list[str]]]:
    """Some pairs of sentences of both sides, drawn with equal chances, of those that are not too long."""
    rng = random.Random(seed)
    drawn: list[tuple[list[str], list[str]]] = []
    seen = 0
    for lines in pairs:
        source, target = map(split, lines)
        if not (0 < len(source) <= _LONGEST and 0 < len(target) <= _LONGEST):
            continue
        seen += 1
        place = len(drawn) if len(drawn) < _SENTENCES else rng.randrange(seen)
        if place < _SENTENCES:
            drawn[place : place + 1] = [(source, target)]
    return drawn
