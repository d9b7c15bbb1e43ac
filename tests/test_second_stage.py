"""A second stage made from a model and its bitext: jackknifing, the steps, and the commands."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import MadeOnce
from in_process import call
from test_cli import one_error_line
from test_rerank import grams

import hiero
from hiero.base.files import sha256
from hiero.base.text import split
from hiero.evaluate import Bleu
from hiero.features.syntax import CoarseSyntax
from hiero.forest.files import ForestFile
from hiero.rerank import (
    Reranker,
    SecondStageOptions,
    check_second_stage,
    pipeline,
    train_second_stage,
)
from hiero.rerank.jackknife import Bitext, folds, sentences_of, train_without, write_forests
from hiero.rerank.pipeline import read_examples
from hiero.train import TrainInputs, TrainSettings, train

DEMO = Path(__file__).parents[1] / "data" / "demo"


def test_folds(tmp_path: Path) -> None:
    """Each sentence is in one, the same sentences in the same one; blank lines and the dictionary in none."""
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
def trained(made_once: MadeOnce) -> Path:
    """A small model of the first sentences of the demo corpus and a dictionary, and its second stage."""
    return made_once("second-stage", make_both)


def make_both(folder: Path) -> None:
    for side in ("zh", "en"):
        lines = (DEMO / f"train.{side}").read_text().splitlines()
        (folder / f"train.{side}").write_text("".join(f"{line}\n" for line in [*lines[:250], ""]))
        (folder / f"dict.{side}").write_text("".join(f"{line}\n" for line in lines[300:310]))
    links = (DEMO / "train.align").read_text().splitlines()
    (folder / "links").write_text("".join(f"{line}\n" for line in [*links[:250], "", *links[300:310]]))
    done = call(
        *("hiero", "train", "--source", folder / "train.zh", "--target", folder / "train.en"),
        *("--dictionary", folder / "dict.zh", folder / "dict.en", "--mono", folder / "dict.en"),
        *("--alignment", folder / "links", "-o", folder / "model", "--quiet"),
    )
    assert done.returncode == 0, done
    out, log = second_stage(folder, folder / "second", "--threads", 2)
    assert "not what the model was trained on" not in log
    path = folder / "second" / "reranker.json"
    reranker = Reranker.load(path)
    assert out == f"{path}: {len(reranker.ngrams):,} n-grams, score {reranker.score:.4g}\n"


def test_a_fold_is_not_trained_on(trained: Path, tmp_path: Path) -> None:
    """Neither its rules nor its words are known; features and weights are the model's."""
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
    # The dictionary is in it still, but in no language model.
    dictionary = {word for line in target[251:] for word in line.split()}
    sentences = {word for i in rest if i < 251 for word in target[i].split()}
    assert vocabulary(made.tables[0]) & (dictionary - sentences)
    left_out = {word for i in fold for word in target[i].split()}
    known = {word for word in left_out | dictionary if made.lms[0].knows(word)}
    assert known == sentences & (left_out | dictionary) and left_out - known


def test_sentences_without_forests(trained: Path, tmp_path: Path) -> None:
    """They are counted, and keep their places."""
    model = hiero.Model.load(trained / "model")
    (tmp_path / "source").write_text("她\n他 的\n")
    bitext = Bitext(tmp_path / "source", tmp_path / "source", 2, tmp_path / "none")

    class Failing(hiero.Decoder):
        def attempt(self, line: Any, **options: Any) -> Any:
            if len(line.tokens) == 2:
                return hiero.Failure(line, ValueError("no tree"))
            return super().attempt(line, **options)

    path = tmp_path / "forests"
    assert write_forests(Failing(model), bitext, [0, 1], path, edges=5) == ["no tree"]
    with ForestFile(path) as archive:
        assert [forest.root >= 0 for forest in archive] == [True, False]
        assert archive[0].edge_count <= 5


# With next to no prior, so that few sentences change something.
OPTIONS = (
    *("--folds", 2, "--sentences", 60, "--least-count", 2, "--steps", 5, "--pop-limit", 20),
    *("--variance", 1),
)


def second_stage(trained: Path, output: Path, *more: object) -> tuple[str, str]:
    done = call(
        *("hiero", "train-reranker", trained / "model", "-o", output),
        *("--source", trained / "train.zh", "--target", trained / "train.en"),
        *("--dictionary", trained / "dict.zh", trained / "dict.en", *OPTIONS, *more),
    )
    assert done.returncode == 0, done
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def second(trained: Path) -> Path:
    return trained / "second"


def test_what_there_is_to_know(second: Path) -> None:
    said = call("hiero", "info", second).stdout.decode()
    assert "training of a second stage" in said and f" {second / 'reranker.json'}\n" in said
    assert "fold 1, " in said


