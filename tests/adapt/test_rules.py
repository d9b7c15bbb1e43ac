"""Tests of the rules of corrections: they have the features that training on the corrections too gives."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

import hiero
from hiero._core import CorrectedRules, ExtractOptions, RuleCounts
from hiero.adapt.rules import CORRECTED, RuleMemory
from hiero.decode.learning import Learning
from hiero.train import ExtractSettings, score_rules
from support.brute_force_extraction import Pair
from support.extraction import extract, random_pair

SETTINGS = {"max_phrase": 6, "max_symbols": 4}


def trained(folder: Path, pairs: list[Pair]) -> hiero.RuleTable:
    folder.mkdir()
    extract(folder, pairs, **SETTINGS)
    score_rules(folder / "counts", folder / "table")
    return hiero.RuleTable.open(str(folder / "table"))


@pytest.mark.parametrize("seed", range(8))
def test_features_are_those_of_training_on_both(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    first, second = ([random_pair(rng, 7, "abcdefg"[:width]) for _ in range(12)] for width in (4, 5))
    table, both = trained(tmp_path / "first", first), trained(tmp_path / "both", first + second)
    RuleCounts(str(tmp_path / "first" / "counts")).save_words(str(tmp_path / "words"))
    extraction = ExtractSettings(**SETTINGS).model_dump(exclude={"phrase_lines", "hierarchical_lines"})
    learning = Learning(alignment="", words=str(tmp_path / "words"), heuristic="union", extraction=extraction)
    memory = RuleMemory(hiero.Model([table], learning=learning), RuleCounts(str(tmp_path / "words")))
    for pair in second:
        memory.add(pair.source, pair.target, sorted(pair.links, reverse=True))
    alone = trained(tmp_path / "second", second)
    found = memory.rules_for(sorted({word for pair in second for word in pair.source}))
    key = {(tuple(rule.source), tuple(rule.target)) for rule in found}
    assert len(key) == len(found) == len(memory) == alone.rule_count
    known_targets = {tuple(rule.target) for rule in map(table.rule, range(table.rule_count))}
    exact = 0
    for rule in found:
        expected = {tuple(one.target): one for one in both.lookup(rule.source)}[tuple(rule.target)]
        of_corrections = {tuple(one.target): one for one in alone.lookup(rule.source)}[tuple(rule.target)]
        assert rule.links == of_corrections.links
        values = rule.features
        assert values.pop(CORRECTED) == 1
        names = {"PhraseEF", "RuleCount", "Singleton"}
        if rule.links == expected.links:
            names |= {"LexFE", "LexEF"}
        is_known = any(one.target == rule.target for one in table.lookup(rule.source))
        if is_known or tuple(rule.target) not in known_targets:
            names.add("PhraseFE")
            exact += 1
        assert values.keys() == expected.features.keys()
        for name in names:
            assert values[name] == pytest.approx(expected.features[name], abs=1e-5), (name, str(rule))
        assert values["PhraseFE"] >= expected.features["PhraseFE"] - 1e-5
    assert exact > 10


def test_only_rules_of_words_of_the_sentence(tmp_path: Path) -> None:
    rng = random.Random(1)
    pairs = [random_pair(rng, 6, "abcdefg") for _ in range(12)]
    table = trained(tmp_path / "some", pairs[:1])
    rules = CorrectedRules(RuleCounts(str(tmp_path / "some" / "counts")), table, ExtractOptions(max_phrase=6))
    for pair in pairs:
        rules.add(pair.source, pair.target, sorted(pair.links))
    everything = rules.rules_for(list("abcdefg"))
    for sentence in ("abc", "ba", "gfe", "x", ""):
        found = {(tuple(rule.source), tuple(rule.target)) for rule in rules.rules_for(list(sentence))}
        words = set(sentence)
        assert found == {
            (tuple(rule.source), tuple(rule.target))
            for rule in everything
            if {word for word in rule.source if not word.startswith("[")} <= words
        }


def test_the_order_of_pairs_changes_no_rule(tmp_path: Path) -> None:
    rng = random.Random(5)
    pairs = [random_pair(rng, 6, "abc") for _ in range(20)]
    table = trained(tmp_path / "some", pairs[:1])
    counts = RuleCounts(str(tmp_path / "some" / "counts"))

    def counted(order: list[Pair]) -> list[tuple[object, ...]]:
        rules = CorrectedRules(counts, table, ExtractOptions())
        for pair in order:
            rules.add(pair.source, pair.target, sorted(pair.links))
        return sorted(
            (
                r.source,
                r.target,
                r.links,
                r.count,
                r.occurrences,
                r.source_count,
                r.target_count,
                r.lex_fe,
                r.lex_ef,
            )
            for r in rules.rules_for(["a", "b", "c"])
        )

    assert counted(pairs) == counted(pairs[::-1])


def test_words_that_look_like_syntax(tmp_path: Path) -> None:
    pair = Pair(("[X,1]", "|||"), ("\\[X]", "a"), frozenset({(0, 0), (1, 1)}))
    table = trained(tmp_path / "some", [Pair(("b",), ("c",), frozenset({(0, 0)}))])
    learning = Learning(
        alignment="", words=str(tmp_path / "some" / "counts"), heuristic="union", extraction={"max_phrase": 4}
    )
    memory = RuleMemory(hiero.Model([table], learning=learning), RuleCounts(learning.words))
    memory.add(pair.source, pair.target, [(0, 0), (1, 1)])
    texts = {(tuple(rule.source), tuple(rule.target)) for rule in memory.rules_for(list(pair.source))}
    assert (("\\[X,1]",), ("\\\\[X]",)) in texts and (("\\|||",), ("a",)) in texts
    assert math.isclose(memory.rules_for(["|||"])[0].features["PhraseEF"], 0)


def test_links_are_checked(tmp_path: Path) -> None:
    table = trained(tmp_path / "some", [Pair(("b",), ("c",), frozenset({(0, 0)}))])
    rules = CorrectedRules(RuleCounts(str(tmp_path / "some" / "counts")), table, ExtractOptions())
    for links in ([(1, 0)], [(0, 1)]):
        with pytest.raises(IndexError, match="beyond"):
            rules.add(["b"], ["c"], links)
    rules.add(["b"], ["c"], [(0, 0), (0, 0)])
    assert len(rules) == 1 and rules.rules_for(["b"])[0].occurrences == 1


def test_the_file_of_words_has_no_rules(tmp_path: Path) -> None:
    trained(tmp_path / "some", [random_pair(random.Random(1), 6, "abc") for _ in range(5)])
    counts = RuleCounts(str(tmp_path / "some" / "counts"))
    counts.save_words(str(tmp_path / "words"))
    words = RuleCounts(str(tmp_path / "words"))
    seen: list[object] = []
    words.visit(lambda *rule: seen.append(rule))
    assert seen == [] and words.statistics.pairs == counts.statistics.pairs
    with pytest.raises(OSError, match="nowhere"):
        counts.save_words(str(tmp_path / "nowhere" / "words"))
