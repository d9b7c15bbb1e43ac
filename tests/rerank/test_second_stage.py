"""A second stage made from a model and its bitext: jackknifing, the steps, and the commands."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero.base.text import split
from hiero.evaluate import Bleu
from hiero.forest.files import ForestFile
from hiero.rerank import (
    Reranker,
    SecondStageOptions,
    pipeline,
    train_second_stage,
)
from hiero.rerank.examples import read_examples
from hiero.rerank.jackknife import Bitext, folds, sentences_of, train_without, write_forests
from support.commands import call
from support.files import SharedFolder
from support.grams import grams
from support.small_second_stage import DEMO, inputs_of, make_both, second_stage


def test_folds(tmp_path: Path) -> None:
    """Each sentence is in one fold, equal sentences in the same one, blank lines and the dictionary in
    none."""
    lines = [f"s{i % 17}" for i in range(60)]
    lines[3] = lines[40] = ""
    path = tmp_path / "source"
    path.write_text("".join(f"{line}\n" for line in [*lines, "dictionary", "entries"]))
    found = folds(path, 60, 4, seed=3)
    assert sorted(itertools.chain(*found)) == [i for i, line in enumerate(lines) if line]
    sets = [{lines[i] for i in fold} for fold in found]
    assert sum(map(len, sets)) == 17 and max(map(len, sets)) - min(map(len, sets)) <= 1
    assert all(fold == sorted(fold) for fold in found)
    assert found == folds(path, 60, 4, seed=3) != folds(path, 60, 4, seed=4)
    with pytest.raises(ValueError, match="17 different sentences cannot be divided into 18 folds"):
        folds(path, 60, 18, seed=3)


@pytest.fixture(scope="module")
def trained(shared_folder: SharedFolder) -> Path:
    """A small model of the first sentences of the demo corpus and a dictionary, and its second stage."""
    return shared_folder("second-stage", make_both)


def test_a_fold_is_not_trained_on(trained: Path, tmp_path: Path) -> None:
    """The model of a fold has none of its rules and words, but the model's features and weights."""
    model = hiero.Model.load(trained / "model")
    work = trained / "model.train"
    source = (work / "corpus.source").read_text().splitlines()
    target = (work / "corpus.target").read_text().splitlines()
    fold = list(range(240))
    bitext = Bitext(work / "corpus.source", work / "corpus.target", 251, work / "alignment")
    made = train_without(model, bitext, fold, tmp_path / "fold")
    assert list(made.feature_names) == list(model.feature_names) and made.weights == model.weights
    rest = [i for i in range(len(source)) if i not in set(fold)]

    def vocabulary(table: hiero.RuleTable) -> set[str]:
        rules = (table.rule(i) for i in range(table.rule_count))
        return {word for rule in rules for word in rule.target if not word.startswith("[X")}

    seen = {word for i in rest for word in target[i].split()}
    assert vocabulary(made.tables[0]) <= seen < {word for line in target for word in line.split()}
    assert made.distortion is not None and model.distortion is not None
    assert made.distortion != model.distortion
    assert made.lms[1].path != made.lms[0].path and len(made.lms) == 2
    # The dictionary is still in the bitext, but in no language model.
    dictionary = {word for line in target[251:] for word in line.split()}
    sentences = {word for i in rest if i < 251 for word in target[i].split()}
    assert vocabulary(made.tables[0]) & (dictionary - sentences)
    left_out = {word for i in fold for word in target[i].split()}
    known = {word for word in left_out | dictionary if made.lms[0].knows(word)}
    assert known == sentences & (left_out | dictionary) and left_out - known


def test_sentences_without_forests(trained: Path, tmp_path: Path) -> None:
    """Sentences without forests are counted, and keep their places."""
    model = hiero.Model.load(trained / "model")
    (tmp_path / "source").write_text("她\n他 的\n")
    bitext = Bitext(tmp_path / "source", tmp_path / "source", 2, tmp_path / "none")

    class Failing(hiero.Decoder):
        def attempt(self, line: Any, **options: Any) -> Any:
            if len(line.tokens) == 2:
                return hiero.Failure(line, ValueError("no tree"))
            return super().attempt(line, **options)

    path = tmp_path / "forests"
    assert write_forests(Failing(model), bitext, [0, 1], path, edges=5, made_from={}) == ["no tree"]
    with ForestFile(path) as archive:
        assert [forest.root >= 0 for forest in archive] == [True, False]
        assert archive[0].edge_count <= 5


