"""Search without pruning finds exactly what plain enumeration finds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Rule
from support.brute_force import (
    BackoffModel,
    Enumerator,
    is_nonterminal,
    lm_features,
    random_rules,
    same_features,
    write_arpa,
)
from support.constraints import obeys, random_constraint
from support.search_cases import Case, many_labels, many_nonterminals, own_rules, plain_case


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


def check(rng: random.Random, case: Case, constrained: bool = False) -> int:
    """Compares search with enumeration under random weights; returns the number of derivations.

    A constrained case is enumerated as others are, and what does not obey is dropped.
    """
    models = [BackoffModel(path) for path in case.lms]
    try:
        model = case.model()
    except hiero.FormatError as error:
        assert "cycle" in str(error)  # [S] ||| [X,1] glue on top of [X] ||| [S,1]
        return 0
    weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
    for k in range(len(case.lms)):
        weights[f"LM{k}"] = rng.uniform(0, 1)
    expected = Enumerator(case.rules, case.sentence, case.span_limit, sentence_rules=case.own).derivations()
    said = (
        random_constraint(rng, [derivation.words for derivation in expected], "uvwb") if constrained else {}
    )
    expected = [derivation for derivation in expected if obeys(derivation.words, said)]
    decoder = hiero.Decoder(model, pop_limit=0, span_limit=case.span_limit)
    sentence = hiero.Sentence.from_source(case.sentence, rules=case.own, **said)
    if case.own:
        brought = {name for rule in case.own for name in rule.features}.difference(weights)
        weights |= {name: rng.uniform(-1, 1) for name in sorted(brought)}
        result = decoder.translate(sentence, keep="forest", weights=weights)
    else:
        result = decoder.with_weights(weights).translate(sentence, keep="forest")
    if not expected and said.get("prefix") and not said.get("references"):
        # Words that rules do not bring are forced.
        assert not result.has_parse or result.features["ForcedWords"] > 0
        for derivation in result.kbest(100):
            assert obeys(derivation.tokens, said)
            words = lm_features(tuple(derivation.tokens), models)
            assert same_features({name: derivation.features.get(name, 0.0) for name in words}, words)
        return 0
    assert result.has_parse == bool(expected)
    assert result.forest.derivation_count == len(expected)
    if not expected:
        return 0
    by_words: dict[tuple[str, ...], dict[str, float]] = {}
    scored = []
    for derivation in expected:
        if derivation.words not in by_words:
            by_words[derivation.words] = lm_features(derivation.words, models)
        features = {**derivation.features, **by_words[derivation.words]}
        scored.append((sum(weights.get(f, 0.0) * v for f, v in features.items()), features, derivation))
    best, _, _ = max(scored, key=lambda entry: entry[0])
    assert result.score == pytest.approx(best, abs=1e-4)
    tied = [entry for entry in scored if entry[0] > best - 1e-4]
    assert any(tuple(result.tokens) == d.words for _, _, d in tied)
    assert any(same_features(result.features, features) for _, features, _ in tied)
    # The whole k-best list, in order, against the sorted enumeration.
    scores = np.sort([score for score, _, _ in scored])[::-1]
    kbest = result.kbest(len(scores) + 1)
    assert len(kbest) == len(scores)
    assert np.abs(np.array([d.score for d in kbest]) - scores).max() < 1e-4
    return len(expected)


@pytest.mark.parametrize("block", range(4))
def test_equals_enumeration(block: int, lms: list[Path]) -> None:
    counts = []
    for seed in range(1000 * block, 1000 * block + 500):
        rng = random.Random(seed)
        counts.append(check(rng, plain_case(rng, lms)))
    assert sum(count > 10 for count in counts) > 50  # not only trivial cases


@pytest.mark.parametrize("make", [plain_case, many_nonterminals, many_labels, own_rules])
def test_constraints_equal_enumeration(make: Callable[..., Case], lms: list[Path]) -> None:
    counts = []
    for seed in range(500):
        rng = random.Random(seed)
        counts.append(check(rng, make(rng, lms), constrained=True))
    assert sum(count > 0 for count in counts) > 150
    assert sum(count > 10 for count in counts) > 20


@pytest.mark.parametrize("make", [many_nonterminals, many_labels, own_rules])
def test_equals_enumeration_of_richer_rules(make: Callable[..., Case], lms: list[Path]) -> None:
    counts = []
    cases = []
    for seed in range(400):
        rng = random.Random(seed)
        cases.append(make(rng, lms))
        counts.append(check(rng, cases[-1]))
    assert sum(count > 10 for count in counts) > 80
    parsed = [case for case, count in zip(cases, counts, strict=True) if count > 10]
    if make is many_nonterminals:
        arities = Counter(sum(map(is_nonterminal, rule.source)) for case in parsed for rule in case.rules)
        assert arities[3] > 20 and arities[4] > 5
    if make is own_rules:
        assert sum(any(rule.lhs == "S" for rule in case.own) for case in parsed) > 10
        assert sum(any("OwnRule" in rule.features for rule in case.own) for case in parsed) > 10


def rules_of_many_targets(rng: random.Random, targets: Collection[tuple[str, ...]]) -> list[Rule]:
    """All targets for the word a, two for b, and rules that put words around what a and b become."""
    rules = [Rule(f"[X] ||| a ||| {' '.join(t)} ||| P={rng.uniform(-2, 0):.3f}") for t in targets]
    rules += [Rule(f"[X] ||| b ||| {t} ||| P={rng.uniform(-2, 0):.3f}") for t in ("", "x")]
    for source in ("[X,1] b", "b [X,1]", "[X,1] [X,2]"):
        target = source.replace("b", rng.choice("uv")).split(" ")
        rng.shuffle(target)
        rules.append(Rule(f"[X] ||| {source} ||| {' '.join(target)} ||| P={rng.uniform(-2, 0):.3f}"))
    return rules


@pytest.mark.slow
def test_cells_of_many_items(tmp_path: Path) -> None:
    rng = random.Random(1)
    vocabulary = "uvwxyzklmnop"
    write_arpa(tmp_path / "lm.arpa", [rng.choices(vocabulary, k=8) for _ in range(300)], 3)
    for _ in range(12):
        targets = {tuple(rng.choices(vocabulary, k=rng.choice([1, 2, 3, 3, 4]))) for _ in range(330)}
        # An item of no words is not one of unknown words, though KenLM has the same words at their ends; only
        # among many do they meet in the table of items.
        targets |= {(), ("?",), ("?", "?")}
        sentence = rng.choice([["a", "b"], ["b", "a"], ["b", "a", "b"]])
        case = Case(rules_of_many_targets(rng, sorted(targets)), sentence, [tmp_path / "lm.arpa"])
        assert check(rng, case) > 1000
        chart = hiero.Decoder(case.model(), pop_limit=0).translate(sentence, keep="chart").chart
        assert chart is not None
        cells = np.column_stack([chart.forest.node_spans, chart.forest.node_labels])
        assert sorted(np.unique(cells, axis=0, return_counts=True)[1])[-2] > 200


def test_a_translation_is_the_first_of_its_list(tmp_path: Path) -> None:
    """The translation is the first one even if derivations differ by the rounding of sums alone."""
    rng = random.Random(5)
    write_arpa(tmp_path / "lm.arpa", [rng.choices("uvw", k=5) for _ in range(20)], 3)
    lm = hiero.LanguageModel.load(str(tmp_path / "lm.arpa"))
    equal = 0
    for _ in range(40):
        rules = random_rules(rng, ["X"], "ab", "uvw")
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {"LM0": 0.7, "WordPenalty": -0.3})
        decoder = hiero.Decoder(model)
        for _ in range(5):
            source = rng.choices("ab", k=6)
            found = decoder.translate(source, keep="forest")
            first, *others = found.kbest(5)
            assert (found.score, found.features) == (first.score, first.features)
            assert (found.tokens, found.alignment) == (first.tokens, first.alignment)
            assert found.derivation.score == first.score
            equal += any(abs(other.score - first.score) < 1e-6 for other in others)
            alone = decoder.translate(source)
            assert alone.score == pytest.approx(found.score, abs=1e-5)
    assert equal > 20
