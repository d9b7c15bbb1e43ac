"""`hiero tune` as a program: files, options, bad input, and being killed."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import read_weights
from hiero.base.text import format_links
from hiero.cli import tune as tune_module
from hiero.text import TextProcessing, TextSide
from hiero.tune import METHODS, ModelDecoder
from support.commands import BIN, call, handed, one_error_line, program
from support.files import head, write
from support.nist_sets import SGML, SOURCE
from support.tune_command import arguments
from support.tuning import without_times


@pytest.mark.parametrize("method", sorted(METHODS))
def test_tuning(tuning_set: Path, tmp_path: Path, method: str) -> None:
    # The simplex begins when it has seen a step along each feature.
    size = ("--iterations", 60 if method == "simplex" else 6)
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", method, *size))
    assert (done.returncode, done.stderr) == (0, b""), done
    lines = done.stdout.decode().splitlines()
    *lines, result, temperature = lines
    assert lines[0].startswith("iteration 0: ") and result.startswith("BLEU ")
    assert temperature.startswith("temperature 0.50: the confidence of words is 0.0")
    before, after = float(result.split()[1]), float(result.split()[3])
    assert before < 10 and after > 80
    weights = tmp_path / "out" / "weights.txt"
    decode = (
        "hiero-decode",
        "--model",
        tuning_set / "model",
        "--weights",
        weights,
        "--input",
        tuning_set / "source",
    )
    output = call(*decode, "--quiet").stdout.decode()
    score = call("hiero", "eval", "--references", tuning_set / "references", "--quiet", stdin=output).stdout
    assert float(score) == pytest.approx(after, abs=0.006)
    assert (tmp_path / "out" / "iterations.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "translations.txt").read_text() == output
    assert len((tmp_path / "out" / "iterations.tsv").read_text().splitlines()) == len(lines) + 1
    # Threads do not matter; again, nothing is left to do.
    two = call("hiero", *arguments(tuning_set, tmp_path / "two", method, *size, "--threads", 2))
    assert two.stdout == done.stdout
    assert (tmp_path / "two" / "weights.txt").read_bytes() == weights.read_bytes()
    if method == "mert":
        again = call("hiero", *arguments(tuning_set, tmp_path / "out", method, *size))
        assert again.stdout == done.stdout


def test_the_best_translation_needs_no_forest(tuning_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []
    translate = hiero.Decoder.translate

    def recorded(*arguments: Any, keep: str = "none") -> hiero.Translation:
        kept.append(keep)
        return translate(*arguments, keep=keep)  # type: ignore[arg-type]

    monkeypatch.setattr(hiero.Decoder, "translate", recorded)
    model = hiero.Model.load(tuning_set / "model")
    lines = ["", *(tuning_set / "source").read_text().splitlines()]
    decoder = ModelDecoder(hiero.Decoder(model), [line.split() for line in lines], threads=2)
    for weights in (read_weights(tuning_set / "start.txt"), model.weights):
        vector = np.array([weights.get(name, 0.0) for name in decoder.feature_names])
        best, lists = list(decoder.kbest(vector, 1)), list(decoder.kbest(vector, 5))
        assert kept == ["none"] * len(lines) + ["forest"] * len(lines)
        kept.clear()
        assert [len(found.hypotheses) for found in best] == [0] + [1] * (len(lines) - 1)
        for first, several in zip(best[1:], lists[1:], strict=True):
            assert first.hypotheses.texts()[0] == several.hypotheses.texts()[0]
            assert first.features.shape == (1, len(vector))
            assert (first.features @ vector)[0] == pytest.approx((several.features @ vector)[0])


def test_runs_and_options(tuning_set: Path, tmp_path: Path) -> None:
    more = ("--runs", 2, "--iterations", 2, "--fix", "LM0", "Glue", "--bound", "WordPenalty=:0", "--quiet")
    for name in ("source", "references"):
        write(tmp_path / name, head(tuning_set / name, 2))
    sets = ("--held-out-source", tmp_path / "source", "--held-out-references", tmp_path / "references")
    mix = ("--metric", "bleu=0.5", "ter=0.5")
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", *more, *sets, *mix))
    assert (done.returncode, done.stderr) == (0, b""), done
    lines = done.stdout.decode().splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["run-1", "run-2"] and lines[2].startswith("mean ")
    assert all(line.split(": ", 1)[1].startswith("held-out mix ") for line in lines[:2])
    start = read_weights(tuning_set / "start.txt")
    found = read_weights(tmp_path / "out" / "weights.txt")
    assert found["LM0"] == start["LM0"] and found["WordPenalty"] <= 0
    assert lines[2].endswith("weights of run-1") or lines[2].endswith("weights of run-2")
    best = tmp_path / "out" / lines[2].split()[-1] / "weights.txt"
    assert best.read_bytes() == (tmp_path / "out" / "weights.txt").read_bytes()
    # The confidence of words is compared with the set that is tuned on.
    tuned = json.loads((tmp_path / "out" / "tuned.json").read_text())
    words = len((tuning_set / "references").read_text().split())
    assert sum(count for count, *_ in tuned["calibration"]) == pytest.approx(words, rel=0.2)


@pytest.mark.slow
def test_the_span_limit_is_chosen(tmp_path: Path) -> None:
    """A rule for whole sentences of 12 words is right, and words one by one are wrong."""
    words = [f"w{k}" for k in range(12)]
    rules = [f"[X] ||| {word} ||| wrong ||| PhraseFE=-1\n" for word in words]
    rules.append(f"[X] ||| {' '.join(words)} ||| {' '.join(words)} ||| PhraseFE=0\n")
    (tmp_path / "rules").write_text("".join(rules))
    model = hiero.Model.assemble([tmp_path / "rules"], weights={"PhraseFE": 1.0, "WordPenalty": 0.1})
    model.save(tmp_path / "model")
    (tmp_path / "text").write_text(f"{' '.join(words)}\n" * 30)
    (tmp_path / "references").write_text(f"{' '.join(words)} \n" * 30)
    sets = ("--source", tmp_path / "text", "--references", tmp_path / "references")
    command = ("hiero", "tune", tmp_path / "model", "--method", "mert", *sets, "--iterations", 1)
    saved = ("--output", tmp_path / "out", "--save", tmp_path / "tuned")
    done = call(*command, *saved)
    assert done.returncode == 0 and done.stdout.startswith(b"iteration 0: 100.0000")
    lines = done.stderr.decode().splitlines()
    scores = ["10: BLEU 0.0000", "15: BLEU 100.0000", "20: BLEU 100.0000"]
    for line, score in zip(lines, scores, strict=True):
        cost = r"\d+ hypotheses, \d+\.\d ms a sentence"
        assert re.fullmatch(rf"hiero: span limit {score}, {cost}( \*)?", line)
    assert [line.endswith("*") for line in lines] == [False, True, False]
    assert hiero.Model.load(tmp_path / "model").settings.span_limit == 10
    # The saved model has the limit, and no other setting of tuning, such as its pop limit.
    settings = model.settings.model_dump()
    tuned = {"span_limit": 15, "confidence_temperature": 0.5}
    assert hiero.Model.load(tmp_path / "tuned").settings.model_dump() == {**settings, **tuned}
    # The run remembers it, and so do its weights.
    again = call(*command, *saved)
    assert again.stderr.decode().splitlines() == [re.sub(r", \d+\.\d ms a", " a", line) for line in lines]
    with_weights = ("hiero-decode", tmp_path / "model", "--weights", tmp_path / "out" / "weights.txt")
    for more, first in (((), "w0"), (("--span-limit", 11), "wrong")):
        translated = call(*with_weights, "--quiet", *more, stdin=" ".join(words) + "\n").stdout.decode()
        assert translated.split()[0] == first
    assert call("hiero", "weights", tmp_path / "model", tmp_path / "out").returncode == 0
    assert hiero.Model.load(tmp_path / "model").settings.span_limit == 15
    # The record of another run is none of a choice.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text('{"origin": {"model": "mine"}}')
    other = call(*command, "--output", tmp_path / "other", "--quiet")
    assert "other: holds another run, see run.json" in one_error_line(other, 1)
    # Weights of a run bring its limit, from their file or its directory; others start from the model's.
    # Exact search is too slow for tuning, unless it is asked for.
    for weights, limit, exact in (("out", 15, 0), ("out/weights.txt", 15, 0), ("model/weights.txt", 10, 3)):
        asked = ("--exact", exact) if exact else ()
        started = (*command, "--weights", tmp_path / weights, "--pop-limit", 3, *asked)
        hiero.Model.load(tmp_path / "model").with_settings(span_limit=10, exact=7).save(tmp_path / "model")
        handed_on = handed(tune_module, "chosen_span_limit", *started[1:], "--output", tmp_path / "new")
        settings = handed_on["decoder"].settings
        assert (settings.span_limit, settings.exact) == (limit, exact)
    # A limit that is given is taken. Several runs have one limit.
    given = call(*command, "--span-limit", 11, "--output", tmp_path / "given")
    assert given.stdout.startswith(b"iteration 0: 0.0000") and given.stderr == b""
    for has_time in (True, False):
        runs = call(*command, "--runs", 2, "--output", tmp_path / "runs").stderr.decode().splitlines()
        assert len(runs) == 3 and all((" ms " in line) == has_time for line in runs)


def test_errors_are_found_before_decoding(
    tuning_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong options are found, and directories that hold something else or a run of something else."""
    name = hiero.Model.load(tuning_set / "model").feature_names[0]
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "notes").touch()
    shutil.copytree(tuning_set, tmp_path / "set")

    def words(*more: object) -> list[str]:
        words = arguments(tmp_path / "set", tmp_path / "out", "mert", *more)
        place = words.index("--span-limit")
        return words[:place] + words[place + 2 :]

    assert call("hiero", *words("--iterations", 1)).returncode == 0
    for side in ("source", "references"):
        with (tmp_path / "set" / side).open("a") as file:
            file.write("le chat\n")

    def decoded(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ModelDecoder, "kbest", decoded)
    for more, expected in (
        (("--fix", "Foo"), "Foo"),
        (("--fix", name, "--bound", f"{name}=0:1"), f"fixed and bound: {name}"),
        (("--bound", f"{name}=2:1"), name),
        (("-o", tmp_path / "junk"), "junk: exists and has no run.json"),
        (("-o", tmp_path / "junk", "--runs", 2), "junk: exists and has no runs.json"),
        ((), "out: holds another run, see run.json, origin.sets; choose another directory"),
    ):
        said = one_error_line(call("hiero", *words(*more, "--quiet")))
        assert expected in said, said


