"""Marks of source words in search: phrases with translations, zones, walls, and words that are kept."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Markup, Rule, Sentence
from hiero._core import DecoderOptions, SourceLattice
from support.brute_force import BackoffModel, is_nonterminal, lm_features
from support.constraints import obeys, random_constraint
from support.markup import MarkedEnumerator, random_markup
from support.search_cases import Case, many_labels, many_nonterminals, own_rules, plain_case, small_lms


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return small_lms(tmp_path_factory.mktemp("lms"), 7)


def is_explicit(rule: Rule) -> bool:
    """Tells whether a rule that has source words has target words: what is said of order is of these."""
    return all(map(is_nonterminal, rule.source)) or not all(map(is_nonterminal, rule.target))


def check(rng: random.Random, case: Case, kinds: str) -> tuple[int, int]:
    """Compares search with enumeration, and returns the number of derivations that agree, and of all.

    ``k`` of the kinds stands for words that are kept, ``c`` for constraints on the translation."""
    if set(kinds) & set("zw"):
        case = Case(
            [rule for rule in case.rules if is_explicit(rule)] or case.rules[:0],
            case.sentence,
            case.lms,
            case.span_limit,
            tuple(rule for rule in case.own if is_explicit(rule)),
            case.one_table,
        )
    labels = {
        token[1:-1].rpartition(",")[0] for rule in case.rules for token in rule.source if token[0] == "["
    }
    labels |= {rule.lhs for rule in case.rules}
    if not case.rules or any(
        f"[{label}" in str(rule) for rule in case.own for label in set("SXYABC") - labels
    ):
        return 0, 0  # the sentence's rules have labels that the others lack
    try:
        model = case.model()
    except hiero.FormatError as error:
        assert "cycle" in str(error)
        return 0, 0
    markup = random_markup(rng, case.sentence, "uvx", kinds)
    kept = ["b"] if "k" in kinds else []
    arguments = case.rules, case.sentence, case.span_limit
    every = MarkedEnumerator(*arguments, Markup(), [], case.own).derivations()
    expected = MarkedEnumerator(*arguments, markup, kept, case.own).derivations()
    said = random_constraint(rng, [one.words for one in expected], "uvwb") if "c" in kinds else {}
    if "prefix" in said:
        said = {"required": [["u"]]}  # words of a prefix may be forced
    expected = [one for one in expected if obeys(one.words, said)]
    brought = {name for rule in case.own for name in rule.features} | set(markup.features)
    weights = {name: rng.uniform(-1, 1) for name in dict.fromkeys([*model.feature_names, *sorted(brought)])}
    extra = [(name, weight) for name, weight in weights.items() if name not in model.feature_names]
    options = DecoderOptions(pop_limit=0, span_limit=case.span_limit)
    core = hiero._core.Decoder(
        model.core, model.weight_vector({n: weights[n] for n in model.feature_names}), options
    )
    sentence = Sentence(tokens=case.sentence, rules=case.own, markup=markup, **said)
    side = model.text.target
    result = core.translate(
        sentence.tokens,
        list(case.own),
        extra,
        sentence,
        sentence.constraint(side),
        markup.to_core(side, kept, len(sentence.tokens)),
        SourceLattice([], []),
        [],
        0,
        None,
        "forest",
    )
    assert result.has_parse == bool(expected)
    assert result.forest.derivation_count == len(expected)
    if expected:
        models = [BackoffModel(path) for path in case.lms]
        scores = []
        for one in expected:
            features = {**one.features, **lm_features(one.words, models)}
            scores.append(sum(weights.get(name, 0.0) * value for name, value in features.items()))
        kbest = result.kbest(len(scores) + 1)
        assert len(kbest) == len(scores)
        ordered = np.sort(scores)[::-1]
        assert np.abs(np.array([one.score for one in kbest]) - ordered).max() < 1e-4
        assert result.score == pytest.approx(ordered[0], abs=1e-4)
    return len(expected), len(every)


@pytest.mark.parametrize("kinds", ["p", "z", "w", "k", "pc", "pzwk", "zwc"])
@pytest.mark.parametrize("seeds", [range(80), pytest.param(range(80, 400), marks=pytest.mark.slow)])
def test_equals_enumeration(seeds: range, kinds: str, lms: list[Path]) -> None:
    agreeing = fewer = 0
    for seed in seeds:
        rng = random.Random(f"{kinds} {seed}")
        make = rng.choice([plain_case, plain_case, many_nonterminals, many_labels, own_rules])
        some, every = check(rng, make(rng, lms), kinds)
        agreeing += some > 3
        fewer += 0 < some < every
    assert agreeing > len(seeds) // 10 and fewer > len(seeds) // 20
