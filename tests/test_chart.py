"""The chart without pruning holds what plain enumeration finds, in every cell that the goal can reach."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest
from brute_force import Enumerator, is_nonterminal, label_of, random_rules, write_arpa

import hiero
from hiero import Forest

SOURCE = "abc"
TARGET = "uvw"
Cell = tuple[int, int, str]
# Score without language models, and words, of one derivation.
Scored = tuple[float, tuple[str, ...]]


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> hiero.LanguageModel:
    """Of order 3, so that a cell holds several items of which some have several edges."""
    path = tmp_path_factory.mktemp("lm") / "arpa"
    rng = random.Random(5)
    write_arpa(path, [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], 3)
    return hiero.LanguageModel.load(str(path))


def of_items(chart: Forest, scores: list[float]) -> list[list[Scored]]:
    """By node: all derivations below it, one by one."""
    found: list[list[Scored]] = []
    for node in range(chart.node_count):
        mine = []
        for edge in range(chart.edge_offsets[node], chart.edge_offsets[node + 1]):
            target = int(chart.edge_targets[edge])
            symbols = chart.target_symbols[slice(*chart.target_offsets[target : target + 2])].tolist()
            tails = chart.tails[slice(*chart.tail_offsets[edge : edge + 2])].tolist()
            for parts in itertools.product(*(found[tail] for tail in tails)):
                score = scores[edge] + sum(part[0] for part in parts)
                words = [w for s in symbols for w in ([chart.words[s]] if s >= 0 else parts[-1 - s][1])]
                mine.append((score, tuple(words)))
        found.append(mine)
    return found


def by_cell(chart: Forest, scores: list[float]) -> dict[Cell, list[Scored]]:
    cells: dict[Cell, list[Scored]] = defaultdict(list)
    items = zip(chart.node_spans.tolist(), chart.node_labels.tolist(), of_items(chart, scores), strict=True)
    for (begin, end), label, derivations in items:
        if label >= 0:
            cells[begin, end, chart.labels[label]] += derivations
    return cells


def useful_cells(rules: Enumerator) -> set[Cell]:
    """Those that a derivation of the whole sentence may go through."""
    seen: set[Cell] = set()
    open_ = [(0, len(rules.sentence), rules.goal)]
    while open_:
        cell = open_.pop()
        if cell in seen or not rules.of_span(*cell):
            continue
        seen.add(cell)
        begin, end, label = cell
        for rule in rules.rules:
            if rule.lhs != label or end - begin > rule.longest:
                continue
            below = [label_of(token) for token in rule.source if is_nonterminal(token)]
            for gaps in rules.matches(rule.source, begin, end):
                tails = [(*gap, label) for gap, label in zip(gaps, below, strict=True)]
                if all(rules.of_span(*tail) for tail in tails):
                    open_ += tails
    return seen


def enumerated(rules: Enumerator, weights: dict[str, float]) -> dict[Cell, list[Scored]]:
    return {
        cell: [
            (sum(weights.get(name, 0.0) * value for name, value in d.features.items()), d.words)
            for d in rules.of_span(*cell)
        ]
        for cell in useful_cells(rules)
    }


def same(ours: list[Scored], theirs: list[Scored]) -> bool:
    """Equal but for rounding, as multisets: of one string, scores in order."""
    ours, theirs = (sorted(side, key=lambda one: (one[1], one[0])) for side in (ours, theirs))
    return [words for _, words in ours] == [words for _, words in theirs] and np.allclose(
        [score for score, _ in ours], [score for score, _ in theirs], rtol=0, atol=1e-5
    )


def check_case(seed: int, lm: hiero.LanguageModel) -> tuple[int, int]:
    """Returns how many cells have several items, and how many items several edges."""
    rng = random.Random(seed)
    labels = rng.choice([["X"], ["X"], ["X", "Y"], ["S", "X"]])
    rules = random_rules(rng, labels, SOURCE, TARGET)
    sentence = rng.choices(SOURCE, k=rng.randint(1, 4))
    span_limit = rng.choice([2, 10])
    try:
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {})
    except hiero.FormatError as error:
        assert "cycle" in str(error)
        return 0, 0
    weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
    decoder = hiero.Decoder(model, pop_limit=0, span_limit=span_limit).with_weights(weights)
    result = decoder.translate(sentence, keep="chart")
    assert result.chart is not None
    without_lm = weights | {"LM0": 0.0, "LM0_OOV": 0.0}
    found = by_cell(result.chart, result.chart.scores(without_lm).tolist())
    expected = enumerated(Enumerator(rules, sentence, span_limit), without_lm)
    assert found.keys() == expected.keys()
    for cell, derivations in expected.items():
        assert len(found[cell]) == len(derivations), (seed, cell)
        assert same(found[cell], derivations), (seed, cell)
    assert result.chart_survivors.all() and len(result.chart_survivors) == result.chart.node_count
    items = len(result.chart.node_labels) - (result.chart.root >= 0)
    return items > len(found), int((np.diff(result.chart.edge_offsets) > 1).sum())


def test_every_cell_holds_what_enumeration_finds(lm: hiero.LanguageModel) -> None:
    counts = [check_case(seed, lm) for seed in range(400)]
    assert sum(several for several, _ in counts) > 100
    assert sum(edges for _, edges in counts) > 300
