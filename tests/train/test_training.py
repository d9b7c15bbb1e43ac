"""Tests of `hiero train`: its output, continuing after a kill, and stale steps."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import hiero
from hiero.decode.model_files import write_model
from hiero.text import TextProcessing, TextSide
from hiero.train import TrainInputs, TrainSettings, train, weights
from support.commands import BIN, call
from support.files import head, write
from support.training_command import one_error_line, train_command

STEPS = ["corpus", "text 0", "text 1", "align", "problems", "extract", "score", "lm 0", "lm 1", "weights"]
STEPS += ["model"]


@pytest.fixture(scope="module")
def trained(inputs: TrainInputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained on the inputs without interruption."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    train(inputs, folder)
    return folder


def start_training(inputs: TrainInputs, output: Path) -> subprocess.Popen[str]:
    """Starts training as another process, which reports its progress on standard error."""
    arguments = train_command(inputs, output)[1:]
    return subprocess.Popen([BIN / "hiero", *arguments], stderr=subprocess.PIPE, text=True)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_trained_model_translates(trained: Path, demo: Path) -> None:
    model = hiero.Model.load(trained)
    assert {name: value for name, value in model.weights.items() if value} == {
        **dict.fromkeys(["LM0", "LM1"], 0.25),
        **dict.fromkeys(["PhraseFE", "PhraseEF", "LexFE", "LexEF"], 0.2),
        "WordPenalty": -1.2,
    }
    decoder = hiero.Decoder(model)
    pairs = zip(head(demo / "train.zh", 20), head(demo / "train.en", 20), strict=True)
    assert sum(decoder.translate(source).text == target for source, target in pairs) >= 9
    assert decoder.translate("酋长").text == "chieftain"
    assert model.distortion is not None
    made_from = json.loads((trained / "manifest.json").read_text())["made_from"]
    assert made_from["settings"]["extract"]["max_phrase"] == 15 and len(made_from["inputs"]) == 6


def run(*args: object, stdin: str = "") -> str:
    done = call(*args, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_step_by_step(inputs: TrainInputs, tmp_path: Path) -> None:
    settings = ["--max-phrase", 7, "--unaligned-edges"]
    whole = ["--source", inputs.source, "--target", inputs.target, "-o", tmp_path / "whole", "--quiet"]
    scoring = ["--significance", "a-e", "--ttable-limit", 20]
    run("hiero", "train", *whole, "--heuristic", "union", *settings, *scoring, "--lm-order", 3)

    f, e, links, counts, table, lm = (
        tmp_path / name for name in ("f", "e", "a", "counts", "r.hrt", "lm.binary")
    )
    run("hiero", "corpus", "--source", inputs.source, "--target", inputs.target, "-o", f, e)
    learned = tmp_path / "learned"
    run(
        "hiero", "align", "--source", f, "--target", e, "-o", links, "--heuristic", "union", "--save", learned
    )
    bitext = ["--source", f, "--target", e, "--alignment", links]
    run("hiero", "extract", *bitext, "-o", counts, "--distortion", tmp_path / "d", *settings)
    run("hiero", "score", counts, "-o", table, *scoring, "--corpus", f, e)
    run("hiero", "lm", inputs.target, "-o", lm, "--order", 3)
    model = ["--grammar", table, "--lm", lm, "--distortion", tmp_path / "d", "--span-limit", 7]
    learning = ["--alignment-model", learned, "--counts", counts, "--heuristic", "union", *settings[2:]]
    run("hiero", "assemble", "-o", tmp_path / "parts", *model, *learning, "--corpus", f, e)

    # Without a length of phrases, extraction says which one it has chosen.
    chosen = call("hiero", "extract", *bitext, "-o", tmp_path / "chosen").stderr.decode()
    assert re.match(
        r"hiero: .* % of words can be put in order within 10 words, .* have at most \d+\n", chosen
    )
    assert (
        "initial phrases have"
        not in call("hiero", "extract", *bitext, "-o", counts, *settings).stderr.decode()
    )

    one, other = files(tmp_path / "whole"), files(tmp_path / "parts")
    del one["manifest.json"], other["manifest.json"]
    assert one == other
    fewer = run("hiero", "score", counts, "-o", table, "--min-count", 2)
    assert fewer == "" and table.stat().st_size < len(one["rules0.hrt"])


@pytest.mark.slow
def test_raw_text(demo: Path, tmp_path: Path) -> None:
    lines = [line.capitalize().replace(" .", ".") for line in head(demo / "train.en", 300)]
    lines += ["A dog (or two), isn't it?"] * 5
    source = write(tmp_path / "source", lines)
    target = write(tmp_path / "target", [lines[0].upper(), *lines[1:]])  # nearly the same
    model = tmp_path / "m"
    options = ["--source", source, "--target", target, "-o", model, "--quiet", "--lowercase"]
    run("hiero", "train", *options, "--tokenize", "en:moses", "en:moses")
    decode = ["hiero-decode", "--model", model, "--quiet"]
    raw, tokens = "A Dog (or two), isn't it?\n", "a dog ( or two ) , isn 't it ?\n"
    assert run("hiero", "tokenize", "en:moses", "--lowercase", stdin=raw) == tokens
    assert run("hiero", "detokenize", "en:moses", stdin=tokens) == raw.lower()
    assert run(*decode, stdin=raw) == raw.lower()
    assert run(*decode, "--tokens", stdin=tokens) == tokens
    nbest = run(*decode, "--nbest", 1, "--output-format", "nbest", stdin=raw)  # in tokens
    assert nbest.split(" ||| ")[1] == tokens.strip()
    assert run(*decode, "--nbest", 1, stdin=raw) == raw.lower()
    assert run(*decode, "--nbest", 1, "--tokens", stdin=tokens) == tokens
    decoder = hiero.Decoder(hiero.Model.load(model))
    assert decoder.translate(raw.strip()).text == raw.lower().strip()
    assert decoder.translate(tokens.split()).text == tokens.strip()


@pytest.mark.slow
def test_killed_in_every_step(
    inputs: TrainInputs, few_lengths: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_SENTENCES", few_lengths)  # as other processes have it
    rng = random.Random()
    trained, output = tmp_path / "whole" / "model", tmp_path / "parts" / "model"
    for model in (trained, output):
        model.parent.mkdir()
    train(inputs, trained)
    for step in STEPS:
        process = start_training(inputs, output)
        assert process.stderr is not None
        with process, process.stderr:
            for line in process.stderr:
                if line.startswith(f"hiero: {step}: ") and "done before" not in line:
                    break
            time.sleep(rng.choice([0, 0.01, 0.1]) * rng.random())
            process.kill()
        assert process.returncode in (-signal.SIGKILL, 0)
        assert not output.exists() or files(output) == files(trained)
    done = call(*train_command(inputs, output))
    assert done.returncode == 0, done.stderr
    assert b"hiero: corpus: done before\n" in done.stderr and b"hiero: align: done before\n" in done.stderr
    assert files(output) == files(trained)
    assert not [path for path in output.with_name("model.train").iterdir() if path.name.startswith(".")]
    assert sorted(path.name for path in output.parent.iterdir()) == ["model", "model.train"]


def test_a_half_made_model_is_removed(
    inputs: TrainInputs, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill rarely leaves a partial model, so this test makes one."""
    shutil.copytree(trained.with_name("model.train"), tmp_path / "model.train")
    left: list[str] = []

    def write_and_keep(model: hiero.Model, directory: Path) -> None:
        write_model(model, directory)
        if directory.parent.parent == tmp_path / "model.train":
            left.append(directory.parent.name)
            shutil.copytree(directory.parent, directory.parent.with_name(left[-1] + "0"))

    monkeypatch.setattr("hiero.decode.model.write_model", write_and_keep)
    train(inputs, tmp_path / "model")
    assert len(left) == 1 and (tmp_path / "model.train" / (left[0] + "0")).is_dir()
    train(inputs, tmp_path / "model")
    assert not list((tmp_path / "model.train").glob(".*"))
    assert files(tmp_path / "model") == files(trained)


