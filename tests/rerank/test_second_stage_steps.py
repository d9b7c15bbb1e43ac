"""Inputs of each step of a second stage, and when it is made again; folds are translated by the model
itself, and words are not aligned, so that nothing is trained but the second stage."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.base.files import sha256
from hiero.forest.files import ForestFile
from hiero.rerank import Reranker, SecondStageOptions, jackknife, pipeline, train_second_stage
from hiero.rerank.jackknife import Bitext, train_without
from hiero.text import TextProcessing, parse_side
from hiero.train import TrainInputs, TrainSettings
from support.files import write
from support.paths import FRENCH

# What tokens and case tell apart from what they are of.
TEXT = TextProcessing(parse_side("fr:moses", True), parse_side("en:moses", True))
SETTINGS = TrainSettings(lms="together", seed=7, heuristic="union", max_length=30, max_ratio=5.0)
OPTIONS = {"folds": 2, "steps": 2, "variance": 1.0, "edges": 50}
FOLDS = ["model 0", "fold 0", "model 1", "fold 1"]
# Without the step "shares", which compares statistics that may be the same for other settings.
LEARNING = ["examples", "train", "left out 0", "left out 1", "share"]
EVERY = ["corpus", "align", *FOLDS, *LEARNING]
DECODING = ["fold 0", "fold 1", *LEARNING]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, a bitext of raw text that it could have been trained on, and parses."""
    folder = tmp_path_factory.mktemp("second")
    model = hiero.Model.assemble(
        [FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt", text=TEXT
    )
    names = ("le chat", "le chien", "la maison", "la voiture", "le livre", "une maison", "un chien")
    lines = [f"{name} {rest}." for name in names for rest in ("dort", "est noir", "ne mange pas")]
    source = write(folder / "source", [line.capitalize() for line in lines])
    target = write(
        folder / "target", [r.text.capitalize() for r in hiero.Decoder(model).translate_batch(lines)]
    )
    write(
        folder / "parses", [f"(S {' '.join(f'(X {w})' for w in TEXT.source.tokens(line))})" for line in lines]
    )
    links = [" ".join(f"{i}-{i}" for i in range(2)) for _ in lines]
    write(folder / "links", links)
    write(folder / "mono", ["It's a Dog."])
    model.save(folder / "model")
    manifest = folder / "model" / "manifest.json"
    record = json.loads(manifest.read_text())
    inputs = {"source": sha256(source), "target": sha256(target)}
    inputs |= {f"lm0 text {k}": sha256(path) for k, path in enumerate((target, folder / "mono"))}
    record["made_from"] = {"settings": SETTINGS.model_dump(mode="json"), "inputs": inputs}
    manifest.write_text(json.dumps(record))
    return folder


@contextlib.contextmanager
def nothing_else_trained() -> Iterator[None]:
    def trained(model: hiero.Model, _: Bitext, fold: Sequence[int], folder: Path, **__: Any) -> None:
        # The model's manifest tells folds apart.
        folder.mkdir(exist_ok=True)
        write(folder / "source", ["text"])
        replace(model, made_from={"fold": list(fold)}).save(folder / "model")

    def aligned(_: Any, outputs: Sequence[Path], **__: Any) -> None:
        write(outputs[0], ["1-0"] * 21)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "train_without", trained)
        patched.setattr(pipeline, "align", aligned)
        yield


@pytest.fixture(autouse=True)
def without_training() -> Iterator[None]:
    with nothing_else_trained():
        yield


def inputs(folder: Path, **more: Any) -> TrainInputs:
    return TrainInputs(folder / "source", folder / "target", mono=[folder / "mono"], **more)


def made(folder: Path, output: Path, options: dict[str, Any] | None = None, **more: Any) -> list[str]:
    """Trains a second stage, and returns the reports of its steps."""
    said: list[str] = []
    given = more.pop("inputs", inputs(folder))
    chosen = SecondStageOptions(**(OPTIONS | (options or {})))
    train_second_stage(folder / "model", given, output, chosen, report=said.append, **more)
    return [
        line for line in said if line.split(": ")[1].split(",")[0] in ("to be made", "done before", "stale")
    ]


