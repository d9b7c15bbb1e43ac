"""A second stage is the same, byte for byte, wherever its forests are made and learnt from."""

from __future__ import annotations

import random
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import hiero
from hiero.base.parallel import working_on
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.rerank import NgramFeatures, SecondStageOptions
from hiero.rerank.examples import prepare, read_examples
from hiero.rerank.jackknife import Bitext, write_forests
from hiero.rerank.learning import Learning, forests_file
from hiero.rerank.spaces import FoldsRisk
from hiero.rerank.training import objective_of, penalties_of
from hiero.tune.methods.risk.spaces import ForestRisk
from support.brute_force_forest import WORDS, small_random_forest
from support.files import write
from support.paths import FRENCH
from support.places import PickledPlaces

# Weights as a model has them.
FIRST = MappingProxyType({"f0": 0.5, "f1": -1.0, "f2": 0.25, "f3": 2.0})
# Sentences of each fold: of one block that is not full, of none, of several.
SIZES = (7, 0, 70, 33)


def steps(folder: Path, threads: int = 1) -> Learning:
    """Writes the archives of folds, the last of which has no derivations, and returns the steps from them."""
    rng = random.Random(7)
    folder.mkdir()
    references = []
    for k, size in enumerate((*SIZES, 2)):
        with ForestWriter(forests_file(folder, k)) as writer:
            for number in range(size):
                is_empty = k == len(SIZES) or number % 11 == 5
                writer.write(NO_FOREST if is_empty else small_random_forest(rng, most=40))
        references.append([[" ".join(rng.choices(WORDS, k=rng.randint(3, 8)))] for _ in range(size)])
    options = SecondStageOptions(folds=len(references), variance=1.0, steps=4)
    return Learning(folder, FIRST, options, references, threads, lambda _: None, lambda *_: None)


def learnt(folder: Path, threads: int = 1) -> dict[str, bytes]:
    """Does all steps, and returns the content of their files."""
    learning = steps(folder, threads)
    learning.prepare()
    learning.train()
    for k in range(learning.options.folds):
        learning.leave_out(k)
    learning.choose_share()
    learning.multiply()
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return learnt(tmp_path_factory.mktemp("here") / "work")


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_steps_are_the_same_at_any_places(count: int, here: dict[str, bytes], tmp_path: Path) -> None:
    with working_on(places := PickledPlaces(count)):
        assert learnt(tmp_path / "work") == here
    # Folds are annotated there, of which one has no sentence; then they are in blocks of 16 sentences.
    assert [len(items) for items in places.jobs] == [*SIZES, 2]
    blocks = [sum(division) for division in places.divisions]
    # All folds, then for each fold the others and itself, but for the one without sentences.
    assert blocks == [10, *(9, 1), 10, *(5, 5), *(7, 3), *(9, 1)]
    assert max(map(len, places.divisions)) == min(count, 10)
    assert len(here) == 5 * 4 + 4


def test_steps_are_the_same_on_any_threads(here: dict[str, bytes], tmp_path: Path) -> None:
    assert learnt(tmp_path / "work", threads=3) == here


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_sums_are_those_of_whole_folds(count: int, tmp_path: Path) -> None:
    """Sums over the blocks of folds are, to the last bit, those over each fold at once."""
    learning = steps(tmp_path / "work")
    learning.prepare()
    examples = read_examples(tmp_path / "work")
    rng = np.random.default_rng(3)
    features = len(examples[0].features)
    weights, loss = rng.normal(size=features), rng.normal(size=8)
    whole = [
        ForestRisk(ForestFile(fold.forests).source(), fold.edge_counts(), fold.offsets, np.zeros(0))
        for fold in examples
        if fold.offsets[-1]
    ]
    assert len(whole) == 3
    with working_on(PickledPlaces(count) if count else None):
        space, _ = objective_of(examples, penalties_of(examples[0].features, learning.options))
        assert space.sentences == sum(SIZES) + 2
        expected = [fold.counts(weights, 0.7) for fold in whole]
        assert space.counts(weights, 0.7).tolist() == np.sum(expected, axis=0).tolist()
        found = space.risk(weights, 0.7, 0.5, loss)
    sums = [fold.risk(weights, 0.7, 0.5, loss) for fold in whole]
    assert found.counts.tolist() == np.sum([fold.counts for fold in sums], axis=0).tolist()
    assert found.theta.tolist() == np.sum([fold.theta for fold in sums], axis=0).tolist()
    assert (found.entropy, found.gamma) == (sum(f.entropy for f in sums), sum(f.gamma for f in sums))