def test_text_that_looks_raw_is_said_to(tmp_path: Path) -> None:
    raw = write(tmp_path / "raw", ["Ein Haus.", "Zwei Häuser, drei Bäume.", "Ein Hund"] * 20)
    tokens = write(tmp_path / "tokens", ["a house .", "two houses , three trees .", "a dog"] * 20)

    def warned(source: Path, target: Path, text: TextProcessing, name: str) -> list[str]:
        lines: list[str] = []
        settings = TrainSettings(text=text)
        train(TrainInputs(source, target), tmp_path / name, settings=settings, report=lines.append)
        names = [line.split(": ")[1] for line in lines if "looks like raw text" in line]
        assert sum(line.startswith("warning: ") for line in lines if "raw text" in line) == len(names)
        return names

    assert warned(raw, tokens, TextProcessing(), "m1") == [str(raw)]
    assert warned(tokens, raw, TextProcessing(), "m2") == [str(raw)]
    german = TextProcessing(source=TextSide("moses", "de"))
    assert warned(raw, tokens, german, "m3") == []


def test_a_further_bitext_follows_the_bitext(inputs: TrainInputs, tmp_path: Path) -> None:
    sides = [head(Path(path), 60) for path in (inputs.source, inputs.target)]
    first, more, whole = (
        [write(tmp_path / f"{name}{k}", lines[part]) for k, lines in enumerate(sides)]
        for name, part in (("first", slice(0, 45)), ("more", slice(45, None)), ("whole", slice(None)))
    )
    without = [write(tmp_path / "without", [sides[0][3], sides[0][50]])]
    train(TrainInputs(*whole, without=without), tmp_path / "model")
    options = ["--source", first[0], "--target", first[1], "--more", *more, "--without", *without, "--quiet"]
    run("hiero", "train", *options, "-o", tmp_path / "joined")
    one, other = files(tmp_path / "model"), files(tmp_path / "joined")
    manifests = [json.loads(part.pop("manifest.json")) for part in (one, other)]
    assert one == other
    inputs_of = manifests[1]["made_from"]["inputs"]
    assert {f"bitext {k} {side}" for k in (0, 1) for side in ("source", "target")} <= inputs_of.keys()
    with more[1].open("a") as file:
        file.write("one line too many\n")
    done = call("hiero", "train", *options, "-o", tmp_path / "joined")
    assert done.returncode == 1 and b"more0: ends after 15 lines" in done.stderr


