"""Source lattices in search: all paths and derivations, features of arcs, and forests."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Arc, FormatError, Lattice, Rule, Sentence
from hiero.forest.derivations import derivation_tree
from hiero.forest.files import read_json, write_json
from support.brute_force import BackoffModel, lm_features, same_features
from support.constraints import obeys, random_constraint
from support.lattices import LatticeEnumerator, random_lattice
from support.search_cases import Case, many_labels, many_nonterminals, own_rules, plain_case, small_lms


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return small_lms(tmp_path_factory.mktemp("lms"), 11)


def check(rng: random.Random, case: Case, constrained: bool) -> int:
    """Compares search with enumeration, and returns the number of derivations."""
    lattice = random_lattice(rng, "abc", rng.randint(2, 5), rng.randint(0, 2))
    try:
        model = case.model()
        expected = LatticeEnumerator(case.rules, lattice, case.span_limit, case.own).derivations()
        if len(expected) > 3000:
            return 0
        said = random_constraint(rng, [one.words for one in expected], "uvwb") if constrained else {}
        if "prefix" in said:
            said = {"required": [["u"]]}
        expected = [one for one in expected if obeys(one.words, said)]
        sentence = Sentence(lattice=lattice, rules=case.own, **said)
        brought = {name for rule in case.own for name in rule.features}.union(lattice.features)
        names = dict.fromkeys([*model.feature_names, *sorted(brought)])
        weights = {name: rng.uniform(-1, 1) for name in names}
        decoder = hiero.Decoder(model, pop_limit=0, span_limit=case.span_limit)
        result = decoder.translate(sentence, keep="forest", weights=weights)
    except FormatError as error:
        assert "cycle" in str(error) or "no nonterminal" in str(error)
        return 0
    assert result.has_parse == bool(expected)
    assert result.forest.derivation_count == len(expected)
    if not expected:
        return 0
    models = [BackoffModel(path) for path in case.lms]
    scored = []
    for one in expected:
        features = {**one.features, **lm_features(one.words, models)}
        scored.append((sum(weights.get(name, 0.0) * value for name, value in features.items()), features))
    ordered = np.sort([score for score, _ in scored])[::-1]
    kbest = result.kbest(len(ordered) + 1)
    assert len(kbest) == len(ordered)
    assert np.abs(np.array([one.score for one in kbest]) - ordered).max() < 1e-4
    tied = [features for score, features in scored if score > ordered[0] - 1e-4]
    assert any(same_features(result.features, features) for features in tied)
    # The sum over all derivations, and paths.
    inside = result.forest.distribution(result.weights).log_z
    assert inside == pytest.approx(float(np.logaddexp.reduce(ordered)), abs=1e-3)
    for one in kbest[:5]:
        arcs = [lattice.arcs[position] for position in one.path]
        assert [arc.begin for arc in arcs] == [0, *(arc.end for arc in arcs[:-1])]
        assert arcs[-1].end == max(arc.end for arc in lattice.arcs)
        sums = np.sum([arc.scores for arc in arcs], axis=0)
        assert [one.features.get(name, 0.0) for name in lattice.features] == pytest.approx(list(sums))
    return len(expected)


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("make", [plain_case, many_nonterminals, many_labels, own_rules])
@pytest.mark.parametrize("seeds", [range(80), pytest.param(range(80, 400), marks=pytest.mark.slow)])
def test_equals_enumeration(seeds: range, make: object, constrained: bool, lms: list[Path]) -> None:
    counts = []
    for seed in seeds:
        rng = random.Random(seed)
        counts.append(check(rng, make(rng, lms), constrained))  # type: ignore[operator]
    assert sum(count > 10 for count in counts) > len(seeds) // 30


def a_model() -> hiero.Model:
    rules = [
        "[X] ||| a ||| A ||| P=-1 ||| 0-0",
        "[X] ||| an ||| AN ||| P=-2 ||| 0-0",
        "[X] ||| n [X,1] ||| [X,1] N ||| P=-1 ||| 0-1",
        "[X] ||| x ||| ex ||| P=-1 ||| 0-0",
    ]
    return hiero.Model([hiero.RuleTable.from_rules([Rule(rule) for rule in rules])], [], {"P": 1.0})


PLF = "((('a',-0.1,1),('an',-2,2),),(('n',-0.5,1),),(('x',0,1),('y',-3,1),),)"


def test_a_translation_says_which_path_it_took(tmp_path: Path) -> None:
    sentence = Sentence(lattice=Lattice.from_plf(PLF))
    result = hiero.Decoder(a_model()).translate(sentence, keep="forest")
    assert result.weights["Lattice0"] == 1.0 and result.features["Lattice0"] == pytest.approx(-0.6)
    assert result.source == ["a", "an", "n", "x", "y"] and result.unknown == [2]
    best, second = result.kbest(2)
    assert (best.tokens, best.path) == (["A", "n", "ex"], [0, 2, 3])
    assert second.tokens == ["A", "ex", "N"] and second.alignment == [(0, 0), (2, 2), (3, 1)]
    archive = tmp_path / "forests.jsonl"
    with archive.open("w") as file:
        write_json([result.forest], file)
    copies = [pickle.loads(pickle.dumps(result.forest)), *read_json(archive)]
    for forest in copies:
        assert forest.source_nodes.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [2, 3]]
        again = forest.kbest(2, result.weights)[1]
        assert (again.path, again.alignment) == (second.path, second.alignment)
        steps = [step.source for step in derivation_tree(again).preorder()]
        assert steps[-2:] == ["n [X,1]", "x"]
    both = hiero.Forest.union([result.forest, result.forest])
    assert both.derivation_count == result.forest.derivation_count == 6
    assert both.kbest(2, result.weights)[1].path == second.path
    pruned = result.forest.prune(result.weights, margin=1.5)
    assert pruned.kbest(1, result.weights)[0].path == best.path
    weighted = hiero.Decoder(a_model()).translate(sentence, weights={"Lattice0": -1.0})
    assert weighted.tokens == ["AN", "y"] and weighted.unknown == [4]


def test_a_lattice_of_one_path_is_a_string() -> None:
    decoder = hiero.Decoder(a_model())
    words = ["a", "n", "x", "a"]
    lattice = Lattice([Arc(word, place, place + 1) for place, word in enumerate(words)])
    plain = decoder.translate(words, keep="forest")
    same = decoder.translate(Sentence(lattice=lattice), keep="forest")
    assert (same.tokens, same.score, same.features) == (plain.tokens, plain.score, plain.features)
    assert same.stats.hypotheses == plain.stats.hypotheses and same.alignment == plain.alignment
    for name in ("node_spans", "node_labels", "edge_offsets", "tails", "edge_tables", "edge_rules"):
        assert getattr(same.forest, name).tolist() == getattr(plain.forest, name).tolist()
    assert [one.tokens for one in same.kbest(9)] == [one.tokens for one in plain.kbest(9)]
    assert plain.kbest(1)[0].path == [0, 1, 2, 3] and len(plain.forest.source_nodes) == 0


def test_limits_of_spans_count_the_shortest_path() -> None:
    """A long way round does not forbid what a short one allows."""
    rules = [
        Rule("[X] ||| a b ||| ab ||| P=5"),
        Rule("[X] ||| c ||| c ||| P=0"),
        Rule("[X] ||| b ||| b ||| P=0"),
    ]
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {"P": 1.0})
    arcs = [Arc("a", 0, 1), Arc("b", 1, 2), Arc("c", 0, 2)]
    one = hiero.Decoder(model, span_limit=1)
    assert one.translate(Sentence(lattice=Lattice(arcs))).tokens == ["ab"]
    assert one.translate(Sentence(lattice=Lattice(arcs[:2]))).tokens == ["a", "b"]


def test_what_a_lattice_cannot_have() -> None:
    lattice = Lattice.from_plf(PLF)
    decoder = hiero.Decoder(a_model())
    with pytest.raises(ValueError, match="a lattice has neither a parse nor marks"):
        Sentence(lattice=lattice, markup=hiero.Markup([hiero.Phrase(0, 1, ["x"])]))
    with pytest.raises(ValueError, match="a sentence has a lattice, or text or tokens"):
        Sentence("a n x", lattice=lattice)
    with pytest.raises(TypeError, match="lattice: expected a hiero"):
        Sentence(lattice=PLF)  # type: ignore[arg-type]
    # Words of a prefix are not forced on a lattice, but those that it has are found.
    assert decoder.translate(Sentence(lattice=lattice), prefix=["AN"]).tokens == ["AN", "ex"]
    assert not decoder.translate(Sentence(lattice=lattice), prefix=["none"]).has_parse
    forced = decoder.translate(Sentence(lattice=lattice), references=[["A", "ex", "N"]])
    assert forced.tokens == ["A", "ex", "N"]
    missing = decoder.translate(Sentence(lattice=lattice), references=[["A", "ex", "M"]])
    assert missing.uncovered_target == [2]


def test_outside_strings_of_a_lattice_reach_from_its_first_node_to_the_last() -> None:
    found = []
    for sentence in (Sentence(lattice=Lattice.from_plf(PLF)), Sentence(tokens=["a", "n", "x"])):
        result = hiero.Decoder(a_model()).translate(sentence, keep="chart")
        assert result.chart.forest.source_length == 3
        outside = result.chart.outside("concatenation")
        found.append([outside.around(0, 1), outside.around(1, 2), outside.around(2, 3)])
        assert len(outside.candidates(0, 3)) >= 1
    assert found[0] == found[1] == [([], ["ex", "N"]), (["A"], ["ex"]), (["A", "n"], [])]