def test_ngrams_of_other_sentences_do_not_come_back(tmp_path: Path) -> None:
    """The bytes that come back of a sentence do not grow with the n-grams of others."""
    forest = small_random_forest(random.Random(1), most=40)
    sizes = []
    for count in (10, 10_000):
        features = NgramFeatures([("a",), *((f"w{i}",) for i in range(count))])
        with working_on(places := PickledPlaces(2)):
            # Three blocks, two of which are not where their fold begins.
            examples = prepare([forest] * 40, FIRST, [["a b"]] * 40, features, tmp_path)
            sizes.append([places.received])
            FoldsRisk([examples], np.zeros(0), 1).risk(np.ones(len(features)), 1.0, 1.0, np.ones(8))
            sizes[-1].append(places.received)
    assert sizes[0] == sizes[1] and sizes[0][1] > sizes[0][0] > 100


@pytest.mark.parametrize("count", [0, 2])
def test_damaged_examples(count: int, tmp_path: Path) -> None:
    """The file and the block of a damaged forest are named."""
    learning = steps(tmp_path / "work")
    learning.prepare()
    examples = read_examples(tmp_path / "work")[2]
    records = ForestFile(examples.forests).records()
    begin, size = records.places[20].tolist()
    content = bytearray(examples.forests.read_bytes())
    content[begin + size // 2] ^= 255
    examples.forests.write_bytes(content)
    with (
        working_on(PickledPlaces(count) if count else None),
        pytest.raises(hiero.ForestError, match=r"examples-2\.forests: sentences from 16: .*damaged"),
    ):
        learning.train()
    with (
        working_on(PickledPlaces(count) if count else None),
        pytest.raises(hiero.ForestError, match=r"examples-2\.forests: sentences from 16: .*damaged"),
    ):
        learning.leave_out(2)


def test_the_bitext_is_translated_there(tmp_path: Path) -> None:
    """Sentences go to the places unless their forests are kept."""
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    decoder = hiero.Decoder(model, pop_limit=20)
    lines = ["le chat", "le chien dort", "x <s>", "la maison", "le chat dort", "une maison"] * 3
    source = write(tmp_path / "source", lines)
    bitext = Bitext(source, source, len(lines), tmp_path / "none")
    numbers = [0, 1, 2, 4, 5, 7, 8, 11, 13, 17]

    def written(name: str, sentences: list[int], progress: list[int]) -> tuple[list[str], bytes]:
        options = {"edges": 5, "made_from": {"x": 1}, "progress": progress.append}
        problems = write_forests(decoder, bitext, sentences, tmp_path / name, **options)
        return problems, (tmp_path / name).read_bytes()

    done: list[int] = []
    here = written("here", numbers, [])
    with working_on(places := PickledPlaces(3)):
        assert written("there", numbers, done) == here
        assert done == list(range(1, len(numbers) + 1))
        written("some", [0, 4, 7, 17], [])
        assert written("some", numbers, []) == here
    tokens = [[" ".join(sentence.tokens) for sentence in items] for items in places.jobs]
    assert tokens == [
        [lines[number] for number in part] for part in (numbers, [0, 4, 7, 17], [1, 2, 5, 8, 11, 13])
    ]