def test_stale_steps_are_made_again(inputs: TrainInputs, tmp_path: Path) -> None:
    copies = [
        write(tmp_path / path.name, head(path, 60)) for path in map(Path, (inputs.source, inputs.target))
    ]
    mine = TrainInputs(*copies)
    work = tmp_path / "m.train"

    def changed_steps(settings: TrainSettings | None = None, inputs: TrainInputs = mine) -> dict[str, str]:
        lines: list[str] = []
        train(inputs, tmp_path / "m", settings=settings, report=lines.append)
        split = [line.split(": ", 1) for line in lines]
        return {name: text for name, text in split if text.startswith(("stale", "to be made"))}

    steps = {"corpus", "align", "problems", "extract", "score", "text 0", "lm 0", "weights", "model"}
    assert changed_steps() == dict.fromkeys(steps, "to be made")
    assert changed_steps() == {}
    (work / "rules.counts").unlink()
    assert changed_steps() == {"extract": "stale, rules.counts is missing"}  # which gives the same counts
    (work / "alignment").write_text("0-0\n")
    assert changed_steps() == {"align": "stale, alignment has changed"}
    settings = TrainSettings(lm_order=3)
    changes = {"lm 0": "stale, other settings (lm_order)"}
    changes |= dict.fromkeys(["weights", "model"], "stale, lm0.binary has changed")
    assert changed_steps(settings) == changes
    assert changed_steps() == changes
    with copies[1].open("a") as file:
        file.write("one more\n")
    with copies[0].open("a") as file:
        file.write("还 有\n")
    changed = changed_steps()
    assert (
        changed["corpus"] == "stale, source has changed" and changed["text 0"] == "stale, text 0 has changed"
    )
    assert changed.keys() == steps
    (tmp_path / "links").write_bytes((work / "alignment").read_bytes())
    with_alignment = TrainInputs(*copies, alignment=tmp_path / "links")
    changed = changed_steps(inputs=with_alignment)
    assert changed == dict.fromkeys(["align", "model"], "stale, there are other inputs")
    (tmp_path / "m" / "manifest.json").unlink()
    assert list(changed_steps(inputs=with_alignment)) == ["model"]


@pytest.mark.slow
def test_compressed_input(inputs: TrainInputs, tmp_path: Path, trained: Path) -> None:
    assert inputs.dictionary is not None
    texts = [inputs.source, inputs.target, *inputs.dictionary, *inputs.mono]
    packs = [gzip.compress, lzma.compress, lzma.compress, gzip.compress, lzma.compress]
    packed = [tmp_path / name for name in "abcde"]
    for path, text, pack in zip(packed, texts, packs, strict=True):
        path.write_bytes(pack(Path(text).read_bytes()))
    source, target, *dictionary, mono = packed
    train(TrainInputs(source, target, (dictionary[0], dictionary[1]), [mono]), tmp_path / "model")
    theirs, ours = files(trained), files(tmp_path / "model")
    del theirs["manifest.json"], ours["manifest.json"]  # which has the checksums of the input files
    assert ours == theirs


