"""Default weights for a model that is not tuned yet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hiero.base.text import split
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]
# The sample for comparing lengths: the number of sentence pairs, the maximum number of tokens on each side,
# and the pop limit of decoding.
_SENTENCES = 500
_MAX_LENGTH = 40
_POP_LIMIT = 100
# WordPenalty is changed in steps until lengths differ by less than the tolerance.
_TOLERANCE = 0.02
_STEP = 0.1
_STEPS = 5
# The weight of rules seen once. Otherwise a sentence of the bitext would be translated by its own rules.
_SINGLETON = -10.0


class LengthRatio(NamedTuple):
    """A value of ``WordPenalty`` and the ratio of the length of translations to the length of references."""

    word_penalty: float
    ratio: float


def default_weights(feature_names: Sequence[str]) -> dict[str, float]:
    """Returns 0.5 divided among the LMs, 0.2 for each translation probability, WordPenalty -1, and 0 else."""
    lms = [name for name in feature_names if name.removeprefix("LM").isdecimal()]
    defaults = dict.fromkeys(("PhraseFE", "PhraseEF", "LexFE", "LexEF"), 0.2) | {"WordPenalty": -1.0}
    defaults |= {name: 0.5 / len(lms) for name in lms}
    return {name: defaults.get(name, 0.0) for name in feature_names}


def weights_by_length(
    model: Model,
    corpus: Iterator[tuple[str, str]],
    seed: int,
    progress: Callable[[int], object] | None = None,
    threads: int = 1,
) -> tuple[dict[str, float], LengthRatio | None]:
    """Returns ``default_weights`` with the ``fitting_word_penalty`` for a sample of a tokenised corpus.

    Also returns that penalty with its length ratio, or None if all sentences are too long. ``progress`` is
    called with the number of sentences translated. The number of ``threads`` changes nothing but the time.
    """
    weights = default_weights(model.feature_names)
    pairs = sample(corpus, seed)
    if not pairs:
        return weights, None
    fit = fitting_word_penalty(model, pairs, progress, threads)
    return {**weights, "WordPenalty": fit.word_penalty}, fit


def fitting_word_penalty(
    model: Model, pairs: Pairs, progress: Callable[[int], object] | None = None, threads: int = 1
) -> LengthRatio:
    """Finds a ``WordPenalty`` for which translations have the total length of the references, within 2 %.

    ``pairs`` are tokens of source and target sentences, which the model may have been trained on. The search
    starts at the default weight. If no value reaches the tolerance, it returns the best one.
    """
    decoder = Decoder(model, pop_limit=_POP_LIMIT)
    weights = default_weights(model.feature_names)
    if "Singleton" in weights:
        weights["Singleton"] = _SINGLETON
    tried: list[LengthRatio] = []
    direction = 0
    for step in range(_STEPS + 1):
        weights["WordPenalty"] = round(-1.0 + direction * step * _STEP, 3)
        ratio = _length_ratio(decoder.with_weights(model.weight_vector(weights)), pairs, threads)
        tried.append(LengthRatio(weights["WordPenalty"], ratio))
        if progress is not None:
            progress(len(tried) * len(pairs))
        if abs(ratio - 1) <= _TOLERANCE or (tried[0].ratio > 1) != (ratio > 1):
            break
        direction = 1 if ratio > 1 else -1
    return min(tried, key=lambda candidate: abs(candidate.ratio - 1))


def _length_ratio(decoder: Decoder, pairs: Pairs, threads: int) -> float:
    translations = decoder.translate_batch([source for source, _ in pairs], threads=threads)
    return sum(len(t.tokens) for t in translations) / sum(len(target) for _, target in pairs)


def sample(pairs: Iterator[tuple[str, str]], seed: int) -> list[tuple[list[str], list[str]]]:
    """Draws sentence pairs that are not too long, with equal probability, by reservoir sampling."""
    rng = random.Random(seed)
    drawn: list[tuple[list[str], list[str]]] = []
    seen = 0
    for lines in pairs:
        source, target = map(split, lines)
        if not (0 < len(source) <= _MAX_LENGTH and 0 < len(target) <= _MAX_LENGTH):
            continue
        seen += 1
        index = len(drawn) if len(drawn) < _SENTENCES else rng.randrange(seen)
        if index < _SENTENCES:
            drawn[index : index + 1] = [(source, target)]
    return drawn
