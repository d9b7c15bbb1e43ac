"""Tests of the promises of every metric: those of ``METRICS``, and those that are made of others."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

import hiero.evaluate
from hiero.evaluate import Bleu, Hypotheses, Metric, Ter, Text
from hiero.evaluate.metrics import METRICS, metric_named
from hiero.tune.methods.risk.objective import UnclippedBleu
from hiero.tune.pool.span_references import AlignedBleu
from hiero.tune.run.objective import Mix

LOWERCASE = Text(lowercase=True)
REFERENCES = [
    ["The cat sleeps here", "a cat sleeps", ""],
    ["he sees it all"],
    ["two or three", "Two , three"],
]
LINKS = [[[(0, 0)] if line else [] for line in segment] for segment in REFERENCES]


def bleu() -> Bleu:
    return Bleu(REFERENCES, LOWERCASE, "shortest")


MADE = {
    **{name: metric_named(name, REFERENCES, LOWERCASE, "shortest") for name in METRICS},
    "AlignedBleu": AlignedBleu(REFERENCES, LINKS, LOWERCASE, "shortest"),
    "UnclippedBleu": UnclippedBleu(bleu()),
    "Mix": Mix([(0.5, bleu()), (0.25, Ter(REFERENCES, LOWERCASE)), (1.0, UnclippedBleu(bleu()))]),
}


WORDS = ["The", "cat", "sleeps", "a", "he", "sees", "it", "Two", "or", "three"]


def random_lines(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=5)) for _ in REFERENCES]


@pytest.mark.parametrize("name", MADE)
def test_what_every_metric_promises(name: str) -> None:
    metric: Metric = MADE[name]
    assert (metric.text, metric.segments, metric.most_references) == (LOWERCASE, 3, 3)
    assert metric.name and metric.signature and metric.checksum
    assert isinstance(metric.segment_signature, str)
    rows = metric.statistics(random_lines(1))
    assert rows.shape == (3, metric.width) and rows.dtype == np.float64
    tokens = metric.text.tokens(random_lines(1))
    assert (metric.token_statistics(range(3), Hypotheses.from_tokens(tokens)) == rows).all()
    assert np.shape(metric.score(rows)) == np.shape(metric.segment_scores(rows)) == (3,)
    assert isinstance(metric.details(rows.sum(axis=0)), str)
    with pytest.raises(ValueError, match="2 hypotheses for 3 segments"):
        metric.statistics(["a", "b"])
    nothing = metric.token_statistics([], Hypotheses.from_tokens([]))
    assert nothing.shape == (0, metric.width) and np.isfinite(metric.score(nothing.sum(axis=0)))
    for segment in (-1, 3):
        with pytest.raises(IndexError):
            metric.token_statistics([segment], Hypotheses.from_tokens([["a"]]))


def test_metrics_are_public() -> None:
    assert {kind.__name__ for kind in METRICS.values()} <= set(hiero.evaluate.__all__)


@pytest.mark.parametrize("seed", range(5))
def test_unclipped_bleu_is_bleu(seed: int) -> None:
    one, other = bleu(), UnclippedBleu(bleu())
    rows, wider = one.statistics(random_lines(seed)), other.statistics(random_lines(seed))
    assert (wider[:, :10] == rows).all() and wider.shape == (3, 14)
    assert (one.score(rows) == other.score(wider)).all()
    assert (one.segment_scores(rows) == other.segment_scores(wider)).all()
    assert one.details(rows.sum(axis=0)) == other.details(wider.sum(axis=0))
    for name in ("signature", "segment_signature", "checksum", "name", "effective_length", "references"):
        assert getattr(one, name) == getattr(other, name)


def test_a_mix_judges_segments_as_its_parts_do() -> None:
    parts: Sequence[tuple[float, Metric]] = [(0.5, bleu()), (0.25, Ter(REFERENCES, LOWERCASE))]
    mix = Mix(parts)
    assert mix.segment_signature == "eff:yes" and Mix(parts[1:]).segment_signature == ""
    for seed in range(5):
        text = random_lines(seed)
        blue, ter = (metric.segment_scores(metric.statistics(text)) for _, metric in parts)
        expected = 0.5 * blue + 0.25 * (100 - ter)
        assert mix.segment_scores(mix.statistics(text)) == pytest.approx(expected)
    assert (mix.segment_scores(mix.statistics(["cat"] * 3)) != mix.score(mix.statistics(["cat"] * 3))).any()


def test_a_mix_has_the_most_references_of_its_parts() -> None:
    fewer = [segment[:1] for segment in REFERENCES]
    for parts in ([fewer, REFERENCES], [REFERENCES, fewer]):
        assert Mix([(0.5, Bleu(references)) for references in parts]).most_references == 3


def test_the_parts_of_a_mix_are_of_one_text() -> None:
    other = Ter(REFERENCES)
    with pytest.raises(ValueError, match=r"one tokeniser and case, not of BLEU case:lc.*, TER case:mixed"):
        Mix([(0.5, bleu()), (0.5, other)])
