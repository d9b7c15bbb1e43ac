"""Tests of the choice of the temperature of word confidence, against one that loops over words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import hiero
from hiero.tune import ModelDecoder, choose_temperature
from hiero.tune.run.temperature import TEMPERATURES, right_words
from support.paths import FRENCH

SOURCE = ["elle voit un chien noir .", "le chat noir dort .", "", "elle voit un zèbre noir ."]
REFERENCES = [
    ["she sees a dog .", "she sees the dog ."],
    ["the black cat rests ."],
    ["nothing"],
    ["she sees a black zebra ."],
]


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


def words_at(model: hiero.Model, temperature: float) -> list[tuple[float, float]]:
    """Returns confidence and right of the words that are not copies, by the counts of single words."""
    decoder = hiero.Decoder(model, confidence_temperature=temperature)
    pairs = []
    for line, references in zip(SOURCE, REFERENCES, strict=True):
        result = decoder.translate(line.split(), keep="forest")
        for word, sure in zip(result.tokens, result.confidence(), strict=True):
            most = max(reference.split().count(word) for reference in references)
            if word != "zèbre":
                pairs.append((sure, min(1.0, most / result.tokens.count(word))))
    return pairs


def test_the_temperature_with_the_smallest_error(model: hiero.Model) -> None:
    errors = {}
    for temperature in TEMPERATURES:
        pairs = words_at(model, temperature)
        errors[temperature] = sum((sure - right) ** 2 for sure, right in pairs) / len(pairs)
    best = min(errors, key=errors.__getitem__)
    assert TEMPERATURES[0] < best < TEMPERATURES[-1] and best != 1.0
    decoder = ModelDecoder(hiero.Decoder(model), [line.split() for line in SOURCE], threads=2)
    found = choose_temperature(decoder, REFERENCES, model.weight_vector(model.weights))
    assert found is not None and found.temperature == best
    assert found.squared_error == pytest.approx(errors[best])
    pairs = words_at(model, best)
    bins = {k: [pair for pair in pairs if min(int(pair[0] * 10), 9) == k] for k in range(10)}
    slow = [
        (len(own), sum(sure for sure, _ in own) / len(own), sum(right for _, right in own) / len(own))
        for own in bins.values()
        if own
    ]
    assert [(one.words, one.confidence, one.right) for one in found.bins] == [
        pytest.approx(one) for one in slow
    ]
    assert found.words == len(pairs)
    assert found.error == pytest.approx(sum(n * abs(sure - right) for n, sure, right in slow) / len(pairs))


def test_nothing_to_choose_by(model: hiero.Model) -> None:
    decoder = ModelDecoder(hiero.Decoder(model), [["zèbre"], []])
    assert choose_temperature(decoder, [["zèbre"], [""]], model.weight_vector(model.weights)) is None


@pytest.mark.parametrize(
    ("text", "references", "right"),
    [
        ("a b a", ["a c"], [0.5, 0, 0.5]),
        ("a b a", ["a a a", "b"], [1, 1, 1]),
        ("a a", ["a", "a"], [0.5, 0.5]),  # by the reference with the most
        ("", ["a"], []),
        ("a", [], [0]),
    ],
)
def test_right_words(text: str, references: list[str], right: list[float]) -> None:
    found = right_words(text.split(), [line.split() for line in references])
    assert np.array_equal(found, right)
    assert Counter(text.split()).total() == len(found)
