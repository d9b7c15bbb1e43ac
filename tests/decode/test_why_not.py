"""Answers to why a translation was not chosen: each is checked against enumeration and the chart itself."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

import hiero
from hiero import Rule
from hiero._core import Chart
from hiero.decode.why_not import WhyNot, why_not
from hiero.forest.derivations import RuleApplication, derivation_tree, rule_application
from support.brute_force import BackoffModel, Enumerator, lm_features
from support.grammars import table
from support.search_cases import SOURCE, TARGET, Case, many_labels, plain_case, small_lms

# A derivation as nested tuples of its rules' sides.
Shape = tuple[object, ...]


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return small_lms(tmp_path_factory.mktemp("lms"), 5)


def shape(application: RuleApplication) -> Shape:
    own = application.label, application.span, application.source, application.target
    return (*own, *map(shape, application.children))


def items_of(chart: Chart) -> dict[int, list[tuple[Shape, float, tuple[str, ...]]]]:
    """Returns all derivations of each node, one by one, with their scores and words."""
    forest = chart.forest
    found: dict[int, list[tuple[Shape, float, tuple[str, ...]]]] = {}
    for node in range(forest.node_count):
        found[node] = []
        for edge in range(forest.edge_offsets[node], forest.edge_offsets[node + 1]):
            template = int(forest.edge_targets[edge])
            symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
            tails = forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()
            one = rule_application(forest, edge)
            for parts in itertools.product(*(found[tail] for tail in tails)):
                score = float(chart.edge_scores[edge]) + sum(part[1] for part in parts)
                words = [w for s in symbols for w in ([forest.words[s]] if s >= 0 else parts[-1 - s][2])]
                shapes = (one.label, one.span, one.source, one.target, *(part[0] for part in parts))
                found[node].append((shapes, score, tuple(words)))
    return found


def check_pruned(answer: WhyNot, decoder: hiero.Decoder, case: Case) -> None:
    """Checks where a derivation died: its parts were there, it was not, and it scores what it should."""
    pruned, chart = answer.pruned, answer.best.chart
    assert pruned is not None and answer.wanted is not None
    lost = shape(derivation_tree(pruned.derivation))
    assert lost[:2] == (pruned.label, pruned.span)
    parts = [shape(one) for one in derivation_tree(answer.wanted.derivation).preorder()]
    assert lost in parts
    items = items_of(chart)
    survived = [node for node in range(chart.forest.node_count) if chart.survived[node]]
    kept = {one[0] for node in survived for one in items[node]}
    made = {one[0] for node in items for one in items[node]}
    assert lost not in kept and pruned.made == (lost in made)
    assert all(part in kept for part in lost[4:])
    assert not any(tuple(answer.tokens) == one[2] for one in items[chart.forest.root])
    cell = [
        node
        for node in chart.nodes(*pruned.span).tolist()
        if node in survived and chart.forest.labels[chart.forest.node_labels[node]] == pruned.label
    ]
    scores = [max(one[1] for one in items[node]) for node in cell]
    assert [winner.score for winner in pruned.winners] == pytest.approx(
        sorted(scores, reverse=True), abs=1e-4
    )
    assert pruned.rank == 1 + sum(score > pruned.derivation.score for score in scores)
    # Without pruning the same part has the same score.
    everything = hiero.Decoder(decoder.model, pop_limit=0, span_limit=case.span_limit)
    whole = everything.with_weights(decoder.weights).translate(case.sentence, keep="chart").chart
    same = [one for ones in items_of(whole).values() for one in ones if one[0] == lost]
    assert same and min(abs(one[1] - pruned.derivation.score) for one in same) < 1e-4


@pytest.mark.parametrize("make", [plain_case, many_labels])
def test_answers_are_those_of_enumeration(make: object, lms: list[Path]) -> None:
    seen: Counter[str] = Counter()
    for seed in range(400):
        rng = random.Random(seed)
        case: Case = make(rng, lms)  # type: ignore[operator]
        try:
            model = case.model()
        except hiero.FormatError:
            continue
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        settings = {"pop_limit": rng.choice([1, 1, 2, 0]), "beam_size": rng.choice([0, 0, 1])}
        decoder = hiero.Decoder(model, span_limit=case.span_limit, **settings).with_weights(weights)
        derivations = Enumerator(case.rules, case.sentence, case.span_limit).derivations()
        allowed = {derivation.words for derivation in derivations}
        anything = {one.words for one in Enumerator(case.rules, case.sentence, 10**6).derivations()}
        models = [BackoffModel(path) for path in case.lms]
        strings = rng.sample(sorted(anything), min(4, len(anything)))
        strings.append(tuple(rng.choices(TARGET + SOURCE, k=rng.randint(1, 4))))
        for words in filter(None, strings):
            answer = why_not(decoder, case.sentence, words)
            seen[answer.reason] += 1
            assert tuple(answer.tokens) == words
            if answer.reason in ("no rule", "limit"):
                assert words not in allowed and (words in anything) == (answer.reason == "limit")
                assert answer.limits == (("span_limit",) if answer.reason == "limit" else ())
                assert (answer.wanted is None) == (answer.reason == "no rule")
                continue
            assert words in allowed and answer.wanted is not None
            assert (answer.reason == "chosen") == (tuple(answer.best.tokens) == words)
            scores = [
                sum(weights[f] * v for f, v in {**one.features, **lm_features(words, models)}.items())
                for one in derivations
                if one.words == words
            ]
            if answer.reason != "chosen":
                assert answer.wanted.score == pytest.approx(max(scores), abs=1e-4)
                assert answer.difference == pytest.approx(max(scores) - answer.best.score, abs=1e-4)
                differences = answer.feature_differences()
                assert sum(differences.values()) == pytest.approx(answer.difference, abs=1e-4)
                sizes = [abs(value) for value in differences.values()]
                assert sizes == sorted(sizes, reverse=True) and 0 not in sizes
            if answer.reason == "scored lower":
                items = items_of(answer.best.chart)[answer.best.chart.forest.root]
                assert any(one[2] == words for one in items) and answer.difference < 1e-4
            if answer.reason == "pruned":
                check_pruned(answer, decoder, case)
                seen["made"] += answer.pruned is not None and answer.pruned.made
    assert min(seen[kind] for kind in ("chosen", "no rule", "limit", "pruned", "scored lower", "made")) > 10


GRAMMAR = (
    "[X] ||| a ||| u ||| P=1",
    "[X] ||| a ||| v ||| P=2",
    "[X] ||| a ||| w ||| P=3",
    "[X] ||| b ||| x ||| P=1",
    "[X] ||| [X,1] b ||| x [X,1] ||| P=0",
)


def small_decoder(**settings: int) -> hiero.Decoder:
    model = hiero.Model([table(*GRAMMAR)], [], {"P": 1.0})
    return hiero.Decoder(model, **settings)


def test_what_each_answer_says() -> None:
    decoder = small_decoder()
    chosen = why_not(decoder, "a b", "w x")
    assert (chosen.reason, chosen.difference, chosen.feature_differences()) == ("chosen", 0, {})
    lower = why_not(decoder, "a b", "u x")
    assert lower.reason == "scored lower" and lower.feature_differences() == {"P": -2.0}
    assert lower.wanted is not None and lower.wanted.tokens == ["u", "x"]
    missing = why_not(decoder, "a b", "w z")
    assert (missing.reason, missing.source_words, missing.target_words) == ("no rule", [1], [1])
    assert missing.difference == float("-inf") and missing.feature_differences() == {}
    limit = why_not(small_decoder(ttable_limit=1), "a", "u")
    assert (limit.reason, limit.limits) == ("limit", ("ttable_limit",))
    assert limit.difference == pytest.approx(-2)
    both = why_not(small_decoder(ttable_limit=1, span_limit=1), "a b", "x u")
    assert (both.reason, both.limits) == ("limit", ("span_limit",))


def test_words_of_a_prefix_and_rules_of_the_sentence() -> None:
    decoder = small_decoder()
    rule = Rule("[X] ||| a ||| z ||| Mine=1")
    sentence = hiero.Sentence("a b", rules=[rule])
    answer = why_not(decoder, sentence, "z x", {"Mine": 0.5})
    assert answer.feature_differences() == {"P": -3.0, "Mine": 0.5}
    assert why_not(decoder, sentence, ["z", "x"], {"Mine": 9.0}).reason == "chosen"
    assert why_not(decoder, hiero.Sentence("a b", prefix="v"), "w x").reason == "no rule"
    assert why_not(decoder, "a b", "v x", {"P": -1.0}).feature_differences() == {"P": -2.0}


def test_what_is_refused() -> None:
    decoder = small_decoder()
    with pytest.raises(ValueError, match="wanted: no words"):
        why_not(decoder, "a b", " ")
    lattice = hiero.Lattice.from_plf("((('a',0,1),),)")
    with pytest.raises(ValueError, match="lattice"):
        why_not(decoder, hiero.Sentence(lattice=lattice), "u")
