"""Tests of the choice of a span limit."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from hiero.evaluate import Bleu, Metric, Ter
from hiero.tune import SpanLimitChoice, TriedLimit, choose_span_limit
from support.synthetic_decoder import TableDecoder

SENTENCES = 40
REFERENCES = [[f"a{k} b c d e"] for k in range(SENTENCES)]


def decoder_of(good: int) -> TableDecoder:
    """Returns a decoder whose first translations are right and whose others have a wrong word."""
    texts = [f"a{k} b c d {'e' if k < good else 'x'}".split() for k in range(SENTENCES)]
    return TableDecoder([[text, ["worse"]] for text in texts], [np.array([[1.0], [0.0]])] * SENTENCES)


def choose(good: Sequence[int], own: int = 10, metric: Metric | None = None) -> SpanLimitChoice:
    """Chooses among limits from 10 on with which so many translations are right."""
    by_limit = {10 + place: count for place, count in enumerate(good)}
    metric = Bleu(REFERENCES) if metric is None else metric
    return choose_span_limit(
        lambda limit: decoder_of(by_limit[limit]), metric, np.array([1.0]), own, list(by_limit)
    )


@pytest.mark.parametrize(
    ("good", "own", "chosen"),
    [
        ([10, 30, 30], 10, 11),  # the third is not better than the second
        ([10, 20, 30], 10, 12),
        ([30, 20, 10], 10, 10),
        ([30, 20, 10], 12, 10),
        ([20, 21, 22], 10, 10),  # a sentence or two may be chance
        ([22, 21, 20], 12, 12),
        ([20, 21, 30], 10, 12),
        ([30, 10, 31], 10, 10),
        ([20, 20, 20], 11, 11),
        ([20], 10, 10),
    ],
)
def test_another_limit_is_better_by_more_than_chance(good: list[int], own: int, chosen: int) -> None:
    assert choose(good, own).span_limit == chosen


def test_the_own_limit_is_tried_too() -> None:
    """Tries the model's limit even if it is none of those that are tried by default."""
    decoders = {7: decoder_of(30), 10: decoder_of(10), 15: decoder_of(10)}
    choice = choose_span_limit(lambda limit: decoders[limit], Bleu(REFERENCES), np.array([1.0]), 7, [15, 10])
    assert [each.span_limit for each in choice.tried] == [7, 10, 15] and choice.span_limit == 7


def test_less_may_be_better() -> None:
    """TER falls as translations get better."""
    assert choose([10, 30], metric=Ter(REFERENCES)).span_limit == 11
    assert choose([30, 10], 11, metric=Ter(REFERENCES)).span_limit == 10


def test_what_each_limit_gives_and_costs() -> None:
    metric, begin = Bleu(REFERENCES), time.process_time()
    tried = choose([10, 40]).tried
    passed = (time.process_time() - begin) / SENTENCES
    assert all(each.seconds > 0 for each in tried) and sum(each.seconds for each in tried) <= passed
    scores = [
        float(metric.score(metric.statistics([" ".join(lines[0]) for lines in each]).sum(axis=0)))
        for each in (decoder_of(10).hypotheses, decoder_of(40).hypotheses)
    ]
    assert scores[1] == 100
    # The table has two hypotheses of each sentence.
    assert tried == [TriedLimit(10, scores[0], 2.0), TriedLimit(11, scores[1], 2.0)]
    assert all(0 < each.seconds < 10 for each in tried)


def test_weights_are_those_of_the_start() -> None:
    decoders = [decoder_of(20), decoder_of(20)]
    arguments = Bleu(REFERENCES), np.array([-1.0]), 1, [0, 1]
    choice = choose_span_limit(lambda limit: decoders[limit], *arguments)
    assert [decoder.decoded for decoder in decoders] == [[[-1.0]], [[-1.0]]] and choice.span_limit == 1


def test_progress_is_by_limit_and_sentence() -> None:
    said: list[tuple[str, int, int | None]] = []
    choose_span_limit(
        lambda limit: decoder_of(20),
        Bleu(REFERENCES),
        np.array([1.0]),
        3,
        [3, 4],
        lambda *state: said.append(state),
    )
    assert said[0] == ("span limit 3: sentences", 1, SENTENCES)
    assert said[-1] == ("span limit 4: sentences", SENTENCES, SENTENCES) and len(said) == 2 * SENTENCES
