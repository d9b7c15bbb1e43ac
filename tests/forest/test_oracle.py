"""Tests of oracle rescoring against all derivations, and of BLEU counts against sacrebleu."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import sacrebleu

from hiero import Forest
from hiero._core import bleu, bleu_counts
from support.brute_force_forest import (
    derivation_value,
    derivation_words,
    derivations,
    incoming_edges,
    small_random_forest,
    tails,
)
from support.seeds import each_seed

START = [4.0, 4.0, 4.0, 3.0, 2.0, 1.0, 4.0, 3.0, 2.0, 1.0]


def with_spans(rng: random.Random, forest: Forest) -> Forest:
    """Returns the forest with random spans, and one of six words for the root."""
    whole = [[0, rng.randint(0, 6)] for _ in range(forest.node_count - 1)] + [[0, 6]]
    names = [
        *("edge_offsets", "tail_offsets", "tails", "words", "edge_targets", "target_offsets"),
        *("target_symbols", "features", "feature_names"),
    ]
    return Forest.from_arrays(node_spans=whole, **{name: getattr(forest, name) for name in names})


def objective(
    tokens: Sequence[str], references: Sequence[Sequence[str]], score: float, mu: float, length: float
) -> float:
    """Computes (1 - mu) B + mu score of a derivation with unclipped matches, by the definition."""
    counts = np.array(START)
    counts[0] += len(tokens)
    counts[1] += length
    for n in range(1, 5):
        reference_ngrams = {tuple(r[i : i + n]) for r in references for i in range(len(r) - n + 1)}
        string_ngrams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
        counts[1 + n] += len(string_ngrams)
        counts[5 + n] += sum(ngram in reference_ngrams for ngram in string_ngrams)
    b = (20 + 6) * math.exp(min(0, 1 - counts[1] / counts[0])) * math.prod(counts[6:] / counts[2:6]) ** 0.25
    return score - b if math.isinf(mu) else (1 - mu) * b + mu * score


@each_seed(range(300))
def test_rescoring_by_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    forest = with_spans(rng, small_random_forest(rng, most=120))
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    strings = {d: derivation_words(forest, d) for d in derivations(forest)}
    references = [rng.choice(list(strings.values())) or ["a"], [rng.choice("abce") for _ in range(5)]]
    mu = rng.choice([0.0, 0.5, 1.0, 2.0, math.inf])
    kind = rng.choice(["shortest", "closest", "average"])

    def length(tokens: Sequence[str]) -> float:
        lengths = sorted(map(len, references))
        if kind == "average":
            return sum(lengths) / 2
        return lengths[0] if kind == "shortest" else min(lengths, key=lambda n: (abs(n - len(tokens)), n))

    expected = {
        d: objective(text, references, derivation_value(scores, d), mu, length(text))
        for d, text in strings.items()
    }
    options = {"document": START, "document_source": 20.0, "effective_length": kind}
    # The search is exact if beams hold all items.
    hypotheses = forest.rescore(scores, mu, references, k=8, beam=10**6, unique=False, **options)
    assert [h.objective for h in hypotheses] == pytest.approx(sorted(expected.values(), reverse=True)[:8])
    for h in hypotheses:
        d = tuple(h.derivation.edges)
        assert h.objective == pytest.approx(expected[d])
        assert h.derivation.score == pytest.approx(derivation_value(scores, d))
        assert list(h.counts) == list(bleu_counts(strings[d], references, kind))
    unique = forest.rescore(scores, mu, references, k=8, beam=10**6, **options)
    best: dict[tuple[str, ...], float] = {}
    for d, text in strings.items():
        best[tuple(text)] = max(best.get(tuple(text), -math.inf), expected[d])
    assert [h.objective for h in unique] == pytest.approx(sorted(best.values(), reverse=True)[:8])
    assert len({tuple(h.derivation.tokens) for h in unique}) == len(unique) == min(8, len(best))
    # Narrow beams find less, and report the right objective.
    for h in forest.rescore(scores, mu, references, k=3, beam=1, **options):
        assert h.objective == pytest.approx(expected[tuple(h.derivation.edges)])
        assert h.objective <= hypotheses[0].objective + 1e-9


def test_beams_of_one_by_the_definition() -> None:
    """Every edge has one candidate with beams of one item. Inner nodes keep the best item by the objective
    of their part of the sentence, and the root keeps k."""

    def length(tokens: Sequence[str], share: float, references: Sequence[Sequence[str]]) -> float:
        aim = len(tokens) / max(share, 1e-9)
        return share * min(map(len, references), key=lambda n: (abs(n - aim), n))

    lengths_differ = 0
    for seed in range(300):
        rng = random.Random(seed)
        forest = with_spans(rng, small_random_forest(rng))
        scores = [rng.gauss(0, 1) for _ in range(forest.edge_count)]
        references = [rng.choices("abcd", k=rng.randint(1, 3)), rng.choices("abcd", k=rng.randint(4, 9))]
        mu = rng.choice([0.0, 0.5, math.inf])
        best: list[tuple[int, ...]] = []
        for node in range(forest.node_count):
            share = float(forest.node_spans[node, 1] - forest.node_spans[node, 0]) / 6
            choices = []
            for edge in incoming_edges(forest, node):
                d = (edge, *(e for tail in tails(forest, edge) for e in best[tail]))
                text, score = derivation_words(forest, d), derivation_value(scores, d)
                part = length(text, share, references)
                value = objective(text, references, score, mu, part)
                choices.append((value, score, -edge, d))
                lengths_differ += part != share * length(text, 1.0, references)
            choices.sort(reverse=True)
            best.append(choices[0][3])
        hypotheses = forest.rescore(
            scores,
            mu,
            references,
            document=START,
            document_source=20.0,
            k=8,
            beam=1,
            unique=False,
            effective_length="closest",
        )
        assert [tuple(h.derivation.edges) for h in hypotheses] == [d for *_, d in choices[:8]]
        assert [h.objective for h in hypotheses] == pytest.approx([value for value, *_ in choices[:8]])
    assert lengths_differ > 100


@each_seed(range(50))
def test_more_weight_on_the_model_means_more_score_and_less_bleu(seed: int) -> None:
    rng = random.Random(seed)
    forest = with_spans(rng, small_random_forest(rng, most=120))
    scores = np.array([rng.gauss(0, 1) for _ in range(forest.edge_count)])
    references = [derivation_words(forest, rng.choice(derivations(forest))) or ["a"]]
    path = []
    for mu in (0.0, 0.3, 0.5, 0.8, 1.0):
        (h,) = forest.rescore(scores, mu, references, document=START, document_source=20.0, k=1, beam=10**6)
        b = (h.objective - mu * h.derivation.score) / (1 - mu) if mu < 1 else None
        path.append((h.derivation.score, b))
    model, bleus = zip(*path, strict=True)
    assert all(low <= high + 1e-9 for low, high in pairwise(model))
    known_bleus = [b for b in bleus if b is not None]
    assert all(low >= high - 1e-9 for low, high in pairwise(known_bleus))


def test_bleu_is_that_of_sacrebleu() -> None:
    rng = random.Random(3)
    sums, hypotheses, references = np.zeros(10), [], []
    for _ in range(200):
        sets = [[rng.choice("abcde") for _ in range(rng.randint(1, 12))] for _ in range(3)]
        hypothesis = [rng.choice("abcde") for _ in range(rng.randint(1, 12))]
        counts = bleu_counts(hypothesis, sets, "closest")
        one = sacrebleu.corpus_bleu(
            [" ".join(hypothesis)], [[" ".join(r)] for r in sets], tokenize="none", force=True
        )
        assert (counts[0], counts[1]) == (one.sys_len, one.ref_len)
        assert list(counts[2:6]) == one.totals and list(counts[6:]) == one.counts
        sums += counts
        hypotheses.append(" ".join(hypothesis))
        references.append([" ".join(r) for r in sets])
    whole = sacrebleu.corpus_bleu(
        hypotheses, list(zip(*references, strict=True)), tokenize="none", force=True, smooth_method="none"
    )
    assert 100 * bleu(sums) == pytest.approx(whole.score)
    assert bleu(np.zeros(10)) == 0


def test_effective_lengths_worked_by_hand() -> None:
    references = [["a"] * 4, ["b"] * 6, [], ["c"] * 9]

    def length(hypothesis: int, kind: str) -> float:
        return float(bleu_counts(["x"] * hypothesis, references, kind)[1])

    assert [length(n, "shortest") for n in (0, 9)] == [4, 4]
    assert [length(n, "average") for n in (0, 9)] == pytest.approx([19 / 3] * 2)
    assert [length(n, "closest") for n in (1, 5, 6, 7, 8, 20)] == [4, 4, 6, 6, 9, 9]
    assert Counter(bleu_counts(["c"] * 10, references, "closest")[6:]) == Counter([9, 8, 7, 6])
    for bad in ([], [[]], [[], []]):
        with pytest.raises(ValueError, match="all are empty"):
            bleu_counts(["a"], bad)
    with pytest.raises(ValueError, match="shortest, closest or average"):
        bleu_counts(["a"], references, "longest")


def test_limits_of_rescoring() -> None:
    forest = small_random_forest(random.Random(1))
    scores, references = np.zeros(forest.edge_count), [["a", "b"]]
    everything = forest.rescore(scores, 0.5, references, document=START, document_source=20.0, k=2**64 - 1)
    assert len(everything) == len(
        forest.rescore(scores, 0.5, references, document=START, document_source=20.0, k=10**6)
    )
    for bad in (math.nan, math.inf, -1.0):
        with pytest.raises(ValueError, match="document: expected counts that are finite and not negative"):
            forest.rescore(scores, 0.5, references, document=[bad, *START[1:]], document_source=20.0)
        with pytest.raises(ValueError, match="document: expected counts that are finite and not negative"):
            forest.rescore(scores, 0.5, references, document=START, document_source=bad)
