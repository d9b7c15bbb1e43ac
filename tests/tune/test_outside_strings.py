"""Outside strings and the guided backtrace: the paper's example, against a literal transcription, and
features of what is recovered, by the rules that it is made of and a slow language model."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Chart
from hiero._core import OutsideStrings
from hiero.forest import derivation_tree
from support.brute_force import BackoffModel, random_rules, write_arpa
from support.lattices import random_lattice
from support.paper_chart import PAPER, REFERENCE, paper
from support.search_aware_twin import Tree, Twin, bleu_plus_one

SOURCE, TARGET = "abc", "uvw"
THREE = "[X] ||| [X,1] [X,2] [X,3] ||| [X,3] [X,2] [X,1] ||| P=0.05\n"


def texts(outside: OutsideStrings, begin: int, end: int) -> tuple[str, str]:
    left, right = outside.around(begin, end)
    return " ".join(left), " ".join(right)


def test_the_paper_s_example(tmp_path: Path) -> None:
    chart = paper(tmp_path, PAPER)
    forest = chart.forest
    best = forest.viterbi(chart.edge_scores)
    assert best is not None and best.text == REFERENCE
    concatenation = chart.outside("concatenation")
    # "Amy getting married, lived in Berlin", and what section 3.2.2 has of jiehun.
    assert texts(concatenation, 2, 3) == ("Amy getting married", "lived in Berlin")
    top_down = chart.outside("top-down", k=1)
    assert top_down.reached == [(0, 1), (0, 5), (1, 2), (1, 5), (3, 5)]
    assert texts(top_down, 1, 2) == ("Amy lived in Berlin before", "")
    assert texts(top_down, 0, 1) == ("", "lived in Berlin before getting married")
    assert texts(top_down, 3, 5) == ("Amy", "before getting married")
    assert texts(top_down, 1, 5) == ("Amy", "")
    assert texts(top_down, 0, 5) == ("", "")
    # A span that is not reached gets its strings by concatenation.
    assert texts(top_down, 2, 3) == ("Amy getting married", "lived in Berlin")
    # Figure 3: the outside string of qian, where a derivation has it as a constituent.
    with_three = paper(tmp_path, PAPER + THREE).outside("top-down", k=1)
    assert texts(with_three, 2, 3) == ("Amy lived in Berlin", "getting married")


def test_a_pruned_derivation_is_recovered(tmp_path: Path) -> None:
    """The beam of [1, 5] loses the translation of the reference, as its score is low (Figure 2)."""
    grammar = PAPER.replace("lived in Berlin ||| P=0", "lived in Berlin ||| P=-2")
    chart = paper(tmp_path, grammar, beam_size=2)
    below = "lived in Berlin before getting married"
    beam = [chart.derivation(int(v)).text for v in chart.nodes(1, 5) if chart.survived[v]]
    assert len(beam) == 2 and below not in beam
    assert REFERENCE not in [d.text for d in chart.forest.kbest(99, chart.edge_scores)]
    found = chart.outside("guided", [REFERENCE.split()])
    assert found.oracle == REFERENCE.split() and found.oracle_bleu == 1.0 > found.best_bleu
    assert [(d.text, bleu) for d, bleu in found.recovered(1, 5)][:1] == [(below, 1.0)]
    derivation, bleu = found.recovered(0, 5)[0]
    assert (derivation.text, bleu) == (REFERENCE, 1.0)
    assert derivation.score == pytest.approx(derivation.features["P"] - 0.1) == -2.1
    assert derivation_tree(derivation).span == (0, 5)
    words = found.candidates(1, 5)
    texts = [chart.forest.words[w] for w in words.words[words.word_offsets[2] : words.word_offsets[3]]]
    assert texts == REFERENCE.split()


def test_as_few_words_as_can_be_go_without_translation() -> None:
    rules = [
        "a ||| t ||| P=0",
        "a b ||| u ||| P=0",
        "b c ||| v ||| P=-9",
        "c ||| w ||| P=0",
        "d ||| z ||| P=0",
    ]
    table = hiero.RuleTable.from_rules([hiero.Rule(f"[X] ||| {rule}") for rule in rules])
    decoder = hiero.Decoder(hiero.Model([table], [], {"P": 1.0}), pop_limit=0, pass_through="none")
    chart = decoder.translate(["a", "b", "c", "d"], keep="chart").chart
    assert chart is not None and len(chart.nodes(1, 2)) == 0 == len(chart.nodes(1, 4))
    # "w z" has a better score, but b goes without translation.
    assert chart.outside("concatenation").around(0, 1) == ([], ["v", "z"])


def random_chart(
    rng: random.Random, lm: hiero.LanguageModel, keep: str = "splits"
) -> tuple[Chart, hiero.Model, dict[str, float]] | None:
    labels = rng.choice([["X"], ["X"], ["X", "Y"], ["S", "X"]])
    rules = random_rules(rng, labels, SOURCE, TARGET)
    try:
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {}, log_base=rng.choice([None, 100]))
    except hiero.FormatError:
        return None
    weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
    settings = {"pop_limit": rng.choice([1, 2, 5, 0]), "beam_size": rng.choice([0, 1, 2, 3])}
    decoder = hiero.Decoder(model, span_limit=rng.choice([2, 4]), **settings).with_weights(weights)
    sentence = hiero.Sentence(tokens=rng.choices(SOURCE, k=rng.randint(1, 6)))
    if rng.random() < 0.3:
        sentence = hiero.Sentence(lattice=random_lattice(rng, SOURCE, rng.randint(2, 6), 1))
        weights["Lattice0"] = 1.0
    chart = decoder.translate(sentence, keep=keep, weights=weights).chart  # type: ignore[arg-type]
    assert chart is not None
    return chart, model, weights


@pytest.fixture(scope="module")
def arpa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "arpa"
    rng = random.Random(5)
    write_arpa(path, [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], 3)
    return path


def test_pieces_make_the_translation(arpa: Path) -> None:
    """Top-down, eta . e(d) . xi is one of the best translations for every derivation within them."""
    lm = hiero.LanguageModel.load(str(arpa))
    pieces = 0
    for seed in range(200):
        rng = random.Random(seed)
        if (made := random_chart(rng, lm)) is None:
            continue
        twin = Twin(made[0])
        for derivation in twin.final:
            complete = twin.e(derivation)
            alone = Twin(made[0])
            alone.final = [derivation]
            alone.top_down()
            open_ = [derivation]
            seen = set()
            while open_:
                part = open_.pop()
                # Repeated spans are those of unary rules.
                if (span := alone.span(part)) in alone.strings and span not in seen:
                    eta, xi = alone.strings[span]
                    assert eta + alone.e(part) + xi == complete
                    pieces += 1
                seen.add(alone.span(part))
                open_ += [
                    child for x, child in enumerate(part.children) if alone.around_child(part, x) is not None
                ]
    assert pieces > 1000


@pytest.mark.parametrize("kind", ["concatenation", "top-down", "guided", "nothing"])
def test_like_the_transcription(arpa: Path, kind: str) -> None:
    lm, slow = hiero.LanguageModel.load(str(arpa)), BackoffModel(arpa)
    counted = {"spans": 0, "reached": 0, "recovered": 0, "wholes": 0, "oracles": 0}
    for seed in range(600 if kind == "guided" else 200):
        rng = random.Random(seed)
        if (made := random_chart(rng, lm)) is None:
            continue
        chart = made[0]
        references = [rng.choices(TARGET, k=rng.randint(1, 7)) for _ in range(rng.choice([1, 1, 2, 4]))]
        k, beam, most = rng.choice([1, 3, 50]), rng.choice([1, 2, 30]), rng.choice([1, 50])
        length = rng.choice(["average", "closest", "shortest"])
        limits = {"k": k, "beam": beam, "recovered": most}
        found = chart.outside(kind, references, **limits, effective_length=length)
        twin = Twin(chart, references, k, beam, most, length)
        features = FeaturesOfTrees(twin, made[1], made[2], slow)
        if twin.final and kind == "top-down":
            twin.top_down()
        if twin.final and kind == "guided":
            twin.guided_backtrace()
            assert found.best_bleu == pytest.approx(twin.best_bleu)
            assert found.oracle_bleu == pytest.approx(twin.oracle_bleu)
            assert tuple(found.oracle) == twin.oracle
            assert found.oracle_bleu >= found.best_bleu
            counted["oracles"] += found.oracle_bleu > found.best_bleu
        reached = chart.spans if kind in ("concatenation", "nothing") else sorted(twin.strings)
        assert found.reached == reached
        whole = twin.span(twin.final[0]) if twin.final else None
        for span in chart.spans:
            left, right = twin.strings.get(span) or twin.concatenation(span)
            if kind == "nothing":
                left = right = ()
            assert found.around(*span) == (list(left), list(right)), (seed, span)
            candidates = list(twin.final if span == whole else twin.b(span))
            if span not in reached:
                del candidates[1:]
            good = twin.recovered.get(span, [])
            strings = [(*left, *twin.e(tree), *right) for tree in [*candidates, *(g.tree for g in good)]]
            lists = found.candidates(*span)
            words = [chart.forest.words[w] for w in lists.words]
            bounds = zip(lists.word_offsets, lists.word_offsets[1:], strict=False)
            assert [tuple(words[a:b]) for a, b in bounds] == strings, (seed, span)
            edges = [edge for tree in [*candidates, *(g.tree for g in good)] for edge in tree.edges()]
            assert lists.edges.tolist() == edges
            alone = found.recovered(*span)
            assert [quality for _, quality in alone] == pytest.approx([g.bleu for g in good])
            assert [tuple(d.tokens) for d, _ in alone] == [twin.e(g.tree) for g in good]
            for string, quality in zip(strings[len(candidates) :], alone, strict=True):
                assert bleu_plus_one(string, references, length) == pytest.approx(quality[1])
            features.check([*candidates, *(g.tree for g in good)], lists)
            counted["recovered"] += len(good)
            counted["wholes"] += span == whole and len(good)
        counted["spans"] += len(chart.spans)
        counted["reached"] += len(found.reached)
    assert counted["spans"] > 1000 and counted["reached"] > 500
    if kind == "guided":
        assert counted["recovered"] > 300 and counted["wholes"] > 30 and counted["oracles"] > 50


class FeaturesOfTrees:
    """Features of trees: those of their rules, added up, and the language model's of the string."""

    def __init__(self, twin: Twin, model: hiero.Model, weights: dict[str, float], lm: BackoffModel) -> None:
        names = list(twin.forest.feature_names)
        self.twin, self.model, self.lm, self.at = twin, model, lm, names.index("LM0")
        self.scale = model.core.scales[self.at]
        self.rows = twin.forest.features.toarray()
        self.vector = np.array([weights[name] for name in names])
        self.begins = begins_sentences(lm, twin, model)

    def check(self, trees: list[Tree], lists: hiero.KBestArrays) -> None:
        twin, dense = self.twin, lists.features.toarray()
        for number, tree in enumerate(trees):
            expected = self.rows[list(tree.edges())].sum(axis=0)
            goal = twin.forest.labels[twin.label(tree)] == self.model.core.goal
            whole = twin.label(tree) < 0
            begins = whole or (goal and self.begins)
            expected[self.at] = self.scale * log_probability(self.lm, twin.e(tree), begins, whole)
            np.testing.assert_allclose(dense[number], expected, atol=1e-5)
            assert lists.scores[number] == pytest.approx(dense[number] @ self.vector)