@pytest.mark.slow
def test_any_memory_gives_the_same_model(inputs: TrainInputs, trained: Path, tmp_path: Path) -> None:
    train(inputs, tmp_path / "model", memory=48 << 20)
    assert files(tmp_path / "model") == files(trained)


def test_tokens_that_look_like_notation(tmp_path: Path) -> None:
    strange = [
        "|||",
        "[X,1]",
        "[X]",
        "[S]",
        "\\",
        "[]",
        "<s>",
        "NULL",
        "#",
        "0-0",
        "((",
        "(X",
        "\u3000",
        "a=b",
    ]
    rng = random.Random(1)
    lines = [[rng.choice(strange) for _ in range(rng.randint(1, 6))] for _ in range(300)]
    lines += [[token] for token in strange] * 5
    write(tmp_path / "f", [" ".join(line) for line in lines])
    write(tmp_path / "e", [" ".join(t.replace("<s>", "<S>") for t in line) for line in lines])
    model = train(TrainInputs(tmp_path / "f", tmp_path / "e"), tmp_path / "m")
    decoder = hiero.Decoder(model)
    for line in lines[:40]:
        assert decoder.translate(" ".join(line)).text == " ".join(line).replace("<s>", "<S>")
    reloaded = hiero.Decoder(hiero.Model.load(tmp_path / "m"))
    assert reloaded.translate("||| [X,1] [X]").text == "||| [X,1] [X]"


@pytest.mark.slow
def test_a_full_disk(inputs: TrainInputs, trained: Path, tmp_path: Path) -> None:
    # A limit on the size of files has the effect of a full disk.
    sizes = sorted({len(data) for data in files(trained).values()} | {1000, 30_000, 100_000})
    limits = [size // 2 for size in sizes]
    output = tmp_path / "model"
    failed = 0
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in limits:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
        try:
            done = call(*train_command(inputs, output, "--quiet"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        if done.returncode != 0:
            # The name of the file, or of its folder if it has none.
            message = re.escape(f"{output}.train") + rf"(/\S+)?: {os.strerror(27)}"  # File too large
            assert re.fullmatch(f"hiero: {message}", one_error_line(done))
            assert not output.exists()
            failed += 1
    assert failed >= 4
    run(*train_command(inputs, output, "--quiet"))
    assert files(output) == files(trained)


@pytest.mark.slow
def test_two_at_once(inputs: TrainInputs, tmp_path: Path) -> None:
    first = start_training(inputs, tmp_path / "m")
    assert first.stderr is not None
    with first, first.stderr:
        first.stderr.readline()
        second = call(*train_command(inputs, tmp_path / "m", "--quiet"))
        assert "another process is using this directory" in one_error_line(second)
        first.communicate()
    assert first.returncode == 0


@pytest.mark.slow
def test_language_models_that_are_there_already(demo: Path, tmp_path: Path) -> None:
    sides = [write(tmp_path / side, head(demo / f"train.{side}", 100)) for side in ("zh", "en")]
    run("hiero", "lm", demo / "dev.en.0", "-o", tmp_path / "lm.arpa", "--order", 3, "--quiet")
    run("hiero", "lm", demo / "dev.en.0", "-o", tmp_path / "lm.binary", "--order", 3, "--quiet")
    options = ["--source", sides[0], "--target", sides[1], "--quiet", "-o"]
    alignment_options = ["--lm", tmp_path / "lm.arpa", tmp_path / "lm.binary"]
    run("hiero", "train", *options, tmp_path / "more", *alignment_options)
    more = hiero.Model.load(tmp_path / "more")
    assert [lm.order for lm in more.lms] == [5, 3, 3]
    assert [more.weights[f"LM{k}"] for k in range(3)] == [0.5 / 3] * 3
    assert {"lm1 given", "lm2 given"} <= set(more.made_from["inputs"])
    assert more.made_from["sizes"] == {"sentence pairs": 100, "sentences for LM0": 100}
    run("hiero", "train", *options, tmp_path / "only", *alignment_options, "--lms", "given")
    only = hiero.Model.load(tmp_path / "only")
    assert [lm.order for lm in only.lms] == [3, 3]
    score = hiero.Decoder(only).translate("她 来 了").features
    assert score["LM0"] == pytest.approx(score["LM1"])
    again = call(
        "hiero", "train", *options[:4], "-o", tmp_path / "only", *alignment_options, "--lms", "given"
    )
    assert all(line.endswith(b"done before") for line in again.stderr.splitlines())
    none = call("hiero", "train", *options, tmp_path / "none", "--lms", "given")
    assert none.returncode == 2 and b"no language models are given" in none.stderr