def test_where_to_save_is_looked_at_first(tuning_set: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", "--save", tmp_path / "notes"))
    assert one_error_line(done, 1) == f"hiero: {tmp_path / 'notes'}: exists and is not a model directory\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("measure", ["guided", "partial-span"])
def test_search_aware(tuning_set: Path, tmp_path: Path, measure: str) -> None:
    lines = [line.split() for line in (tuning_set / "source").read_text().splitlines()]
    references = [line.split() for line in (tuning_set / "references").read_text().splitlines()]
    links = [
        format_links([(i, i) for i in range(min(len(source), len(target)))])
        for source, target in zip(lines, references, strict=True)
    ]
    (tmp_path / "links").write_text("".join(f"{line}\n" for line in links))
    aligned = ("--alignments", tmp_path / "links") if measure == "partial-span" else ()
    spans = ("--short-sentence", 0, "--span-words", 2)
    more = ("--search-aware", measure, *spans, "--iterations", 3, "--effective-length", "average")
    done = call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", *more, *aligned))
    assert (done.returncode, done.stderr) == (0, b""), done
    before, after = (float(done.stdout.decode().splitlines()[-2].split()[n]) for n in (1, 3))
    assert after > before + 20
    with np.load(tmp_path / "out" / "iteration-000" / "new.npz") as found:
        assert len(found["instances"]) > len(lines)
    # It goes on as what it is.
    assert call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", *more, *aligned)).returncode == 0
    if measure == "partial-span":
        (tmp_path / "links").write_text("".join(f"{line}\n" for line in [*links[:-1], "0-0 99-0"]))
        beyond = call("hiero", *arguments(tuning_set, tmp_path / "other", "mert", *more, *aligned))
        assert f"links:{len(links)}: link 99-0 points beyond" in one_error_line(beyond)


def test_raw_text_is_tokenised_as_the_model_says(tuning_set: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(tuning_set / "model")
    text = TextProcessing(TextSide("none", "fr", True), TextSide("none", "en", True))
    hiero.Model(model.tables, model.lms, model.weights, text=text).save(tmp_path / "model")
    for name in ("source", "references"):
        (tmp_path / name).write_text((tuning_set / name).read_text().upper())
    plain = call("hiero", *arguments(tuning_set, tmp_path / "plain", "pro", "--iterations", 2))
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "references")
    command = ("hiero", "tune", tmp_path / "model", "--method", "pro", *sets, "-k", 20, "--iterations", 2)
    raw = call(*command, "--span-limit", 10, "--output", tmp_path / "raw")
    assert (raw.returncode, raw.stderr, raw.stdout) == (0, b"", plain.stdout)
    shouted = call(*command, "--tokens", "--output", tmp_path / "shouted")
    assert shouted.returncode == 0 and shouted.stdout != plain.stdout


def test_a_set_that_looks_untokenised_is_said_to(tuning_set: Path, tmp_path: Path) -> None:
    for name in ("source", "references"):
        lines = (tuning_set / name).read_text().splitlines()
        (tmp_path / name).write_text("".join(f"{line} end.\n" for line in lines))
    command = (
        "hiero",
        "tune",
        tuning_set / "model",
        "--method",
        "pro",
        "-k",
        20,
        "--iterations",
        1,
        "--quiet",
    )
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "references")
    found = call(*command, *sets, "-o", tmp_path / "out")
    assert found.returncode == 0
    assert found.stderr.decode() == (
        f"hiero: warning: {tmp_path / 'source'}: looks like raw text, but is taken for tokens: most lines"
        " have words that end in punctuation\n"
    )