def test_forests_that_are_kept(trained: Path, tmp_path: Path) -> None:
    """A larger sample has the bytes of one that was translated at once, though only what was not translated
    before is translated; a sentence without a forest, a damaged forest and forests made from something else
    are translated again."""
    model = hiero.Model.load(trained / "model")
    work = trained / "model.train"
    bitext = Bitext(work / "corpus.source", work / "corpus.target", 251, work / "alignment")
    lines = (work / "corpus.source").read_text().splitlines()
    translated: list[int] = []
    failing: set[int] = set()

    class Noting(hiero.Decoder):
        def attempt(self, line: Any, **options: Any) -> Any:
            translated.append(lines.index(" ".join(line.tokens)))
            if translated[-1] in failing:
                return hiero.Failure(line, ValueError("no tree"))
            return super().attempt(line, **options)

    decoder = Noting(model, pop_limit=5)

    def written(path: Path, numbers: list[int], made_from: object = 1, threads: int = 1) -> list[int]:
        translated.clear()
        options = {"edges": 50, "made_from": {"x": made_from}, "threads": threads}
        problems = write_forests(decoder, bitext, numbers, path, **options)
        assert problems == ["no tree"] * len(failing)
        return sorted(translated)

    path, scratch = tmp_path / "forests", tmp_path / "scratch"
    some, more = [1, 5, 8, 20], [0, 1, 4, 5, 8, 9, 20, 30]
    assert written(path, some) == some and written(scratch, more) == more
    assert written(path, more, threads=2) == [0, 4, 9, 30]
    assert path.read_bytes() == scratch.read_bytes()
    assert written(scratch, more, 2) == more
    written(scratch, some)
    assert written(path, some) == []
    assert path.read_bytes() == scratch.read_bytes()
    # The forest of the first sentence is damaged.
    content = bytearray(path.read_bytes())
    content[40] ^= 255
    path.write_bytes(content)
    assert written(path, some) == [1] and path.read_bytes() == scratch.read_bytes()
    path.write_bytes(b"none")
    assert written(path, some) == some
    failing.add(5)
    path.unlink()
    assert written(path, some) == some and written(path, some) == [5]
    failing.clear()
    assert written(path, some) == [5] and path.read_bytes() == scratch.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("sentences", [60, 120])
def test_only_the_sample_changes(trained: Path, second: Path, tmp_path: Path, sentences: int) -> None:
    """Another sample gives the files of a run from scratch, and trains no model again."""
    copy, files = tmp_path / "copy", ("fold-*", "examples*", "left-out*", "*.json")
    shutil.copytree(second, copy)

    def content(folder: Path) -> dict[str, bytes]:
        paths = itertools.chain(*(folder.glob(pattern) for pattern in files))
        found = {path.name: path.read_bytes() for path in paths if path.is_file()}
        del found["steps.json"]  # its entries are in another order
        return found

    _, log = second_stage(trained, copy, "--sentences", sentences)
    assert log.count("done before") == 4 and "model 1: done before" in log
    scratch = tmp_path / "scratch"
    second_stage(trained, scratch, "--sentences", sentences)
    assert content(copy) == content(scratch) != content(second)
    assert len(content(copy)) >= 12


@pytest.fixture(scope="module")
def second(trained: Path) -> Path:
    return trained / "second"


def test_what_there_is_to_know(second: Path) -> None:
    said = call("hiero", "info", second).stdout.decode()
    assert "training of a second stage" in said and f" {second / 'reranker.json'}\n" in said
    assert "fold 1, " in said


