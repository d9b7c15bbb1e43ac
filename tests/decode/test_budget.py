"""The budget of hypotheses by cell: the share of the exact k-best list that is found, and its cost."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import hiero
from hiero import Rule
from support.brute_force import write_arpa

WORDS = "abcdef"
K = 100
WEIGHTS = {"LM0": 1.0, "WordPenalty": -1.0, "P": 1.0, "Glue": -0.5}


@cache
def model(folder: Path) -> hiero.Model:
    """A dozen targets a word, some of pairs and of patterns with one or two nonterminals."""
    rng = random.Random(3)
    targets = [f"t{n}" for n in range(30)]
    write_arpa(folder / "arpa", [rng.choices(targets, k=rng.randint(2, 7)) for _ in range(300)], 3)
    sources = [*WORDS, *(f"{a} {b}" for a in WORDS for b in WORDS if a < b)]
    sources += (
        [f"[X,1] {a}" for a in WORDS] + [f"{a} [X,1]" for a in "abc"] + ["[X,1] c [X,2]", "[X,1] a [X,2]"]
    )
    rules = []
    for source in sources:
        gaps = [token for token in source.split() if token.startswith("[")]
        for _ in range(12 if not gaps else 4):
            tokens = [*gaps, *rng.choices(targets, k=rng.choice([1, 1, 2]))]
            rng.shuffle(tokens)
            rules.append(Rule(f"[X] ||| {source} ||| {' '.join(tokens)} ||| P={rng.uniform(-6, 0):.3f}"))
    lm = hiero.LanguageModel.load(str(folder / "arpa"))
    return hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], WEIGHTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("budget")


def sentences() -> list[list[str]]:
    rng = random.Random(4)
    return [rng.choices(WORDS, k=length) for length in (3, 4, 4, 4)]


@cache
def exact(folder: Path) -> list[Counter[tuple[float, str]]]:
    return [best(hiero.Decoder(model(folder), pop_limit=0), sentence) for sentence in sentences()]


def best(decoder: hiero.Decoder, sentence: list[str]) -> Counter[tuple[float, str]]:
    found = decoder.translate(sentence, keep="forest").kbest(K)
    return Counter((round(d.score, 3), d.text) for d in found)


def recall(folder: Path, **settings: float) -> float:
    decoder = hiero.Decoder(model(folder), **settings)
    found = [best(decoder, sentence) for sentence in sentences()]
    return sum((f & e).total() for f, e in zip(found, exact(folder), strict=True)) / (K * len(found))


def hypotheses(folder: Path, sentence: list[str], limit: int) -> int:
    return hiero.Decoder(model(folder), pop_limit=limit).translate(sentence).stats.hypotheses


@pytest.mark.parametrize(("limit", "least"), [(10, 0.28), (50, 0.8), (100, 0.95), (200, 0.985), (500, 1.0)])
def test_share_of_the_best_that_is_found(folder: Path, limit: int, least: float) -> None:
    """The figures are 0.30, 0.84, 0.97, 0.995 and 1."""
    assert recall(folder, pop_limit=limit) >= least


def test_sentences_of_few_hypotheses_are_searched_to_the_end(folder: Path) -> None:
    sentence = sentences()[0]
    need = hypotheses(folder, sentence, 0)
    assert 5000 < need < 200 * 80
    assert hypotheses(folder, sentence, 200) == need
    assert recall(folder, pop_limit=10_000) == 1


def test_cells_get_what_later_cells_do_not_need(folder: Path) -> None:
    rules = [Rule(f"[X] ||| a ||| t{n} ||| P=-{n}") for n in range(60)] + [Rule("[X] ||| b ||| t1 ||| P=0")]
    small = hiero.Model([hiero.RuleTable.from_rules(rules)], model(folder).lms, WEIGHTS)
    spent = []
    for limit in (0, 10):
        decoder = hiero.Decoder(small, pop_limit=limit, beam_size=1)
        spent.append(decoder.translate(["a", "b", "b", "b", "b"]).stats.hypotheses)
    # 60 of the first word, one of every other word, one of glue for each word.
    assert spent == [69, 69]


def test_cells_as_good_as_the_best_are_not_told_apart_by_rounding() -> None:
    """All cells are on the one best derivation, whose score is rounded this way or that."""
    for seed in range(30):
        rng = random.Random(seed)
        best = [-rng.uniform(0.1, 3) * rng.choice([1, 1e-9, 1e-5]) for _ in range(20)]
        rules = [
            Rule(f"[X] ||| w{n} ||| t{n}.{k} ||| P={score if k == 0 else score - 0.1 * k - 0.05 * n}")
            for n, score in enumerate(best)
            for k in range(20)
        ]
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {"P": 1.0})
        result = hiero.Decoder(model, pop_limit=200).translate([f"w{n}" for n in range(20)])
        # Every target of every word, and glue.
        assert result.stats.hypotheses == 20 * 20 + 20


def test_hypotheses_are_spent_and_no_more(folder: Path) -> None:
    rng = random.Random(5)
    for length in (4, 9, 16):
        sentence = rng.choices(WORDS, k=length)
        # Spans of up to 10 words, and from the first word on those that glue reaches.
        spans = sum(min(10, length - begin) for begin in range(length)) + max(0, length - 10)
        for limit in (3, 30, 200):
            budget = limit * max(spans, min(80, 0.4 * limit))
            spent = hypotheses(folder, sentence, limit)
            assert 0.85 * min(budget, hypotheses(folder, sentence, 4 * limit)) < spent <= budget + 2 * spans


def test_work_is_linear_in_the_length(folder: Path) -> None:
    """The last 100 of 300 words cost as much as the second 100."""
    decoder = hiero.Decoder(model(folder), pop_limit=20)
    words = 3 * random.Random(6).choices(WORDS, k=100)
    stats = [decoder.translate(words[:length]).stats for length in (100, 200, 300)]
    for name in ("applications", "cells", "hypotheses", "lm_queries"):
        one, two, three = (getattr(each, name) for each in stats)
        assert three - two == pytest.approx(two - one, rel=0.03) and two - one > 100


def test_labels_share_the_hypotheses_of_their_span(folder: Path) -> None:
    """Twenty labels over every span make little more than one does: each further one a fiftieth."""
    spent = []
    for labels in (1, 20):
        rules = [
            Rule(f"[L{n}] ||| {source} ||| {target} ||| P=-{abs(hash_of(n, source, target))}")
            for n in range(labels)
            for source in ("a", "a a", "a a a")
            for target in (f"t{k} t{j}" for k in range(8) for j in range(8))
        ]
        tables = [hiero.RuleTable.from_rules(rules)]
        decoder = hiero.Decoder(hiero.Model(tables, model(folder).lms, WEIGHTS), pop_limit=50)
        spent.append(decoder.translate(["a"] * 12).stats.hypotheses)
    assert 1.25 < spent[1] / spent[0] < 1.45


def test_grammars_of_many_labels_are_searched_enough(folder: Path) -> None:
    """Given as many hypotheses for a span as without labels, shared out as evenly, the score is -9.72 at a
    limit of 200, and -8.95 at 25 times that."""
    rng, labels = random.Random(3), 60
    targets = [f"t{n}" for n in range(30)]
    write_arpa(folder / "labels.arpa", [rng.choices(targets, k=rng.randint(2, 7)) for _ in range(300)], 3)
    rules = []
    for word in WORDS:
        for n in range(labels):
            for _ in range(3):
                target = " ".join(rng.choices(targets, k=rng.choice([1, 1, 2])))
                rules.append(Rule(f"[L{n}] ||| {word} ||| {target} ||| P={rng.uniform(-6, 0):.3f}"))
    for _ in range(12 * labels):
        a, b, c = (rng.randrange(labels) for _ in range(3))
        order = ["[1]", "[2]"]
        rng.shuffle(order)
        score = rng.uniform(-6, 0)
        rules.append(Rule(f"[L{a}] ||| [L{b},1] [L{c},2] ||| {' '.join(order)} ||| P={score:.3f}"))
    lm = hiero.LanguageModel.load(str(folder / "labels.arpa"))
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], WEIGHTS)
    decoder = hiero.Decoder(model, pop_limit=200)
    rng = random.Random(4)
    results = [decoder.translate(rng.choices(WORDS, k=6)) for _ in range(6)]
    assert sum(result.score for result in results) / 6 > -8.96
    assert sum(result.stats.hypotheses for result in results) / 6 < 22_000


def hash_of(*parts: object) -> float:
    return random.Random(repr(parts)).uniform(0, 3)


def test_a_threshold_leaves_items_near_the_best(folder: Path) -> None:
    # Estimates are the worse, and more items turn out bad, the more the language model weighs.
    weights = {**WEIGHTS, "LM0": 4.0}
    decoder = hiero.Decoder(model(folder), pop_limit=100, beam_threshold=0.5).with_weights(weights)
    rng = random.Random(6)
    dropped = 0
    for _ in range(10):
        result = decoder.translate(rng.choices(WORDS, k=10), keep="chart")
        for items in cells_of(result, weights):
            top = max(score for score, _ in items)
            for score, survives in items:
                if abs(score - top + 0.5) > 1e-3:
                    assert survives == (score > top - 0.5)
                    dropped += not survives
    assert dropped > 10


def cells_of(result: hiero.Translation, weights: dict[str, float]) -> list[list[tuple[float, bool]]]:
    """Returns, by cell, the best score of every item and whether it survives."""
    assert result.chart is not None
    chart, survived = result.chart.forest, result.chart.survived
    scores = chart.scores(weights)
    inside: list[float] = []
    cells: dict[tuple[int, ...], list[tuple[float, bool]]] = {}
    for node in range(chart.node_count):
        edges = range(chart.edge_offsets[node], chart.edge_offsets[node + 1])
        tails = [chart.tails[chart.tail_offsets[e] : chart.tail_offsets[e + 1]] for e in edges]
        inside.append(
            max(scores[e] + sum(inside[t] for t in below) for e, below in zip(edges, tails, strict=True))
        )
        if chart.node_labels[node] >= 0:
            key = (*map(int, chart.node_spans[node]), int(chart.node_labels[node]))
            cells.setdefault(key, []).append((inside[node], bool(survived[node])))
    return list(cells.values())


def test_a_threshold_ends_the_search_of_cells(folder: Path) -> None:
    """One word: of its twelve targets, those far below the best are not even looked at."""
    decoders = [hiero.Decoder(model(folder), pop_limit=500, beam_threshold=t) for t in (0.5, float("inf"))]
    near, all_of_them = (decoder.translate(["a"]).stats.hypotheses for decoder in decoders)
    # Glue makes one of every item that is left.
    assert all_of_them == 24 and near < 12