def test_the_scale_of_weights(tuning_set: Path, tmp_path: Path) -> None:
    def lengths(name: str, *more: object) -> list[float]:
        options = ("--iterations", 5, "--beam-threshold", 3, "--start-scale", 0.25, *more)
        done = call("hiero", *arguments(tuning_set, tmp_path / name, "simplex", *options))
        assert (done.returncode, done.stderr) == (0, b""), done
        paths = sorted((tmp_path / name).glob("iteration-*/weights.txt"))
        return [sum(map(abs, read_weights(path).values())) for path in paths]

    start = 0.25 * sum(map(abs, read_weights(tuning_set / "start.txt").values()))
    assert lengths("kept") == pytest.approx([start] * 5)
    free = lengths("free", "--free-scale", "--restarts", 1)
    assert free[0] == pytest.approx(start) and max(free) > 1.05 * start
    settings = (tmp_path / "free" / "run.json").read_text()
    assert '"restarts": 1' in settings and '"beam_threshold": 3.0' in settings


def test_runs_keep_to_their_directory(tuning_set: Path, tmp_path: Path) -> None:
    more = ("--runs", 2, "--iterations", 1)
    other = tmp_path / "other"
    hiero.Model.load(tuning_set / "model").save(other)
    for command in (more, more[2:]):
        done = call("hiero", *arguments(tuning_set, other, "pro", *command))
        assert "exists and has no" in one_error_line(done, 1)
    assert hiero.Model.load(other).weights == read_weights(tuning_set / "start.txt")
    assert (
        call("hiero", *arguments(tuning_set, tuning_set / "model", "pro")).returncode == 2
    )  # what it reads itself
    # What was read makes a run, not the names of files: the same sets in another order are others.
    once = arguments(tuning_set, tmp_path / "out", "pro", "--iterations", 1)
    assert call("hiero", *once).returncode == 0
    lines = (tuning_set / "references").read_text().splitlines()
    (tmp_path / "r").write_text("".join(f"{line}\n" for line in lines[::-1]))
    other = call("hiero", *once, "--references", tmp_path / "r")
    assert "holds another run" in one_error_line(other, 1)
    (tmp_path / "s.sgm").write_text(SOURCE)
    mixed = call("hiero", *once, "--source", tmp_path / "s.sgm")
    assert "source and references must both be text" in one_error_line(mixed, 1)