def test_what_was_learnt_from(trained: Path, second: Path) -> None:
    archives = [ForestFile(second / f"fold-{k}.forests") for k in range(2)]
    assert sum(map(len, archives)) == 90
    model = hiero.Model.load(trained / "model")
    known = {
        tuple(line.split()): i
        for i, line in enumerate((trained / "model.train" / "corpus.source").read_text().splitlines())
    }
    targets = (trained / "model.train" / "corpus.target").read_text().splitlines()
    order = [known[tuple(forest.source)] for archive in archives for forest in archive]
    assert archives[0].weights == model.weights
    references = [split(targets[i]) for i in order]
    frequent = {
        " ".join(ngram)
        for ngram in itertools.chain.from_iterable(grams(list(words), 2) for words in references)
        if sum(grams(list(words), 2).count(ngram) for words in references) >= 2
    }
    examples = json.loads((second / "examples.json").read_text())
    assert set(examples["ngrams"]) == frequent
    # Each forest has its own reference.
    metric = Bleu([[targets[i]] for i in order])
    segment = unique = 0
    for archive, fold in zip(archives, examples["folds"], strict=True):
        low = high = np.zeros(len(fold["statistics"]))
        for forest in archive:
            own = Bleu([[" ".join(words)] for words in metric.references[segment]])
            # Derivations that differ by rounding alone may come out in another order.
            derivations = forest.kbest(50, model.weights)
            texts = {d.text for d in derivations if d.score > derivations[0].score - 1e-5} or {""}
            rows = np.concatenate([own.statistics([text]) for text in sorted(texts)])
            low, high = low + rows.min(axis=0), high + rows.max(axis=0)
            unique += len(texts) == 1
            segment += 1
        statistics = np.array(fold["statistics"])
        assert (low <= statistics).all() and (statistics <= high).all()
    assert segment == 90 and unique > 60
    reranker = Reranker.load(second / "reranker.json")
    assert reranker.weights == model.weights and set(reranker.ngrams) <= frequent
    # Only the models of folds are kept of what they were trained in.
    assert sorted(path.name for path in second.glob("fold-*/*")) == ["model", "model"]


@pytest.mark.slow
def test_interrupted_and_with_another_number_of_threads(trained: Path, second: Path, tmp_path: Path) -> None:
    """A run that was interrupted ends with the same bits, and repeats no finished step."""
    expected = (second / "reranker.json").read_bytes()
    copy = tmp_path / "second"
    shutil.copytree(second, copy)
    lost = ("fold-1.forests", "examples-0.forests", "examples-1.counts", "examples.json", "trained.json")
    for name in (*lost, "left-out-0.json", "shares.json", "reranker.json"):
        (copy / name).unlink()
    _, log = second_stage(trained, copy, "--threads", 1)
    steps = [line.split(": ")[1:3] for line in log.splitlines() if "done before" in line]
    kept = ["corpus", "align", "model 0", "fold 0", "model 1", "left out 1"]
    assert [name for name, _ in steps] == kept
    assert (copy / "reranker.json").read_bytes() == expected
    _, log = second_stage(trained, copy, "--variance", 0.01)
    assert "train: stale, other settings (variance)" in log and "examples: done before" in log
    assert (copy / "reranker.json").read_bytes() != expected
    _, log = second_stage(trained, copy, "--edges", 10)
    assert "fold 0: stale, other settings (edges)" in log


