"""Tests of which settings and files make which steps of training stale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.base.files import sha256
from hiero.text import TextProcessing, parse_side
from hiero.train import ExtractSettings, ScoreSettings, TrainInputs, TrainSettings, lm_steps, pipeline, train
from support.brute_force import write_arpa
from support.files import write
from support.paths import FRENCH

SETTINGS = TrainSettings(lm_order=2)
WORDS = ("Haus", "Hund", "Baum", "Kind")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> TrainInputs:
    folder = tmp_path_factory.mktemp("steps")
    lines = [f"Das {a} ist ein {b} ." for a in WORDS for b in WORDS]
    return TrainInputs(
        write(folder / "source", lines),
        write(folder / "target", [line.upper() for line in lines]),
        (write(folder / "entries.s", ["Tag"]), write(folder / "entries.t", ["DAY DAY DAY"])),
        [write(folder / "mono", ["EIN TAG .", "EIN HAUS UND EIN HUND ."])],
    )


@pytest.fixture(autouse=True)
def one_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An aligner that links words at equal positions, which saves time."""

    def aligned(bitexts: Sequence[tuple[Path, Path]], outputs: Sequence[Path], save: Path, **_: Any) -> None:
        write(save, [])
        lines = [line.split() for line in Path(bitexts[0][0]).read_text().splitlines()]
        write(Path(outputs[0]), [" ".join(f"{i}-{i}" for i in range(len(words))) for words in lines])

    monkeypatch.setattr(pipeline, "align", aligned)


def train_again(inputs: TrainInputs, output: Path, settings: TrainSettings) -> dict[str, str]:
    """Trains once more, and returns the steps with changed settings and these settings."""
    said: list[str] = []
    train(inputs, output, settings=settings, report=said.append)
    begin = ": stale, other settings ("
    return dict(line.rstrip(")").split(begin) for line in said if begin in line)


TEXT = TextProcessing(parse_side("und:none", True), parse_side("und:none", True))
TRIE = {"lm_binary": "trie"}


@pytest.mark.parametrize(
    ("before", "change", "steps"),
    [
        ({}, {"max_length": 50}, ["corpus"]),
        ({}, {"max_ratio": 5.0}, ["corpus"]),
        ({}, {"text": TEXT}, ["corpus", "text 0", "text 1"]),
        ({}, {"heuristic": "union"}, ["align"]),
        ({}, {"seed": 2}, ["align", "weights"]),
        ({}, {"leave_out": ("duplicate",)}, ["problems"]),
        ({}, {"extract": ExtractSettings(max_phrase=8)}, ["extract"]),
        ({}, {"score": ScoreSettings(min_count=2)}, ["score"]),
        ({}, {"lm_order": 3}, ["lm 0", "lm 1"]),
        ({}, TRIE, ["lm 0", "lm 1"]),
        (TRIE, {"lm_quantize": 8}, ["lm 0", "lm 1"]),
    ],
)
def test_settings_make_their_steps_again(
    inputs: TrainInputs, tmp_path: Path, before: dict[str, Any], change: dict[str, Any], steps: list[str]
) -> None:
    first = SETTINGS.model_copy(update=before)
    train(inputs, tmp_path / "model", settings=first)
    changed = first.model_copy(update=change)
    repeated = train_again(inputs, tmp_path / "model", changed)
    # The model depends on all settings, but only reports them if no file has changed.
    assert [name for name in repeated if name != "model"] == steps
    assert all(names == ", ".join(change) for names in repeated.values())
    assert train_again(inputs, tmp_path / "model", changed) == {}


