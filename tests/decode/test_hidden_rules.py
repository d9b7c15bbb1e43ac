"""Hidden rules: a sentence is translated as by a model that does not have them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hiero
from hiero import Rule
from support.brute_force import is_nonterminal, nonterminal_label
from support.grammars import table
from support.search_cases import Case, many_labels, own_rules, plain_case, small_lms


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return small_lms(tmp_path_factory.mktemp("lms"), 3)


def labels_of(rules: list[Rule]) -> tuple[set[str], set[str]]:
    """Returns left-hand and right-hand labels, for which words are copied and glue rules are made."""
    right = {nonterminal_label(token) for rule in rules for token in rule.source if is_nonterminal(token)}
    return {rule.lhs for rule in rules}, right


def sides(rule: Rule) -> tuple[object, ...]:
    return rule.lhs, tuple(rule.source), tuple(rule.target)


@pytest.mark.parametrize("make", [plain_case, many_labels, own_rules])
def test_as_by_a_model_without_them(make: object, lms: list[Path]) -> None:
    compared = changed = 0
    for seed in range(250):
        rng = random.Random(seed)
        case: Case = make(rng, lms)  # type: ignore[operator]
        hidden = [Rule(str(rule)) for rule in rng.sample(case.rules, min(len(case.rules), rng.randint(1, 3)))]
        gone = {sides(rule) for rule in hidden}
        left = [rule for rule in case.rules if sides(rule) not in gone]
        if not left or labels_of(left) != labels_of(case.rules):
            continue
        try:
            model, without = case.model(), Case(left, case.sentence, case.lms).model()
        except hiero.FormatError:
            continue
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        own_weights = {name: 0.25 for rule in case.own for name in rule.features if name not in weights}
        settings = {"pop_limit": 0, "span_limit": case.span_limit}
        lists = []
        for one, sentence_rules, drop in ((model, case.own, hidden), (without, case.own, [])):
            shared = {name: weight for name, weight in weights.items() if name in one.feature_names}
            decoder = hiero.Decoder(one, **settings).with_weights(shared)
            sentence = hiero.Sentence(tokens=case.sentence, rules=sentence_rules, hidden=drop)
            brought = {name for rule in sentence_rules for name in rule.features}
            extra = {name: weight for name, weight in own_weights.items() if name in brought}
            result = decoder.translate(sentence, keep="forest", weights=extra or None)
            lists.append([(d.tokens, round(d.score, 3)) for d in result.kbest(2000)])
            lists.append(result.unknown)
        assert sorted(lists[0]) == sorted(lists[2]) and lists[1] == lists[3]
        compared += 1
        whole = hiero.Decoder(model, **settings).with_weights(weights)
        result = whole.translate(
            hiero.Sentence(tokens=case.sentence, rules=case.own), keep="forest", weights=own_weights or None
        )
        changed += len(result.kbest(2000)) != len(lists[0])
    assert compared > 60 and changed > 20


def test_words_whose_rules_are_all_hidden_are_unknown() -> None:
    rules = "[X] ||| a ||| u ||| P=1", "[X] ||| a ||| v ||| P=2", "[X] ||| b ||| w ||| P=1"
    decoder = hiero.Decoder(hiero.Model([table(*rules)], [], {"P": 1.0}))

    def text(*hidden: str, own: str = "") -> str:
        own_rules = [Rule(own)] if own else []
        return decoder.translate(hiero.Sentence("a b", rules=own_rules, hidden=map(Rule, hidden))).text

    assert text() == "v w"
    assert text("[X] ||| a ||| v") == "u w"
    assert text("[X] ||| a ||| v", "[X] ||| a ||| u ||| Other=7") == "a w"
    assert text("[X] ||| a ||| v", "[X] ||| a ||| u", own="[X] ||| a ||| z ||| P=0") == "z w"
    assert text("[X] ||| a ||| z", own="[X] ||| a ||| z ||| P=9") == "z w"
    assert text("[X] ||| a ||| v", own="[X] ||| a ||| v ||| P=0.5") == "u w"
    assert text("[X] ||| a ||| v", own="[X] ||| a ||| v ||| P=9") == "v w"
    assert text("[Y] ||| a ||| v", "[X] ||| a ||| v v", "[X] ||| q ||| v") == "v w"


def test_hidden_rules_in_json_and_of_wrong_types() -> None:
    sentence = hiero.Sentence("a", hidden=[Rule("[X] ||| a ||| v")])
    assert hiero.Sentence.from_json(sentence.to_json()) == sentence
    assert '"hidden"' not in hiero.Sentence("a").to_json()
    with pytest.raises(TypeError, match="hidden"):
        hiero.Sentence("a", hidden=["[X] ||| a ||| v"])  # type: ignore[list-item]