def begins_sentences(lm: BackoffModel, twin: Twin, model: hiero.Model) -> bool:
    """Tells whether derivations of the goal begin with the start of the sentence, by one that search made."""
    forest = twin.forest
    at = list(forest.feature_names).index("LM0")
    scale = model.core.scales[at]
    for node in range(forest.node_count):
        if node != forest.root and forest.labels[forest.node_labels[node]] == model.core.goal:
            tree = twin.best(node)
            value = forest.features[list(tree.edges())].sum(axis=0)[at]
            known = scale * log_probability(lm, twin.e(tree), True, False)
            if abs(known - value) < 1e-5 and len(twin.e(tree)):
                return True
    return False


def log_probability(lm: BackoffModel, tokens: tuple[str, ...], begins: bool, ends: bool) -> float:
    """Returns the natural logarithm of the probability of words, given as many words before them as there
    are."""
    words = [word if lm.has_word(word) else "<unk>" for word in tokens]
    padded = ["<s>"] * begins + words + ["</s>"] * ends
    scores = [
        lm.word_score(tuple(padded[max(0, i - lm.order + 1) : i]), padded[i])
        for i in range(begins, len(padded))
    ]
    return float(sum(scores) * np.log(10))


def test_bad_questions(arpa: Path) -> None:
    lm = hiero.LanguageModel.load(str(arpa))
    made = None
    while made is None:
        made = random_chart(random.Random(1), lm)
    chart = made[0]
    with pytest.raises(ValueError, match="kind: expected"):
        chart.outside("bottom-up")
    with pytest.raises(ValueError, match="no reference with a token"):
        chart.outside("guided")
    with pytest.raises(TypeError, match="expected a list of tokens"):
        chart.outside("guided", ["a b"])  # type: ignore[list-item]
    with pytest.raises(IndexError):
        chart.outside("nothing").around(0, 99)
    assert len(chart.outside("nothing").candidates(0, 99)) == 0