def test_bad_input(tuning_set: Path, tmp_path: Path) -> None:
    def error(*more: object, code: int = 1) -> str:
        return one_error_line(call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", *more)), code)

    assert "no such feature: LM7" in error("--fix", "LM7")
    (tmp_path / "short").write_text("x\n")
    assert "short: 1 segments, expected" in error("--references", tmp_path / "short")
    assert "1 segments, where the references have" in error("--source", tmp_path / "short")
    (tmp_path / "r.sgm").write_text(SGML)
    assert "r.sgm: no srcset" in error("--source", tmp_path / "r.sgm")
    assert not (tmp_path / "out" / "run.json").exists()
    assert call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", "--iterations", 1)).returncode == 0
    assert "out: holds another run, see run.json" in error("--seed", 2)


@pytest.mark.parametrize(
    "more",
    [
        ("--metric", "blue"),
        ("--metric", "bleu=x"),
        ("--metric", "bleu=nan", "ter"),
        ("--metric", "bleu=0", "ter=0"),
        ("--metric", "bleu=-1"),
        ("--metric", "bleu", "bleu"),
        ("--bound", "LM0"),
        ("--bound", "LM0=0:1", "LM0=2:3"),
        ("--start-scale", "-1"),
        ("--held-out-source", "x"),
        ("--method", "pro", "--metric", "ter"),
        ("--search-aware", "guided", "--metric", "ter"),
        ("--search-aware", "guided", "--metric", "bleu", "ter"),
        ("--search-aware", "partial-span"),
        ("--search-aware", "guided", "--alignments", "x"),
        ("--search-aware", "beam"),
        ("--beam", 3),
    ],
)
def test_bad_usage(tuning_set: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    assert call("hiero", *arguments(tuning_set, tmp_path / "out", "mert", *more)).returncode == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mert", "hypergraph-mert"])
def test_killed_at_random_moments(tuning_set: Path, tmp_path: Path, method: str) -> None:
    options = (method, "--iterations", 4, "--quiet")
    whole = program("hiero", *arguments(tuning_set, tmp_path / "whole", *options))
    rng = random.Random()
    killed = 0
    for iteration in range(3):
        process = subprocess.Popen(
            [str(BIN / "hiero"), *arguments(tuning_set, tmp_path / "part", *options)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not (tmp_path / "part" / f"iteration-{iteration:03}").exists():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        killed += process.poll() is None
        process.kill()
        process.wait()
    done = call("hiero", *arguments(tuning_set, tmp_path / "part", *options))
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", whole.stdout)
    for name in ("weights.txt", "iterations.tsv"):
        assert without_times(tmp_path / "part" / name) == without_times(tmp_path / "whole" / name)
    assert not list((tmp_path / "part").glob(".*"))
    assert killed >= 1
