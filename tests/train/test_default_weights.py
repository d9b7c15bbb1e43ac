"""Tests of the weights before tuning: translations of training text have the length of its target side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import hiero
from hiero.train import TrainInputs, default_weights, train, weights
from hiero.train.weights import LengthRatio, fitting_word_penalty, sample
from support.files import head, write


@pytest.fixture(scope="module", autouse=True)
def all_lengths(few_lengths: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_SENTENCES", few_lengths)
        yield


def test_named_features_have_weights() -> None:
    names = ["LM0", "LM1", "LM0_OOV", "WordPenalty", "PhraseFE", "LexEF", "Glue"]
    assert default_weights(names) == {
        **dict.fromkeys(names, 0.0),
        **{"LM0": 0.25, "LM1": 0.25, "WordPenalty": -1.0, "PhraseFE": 0.2, "LexEF": 0.2},
    }


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, demo: Path, all_lengths: None) -> hiero.Model:
    folder = tmp_path_factory.mktemp("lengths")
    sides = [write(folder / side, head(demo / f"train.{side}", 400)) for side in ("zh", "en")]
    return train(TrainInputs(*sides), folder / "model")


def pairs(demo: Path) -> list[tuple[list[str], list[str]]]:
    sides = [head(demo / name, 80) for name in ("test.zh", "test.en.0")]
    return [(source.split(), target.split()) for source, target in zip(*sides, strict=True)]


@cache
def length_of_translations(
    model: hiero.Model, sources: tuple[tuple[str, ...], ...], word_penalty: float
) -> int:
    weights = {**default_weights(model.feature_names), "Singleton": -10.0, "WordPenalty": word_penalty}
    decoder = hiero.Decoder(model, pop_limit=100).with_weights(weights)
    return sum(len(result.tokens) for result in decoder.translate_batch(sources))


def ratio(model: hiero.Model, some: list[tuple[list[str], list[str]]], word_penalty: float) -> float:
    length = length_of_translations(model, tuple(tuple(source) for source, _ in some), word_penalty)
    return length / sum(len(target) for _, target in some)


def test_what_fits_stays(model: hiero.Model, demo: Path) -> None:
    some = pairs(demo)
    length = ratio(model, some, -1.0)
    some = [(source, target[: round(len(target) * length)]) for source, target in some]
    expected = ratio(model, some, -1.0)
    assert abs(expected - 1) < 0.02
    assert fitting_word_penalty(model, some) == LengthRatio(-1.0, pytest.approx(expected))


@pytest.mark.slow
@pytest.mark.parametrize("longer", [False, True])
def test_the_first_that_fits_is_taken(model: hiero.Model, demo: Path, longer: bool) -> None:
    """The references have the length of translations with another weight; the fitted weight moves towards it,
    and no further than needed."""
    some = pairs(demo)
    length = ratio(model, some, -1.5 if longer else -0.5)
    some = [(source, (target * 2)[: round(len(target) * length)]) for source, target in some]
    fit = fitting_word_penalty(model, some)
    assert fit.word_penalty != -1.0 and (fit.word_penalty < -1.0) == longer
    assert fit.ratio == pytest.approx(ratio(model, some, fit.word_penalty))
    before = ratio(model, some, fit.word_penalty + (0.1 if longer else -0.1))
    assert abs(before - 1) > 0.02 and (before < 1) == longer
    after = ratio(model, some, fit.word_penalty - (0.1 if longer else -0.1))
    assert abs(fit.ratio - 1) < max(0.02, abs(after - 1))


def test_samples_are_of_whole_sentences() -> None:
    lines = [("a", "b"), ("", ""), ("x " * 41, "y"), ("x", "y " * 41), ("x " * 40, "y " * 40)]
    assert sample(iter(lines), 1) == [(["a"], ["b"]), (["x"] * 40, ["y"] * 40)]
    many = [(f"s{n}", f"t{n}") for n in range(5000)]
    drawn = sample(iter(many), 1)
    numbers = [int(source[0][1:]) for source, target in drawn if source[0][1:] == target[0][1:]]
    assert len(set(numbers)) == 500 and drawn == sample(iter(many), 1) != sample(iter(many), 2)
    assert 2200 < sum(numbers) / 500 < 2800


def test_a_model_says_what_was_chosen(model: hiero.Model) -> None:
    assert {**model.weights, "WordPenalty": -1.0} == default_weights(model.feature_names)
    assert model.weights["WordPenalty"] == pytest.approx(-1.1)
    assert model.made_from["sizes"] == {"sentence pairs": 400, "sentences for LM0": 400}