def test_what_was_learnt_from(trained: Path, second: Path) -> None:
    archives = [ForestFile(second / f"fold-{k}.forests") for k in range(2)]
    assert sum(map(len, archives)) == 60
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
    best = [forest.viterbi(model.weights) for archive in archives for forest in archive]
    metric = Bleu([[targets[i]] for i in order])
    statistics = metric.statistics(["" if b is None else " ".join(b.tokens) for b in best])
    assert examples["statistics"] == statistics.sum(axis=0).tolist()
    reranker = Reranker.load(second / "reranker.json")
    assert reranker.weights == model.weights and set(reranker.ngrams) <= frequent
    assert not list(second.glob("fold-*/")), "models of folds are gone"


def test_interrupted_and_with_another_number_of_threads(trained: Path, second: Path, tmp_path: Path) -> None:
    """The same, bit for bit; what is done is not done again."""
    expected = (second / "reranker.json").read_bytes()
    copy = tmp_path / "second"
    shutil.copytree(second, copy)
    for name in ("fold-1.forests", "examples.forests", "examples.counts", "examples.json", "reranker.json"):
        (copy / name).unlink()
    _, log = second_stage(trained, copy, "--threads", 1)
    steps = [line.split(": ")[1:3] for line in log.splitlines() if "done before" in line]
    assert [name for name, _ in steps] == ["corpus", "align", "fold 0"]
    assert (copy / "reranker.json").read_bytes() == expected
    _, log = second_stage(trained, copy, "--variance", 0.01)
    assert "train: stale, other settings (variance)" in log and "examples: done before" in log
    assert (copy / "reranker.json").read_bytes() != expected
    _, log = second_stage(trained, copy, "--edges", 10)
    assert "fold 0: stale, other settings (edges)" in log


