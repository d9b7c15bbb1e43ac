"""Tests of how sure words are, against all derivations of small forests and of translations."""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter

import numpy as np
import pytest

import hiero
from hiero import Forest
from support.brute_force_forest import derivation_value, derivation_words, derivations, small_random_forest
from support.paths import FRENCH
from support.seeds import each_seed

SENTENCE = "elle voit un chien noir ."


def slow_posteriors(forest: Forest, scores: list[float], words: list[str]) -> list[float]:
    """Returns the expected count of each word over its count, by a list of all derivations."""
    found = derivations(forest)
    weights = [math.exp(derivation_value(scores, one)) for one in found]
    expected: Counter[str] = Counter()
    for weight, one in zip(weights, found, strict=True):
        for word in derivation_words(forest, one):
            expected[word] += weight / sum(weights)  # type: ignore[assignment]
    own = Counter(words)
    return [min(1.0, expected[word] / own[word]) for word in words]


@each_seed(range(200))
def test_all_derivations(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng)
    scores = [rng.uniform(-2, 2) for _ in range(forest.edge_count)]
    words = [*derivation_words(forest, rng.choice(derivations(forest))), "elsewhere"]
    found = forest.distribution(np.array(scores)).word_posteriors(words)
    assert found == pytest.approx(slow_posteriors(forest, scores, words), abs=1e-9)
    assert found[-1] == 0


def test_what_a_target_omits_yields_nothing() -> None:
    """One of two targets leaves its nonterminal out, whose word then stands in half of the strings."""
    forest = Forest.from_arrays(
        edge_offsets=[0, 1, 3],
        tail_offsets=[0, 0, 1, 2],
        tails=[0, 0],
        words=["below", "all", "none"],
        edge_targets=[0, 1, 2],
        target_offsets=[0, 1, 3, 4],
        target_symbols=[0, 1, -1, 2],
    )
    p = forest.distribution(np.zeros(3))
    assert p.word_posteriors(["all", "below", "none"]) == pytest.approx([0.5, 0.5, 0.5])
    assert p.edges[0] == pytest.approx(1.0)


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_translations(model: hiero.Model, temperature: float) -> None:
    decoder = hiero.Decoder(model, confidence_temperature=temperature)
    result = decoder.translate(SENTENCE, keep="forest")
    scores = result.forest.scores(model.weights) / temperature
    slow = slow_posteriors(result.forest, scores.tolist(), result.tokens)
    assert result.confidence() == pytest.approx(slow, abs=1e-9)
    assert min(slow) < 0.99 < max(slow)
    again = pickle.loads(pickle.dumps(result))
    assert again.confidence() == result.confidence()
    other = result.kbest(9)[-1]
    assert other.tokens != result.tokens
    slow = slow_posteriors(result.forest, scores.tolist(), other.tokens)
    assert result.confidence(other) == pytest.approx(slow, abs=1e-9)


def test_copies_of_unknown_words(model: hiero.Model) -> None:
    result = hiero.Decoder(model).translate("elle voit un zèbre noir .", keep="forest")
    sure = dict(zip(result.tokens, result.confidence(), strict=True))
    assert sure.pop("zèbre") == 0 and min(sure.values()) > 0.01


def test_no_forest_and_no_words(model: hiero.Model) -> None:
    decoder = hiero.Decoder(model)
    with pytest.raises(ValueError, match='confidence needs a forest: translate with keep="forest"'):
        decoder.translate(SENTENCE).confidence()
    assert decoder.translate("", keep="forest").confidence() == []
    with pytest.raises(ValueError, match="confidence_temperature: Input should be greater"):
        hiero.Decoder(model, confidence_temperature=0)
