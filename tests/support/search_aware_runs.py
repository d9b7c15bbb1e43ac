"""Runs of search-aware tuning on the French system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hiero
from hiero.evaluate import Bleu
from hiero.tune import ModelDecoder, TuneOptions, TuneResult, tune
from support.paths import FRENCH


def sentences(model: hiero.Model) -> tuple[list[list[str]], list[list[str]]]:
    """Chooses sentences, and references that other weights reach."""
    lines = [line.split() for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "WordPenalty": 1.5, "LM0": 0.2})
    texts = [" ".join(result.tokens) for result in other.translate_batch(lines)]
    return lines, [[text, " ".join([*reversed(text.split()), "and", "more"])] for text in texts]


# Options for short lines.
SPANS: dict[str, Any] = {"short_sentence": 6, "span_share": 0.3, "span_words": 3}


def run(model: hiero.Model, directory: Path, method: str, threads: int = 1) -> TuneResult:
    lines, references = sentences(model)
    decoder = ModelDecoder(hiero.Decoder(model, pop_limit=5), lines, threads)
    options = TuneOptions(method, search_aware="guided", iterations=4, k=10, **SPANS)
    metric = Bleu(references, effective_length="average")
    return tune(decoder, metric, model.weights, directory, options, threads=threads)
