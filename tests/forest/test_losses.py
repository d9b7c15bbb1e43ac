"""Tests of linear BLEU and the pseudo-document, by hand and against all derivations."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hiero.forest.losses import BleuDocument, LinearBleu, bleu, bleu_counts
from support.brute_force_forest import derivation_value, derivation_words, derivations, small_random_forest
from support.seeds import each_seed


def test_parameters_worked_by_hand() -> None:
    # Of 10 words 8 match, then 6 of 9 bigrams, 4 of 8, 2 of 7: the ratio is the third root of (2/7) / (8/10).
    loss = LinearBleu.estimate([10, 9, 10, 9, 8, 7, 8, 6, 4, 2])
    ratio = (2 / 7 / 0.8) ** (1 / 3)
    assert (loss.words, loss.precision) == (10, 0.8) and loss.ratio == pytest.approx(ratio)
    expected = [-0.1, *(1 / (4 * 10 * 0.8 * ratio**n) for n in range(4))]
    assert loss.theta == pytest.approx(expected)
    # If precisions fall by the estimated ratio, matches of all orders lower the loss equally.
    even = LinearBleu(10, 0.8, 0.5)
    assert -even.theta[0] * 10 - sum(
        even.theta[n + 1] * 10 * 0.8 * 0.5**n for n in range(4)
    ) == pytest.approx(0)
    for bad in ([10, 9, 10, 9, 8, 7, 8, 6, 4, 0], [1, 2], np.zeros(10)):
        with pytest.raises(ValueError, match="matches of every order"):
            LinearBleu.estimate(bad)
    for words_, precision, ratio in ((0, 0.8, 0.7), (1, 0, 0.7), (1, 1.5, 0.7), (1, 0.8, 0)):
        with pytest.raises(ValueError, match="expected words"):
            LinearBleu(words_, precision, ratio)


@each_seed(range(100))
def test_losses_by_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=100).annotate_ngrams(4)
    strings = {d: derivation_words(forest, d) for d in derivations(forest)}
    references = [rng.choice(list(strings.values())), [rng.choice("abce") for _ in range(6)]]
    loss = LinearBleu(words=7.0, precision=0.6, ratio=0.5)
    by_edge = loss.losses(forest, references)
    reference_grams = {
        tuple(r[i : i + n]) for r in references for n in range(1, 5) for i in range(len(r) - n + 1)
    }
    for d, text in strings.items():
        grams = [tuple(text[i : i + n]) for n in range(1, 5) for i in range(len(text) - n + 1)]
        gain = loss.theta[0] * len(text) + sum(loss.theta[len(g)] for g in grams if g in reference_grams)
        assert derivation_value(by_edge, d) == pytest.approx(-gain)


def test_only_four_grams_will_do() -> None:
    forest = small_random_forest(random.Random(1))
    for wrong in (forest, forest.annotate_ngrams(3)):
        with pytest.raises(ValueError, match="annotate the forest with n = 4"):
            LinearBleu(10.0).losses(wrong, [["a"]])


def test_the_document_decays() -> None:
    document = BleuDocument()
    assert bleu(document.counts) == 1 and document.source == 4
    counts = bleu_counts(["a", "b", "c", "d", "e"], [["a", "b", "c", "x"]])
    after = document.after_sentence(counts, 6)
    assert after.source == pytest.approx(9)
    assert list(after.counts) == pytest.approx([8.1, 7.2, 8.1, 6.3, 4.5, 2.7, 6.3, 4.5, 2.7, 0.9])
    expected = (7 / 9 * 5 / 7 * 3 / 5 * 1 / 3) ** 0.25  # 4 + 5 words, longer than the references' 8
    assert document.b(counts, 6) == pytest.approx(10 * expected)
