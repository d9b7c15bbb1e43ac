"""Search without pruning finds exactly what plain enumeration finds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from brute_force import BackoffModel, Derivation, Enumerator, random_rules, write_arpa

import hiero

SOURCE = "abc"
TARGET = "uvw"


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Language models of orders 1 to 4, over target words, some source words and some missing."""
    folder = tmp_path_factory.mktemp("lms")
    rng = random.Random(5)
    paths = []
    for number, order in enumerate([2, 3, 4, 3]):
        words = "uva" if number == 3 else "uvwb"
        sentences = [rng.choices(words, k=rng.randint(1, 6)) for _ in range(12)]
        paths.append(folder / f"{number}.arpa")
        write_arpa(paths[-1], sentences, order)
    return paths


def features_of(derivation: Derivation, models: list[BackoffModel]) -> dict[str, float]:
    features = dict(derivation.features)
    for k, model in enumerate(models):
        features[f"LM{k}"] = model.sentence(derivation.words)
        features[f"LM{k}_OOV"] = model.unknown(derivation.words)
    return features


def check_case(seed: int, lms: list[Path]) -> int:
    rng = random.Random(seed)
    labels = rng.choice([["X"], ["X"], ["X", "Y"], ["A", "B"], ["S", "X"]])
    rules = random_rules(rng, labels, SOURCE, TARGET)
    sentence = rng.choices(SOURCE, k=rng.randint(1, 5))
    span_limit = rng.choice([2, 3, 10])
    paths = rng.sample(lms, rng.choice([0, 1, 1, 1, 2]))
    models = [BackoffModel(path) for path in paths]
    tables = [hiero.RuleTable.from_rules(part) for part in (rules[::2], rules[1::2]) if part]
    if rng.random() < 0.5 or labels[0] == "S":
        tables = [hiero.RuleTable.from_rules(rules)]
    try:
        model = hiero.Model(tables, [hiero.LanguageModel.load(str(p)) for p in paths], {})
    except hiero.FormatError as error:
        assert "cycle" in str(error)  # [S] ||| [X,1] glue on top of [X] ||| [S,1]
        return 0
    weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
    for k in range(len(paths)):
        weights[f"LM{k}"] = rng.uniform(0, 1)
    decoder = hiero.Decoder(model, pop_limit=0, span_limit=span_limit).with_weights(weights)
    result = decoder.translate(sentence, keep="forest")

    expected = Enumerator(rules, sentence, span_limit).derivations()
    assert result.has_parse == bool(expected)
    assert result.forest.derivation_count == len(expected)
    if not expected:
        return 0
    scored = []
    for derivation in expected:
        features = features_of(derivation, models)
        scored.append((sum(weights.get(f, 0.0) * v for f, v in features.items()), features, derivation))
    best, _, _ = max(scored, key=lambda entry: entry[0])
    assert result.score == pytest.approx(best, abs=1e-4)
    tied = [entry for entry in scored if entry[0] > best - 1e-4]
    assert any(tuple(result.tokens) == d.words for _, _, d in tied)
    assert any(same_features(result.features, features) for _, features, _ in tied)
    # The whole k-best list, in order, against the sorted enumeration.
    scores = sorted((score for score, _, _ in scored), reverse=True)
    kbest = result.kbest(len(scores) + 1)
    assert [d.score for d in kbest] == pytest.approx(scores, abs=1e-4)
    return len(expected)


def same_features(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    names = set(ours) | set(theirs)
    return all(abs(ours.get(n, 0.0) - theirs.get(n, 0.0)) < 1e-3 for n in names)


@pytest.mark.parametrize("block", range(4))
def test_equals_enumeration(block: int, lms: list[Path]) -> None:
    counts = [check_case(1000 * block + i, lms) for i in range(500)]
    assert sum(count > 10 for count in counts) > 50  # not only trivial cases