def test_what_the_model_has_of_training(
    inputs: TrainInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model has the span limit of extraction, weights from the sentences of the bitext alone, and a
    record of its inputs."""
    pairs: list[tuple[str, str]] = []
    by_length = pipeline.weights_by_length

    def weighed(model: Any, corpus: Any, seed: int, *more: Any) -> Any:
        pairs.extend(corpus)
        return by_length(model, iter(pairs), seed, *more)

    monkeypatch.setattr(pipeline, "weights_by_length", weighed)
    lm = FRENCH / "lm.arpa"
    write_arpa(tmp_path / "own.arpa", [["a", "DAY"]], 2)
    lms = [lm, tmp_path / "own.arpa"]
    inputs_with_lms = TrainInputs(inputs.source, inputs.target, inputs.dictionary, inputs.mono, lms=lms)
    settings = SETTINGS.model_copy(update={"extract": ExtractSettings(max_phrase=6)})
    model = train(inputs_with_lms, tmp_path / "model", settings=settings)
    assert model.settings.span_limit == 6 and len(model.lms) == 4
    assert len(pairs) == 16 and ("Tag", "DAY DAY DAY") not in pairs
    sums = {name: sha256(Path(path)) for name, path in files(inputs_with_lms).items()}
    assert model.made_from["inputs"] == sums
    assert model.made_from["sizes"] == {"sentence pairs": 17, "sentences for LM0": 16, "sentences for LM1": 2}
    assert TrainSettings.model_validate(model.made_from["settings"]) == settings
    assert hiero.Model.load(tmp_path / "model").made_from == model.made_from


def files(inputs: TrainInputs) -> dict[str, Any]:
    """Returns the inputs by their names in a record."""
    assert inputs.dictionary is not None
    return {
        **{"source": inputs.source, "target": inputs.target},
        **{"dictionary source": inputs.dictionary[0], "dictionary target": inputs.dictionary[1]},
        **{"lm0 text 0": inputs.target, "lm1 text 0": inputs.mono[0]},
        **{"lm2 given": inputs.lms[0], "lm3 given": inputs.lms[1]},
    }


@pytest.mark.parametrize(("lms", "texts"), [("together", [[0, 1]]), ("separate", [[0], [1]]), ("given", [])])
def test_what_language_models_are_estimated_from(
    inputs: TrainInputs, tmp_path: Path, lms: Any, texts: list[list[int]]
) -> None:
    """Models are estimated from the target side first, not from the dictionary; given models come last."""
    lm = FRENCH / "lm.arpa"
    inputs_with_lm = TrainInputs(inputs.source, inputs.target, inputs.dictionary, inputs.mono, lms=[lm])
    train(inputs_with_lm, tmp_path / "model", settings=SETTINGS.model_copy(update={"lms": lms}))
    sides = [Path(path).read_text() for path in (inputs_with_lm.target, inputs_with_lm.mono[0])]
    work = tmp_path / "model.train"
    actual = [(work / f"lm{k}.text").read_text() for k in range(len(texts))]
    assert actual == ["".join(sides[i] for i in text) for text in texts]
    assert not (work / f"lm{len(texts)}.text").exists()
    assert hiero.LanguageModel.load(str(work / f"lm{len(texts)}.binary")).knows("house")


def test_what_is_missing_or_of_another_truecaser_is_made_again(inputs: TrainInputs, tmp_path: Path) -> None:
    """A missing file of the model is made again, and so is text after a change of the truecaser."""
    target = tmp_path / "target"
    write(target, Path(inputs.target).read_text().replace("DAS", "Das").splitlines())
    changed_inputs = TrainInputs(inputs.source, target, None, inputs.mono)
    settings = SETTINGS.model_copy(update={"truecase": True})
    said: list[str] = []

    def repeated_steps() -> list[str]:
        said.clear()
        train(changed_inputs, tmp_path / "model", settings=settings, report=said.append)
        return [line for line in said if ": stale, " in line]

    repeated_steps()
    for name in ("rules0.hrt", "lm0.binary", "lm1.binary"):
        (tmp_path / "model" / name).unlink()
        (line,) = repeated_steps()
        assert line.startswith("model: stale, ") and line.endswith(f"{name} is missing")
    write(target, [*Path(inputs.target).read_text().splitlines()[:-1], "x ein tag ist ein ."])
    stale = repeated_steps()
    assert "truecaser target: stale, target has changed" in stale
    assert "text 1: stale, truecaser has changed" in stale
    assert repeated_steps() == []


def test_memory_is_for_all_that_takes_more_with_more_text(
    inputs: TrainInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    for module, name in ((pipeline, "align"), (pipeline, "extract_rules"), (lm_steps, "estimate_lm")):
        original = getattr(module, name)

        def counted(
            *values: Any, name: str = name, original: Any = original, memory: int, **more: Any
        ) -> Any:
            asked.append((name, memory))
            return original(*values, memory=memory, **more)

        monkeypatch.setattr(module, name, counted)
    train(inputs, tmp_path / "model", settings=SETTINGS, memory=1 << 28)
    names = ["align", "extract_rules", "estimate_lm", "estimate_lm"]
    assert asked == [(name, 1 << 28) for name in names]


def test_the_length_of_phrases_is_chosen_by_the_bitext(
    inputs: TrainInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentences in reverse order need phrases of 15 words, whatever the entries of the dictionary say."""
    lines = [" ".join(f"{letter}{k}" for k in range(12)) for letter in "abcd"]
    words = [f"word{k}" for k in range(1000)]
    entries = write(tmp_path / "d.s", words), write(tmp_path / "d.t", list(map(str.upper, words)))
    bitext = write(tmp_path / "source", lines), write(tmp_path / "target", [line.upper() for line in lines])

    def reversed_words(
        bitexts: Sequence[tuple[Path, Path]], outputs: Sequence[Path], save: Path, **_: Any
    ) -> None:
        write(save, [])
        texts = [line.split() for line in Path(bitexts[0][0]).read_text().splitlines()]
        links = (" ".join(f"{k}-{len(words) - 1 - k}" for k in range(len(words))) for words in texts)
        write(Path(outputs[0]), list(links))

    monkeypatch.setattr(pipeline, "align", reversed_words)
    output, said = tmp_path / "model", []
    model = train(TrainInputs(*bitext, entries), output, settings=SETTINGS, report=said.append)
    assert model.settings.span_limit == 15 == model.made_from["settings"]["extract"]["max_phrase"]
    assert any(line.startswith("extract: 0.0 % of words") and line.endswith("at most 15") for line in said)
    given = SETTINGS.model_copy(update={"extract": ExtractSettings(max_phrase=10)})
    assert train(TrainInputs(*bitext, entries), output, settings=given).settings.span_limit == 10
