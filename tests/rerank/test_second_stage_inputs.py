"""Inputs of a second stage: texts that the model was not trained on are refused before the first step."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import hiero
from hiero.base.files import sha256
from hiero.features.syntax import CoarseSyntax
from hiero.rerank import SecondStageOptions, check_second_stage, train_second_stage
from hiero.train import TrainInputs, TrainSettings, train
from support.commands import call, one_error_line
from support.files import SharedFolder
from support.paths import FRENCH
from support.small_second_stage import inputs_of, make_both


@pytest.fixture(scope="module")
def trained(shared_folder: SharedFolder) -> Path:
    """A small model of the first sentences of the demo corpus and a dictionary, and its second stage."""
    return shared_folder("second-stage", make_both)


def test_models_that_cannot_be_jackknifed(trained: Path, tmp_path: Path) -> None:
    french = FRENCH
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"]).save(tmp_path / "model")
    with pytest.raises(ValueError, match="does not say how it was trained"):
        train_second_stage(tmp_path / "model", inputs_of(trained), tmp_path / "second")
    assert not (tmp_path / "second").exists()


def with_manifest(trained: Path, folder: Path, inputs: Mapping[str, Path], **settings: str) -> Path:
    """Copies the model with a manifest of other files and settings."""
    shutil.copytree(trained / "model", folder / "model")
    path = folder / "model" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["made_from"]["settings"] |= settings
    manifest["made_from"]["inputs"] |= {name: sha256(path) for name, path in inputs.items()}
    path.write_text(json.dumps(manifest))
    return folder / "model"


def test_texts_that_the_model_was_not_trained_on(trained: Path, tmp_path: Path) -> None:
    """Other texts are refused before the first step, with a message that says what was expected."""
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
        # The model was trained on this text, but not for a language model that a fold would change.
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
    """All monolingual text must be given, in its order; the names in manifests are those that training
    writes."""
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
    """Settings are checked before the first step, sentences before words are aligned."""
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
    """The last line is a sentence, not an entry of the dictionary."""
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