def test_recovered_candidates_are_within_a_margin(arpa: Path) -> None:
    """A recovered derivation is a candidate if its score is not further below the worst of the others than
    the margin times the distance from their best to their worst."""
    lm, kept, dropped = hiero.LanguageModel.load(str(arpa)), 0, 0
    for seed in range(200):
        rng = random.Random(seed)
        if (made := random_chart(rng, lm)) is None:
            continue
        chart, margin = made[0], rng.choice([0.0, 0.3, 1.0, 5.0])
        references = [rng.choices(TARGET, k=rng.randint(1, 7))]
        limits = {"k": 3, "beam": rng.choice([1, 2, 3]), "recovered": 50}
        every = chart.outside("guided", references, **limits)
        found = chart.outside("guided", references, **limits, margin=margin)
        for span in chart.spans:
            lists, recovered = every.candidates(*span), len(every.recovered(*span))
            scores = lists.scores.tolist()
            others = scores[: len(scores) - recovered]
            least = min(others) - margin * (max(others) - min(others)) if others else -np.inf
            expected = others + [score for score in scores[len(others) :] if score >= least]
            limited = found.candidates(*span)
            assert limited.scores.tolist() == expected, (seed, span)
            assert limited.features.shape[0] == len(expected) == len(limited)
            assert len(found.recovered(*span)) == recovered
            kept, dropped = kept + len(expected) - len(others), dropped + len(scores) - len(expected)
    assert kept > 50 and dropped > 50


def test_a_margin_is_not_negative(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="margin: expected 0 or more"):
        paper(tmp_path, PAPER).outside("guided", [REFERENCE.split()], margin=-1)
