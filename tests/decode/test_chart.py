"""The chart without pruning holds what plain enumeration finds, in every cell that the goal can reach."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest

import hiero
from hiero import Forest
from hiero._core import Chart
from support.brute_force import Enumerator, is_nonterminal, nonterminal_label, random_rules, write_arpa

SOURCE = "abc"
TARGET = "uvw"
Cell = tuple[int, int, str]
# Score without language models, and words, of one derivation.
Scored = tuple[float, tuple[str, ...]]


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> hiero.LanguageModel:
    """Loads a language model of order 3, so that a cell holds several items of which some have several
    edges."""
    path = tmp_path_factory.mktemp("lm") / "arpa"
    rng = random.Random(5)
    write_arpa(path, [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], 3)
    return hiero.LanguageModel.load(str(path))


def of_items(chart: Forest, scores: list[float]) -> list[list[Scored]]:
    """Returns, by node, all derivations below it, one by one."""
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
    """Returns the cells that a derivation of the whole sentence may go through."""
    seen: set[Cell] = set()
    open_ = [(0, len(rules.sentence), rules.goal)]
    while open_:
        cell = open_.pop()
        if cell in seen or not rules.span_derivations(*cell):
            continue
        seen.add(cell)
        begin, end, label = cell
        for rule in rules.rules:
            if rule.lhs != label or end - begin > rule.span_limit:
                continue
            below = [nonterminal_label(token) for token in rule.source if is_nonterminal(token)]
            for gaps in rules.matches(rule.source, begin, end):
                tails = [(*gap, label) for gap, label in zip(gaps, below, strict=True)]
                if all(rules.span_derivations(*tail) for tail in tails):
                    open_ += tails
    return seen


def enumerated(rules: Enumerator, weights: dict[str, float]) -> dict[Cell, list[Scored]]:
    return {
        cell: [
            (sum(weights.get(name, 0.0) * value for name, value in d.features.items()), d.words)
            for d in rules.span_derivations(*cell)
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
    chart = decoder.translate(sentence, keep="chart").chart
    assert chart is not None
    forest = chart.forest
    without_lm = weights | {"LM0": 0.0, "LM0_OOV": 0.0}
    found = by_cell(forest, forest.scores(without_lm).tolist())
    expected = enumerated(Enumerator(rules, sentence, span_limit), without_lm)
    assert found.keys() == expected.keys()
    for cell, derivations in expected.items():
        assert len(found[cell]) == len(derivations), (seed, cell)
        assert same(found[cell], derivations), (seed, cell)
    assert chart.survived.all() and len(chart.survived) == forest.node_count
    assert not chart.completed.any() and len(chart.completed) == forest.node_count
    check_spans(chart, weights)
    items = len(forest.node_labels) - (forest.root >= 0)
    return items > len(found), int((np.diff(forest.edge_offsets) > 1).sum())


def check_spans(chart: Chart, weights: dict[str, float]) -> None:
    """Nodes and the best derivation of each split point, by all derivations one by one."""
    forest = chart.forest
    scores = forest.scores(weights)
    assert chart.edge_scores.tolist() == scores.tolist()
    best = [max(score for score, _ in below) for below in of_items(forest, scores.tolist())]
    np.testing.assert_allclose(chart.scores, best)
    spans: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node in range(forest.node_count):
        if node != forest.root:
            spans[tuple(forest.node_spans[node].tolist())].append(node)
    assert chart.spans == sorted(spans)
    by_node = split_scores(forest, scores.tolist())
    for (begin, end), nodes in spans.items():
        found = chart.nodes(begin, end).tolist()
        assert sorted(found) == nodes
        assert chart.scores[found].tolist() == sorted(chart.scores[nodes].tolist(), reverse=True)
        for node in nodes:
            derivation, expected = chart.derivation(node), forest.viterbi(scores, node)
            assert expected is not None and derivation.edges.tolist() == expected.edges.tolist()
            assert derivation.score == pytest.approx(chart.scores[node])
        places: dict[int, float] = {}
        for node in nodes:
            for place, score in by_node[node].items():
                places[place] = max(score, places.get(place, -np.inf))
        splits = chart.splits(begin, end)
        assert list(splits) == sorted(places)
        for place, derivation in splits.items():
            assert derivation.score == pytest.approx(places[place])
            edges = derivation.edges.tolist()
            top = head_of(forest, edges[0])
            assert forest.derivation(edges, node=top).edges.tolist() == edges and top in nodes
            assert split_of(forest, edges) == place


def head_of(forest: Forest, edge: int) -> int:
    return int(np.searchsorted(forest.edge_offsets, edge, "right")) - 1


def tails_of(forest: Forest, edge: int) -> list[int]:
    return forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()  # type: ignore[no-any-return]


def split_of(forest: Forest, edges: list[int]) -> int | None:
    """Returns where the first nonterminal of the topmost rule ends that is not unary; None if it has none."""
    for edge in edges:
        tails = [tuple(forest.node_spans[tail].tolist()) for tail in tails_of(forest, edge)]
        if tails != [tuple(forest.node_spans[head_of(forest, edge)].tolist())]:
            return int(tails[0][1]) if tails else None
    raise AssertionError("a derivation ends with a rule without nonterminals")


def split_scores(forest: Forest, scores: list[float]) -> list[dict[int, float]]:
    """Returns, by node, the best score of every split point, over all derivations."""
    every: list[list[tuple[float, list[int]]]] = []
    found = []
    for node in range(forest.node_count):
        mine = []
        for edge in range(*forest.edge_offsets[node : node + 2]):
            for parts in itertools.product(*(every[tail] for tail in tails_of(forest, edge))):
                mine.append(
                    (scores[edge] + sum(p[0] for p in parts), [edge, *(e for p in parts for e in p[1])])
                )
        every.append(mine)
        places: dict[int, float] = {}
        for score, edges in mine:
            if (place := split_of(forest, edges)) is not None:
                places[place] = max(score, places.get(place, -np.inf))
        found.append(places)
    return found


def test_every_cell_holds_what_enumeration_finds(lm: hiero.LanguageModel) -> None:
    counts = [check_case(seed, lm) for seed in range(400)]
    assert sum(several for several, _ in counts) > 100
    assert sum(edges for _, edges in counts) > 300


def test_every_split_point_has_a_derivation(lm: hiero.LanguageModel) -> None:
    """Split points that search stops before get one, too; the rest of the search does not change."""
    completed = lost = 0
    for seed in range(300):
        rng = random.Random(seed)
        rules = random_rules(rng, rng.choice([["X"], ["X", "Y"]]), SOURCE, TARGET)
        sentence = rng.choices(SOURCE, k=rng.randint(2, 6))
        try:
            model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {})
        except hiero.FormatError:
            continue
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        limits = {"pop_limit": rng.choice([1, 2]), "beam_size": rng.choice([0, 1, 2])}
        decoder = hiero.Decoder(model, span_limit=4, **limits).with_weights(weights)
        plain = decoder.translate(sentence, keep="chart")
        result = decoder.translate(sentence, keep="splits")
        assert plain.chart is not None and result.chart is not None
        assert (result.tokens, result.score) == (plain.tokens, plain.score)
        assert result.stats.hypotheses == plain.stats.hypotheses
        assert (plain.stats.completed, result.stats.completed) == (0, result.chart.completed.sum())
        chart, forest = result.chart, result.chart.forest
        kept = np.flatnonzero(chart.completed == 0)
        assert forest.node_spans[kept].tolist() == plain.chart.forest.node_spans.tolist()
        assert chart.survived[kept].tolist() == plain.chart.survived.tolist()
        assert chart.scores[kept].tolist() == plain.chart.scores.tolist()
        assert not chart.survived[chart.completed == 1].any()
        assert chart.survived[forest.tails].all()
        # What any rule could make of items that outlived pruning.
        everything = hiero.Decoder(model, span_limit=4, pop_limit=0).translate(sentence, keep="chart").chart
        assert everything is not None
        alive = {cell_of(forest, node) for node in np.flatnonzero(chart.survived)}
        places = defaultdict(set)
        every = everything.forest
        for edge in range(every.edge_count):
            tails, head = tails_of(every, edge), head_of(every, edge)
            place = split_of(every, [edge]) if not is_unary(every, edge) else None
            if place is not None and all(cell_of(every, tail) in alive for tail in tails):
                places[tuple(every.node_spans[head].tolist())].add(place)
        for begin, end in chart.spans:
            splits = chart.splits(begin, end)
            assert set(splits) == places[begin, end], (seed, begin, end)
            lost += len(splits) - len(plain.chart.splits(begin, end))
            for place, derivation in splits.items():
                assert split_of(forest, derivation.edges.tolist()) == place
        completed += result.stats.completed
    assert completed > 500 and lost > 200


def cell_of(forest: Forest, node: int) -> Cell:
    begin, end = forest.node_spans[node].tolist()
    return begin, end, forest.labels[forest.node_labels[node]] if forest.node_labels[node] >= 0 else ""


def is_unary(forest: Forest, edge: int) -> bool:
    spans = [tuple(forest.node_spans[tail].tolist()) for tail in tails_of(forest, edge)]
    return spans == [tuple(forest.node_spans[head_of(forest, edge)].tolist())]