def test_killed_while_a_fold_is_cleared(
    trained: Path, second: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is in nobody's way, and no fold is translated again that was."""
    copy = tmp_path / "second"
    shutil.copytree(second, copy)
    for name in ("fold-1.forests", "reranker.json"):
        (copy / name).unlink()
    inputs = inputs_of(trained)
    options = SecondStageOptions(folds=2, sentences=60, least_count=2, steps=5, variance=1.0)
    arguments = (trained / "model", inputs, copy, options)

    whole = shutil.rmtree

    def killed(path: Path) -> None:
        if not path.name.startswith(".fold-1."):
            return whole(path)
        next(path.rglob("steps.json")).unlink()
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(pipeline.shutil, "rmtree", killed)
        with pytest.raises(SystemError):
            train_second_stage(*arguments, decoding={"pop_limit": 20})
    log: list[str] = []
    found = train_second_stage(*arguments, decoding={"pop_limit": 20}, report=log.append)
    assert "fold 1: done before" in log
    assert found == Reranker.load(second / "reranker.json")
    assert not list(copy.glob("fold-*/")) and not list(copy.glob(".fold-*"))
    # Killed before anything is cleared, it is cleared when the step is found done.
    (copy / "fold-0").mkdir()
    train_second_stage(*arguments, decoding={"pop_limit": 20})
    assert not (copy / "fold-0").exists()


def test_damaged_examples(second: Path, tmp_path: Path) -> None:
    known = json.loads((second / "examples.json").read_text())
    for change, message in (
        ({"variances": known["variances"][:-1]}, "variances of"),
        ({"offsets": []}, "offsets"),
        ({"statistics": known["statistics"][:-1]}, "statistics"),
    ):
        (tmp_path / "examples.json").write_text(json.dumps({**known, **change}))
        with pytest.raises(hiero.FormatError, match=f"examples.json: damaged: .*{message}"):
            read_examples(tmp_path)


def inputs_of(folder: Path, **changes: Any) -> TrainInputs:
    """What the model there was trained on, or something else."""
    dictionary = folder / "dict.zh", folder / "dict.en"
    return replace(TrainInputs(folder / "train.zh", folder / "train.en", dictionary), **changes)


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
    """From saved forests as after decoding, and not what the first stage has."""
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


def test_models_that_cannot_be_jackknifed(trained: Path, tmp_path: Path) -> None:
    french = Path(__file__).parent / "french"
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"]).save(tmp_path / "model")
    with pytest.raises(ValueError, match="does not say how it was trained"):
        train_second_stage(tmp_path / "model", inputs_of(trained), tmp_path / "second")
    assert not (tmp_path / "second").exists()


def with_manifest(trained: Path, folder: Path, inputs: Mapping[str, Path], **settings: str) -> Path:
    """The model as if it had been trained on other files, and with other settings."""
    shutil.copytree(trained / "model", folder / "model")
    path = folder / "model" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["made_from"]["settings"] |= settings
    manifest["made_from"]["inputs"] |= {name: sha256(path) for name, path in inputs.items()}
    path.write_text(json.dumps(manifest))
    return folder / "model"


def test_texts_that_the_model_was_not_trained_on(trained: Path, tmp_path: Path) -> None:
    """They are refused before anything is made, and what was expected is said."""
    zh, en, words = trained / "train.zh", trained / "train.en", trained / "dict.en"
    other = tmp_path / "other"
    other.write_text("other\n")
    checksum = json.loads((trained / "model" / "manifest.json").read_text())["made_from"]["inputs"]["source"]
    assert checksum == sha256(zh)
    for changes, message in (
        ({"source": other}, f"other: not the source that .* on \\(SHA-256 {checksum[:16]}\\.\\.\\., not "),
        ({"source": en, "target": zh}, "train.en: not the source that .* trained on, but its target"),
        ({"target": other}, "other: not the target that .*; give the file that hiero train had"),
        ({"target": tmp_path / "none"}, "none"),
        ({"dictionary": None}, "was trained with a dictionary: give it too"),
        ({"dictionary": (other, words)}, "other: not the dictionary source that"),
        # It was trained on this, but not for a language model that a part of it would change.
        ({"mono": [words]}, "monolingual text .* is for models of hiero train --lms together"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            train_second_stage(trained / "model", inputs_of(trained, **changes), tmp_path / "second")
    plain = with_manifest(trained, tmp_path, {})
    manifest = json.loads((plain / "manifest.json").read_text())
    for name in ("dictionary source", "dictionary target"):
        del manifest["made_from"]["inputs"][name]
    (plain / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="was trained without a dictionary"):
        train_second_stage(plain, inputs_of(trained), tmp_path / "second")
    refused = call(
        *("hiero", "train-reranker", trained / "model", "-o", tmp_path / "second"),
        *("--source", other, "--target", en),
    )
    assert one_error_line(refused, 1).startswith(f"hiero: {other}: not the source")
    assert not (tmp_path / "second").exists()


def test_monolingual_text_of_one_language_model(trained: Path, tmp_path: Path) -> None:
    """All of it is wanted, in its order; the names in manifests are those that training writes."""
    lines = [(trained / f"train.{side}").read_text().splitlines()[:20] for side in ("zh", "en")]
    for name, text in zip(("f", "e"), lines, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in text))
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("more of it\n")
    second.write_text("and more\n")
    inputs = TrainInputs(tmp_path / "f", tmp_path / "e", mono=[first, second])
    model = train(inputs, tmp_path / "model", settings=TrainSettings(lms="together", lm_order=2))
    check_second_stage(model, inputs)
    for mono, message in (
        ([], "no files of monolingual text .* where the model was trained on 2 files: give all"),
        ([first], "1 file of monolingual text .* where the model was trained on 2 files"),
        ([first] * 3, "3 files of monolingual text .* where the model was trained on 2 files"),
        ([second, first], "second: not the monolingual text that the model was trained on"),
    ):
        with pytest.raises(ValueError, match=message):
            check_second_stage(model, replace(inputs, mono=mono))


def test_what_is_looked_at_before_words_are_aligned(trained: Path, tmp_path: Path) -> None:
    """All that can be known then; settings before anything is made."""
    inputs, output = inputs_of(trained), tmp_path / "out"
    arguments = (trained / "model", inputs, output)
    with pytest.raises(ValueError, match="needs 32M of memory"):
        train_second_stage(*arguments, memory=1 << 20)
    with pytest.raises(ValueError, match="pop_limit"):
        train_second_stage(*arguments, decoding={"pop_limit": -1})
    assert not output.exists()
    with pytest.raises(ValueError, match="cannot be divided into 300 folds"):
        train_second_stage(*arguments, SecondStageOptions(folds=300))
    model = hiero.Model.load(trained / "model")
    model.with_features([CoarseSyntax()]).save(tmp_path / "syntax")
    with pytest.raises(hiero.Error, match=r"train\.zh:1: .*parse"):
        train_second_stage(tmp_path / "syntax", inputs, output)
    # Links of any pair, also of those of the first fold, which its model is not trained on.
    links = (trained / "model.train" / "alignment").read_text().splitlines()
    for number in (0, 200, len(links) - 1):
        bad = [*links[:number], "0-0 99-0", *links[number + 1 :]]
        (tmp_path / "links").write_text("".join(f"{line}\n" for line in bad))
        given = replace(inputs, alignment=tmp_path / "links")
        with pytest.raises(hiero.FormatError, match=f"links:{number + 1}: link 99-0 points beyond"):
            train_second_stage(trained / "model", given, output)
    assert not (output / "alignment").exists() and not list(output.glob("fold*"))


def test_a_bitext_without_a_last_line_end(trained: Path, tmp_path: Path) -> None:
    """Its last line is a sentence, and none of the dictionary's."""
    for side in ("zh", "en"):
        (tmp_path / f"train.{side}").write_text((trained / f"train.{side}").read_text() + "她")
    changed = {"source": tmp_path / "train.zh", "target": tmp_path / "train.en"}
    (tmp_path / "parses").write_text("(S (N 她))\n")
    with pytest.raises(hiero.FormatError, match="1 trees for 252 sentences"):
        train_second_stage(
            with_manifest(trained, tmp_path, changed),
            inputs_of(trained, **changed),
            tmp_path / "second",
            parses=tmp_path / "parses",
        )


def test_defaults() -> None:
    """As docs/reranking.md has them."""
    options = SecondStageOptions()
    assert (options.order, options.least_count, options.variance, options.edges) == (2, 2, 0.03, 500)
    assert (options.steps, options.folds, options.sentences, options.seed) == (50, 5, 0, 1)
    assert Reranker(weights={}, score=1.0, ngrams={}).edges == 3000