@pytest.mark.slow
def test_killed_while_a_fold_is_cleared(
    trained: Path, second: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of a half-removed folder does not disturb, and no finished model is trained again."""
    copy = tmp_path / "second"
    shutil.copytree(second, copy)
    shutil.rmtree(copy / "fold-1")
    (copy / "reranker.json").unlink()
    inputs = inputs_of(trained)
    options = SecondStageOptions(folds=2, sentences=90, least_count=2, steps=5, variance=1.0)
    arguments = (trained / "model", inputs, copy, options)

    whole = shutil.rmtree

    def killed(path: Path, **options: bool) -> None:
        if not path.name.startswith(".model.train."):
            return whole(path, **options)
        next(path.rglob("steps.json")).unlink()
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(pipeline.shutil, "rmtree", killed)
        with pytest.raises(SystemError):
            train_second_stage(*arguments, decoding={"pop_limit": 20})
    log: list[str] = []
    found = train_second_stage(*arguments, decoding={"pop_limit": 20}, report=log.append)
    assert "model 1: done before" in log and "fold 1: done before" in log
    assert found == Reranker.load(second / "reranker.json")
    assert {path.name for path in copy.glob("fold-*/*")} == {"model"} and not list(copy.glob(".model*"))
    # Files that were not removed when the process was killed are removed later.
    (copy / "fold-0" / "model.train").mkdir()
    (copy / "fold-0" / "source").touch()
    train_second_stage(*arguments, decoding={"pop_limit": 20})
    assert {path.name for path in copy.glob("fold-*/*")} == {"model"}


def test_damaged_examples(second: Path, tmp_path: Path) -> None:
    known = json.loads((second / "examples.json").read_text())
    first, other = known["folds"]
    for change, message in (
        ({"variances": other["variances"][:-1]}, "variances of"),
        ({"offsets": []}, "offsets"),
        ({"statistics": other["statistics"][:-1]}, "statistics"),
    ):
        record = {**known, "folds": [first, {**other, **change}]}
        (tmp_path / "examples.json").write_text(json.dumps(record))
        with pytest.raises(hiero.FormatError, match=f"examples.json: damaged: .*{message}"):
            read_examples(tmp_path)


def test_parses_of_the_bitext(trained: Path, tmp_path: Path) -> None:
    inputs = inputs_of(trained)
    parses = tmp_path / "parses"
    for text, message in (
        ("(S (N 她))\n" * 250, "250 trees for 251 sentences"),
        ("(())\n(S (N 她\n", "parses:2: "),
    ):
        parses.write_text(text)
        with pytest.raises(hiero.FormatError, match=message):
            train_second_stage(trained / "model", inputs, tmp_path / "second", parses=parses)
    (tmp_path / "source").write_text("她\n他 的\n好\nentry\n")
    parses.write_text("(S (N 她))\n\n(S (N 好))\n")
    found = sentences_of(Bitext(tmp_path / "source", tmp_path / "source", 3, parses, parses=parses), [1, 2])
    assert [(list(each.tokens), each.parse is not None) for each in found] == [
        (["他", "的"], False),
        (["好"], True),
    ]


def test_reranking(second: Path, trained: Path, tmp_path: Path) -> None:
    """Saved forests are reranked as after decoding, with other translations than the first stage's."""
    reranker = second / "reranker.json"
    lines = (DEMO / "dev.zh").read_text().splitlines()[:30]
    source = tmp_path / "dev.zh"
    source.write_text("".join(f"{line}\n" for line in ["", *lines]))
    command = ("hiero-decode", "--model", trained / "model", "-i", source, "--quiet")
    plain = call(*command, "--forests", tmp_path / "dev.forests").stdout
    again = call(*command, "--reranker", reranker, "--threads", 2)
    saved = call("hiero", "rerank", tmp_path / "dev.forests", "--reranker", reranker)
    assert saved.returncode == 0 and saved.stdout == again.stdout != plain
    assert again.stdout.count(b"\n") == 31
    weights = tmp_path / "weights.txt"
    weights.write_text("LM0 3\n")
    other = call(*command, "--weights", weights, "--forests", tmp_path / "other.forests")
    assert other.returncode == 0
    refused = call("hiero", "rerank", tmp_path / "other.forests", "--reranker", reranker)
    assert refused.returncode == 1 and b"other.forests: the second stage was trained on" in refused.stderr


def test_bad_calls(second: Path, trained: Path, tmp_path: Path) -> None:
    reranker = ("--reranker", second / "reranker.json")
    decode = ("hiero-decode", "--model", trained / "model", *reranker)
    for options, message in (
        (("--decision", "mbr"), b"give one"),
        (("--nbest", 2, "--output-format", "nbest"), b"are of one translation"),
    ):
        refused = call(*decode, *options, stdin="")
        assert refused.returncode == 2 and message in refused.stderr
    other = Reranker(weights={"Else": 1.0}, score=1.0, ngrams={})
    other.save(tmp_path / "other.json")
    done = call(
        *("hiero-decode", "--model", trained / "model", "--reranker", tmp_path / "other.json", "--quiet"),
        stdin="她\n",
    )
    assert done.returncode == 1 and b"weights of which Else is 1, not 0" in done.stderr
    assert done.stdout == b""
    with pytest.raises(ValueError, match="weights of which A is 2, not 0"):
        Reranker(weights={"A": 2.0, "B": 1.0}, score=1.0, ngrams={}).check({"B": 1.0})


def test_defaults() -> None:
    """The defaults are those in docs/reranking.md."""
    options = SecondStageOptions()
    assert (options.order, options.least_count, options.variance, options.edges) == (2, 2, 0.3, 500)
    assert (options.steps, options.folds, options.sentences, options.seed) == (50, 5, 0, 1)
    assert options.share is None
    assert Reranker(weights={}, score=1.0, ngrams={}).edges == 3000