@pytest.fixture(scope="module")
def output(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished second stage, which tests train again after they change its inputs."""
    output = tmp_path_factory.mktemp("done") / "out"
    with nothing_else_trained():
        made(folder, output)
    return output


def test_the_bitext_is_in_the_model_s_tokens(folder: Path, output: Path) -> None:
    for side, text in (("source", TEXT.source), ("target", TEXT.target)):
        raw = (folder / side).read_text().splitlines()
        expected = [" ".join(text.tokens(line)) for line in raw]
        assert (output / f"corpus.{side}").read_text().splitlines() == expected != raw
    assert (output / "mono").read_text() == "it 's a dog .\n"
    known = set((output / "corpus.source").read_text().splitlines())
    with ForestFile(output / "fold-0.forests") as first, ForestFile(output / "fold-1.forests") as second:
        sources = [" ".join(forest.source) for archive in (first, second) for forest in archive]
    assert sorted(sources) == sorted(known)


def again(folder: Path, output: Path, *arguments: Any, **more: Any) -> list[str]:
    """Lists the steps that were done again, without "shares"."""
    said = made(folder, output, *arguments, **more)
    steps = [line.split(": ")[0] for line in said if "done before" not in line]
    return [step for step in steps if step != "shares"]


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ({}, []),
        ({"share": 0.5}, LEARNING[4:]),
        ({"variance": 0.5}, LEARNING[1:]),
        ({"steps": 3}, LEARNING[1:]),
        ({"least_count": 3}, LEARNING),
        ({"order": 1}, LEARNING),
        ({"edges": 20}, DECODING),
        ({"sentences": 9}, DECODING),
        ({"seed": 2}, [*FOLDS, *LEARNING]),
    ],
)
def test_options_that_change(folder: Path, output: Path, change: dict[str, Any], steps: list[str]) -> None:
    made(folder, output)
    assert again(folder, output, change) == steps
    assert again(folder, output, change) == []


def test_what_the_first_stage_is_changes(folder: Path, output: Path) -> None:
    """Steps are done again for other weights, search settings and parses."""
    made(folder, output)
    model = hiero.Model.load(folder / "model")
    other = {**model.weights, "LM0": 2.0}
    said = made(folder, output, weights=other)
    assert said[4] == "fold 0: stale, other settings (weights)"
    stale = [line.split(": ")[0] for line in said if "stale" in line]
    assert [step for step in stale if step != "shares"] == DECODING
    assert Reranker.load(output / "reranker.json").weights == {**model.weights, "LM0": 2.0}
    assert again(folder, output, weights=other, decoding={"pop_limit": 5}) == DECODING
    assert again(folder, output) == DECODING
    parses = folder / "own-parses"
    parses.write_text((folder / "parses").read_text())
    assert made(folder, output, parses=parses)[4] == "fold 0: stale, there are other inputs"
    assert again(folder, output, parses=parses) == []
    parses.write_text(parses.read_text().replace("(S ", "(T "))
    assert made(folder, output, parses=parses)[4] == "fold 0: stale, parses has changed"
    manifest = folder / "model" / "manifest.json"
    kept = manifest.read_bytes()
    manifest.write_bytes(kept + b"\n")
    said = made(folder, output, parses=parses)
    assert [line.split(": ")[0] for line in said if "model has changed" in line] == [
        "corpus",
        "text",
        *FOLDS,
    ]
    manifest.write_bytes(kept)


def test_an_alignment_of_one_s_own(folder: Path, output: Path) -> None:
    made(folder, output)
    own = inputs(folder, alignment=folder / "links")
    said = made(folder, output, inputs=own)
    assert said[2:4] == ["align: stale, there are other inputs", "model 0: stale, alignment has changed"]
    assert (output / "alignment").read_text() == (folder / "links").read_text()


def test_words_are_aligned_as_for_the_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def aligned(pairs: Any, outputs: Sequence[Path], **settings: Any) -> None:
        found.append(tuple(settings[name] for name in ("heuristic", "seed", "memory", "threads")))
        outputs[0].write_text((folder / "links").read_text())

    monkeypatch.setattr(pipeline, "align", aligned)
    long = TrainInputs(
        write(tmp_path / "s", ["le chat " * 16, "a", "b"]), write(tmp_path / "t", ["x " * 12, "a " * 6, "b"])
    )
    model = hiero.Model.load(folder / "model")
    with pipeline.open_journal(tmp_path / "out", lambda _: None) as journal:
        options = SecondStageOptions(**OPTIONS)
        steps = pipeline._Pipeline(
            *(journal, folder / "model" / "manifest.json", model, SETTINGS, long, options),
            *({}, None, 1, 1 << 20, None),
        )
        steps._corpus()
        steps._align()
    assert found == [("union", 7, 1 << 20, 1)]
    # Pairs that are too long or too unlike are left out as they were for the model.
    assert (tmp_path / "out" / "corpus.source").read_text() == "\n\nb\n"


def drawn(folder: Path, output: Path, **options: int) -> list[int]:
    """Returns the numbers of the sentences of each fold that are learnt from."""
    made(folder, output, options)
    lines = (output / "corpus.source").read_text().splitlines()
    numbers = []
    for k in range(2):
        with ForestFile(output / f"fold-{k}.forests") as archive:
            numbers += [lines.index(" ".join(forest.source)) for forest in archive]
    return numbers


def test_a_random_sample_is_learnt_from(folder: Path, output: Path) -> None:
    whole = drawn(folder, output)
    assert sorted(whole) == list(range(21)) == sorted(drawn(folder, output, sentences=21))
    assert whole != drawn(folder, output, seed=2), "other folds"
    some = [drawn(folder, output, sentences=8, seed=seed) for seed in (1, 2)]
    again = drawn(folder, output, sentences=8)
    assert all(len(set(each)) == 8 for each in some) and some[0] == again
    # Neither the first nor the last, nor the same for every seed; each with its fold's others in order.
    assert len({tuple(sorted(each)) for each in (*some, range(8), range(13, 21))}) == 4
    assert [number for number in whole if number in set(again)] == again
    assert set(drawn(folder, output, sentences=5)) < set(again), "a larger sample has the smaller one"


def test_files_are_looked_for_before_anything_is_made(folder: Path, tmp_path: Path) -> None:
    for name in ("source", "alignment", "dictionary", "mono"):
        missing = tmp_path / f"no-{name}"
        given: dict[str, Any] = {"source": folder / "source", "target": folder / "target"}
        value = {"dictionary": (missing, missing), "mono": [missing]}.get(name, missing)
        with pytest.raises(FileNotFoundError, match=f"no-{name}"):
            train_second_stage(folder / "model", TrainInputs(**given | {name: value}), tmp_path / "out")
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("lms", "kept"), [("together", 2), ("separate", 2), ("given", 3)])
def test_what_the_model_of_a_fold_is_trained_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lms: Any, kept: int
) -> None:
    """The model of a fold is trained on tokens, which are not tokenised again, and on all lines but the
    fold's."""
    lm = hiero.LanguageModel.load(str(FRENCH / "lm.arpa"))
    settings = TrainSettings(
        lms=lms, truecase=True, lm_order=2, max_length=17, text=TextProcessing(parse_side("fr:moses", False))
    )
    model = hiero.Model.load(folder / "model")
    model = hiero.Model(model.tables, [lm] * 3, {}, text=TEXT)
    monkeypatch.setattr(jackknife, "settings_of", lambda _: settings)
    asked: list[Any] = []

    def trained(inputs: TrainInputs, output: Path, **given: Any) -> hiero.Model:
        asked.append((inputs, output, given))
        return model

    monkeypatch.setattr(jackknife, "train", trained)
    source, target = (write(tmp_path / side, [f"{side}{i}" for i in range(5)]) for side in ("s", "t"))
    bitext = Bitext(source, target, 3, tmp_path / "links", [tmp_path / "mono"])
    made = train_without(model, bitext, [1], tmp_path / "fold", memory=99)
    assert made.weights == model.weights and made.text == TEXT
    ((found, output, given),) = asked
    assert output == tmp_path / "fold" / "model" and given.pop("memory") == 99
    assert given.pop("settings") == settings.model_copy(update={"text": TextProcessing(), "truecase": False})
    assert not given
    assert [Path(path).read_text() for path in (found.source, found.target)] == ["s0\n\ns2\n", "t0\n\nt2\n"]
    assert found.dictionary is not None
    assert [Path(path).read_text() for path in found.dictionary] == ["s3\ns4\n", "t3\nt4\n"]
    assert (found.alignment, list(found.mono)) == (tmp_path / "links", [tmp_path / "mono"])
    assert list(found.lms) == [lm.path] * kept
