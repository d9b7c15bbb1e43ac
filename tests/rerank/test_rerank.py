"""The second stage: its choices, and the minimum that training finds."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Forest, FormatError
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.forest.losses import ORDER
from hiero.rerank import NgramFeatures, Reranker, RerankerOptions
from hiero.rerank.examples import Examples, prepare
from hiero.rerank.training import train_reranker
from hiero.tune.methods.risk.annealing import Minimum
from hiero.tune.methods.risk.losses import BleuLoss
from support.brute_force_forest import WORDS, derivation_words, derivations, small_random_forest
from support.grams import grams
from support.seeds import each_seed

FIRST = {"f0": 0.5, "f1": -1.0, "f2": 0.25, "f3": 2.0}


@each_seed(range(60))
def test_the_choice_is_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=300)
    ngrams = {tuple(rng.choices(WORDS, k=rng.randint(1, 2))) for _ in range(6)}
    # One feature belongs to sentence rules, which the first stage does not have.
    reranker = Reranker(
        weights={name: FIRST[name] for name in ("f0", "f1", "f2")},
        score=0.7,
        ngrams={" ".join(ngram): rng.gauss(0, 1) for ngram in ngrams} | {"x": 0.0},
    )
    scores = forest.scores(FIRST)

    def value(edges: tuple[int, ...]) -> float:
        own = sum(
            reranker.ngrams.get(" ".join(ngram), 0.0) for ngram in grams(derivation_words(forest, edges), 2)
        )
        return 0.7 * float(scores[list(edges)].sum()) + own

    every = derivations(forest)
    best = reranker.choose(forest, FIRST)
    assert best is not None
    assert value(tuple(best.edges.tolist())) == pytest.approx(max(map(value, every)))
    # The derivation is the best of its string in the whole forest by the first stage alone, however few edges
    # the string was chosen from.
    few = reranker.model_copy(update={"edges": 2}).choose(forest, FIRST)
    assert few is not None
    for found in (best, few):
        assert found.score == pytest.approx(scores[found.edges].sum())
        same = [d for d in every if derivation_words(forest, d) == found.tokens]
        assert found.score == pytest.approx(max(scores[list(d)].sum() for d in same))


def test_nothing_to_choose_from() -> None:
    assert Reranker(weights={}, score=1.0, ngrams={"a": 1.0}).choose(NO_FOREST) is None


def test_a_file_and_back(tmp_path: Path) -> None:
    """A file keeps weights exactly, and leaves out zeros."""
    path = tmp_path / "r.json"
    reranker = Reranker(weights=FIRST, score=1 / 3, ngrams={"the house": 0.1, "ü": -1e-300, "no": 0.0})
    reranker.save(path)
    loaded = Reranker.load(path)
    assert loaded == reranker.model_copy(update={"ngrams": {"the house": 0.1, "ü": -1e-300}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "another"}, "kind"),
        ({"score": None}, "score"),
        ({"score": float("nan")}, "score"),
        ({"ngrams": {"a  b": 1.0}}, "n-gram 'a  b': expected up to 100 words separated by blanks"),
        ({"ngrams": {"": 1.0}}, "n-gram ''"),
        ({"edges": 0}, "edges"),
    ],
)
def test_files_that_are_none(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "r.json"
    content = Reranker(weights=FIRST, score=1.0, ngrams={"a": 1.0}).model_dump()
    path.write_text(json.dumps(content | change))
    with pytest.raises(FormatError, match=message) as error:
        Reranker.load(path)
    assert str(path) in str(error.value)


def problem(seed: int, folder: Path) -> tuple[list[Forest], list[list[str]], NgramFeatures, Examples]:
    """Makes a problem of four sentences, one of them without derivations."""
    rng = random.Random(seed)
    forests = [small_random_forest(rng, most=60) for _ in range(3)]
    forests.insert(rng.randrange(4), NO_FOREST)
    references = [[" ".join(rng.choices(WORDS, k=rng.randint(3, 8)))] for _ in forests]
    features = NgramFeatures([("a",), ("b", "c"), ("a", "b"), ("d",)])
    return forests, references, features, prepare(forests, FIRST, references, features, folder)


@pytest.mark.parametrize("seed", range(8))
def test_training_ends_at_a_minimum(seed: int, tmp_path: Path) -> None:
    """Training ends at the minimum of the loss of enumerated expected counts and the prior."""
    forests, references, features, examples = problem(seed, tmp_path)
    options = RerankerOptions(variance=0.5, steps=500)
    ends: list[Minimum] = []
    found = train_reranker([examples], FIRST, options, report=ends.append)
    # The gradient of the objective, with the prior.
    assert ends[-1].gradient < 1e-3
    tables = []
    for forest, (reference,) in zip(forests, references, strict=True):
        known = set(grams(reference.split(), ORDER))
        rows, counts = [], []
        for edges in derivations(forest) if forest.root >= 0 else ():
            tokens = derivation_words(forest, edges)
            own = [forest.scores(FIRST)[list(edges)].sum()]
            own += [grams(tokens, 2).count(ngram) for ngram in features.ngrams]
            rows.append(own)
            matched = [len(ngram) for ngram in grams(tokens, ORDER) if ngram in known]
            totals = [max(len(tokens) - n, 0) for n in range(ORDER)]
            counts.append([*totals, *(matched.count(n) for n in range(1, ORDER + 1))])
        tables.append((np.array(rows), np.array(counts)))
    # Sentences without derivations count as sentences of the set.
    best = [c[np.argmax(r[:, 0])] if len(r) else np.zeros(2 * ORDER) for r, c in tables]
    assert examples.statistics[0] == pytest.approx(np.sum(best, axis=0)[0])
    loss = BleuLoss(max(examples.statistics[0], 1.0), examples.statistics[1])

    def objective(theta: np.ndarray) -> float:  # type: ignore[type-arg]
        total = np.zeros(2 * ORDER)
        for rows, counts in tables:
            if len(rows):
                p = np.exp(rows @ theta - (rows @ theta).max())
                total += (p / p.sum()) @ counts
        return loss.value(total) + float(np.square(theta[1:]).sum()) / (2 * options.variance)

    theta = np.array([found.score, *(found.ngrams[" ".join(ngram)] for ngram in features.ngrams)])
    here = objective(theta)
    for unit, step in itertools.product(np.eye(len(theta)), (1e-2, -1e-2, 0.3, -0.3)):
        assert objective(theta + step * unit) > here - 1e-5
    start = np.array([1.0, 0, 0, 0, 0])
    assert here < objective(start)


def test_a_narrow_prior_keeps_ngrams_small(tmp_path: Path) -> None:
    *_, examples = problem(2, tmp_path)
    sizes = [
        sum(abs(w) for w in train_reranker([examples], FIRST, RerankerOptions(variance=v)).ngrams.values())
        for v in (1e-3, 1.0, 1e3)
    ]
    assert sizes == sorted(sizes) and sizes[0] < 0.1 < sizes[2]


def test_any_number_of_threads(tmp_path: Path) -> None:
    made = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        rng = random.Random(5)
        forests = [small_random_forest(rng, most=60) for _ in range(40)]
        references = [[" ".join(rng.choices(WORDS, k=5))] for _ in forests]
        features = NgramFeatures([("a",), ("b", "c")])
        examples = prepare(forests, FIRST, references, features, folder, threads=threads)
        reranker = train_reranker([examples], FIRST, RerankerOptions(), threads=threads)
        made.append((reranker, examples.counts.read_bytes(), examples.forests.read_bytes()))
    assert made[0] == made[1]


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    examples = prepare([NO_FOREST], FIRST, [["a"]], NgramFeatures([("a",)]), tmp_path)
    with pytest.raises(ValueError, match="no sentence has a derivation"):
        train_reranker([examples], FIRST, RerankerOptions())


def test_damaged_counts(tmp_path: Path) -> None:
    *_, examples = problem(1, tmp_path)
    counts = examples.counts.read_bytes()
    for damaged in (counts[:-4], b""):
        examples.counts.write_bytes(damaged)
        with pytest.raises(hiero.FormatError, match=r"examples-0\.counts: not the counts of"):
            train_reranker([examples], FIRST, RerankerOptions())
    with pytest.raises(ValueError, match="1 forests for 2 references"):
        prepare([NO_FOREST], FIRST, [["a"], ["b"]], examples.features, tmp_path)


def test_an_archive_as_a_source(tmp_path: Path) -> None:
    """Forests with different features are refused; the source of forests outlives the archive."""
    one, other = small_random_forest(random.Random(1)), small_random_forest(random.Random(2))
    for names, forests in (("same", [one, other]), ("none", [])):
        with ForestWriter(tmp_path / names) as writer:
            for forest in forests:
                writer.write(forest)
        with ForestFile(tmp_path / names) as archive:
            source = archive.source()
        assert len(source) == len(forests)
    renamed = one.with_features(one.features, ["g0", "g1", "g2", "g3"])
    with ForestWriter(tmp_path / "mixed") as writer:
        for forest in (one, renamed):
            writer.write(forest)
    with (
        ForestFile(tmp_path / "mixed") as archive,
        pytest.raises(hiero.ForestError, match="different features"),
    ):
        archive.source()


def test_a_copy_with_other_weights() -> None:
    rng = random.Random(1)
    forest = small_random_forest(rng, most=300)
    names = set(
        itertools.chain.from_iterable(derivation_words(forest, edges) for edges in derivations(forest))
    )
    first, *_, last = sorted(names)
    ngrams = {first: 50.0}
    reranker = Reranker(weights=FIRST, score=0.1, ngrams=ngrams)
    before = reranker.choose(forest)
    changed = reranker.model_copy(update={"ngrams": {last: 50.0}})
    assert before is not None and (after := changed.choose(forest)) is not None
    fresh = Reranker(weights=FIRST, score=0.1, ngrams={last: 50.0}).choose(forest)
    assert fresh is not None and after.tokens == fresh.tokens != before.tokens


def test_another_number_of_references(tmp_path: Path) -> None:
    forest = small_random_forest(random.Random(1), most=300)
    for forests, references in ((2, 1), (1, 2)):
        with pytest.raises(ValueError, match=f"the {references} references|for {references} references"):
            prepare([forest] * forests, FIRST, [["a b"]] * references, NgramFeatures([("a",)]), tmp_path)
        assert not list(tmp_path.iterdir())


def test_bad_features() -> None:
    with pytest.raises(ValueError, match="one has no words"):
        NgramFeatures([("a",), ()])
    forest = small_random_forest(random.Random(1), most=300).annotate_ngrams(1)
    with pytest.raises(ValueError, match=f"expected {forest.edge_count}, got 1"):
        NgramFeatures([("a",)]).rows(forest, np.zeros(1))
    with pytest.raises(ValueError, match="up to 100 words"):
        Reranker(weights={}, score=1.0, ngrams={"a " * 100 + "a": 1.0})


def test_whose_forests_it_chooses_from() -> None:
    """A reranker refuses forests by other weights than those it was trained on; a missing weight counts as
    0."""
    reranker = Reranker(weights={"A": 2.0, "B": 1.0, "C": 0.0}, score=1.0, ngrams={})
    reranker.check({"A": 2.0, "B": 1.0, "D": 0.0})
    for weights, message in (
        ({"A": 2.0}, "B is 1, not 0"),
        ({"A": 2.0, "B": 1.0, "D": 0.5}, "D is 0, not 0.5"),
        ({"A": 2.0, "B": 1.0 + 1e-9}, "B is 1, not 1"),
        ({"A": -2.0, "B": 1.0}, "A is 2, not -2"),
    ):
        with pytest.raises(ValueError, match=f"weights of which {message}"):
            reranker.check(weights)
