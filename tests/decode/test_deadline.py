"""Deadlines: a search that is late ends with a translation, and one that is not is what it is without."""

from __future__ import annotations

import threading

import pytest

import hiero
from support.brute_force import write_arpa
from support.grammars import table

WORDS = "uvwxyz"
SENTENCE = ["a", "b"] * 12


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> hiero.Decoder:
    """A decoder that makes a million hypotheses of the sentence."""
    path = tmp_path_factory.mktemp("lm") / "arpa"
    write_arpa(path, [list(WORDS[k:] + WORDS[:k]) for k in range(6)], 3)
    rules = [f"[X] ||| {source} ||| {word} ||| P={k}" for source in "ab" for k, word in enumerate(WORDS)]
    rules += ["[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| P=1", "[X] ||| [X,1] a ||| [X,1] u ||| P=1"]
    model = hiero.Model([table(*rules)], [hiero.LanguageModel.load(str(path))], {"P": -0.1, "LM0": 1.0})
    return hiero.Decoder(model, pop_limit=4000, span_limit=24)


def test_a_passed_deadline_leaves_one_hypothesis_in_each_cell(decoder: hiero.Decoder) -> None:
    late = decoder.translate(SENTENCE, deadline=hiero.Deadline(0))
    assert late.was_late and late.has_parse and len(late.tokens) >= len(SENTENCE) // 2
    assert late.stats.hypotheses == late.stats.cells and not late.optimal


def test_a_far_deadline_changes_nothing(decoder: hiero.Decoder) -> None:
    whole = decoder.translate(SENTENCE[:10])
    for deadline in (hiero.Deadline(), hiero.Deadline(1e300)):
        result = decoder.translate(SENTENCE[:10], deadline=deadline)
        assert not result.was_late and not deadline.passed
        assert (result.tokens, result.score) == (whole.tokens, whole.score)
        assert result.stats.hypotheses == whole.stats.hypotheses
    assert not whole.was_late


@pytest.mark.parametrize("keep", ["none", "forest", "chart", "splits"])
def test_another_thread_ends_a_search(decoder: hiero.Decoder, keep: str) -> None:
    deadline = hiero.Deadline()
    timer = threading.Timer(0.02, deadline.expire)
    timer.start()
    result = decoder.translate(SENTENCE, keep=keep, deadline=deadline)  # type: ignore[arg-type]
    timer.join()
    assert deadline.passed and result.was_late and result.has_parse
    assert result.stats.hypotheses < 400_000


def test_exact_search_ends_too(decoder: hiero.Decoder) -> None:
    exact = hiero.Decoder(decoder.model, pop_limit=10, span_limit=24, exact=10**9)
    deadline = hiero.Deadline(0.2)
    result = exact.translate(SENTENCE, deadline=deadline)
    assert result.has_parse and deadline.passed and not result.optimal and result.was_late
    assert not exact.translate(SENTENCE[:4], deadline=hiero.Deadline(60)).was_late


def test_a_late_reference_is_reached(decoder: hiero.Decoder) -> None:
    tokens = decoder.translate(SENTENCE[:8]).tokens
    result = decoder.translate(SENTENCE[:8], references=[tokens], deadline=hiero.Deadline(0))
    assert result.tokens == tokens and result.was_late


def test_what_is_no_deadline() -> None:
    for seconds in (-1, float("nan")):
        with pytest.raises(ValueError, match="seconds: expected 0 or more"):
            hiero.Deadline(seconds)
