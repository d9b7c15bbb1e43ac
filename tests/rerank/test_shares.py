"""The choice of the share of weights of n-grams, against enumerated derivations of folds left out."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiero import Forest
from hiero.base.text import split
from hiero.evaluate import Bleu
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.rerank import NgramFeatures, Reranker, SecondStageOptions, frequent_ngrams
from hiero.rerank.examples import prepare, read_examples
from hiero.rerank.learning import RERANKER, SHARES, Learning, forests_file
from hiero.rerank.shares import ShareChoice, choose_share
from hiero.rerank.training import objective_of, penalties_of, train_reranker
from hiero.tune.methods.risk.spaces import ForestRisk
from support.brute_force_forest import WORDS, derivation_words, derivations, small_random_forest
from support.grams import grams

FIRST = {"f0": 0.5, "f1": -1.0, "f2": 0.25, "f3": 2.0}
TRIED = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
Fold = tuple[list[Forest], list[list[str]]]


def make_folds(seed: int) -> list[Fold]:
    """Makes forests and references of three folds, with one forest without derivations."""
    rng = random.Random(seed)
    made = []
    for size in (4, 3, 5):
        forests = [small_random_forest(rng, most=60) for _ in range(size)]
        texts = [rng.choice(derivations(forest)) for forest in forests]
        references = [
            [" ".join([*derivation_words(forest, text), rng.choice(WORDS)])]
            for forest, text in zip(forests, texts, strict=True)
        ]
        made.append((forests, references))
    made[1][0].append(NO_FOREST)
    made[1][1].append(["a b"])
    return made


def learning(folder: Path, folds: list[Fold], said: list[str] | None = None, **options: Any) -> Learning:
    """Writes the archives of folds, and returns the steps from them."""
    folder.mkdir(exist_ok=True)
    for k, (forests, _) in enumerate(folds):
        with ForestWriter(forests_file(folder, k)) as writer:
            for forest in forests:
                writer.write(forest)
    settings = SecondStageOptions(folds=len(folds), variance=2.0, steps=20, **options)
    references = [references for _, references in folds]
    report = (said if said is not None else []).append
    return Learning(folder, FIRST, settings, references, 1, report, lambda unit, total: None)


def learnt(steps: Learning) -> Reranker:
    """Does all steps, and returns the second stage."""
    steps.prepare()
    steps.train()
    if steps.options.share is None:
        for k in range(steps.options.folds):
            steps.leave_out(k)
        steps.choose_share()
    steps.multiply()
    return Reranker.load(steps.work / RERANKER)


def reranked(reranker: Reranker, share: float, forest: Forest) -> str:
    """Translates by the best of all derivations."""
    if forest.root < 0:
        return ""
    scores = forest.scores(FIRST)

    def value(edges: tuple[int, ...]) -> float:
        words = derivation_words(forest, edges)
        own = sum(reranker.ngrams.get(" ".join(ngram), 0.0) for ngram in grams(words, 2))
        return reranker.score * float(scores[list(edges)].sum()) + share * own

    return " ".join(derivation_words(forest, max(derivations(forest), key=value)))


def by_hand(folds: list[Fold], folder: Path) -> list[float]:
    """Returns BLEU by share of all folds, each translated by a second stage that was trained on the others,
    with the n-grams of their references."""
    texts: list[list[str]] = [[] for _ in TRIED]
    for left_out, (forests, _) in enumerate(folds):
        others = [fold for k, fold in enumerate(folds) if k != left_out]
        known = list(itertools.chain.from_iterable(forests for forests, _ in others))
        references = list(itertools.chain.from_iterable(references for _, references in others))
        features = NgramFeatures(frequent_ngrams((split(text) for (text,) in references), 2, 2))
        where = folder / f"without-{left_out}"
        where.mkdir()
        examples = prepare(known, FIRST, references, features, where)
        options = SecondStageOptions(variance=2.0, steps=20)
        reranker = train_reranker([examples], FIRST, options)
        for share, lines in zip(TRIED, texts, strict=True):
            lines += [reranked(reranker, share, forest) for forest in forests]
    metric = Bleu(list(itertools.chain.from_iterable(references for _, references in folds)))
    return [float(metric.score(metric.statistics(lines).sum(axis=0))) for lines in texts]


SEEDS = range(8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_share_is_that_of_the_best_bleu_of_folds_left_out(seed: int, tmp_path: Path) -> None:
    folds, said = make_folds(seed), list[str]()
    found = learnt(learning(tmp_path / "work", folds, said))
    choice = ShareChoice.load(tmp_path / "work" / SHARES)
    expected = by_hand(folds, tmp_path)
    assert [each.share for each in choice.tried] == TRIED
    assert [each.bleu for each in choice.tried] == pytest.approx(expected)
    best = max(each.bleu for each in choice.tried)
    assert choice.share == next(each.share for each in choice.tried if each.bleu == best)
    # The second stage is trained on all folds, and its n-grams have this share of their weights.
    options = SecondStageOptions(variance=2.0, steps=20)
    whole = train_reranker(read_examples(tmp_path / "work"), FIRST, options)
    assert (found.score, found.share) == (whole.score, choice.share)
    shared = {ngram: choice.share * weight for ngram, weight in whole.ngrams.items()}
    assert found.ngrams == {ngram: weight for ngram, weight in shared.items() if weight}
    scores = ", ".join(f"{each.bleu:.2f} with {each.share:g}" for each in choice.tried)
    assert said[-1] == f"{choice.share:g} of the weights of n-grams; BLEU of folds left out is {scores}"


@pytest.mark.slow
def test_the_cases_differ(tmp_path: Path) -> None:
    """Among the cases shares differ, and so does BLEU by share."""
    chosen, spreads = set(), []
    for seed in SEEDS:
        learnt(learning(tmp_path / str(seed), make_folds(seed)))
        choice = ShareChoice.load(tmp_path / str(seed) / SHARES)
        chosen.add(choice.share)
        spreads.append(len({each.bleu for each in choice.tried}))
    assert len(chosen) >= 3 and np.mean(spreads) > 3


def test_a_tie_is_the_smallest_share() -> None:
    metric = Bleu([["a b c d e"]])
    good, bad = (metric.statistics([text])[0] for text in ("a b c d e", "a b"))
    rows = [bad, bad, good, bad, good, *[bad] * 8]
    choice = choose_share([np.array(rows), np.zeros((13, 10))], metric)
    assert choice.share == 0.2 and [each.bleu for each in choice.tried][2:5:2] == [100.0, 100.0]
    # Statistics add up: the second fold decides.
    assert choose_share([np.array(rows), np.array([bad] * 4 + [good] + [bad] * 8)], metric).share == 0.4


def test_a_share_that_is_given(tmp_path: Path) -> None:
    folds = make_folds(1)
    whole, half = (learnt(learning(tmp_path / str(s), folds, share=s)) for s in (1.0, 0.5))
    assert not (tmp_path / "0.5" / SHARES).exists()
    assert (whole.share, half.share) == (1.0, 0.5) and half.score == whole.score
    assert half.ngrams == {ngram: weight / 2 for ngram, weight in whole.ngrams.items()}
    none = learnt(learning(tmp_path / "none", folds, share=0.0))
    assert (none.ngrams, none.share) == ({}, 0.0)
    # Both count: what is shared once can be shared again.
    assert half.with_share(0.5).share == 0.25


def test_a_fold_without_sentences(tmp_path: Path) -> None:
    """A fold that no sentence was drawn from has no say; one fold alone cannot choose a share."""
    folds = make_folds(2)
    empty: Fold = ([], [])
    with_empty = learnt(learning(tmp_path / "a", [*folds, empty]))
    without = learnt(learning(tmp_path / "b", folds))
    assert with_empty == without
    alone = learning(tmp_path / "c", [folds[0], empty])
    alone.prepare()
    with pytest.raises(ValueError, match=r"only fold 0 has derivations, .*--sentences.*--share"):
        alone.leave_out(0)


def test_folds_together_are_as_one(tmp_path: Path) -> None:
    """Expectations of several folds, and the weights that training finds, are those of all of their sentences
    at once."""
    folds, options = make_folds(3), SecondStageOptions(variance=2.0, steps=50)
    steps = learning(tmp_path / "work", folds)
    steps.prepare()
    apart = train_reranker(read_examples(tmp_path / "work"), FIRST, options)
    forests = list(itertools.chain.from_iterable(forests for forests, _ in folds))
    references = list(itertools.chain.from_iterable(references for _, references in folds))
    features = NgramFeatures(frequent_ngrams((split(text) for (text,) in references), 2, 2))
    whole = prepare(forests, FIRST, references, features, tmp_path)
    together = train_reranker([whole], FIRST, options)
    penalties = penalties_of(features, options)
    several, _ = objective_of(read_examples(tmp_path / "work"), penalties)
    spread = np.sqrt((whole.variances + penalties) / 13)
    one = ForestRisk(ForestFile(whole.forests).source(), whole.edge_counts(), whole.offsets, spread)
    assert several.sentences == 13 and several.spread == pytest.approx(spread)
    rng = np.random.default_rng(3)
    weights, loss = rng.normal(size=len(features)), rng.normal(size=8)
    assert several.counts(weights, 0.7) == pytest.approx(one.counts(weights, 0.7))
    found, expected = (space.risk(weights, 0.7, 0.5, loss) for space in (several, one))
    for name in ("counts", "entropy", "theta", "gamma"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name
    assert apart.score == pytest.approx(together.score, rel=1e-3)
    assert apart.ngrams == pytest.approx(together.ngrams, abs=1e-3)
