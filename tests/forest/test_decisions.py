"""Tests of decisions by the distribution over strings, against all derivations of small forests."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Forest, ForestError
from hiero.forest import LinearBleu
from hiero.forest.decisions import Decision, best_derivation, best_part
from hiero.forest.files import NO_FOREST
from support.brute_force_forest import derivations, small_random_forest
from support.commands import call
from support.seeds import each_seed

Words = tuple[str, ...]
SEEDS = range(150)


def problem(seed: int) -> tuple[Forest, np.ndarray, list[tuple[Words, float, tuple[int, ...]]]]:  # type: ignore[type-arg]
    """Makes an annotated forest with scores, and lists the string, probability and edges of all
    derivations."""
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    split = forest.annotate_ngrams(4)
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])[split.edge_origins]
    pairs = [(d, split.derivation(d, scores)) for d in derivations(split)]
    mass = np.exp([d.score for _, d in pairs])
    return (
        split,
        scores,
        [(tuple(d.tokens), p, edges) for (edges, d), p in zip(pairs, mass / mass.sum(), strict=True)],
    )


def grams(words: Sequence[str], order: int) -> Iterator[Words]:
    return (tuple(words[i : i + order]) for i in range(len(words) - order + 1))


@each_seed(SEEDS)
def test_posteriors_of_ngrams(seed: int) -> None:
    forest, scores, every = problem(seed)
    present: defaultdict[Words, float] = defaultdict(float)
    expected: defaultdict[Words, float] = defaultdict(float)
    for words, p, _ in every:
        string_ngrams = [gram for n in range(1, 5) for gram in grams(words, n)]
        for gram in string_ngrams:
            expected[gram] += p
        for gram in set(string_ngrams):
            present[gram] += p
    ngrams, posteriors, expectations = forest.distribution(scores).ngrams()
    assert len(set(ngrams)) == len(ngrams) and set(ngrams) >= set(expected)
    for ngram, posterior, expectation in zip(ngrams, posteriors, expectations, strict=True):
        assert posterior == pytest.approx(present[ngram], abs=1e-12)
        assert expectation == pytest.approx(expected[ngram], abs=1e-12)


@each_seed(SEEDS)
def test_minimum_bayes_risk(seed: int) -> None:
    """The value of a string is its expected linear BLEU, with all strings as references."""
    forest, scores, every = problem(seed)
    theta = [-0.3, 0.4, 0.5, 0.6, 0.7]

    def gain(words: Words, reference: Words) -> float:
        reference_ngrams = {gram for n in range(1, 5) for gram in grams(reference, n)}
        matches = sum(
            theta[n] * sum(gram in reference_ngrams for gram in grams(words, n)) for n in range(1, 5)
        )
        return theta[0] * len(words) + matches

    expected = [sum(q * gain(words, other) for other, q, _ in every) for words, _, _ in every]
    values = forest.distribution(scores).mbr_values(theta)
    for (_, _, edges), value in zip(every, expected, strict=True):
        assert values[list(edges)].sum() == pytest.approx(value)
    best = forest.viterbi(values)
    assert best is not None and best.score == pytest.approx(max(expected))
    # The same with fewer orders of n-grams.
    unigrams = forest.distribution(scores).mbr_values(theta[:2])
    one = sum(q * len([w for w in every[0][0] if w in other]) for other, q, _ in every)
    assert unigrams[list(every[0][2])].sum() == pytest.approx(-0.3 * len(every[0][0]) + 0.4 * one)


def padded(words: Words, order: int) -> list[Words]:
    return list(grams([*["<s>"] * (order - 1), *words, "</s>"], order))


@each_seed(SEEDS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_variational(seed: int, order: int) -> None:
    forest, scores, every = problem(seed)
    counts: defaultdict[Words, float] = defaultdict(float)
    histories: defaultdict[Words, float] = defaultdict(float)
    for words, p, _ in every:
        for gram in padded(words, order):
            counts[gram] += p
            histories[gram[:-1]] += p
    q = {gram: count / histories[gram[:-1]] for gram, count in counts.items()}
    values = forest.distribution(scores).variational_values(order)
    for words, _, edges in every:
        expected = sum(math.log(q[gram]) for gram in padded(words, order))
        assert values[list(edges)].sum() == pytest.approx(expected)
    best = forest.viterbi(values)
    top = max(sum(math.log(q[gram]) for gram in padded(words, order)) for words, _, _ in every)
    assert best is not None and best.score == pytest.approx(top)
    # The model has the expected counts of the forest: this is why it is the nearest.
    expectations = steady(q, order)
    for gram, count in counts.items():
        assert expectations[gram] == pytest.approx(count, abs=1e-6)


def steady(q: dict[Words, float], order: int) -> dict[Words, float]:
    """Computes expected n-gram counts of strings that are drawn word by word."""
    flow = {("<s>",) * (order - 1): 1.0}
    total: defaultdict[Words, float] = defaultdict(float)
    following: defaultdict[Words, list[tuple[Words, float]]] = defaultdict(list)
    for gram, p in q.items():
        following[gram[:-1]].append((gram, p))
    for _ in range(3000):
        after: defaultdict[Words, float] = defaultdict(float)
        for history, mass in flow.items():
            for gram, p in following[history]:
                total[gram] += mass * p
                if gram[-1] != "</s>":
                    after[gram[1:]] += mass * p
        flow = {history: mass for history, mass in after.items() if mass > 1e-12}
        if not flow:
            break
    return total


@each_seed(range(60))
def test_decisions(seed: int) -> None:
    """Decisions in forests without n-gram states, with scores scaled by gamma."""
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    every = [forest.derivation(d, scores) for d in derivations(forest)]
    mass = np.exp(0.5 * np.array([d.score for d in every]))
    p = (mass / mass.sum()).tolist()
    strings = [tuple(d.tokens) for d in every]
    theta = LinearBleu(1.0, 0.9, 0.6).theta

    present: defaultdict[Words, float] = defaultdict(float)
    for q, other in zip(p, strings, strict=True):
        for gram in {gram for n in range(1, 5) for gram in grams(other, n)}:
            present[gram] += q

    def gain(words: Words) -> float:
        total = theta[0] * len(words)
        for n in range(1, 5):
            total += theta[n] * sum(present[gram] for gram in grams(words, n))
        return total

    counts: defaultdict[Words, float] = defaultdict(float)
    histories: defaultdict[tuple[int, Words], float] = defaultdict(float)
    for q, other in zip(p, strings, strict=True):
        for n in (1, 2, 3):
            for gram in padded(other, n):
                counts[gram] += q
                histories[n, gram[:-1]] += q

    def nearest(words: Words, score: float) -> float:
        logs = []
        for n in (1, 2, 3):
            logs.append(sum(math.log(counts[g] / histories[n, g[:-1]]) for g in padded(words, n)))
        return 0.75 * float(np.mean(logs)) + 0.25 * 0.5 * score

    whole = {"gamma": 0.5, "decision_edges": 10**6}
    mbr = Decision(decision="mbr", precision=0.9, ratio=0.6, **whole).choose(forest, scores)  # type: ignore[arg-type]
    assert mbr is not None and gain(tuple(mbr.tokens)) == pytest.approx(max(map(gain, strings)))
    variational = Decision(decision="variational", order=3, score_share=0.25, **whole).choose(forest, scores)  # type: ignore[arg-type]
    assert variational is not None
    best = max(nearest(words, d.score) for words, d in zip(strings, every, strict=True))
    assert nearest(tuple(variational.tokens), variational.score) == pytest.approx(best)
    viterbi = Decision().choose(forest, scores)
    assert viterbi is not None and viterbi.score == pytest.approx(max(d.score for d in every))
    # The string may be chosen in a smaller forest; its best derivation is searched in the whole forest.
    few = Decision(decision="variational", decision_edges=3, gamma=0.1).choose(forest, scores)
    assert few is not None
    for derivation in (mbr, variational, few):
        assert derivation.forest is forest and derivation.score == pytest.approx(
            scores[derivation.edges].sum()
        )
        assert derivation.score == pytest.approx(max(d.score for d in every if d.tokens == derivation.tokens))
    # With few edges little more than the best derivation is left.
    one = Decision(decision="mbr", decision_edges=1).choose(forest, scores)
    assert one is not None and one.score == pytest.approx(viterbi.score)
    assert Decision(decision="mbr").choose(NO_FOREST, {}) is None
    with pytest.raises(ValueError, match="no derivation of the forest yields these tokens"):
        best_derivation(forest, ["no", "such", "words"], scores)


def test_best_derivation_of_a_string() -> None:
    # The string "a b" has two derivations.
    two_ways = Forest.from_arrays(
        edge_offsets=[0, 1, 2, 4],
        tail_offsets=[0, 0, 0, 1, 2],
        tails=[0, 1],
        words=["a", "b"],
        edge_targets=[0, 1, 2, 3],
        target_offsets=[0, 1, 2, 4, 6],
        target_symbols=[0, 1, -1, 1, 0, -1],
    )
    derivation = best_derivation(two_ways, ["a", "b"], np.array([0.0, 0.0, -1.0, -2.0]))
    assert (derivation.score, derivation.edges.tolist()) == (-1.0, [2, 0])
    derivation = best_derivation(two_ways, ["a", "b"], np.array([0.0, 0.5, -1.0, -1.0]))
    assert (derivation.score, derivation.edges.tolist()) == (-0.5, [3, 1])


@each_seed(range(40))
def test_a_gamma_that_leaves_one_derivation(seed: int) -> None:
    """All other derivations, their n-grams and the histories of these have probability 0 in doubles."""
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    best = forest.viterbi(scores)
    assert best is not None
    split = forest.annotate_ngrams(3)
    origin_scores = scores[split.edge_origins]
    p = split.distribution(1e6 * origin_scores)
    every = [
        (list(edges), tuple(split.derivation(edges, origin_scores).tokens)) for edges in derivations(split)
    ]
    means = np.zeros(len(every))
    for order in (1, 2, 3):
        counts = Counter(padded(tuple(best.tokens), order))
        histories = Counter(gram[:-1] for gram in counts.elements())
        values = p.variational_values(order)
        for i, (edges, words) in enumerate(every):
            grams = padded(words, order)
            possible = all(gram in counts for gram in grams)
            expected = sum(math.log(counts[g] / histories[g[:-1]]) for g in grams) if possible else -math.inf
            assert values[edges].sum() == pytest.approx(expected, abs=1e-9)
            means[i] += expected / 3
    found = Decision(decision="variational", gamma=1e6, order=3).choose(forest, scores)
    assert found is not None
    assert tuple(found.tokens) in {
        words for (_, words), mean in zip(every, means, strict=True) if mean > means.max() - 1e-9
    }


def test_forests_that_are_too_large() -> None:
    """A large forest is pruned until it can be annotated. If pruning is impossible, there is an error."""
    nodes = 12
    chain = Forest.from_arrays(
        edge_offsets=range(0, 2 * nodes + 1, 2),
        tail_offsets=[0, 0, *range(2 * nodes - 1)],
        tails=np.repeat(np.arange(nodes - 1), 2),
        words=["a", "b"],
        edge_targets=[0, 1, *[2, 3] * (nodes - 1)],
        target_offsets=[0, 1, 2, 4, 6],
        target_symbols=[0, 1, -1, 0, -1, 1],
    )
    scores = np.arange(2 * nodes) / 10
    split, origins = best_part(chain, scores, 99, 4, 40)
    assert split.edge_count <= 40 and len(set(origins.tolist())) < chain.edge_count
    best = split.viterbi(scores[origins])
    assert best is not None and best.score == pytest.approx(scores[1::2].sum())
    with pytest.raises(ForestError, match="over 40 edges"):
        best_part(chain, np.zeros(2 * nodes), 99, 4, 40)


def test_commands(french: Path, tmp_path: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    model.save(tmp_path / "model")
    source = french / "input.fr"
    lines = source.read_text().splitlines()
    decode = ("hiero-decode", "--model", tmp_path / "model", "--input", source, "--tokens")
    chosen = {
        "mbr": ("--gamma", 0.2, "--precision", 0.6, "--ratio", 0.5),
        "variational": ("--gamma", 0.2, "--order", 2, "--score-share", 0.1, "--decision-edges", 500),
    }
    decoder = hiero.Decoder(model)
    forests = [decoder.translate(line, keep="forest").forest for line in lines]
    options = {
        "mbr": Decision(decision="mbr", gamma=0.2, precision=0.6, ratio=0.5),
        "variational": Decision(
            decision="variational", gamma=0.2, order=2, score_share=0.1, decision_edges=500
        ),
    }
    texts = set()
    for name, given in chosen.items():
        archive = ("--forests", tmp_path / "all")
        done = call(*decode, "--decision", name, *given, *archive, "--threads", 2)
        expected = [options[name].choose(forest, model.weights) for forest in forests]
        text = "".join(f"{' '.join(d.tokens) if d else ''}\n" for d in expected)
        assert done.stdout.decode() == text
        saved = call("hiero", "forest", "decide", tmp_path / "all", "--decision", name, *given)
        assert (saved.returncode, saved.stdout.decode()) == (0, text)
        texts.add(text)
    plain = call(*decode).stdout.decode()
    assert call("hiero", "forest", "decide", tmp_path / "all").stdout.decode() == plain
    assert len({*texts, plain}) > 1
    # An error for one sentence names it, and the others are translated.
    cold = call(*decode, "--decision", "mbr", "--gamma", 1e15)
    assert cold.returncode == 1 and cold.stdout.count(b"\n") == len(lines)
    assert b"has a log weight beyond 1e12" in cold.stderr
    named = call("hiero", "forest", "decide", tmp_path / "all", "--decision", "mbr", "--gamma", 1e15)
    assert named.returncode == 1 and named.stdout == cold.stdout
    assert f"{tmp_path / 'all'}: sentence 0: ".encode() in named.stderr
    to_file = ("--decision", "mbr", "--gamma", 1e15, "-o", tmp_path / "chosen")
    assert call("hiero", "forest", "decide", tmp_path / "all", *to_file).returncode == 1
    assert (tmp_path / "chosen").read_bytes() == named.stdout
    for idle in (("--gamma", 2), ("--precision", 0.5), ("--score-share", 0.2), ("--decision-edges", 7)):
        wrong = call(*decode, *idle)
        assert wrong.returncode == 2 and b" goes with " in wrong.stderr
    endless = call(*decode, "--decision", "mbr", "--gamma", "inf")
    assert endless.returncode == 2 and b"gamma" in endless.stderr
    for more in (("--nbest", 3), ("--references", source)):
        wrong = call(*decode, "--decision", "mbr", *more)
        assert wrong.returncode == 2 and b"are of one translation" in wrong.stderr


def test_orders_that_the_forest_does_not_tell() -> None:
    forest, scores, _ = problem(1)
    small = forest.subforest([True] * forest.edge_count)
    for p in (small.distribution(scores), forest.distribution(scores)):
        for order in (0, 5):
            with pytest.raises(ValueError, match=f"annotated with n = 4, not for {order}-grams"):
                p.variational_values(order)
        with pytest.raises(ValueError, match="annotated with n = 4, not for 5-grams"):
            p.mbr_values([1.0] * 6)
    plain = small_random_forest(random.Random(1))
    with pytest.raises(ValueError, match="annotated with n = 0, not for 1-grams"):
        plain.distribution([0.0] * plain.edge_count).mbr_values([0.0, 1.0])


def test_options_of_other_decisions() -> None:
    for options, message in (
        ({"gamma": 2.0}, "gamma goes with mbr and variational"),
        ({"decision_edges": 5}, "decision edges goes with mbr and variational"),
        ({"decision": "mbr", "order": 2}, "order goes with variational"),
        ({"decision": "mbr", "score_share": 0.5}, "score share goes with variational"),
        ({"decision": "variational", "precision": 0.5}, "precision goes with mbr"),
        ({"decision": "variational", "ratio": 0.5}, "ratio goes with mbr"),
        ({"decision": "mbr", "ratio": 1e-200}, "theta would not be finite"),
        ({"decision": "mbr", "ratio": 1e200}, "theta would not be finite"),
        ({"decision": "mbr", "precision": 1e-320}, "theta would not be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            Decision.model_validate(options)


def test_repetitions_mislead_where_one_string_has_all_of_the_mass() -> None:
    """Matches are not clipped, and n-gram models do not count repetitions: docs/decoding.md says so."""
    for decision, strings in (
        ("mbr", ["a b c d e", "a b c d e a b c d e"]),
        ("variational", ["a b c a b c d", "a b c d"]),
    ):
        alphabet = sorted({word for text in strings for word in text.split()})
        symbols = [[alphabet.index(word) for word in text.split()] for text in strings]
        forest = Forest.from_arrays(
            edge_offsets=[0, 2],
            tail_offsets=[0, 0, 0],
            tails=[],
            edge_targets=[0, 1],
            target_offsets=[0, len(symbols[0]), len(symbols[0]) + len(symbols[1])],
            target_symbols=[*symbols[0], *symbols[1]],
            words=alphabet,
        )
        chosen = Decision(decision=decision, gamma=1e6).choose(forest, np.array([0.0, -1.0]))  # type: ignore[arg-type]
        assert chosen is not None and " ".join(chosen.tokens) == strings[1]
