"""Tests of word alignment: determinism, files of links, aligners, and settings."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import hiero
from hiero._core import Aligner
from hiero._core import symmetrise as symmetrised
from hiero.base.memory import _children
from hiero.base.text import format_links
from hiero.train import (
    AlignmentModel,
    AlignSettings,
    TrainInputs,
    TrainSettings,
    align,
    alignment,
    read_alignment,
    sil_thot,
    train,
)
from hiero.train.alignment import AlignerName
from hiero.train.corpus import divide_pairs
from hiero.train.sil_thot import _run_direction
from support.commands import call
from support.slow import with_slow


@pytest.mark.slow
@pytest.mark.parametrize("aligner", with_slow(get_args(AlignerName), "sil-thot"))
def test_aligning(demo: Path, tmp_path: Path, aligner: AlignerName) -> None:
    for side in ("zh", "en"):
        lines = (demo / f"train.{side}").read_text().splitlines()[:150]
        lines[7] = " "
        (tmp_path / f"t.{side}").write_text("".join(line + "\n" for line in lines))
        name = "test.zh" if side == "zh" else "test.en.0"
        (tmp_path / f"h.{side}").write_bytes((demo / name).read_bytes())
        (tmp_path / f"s.{side}").write_text("".join(line + "\n" for line in lines[50:90]))

    def run(parts: str, **settings: Any) -> list[list[str]]:
        bitexts = [(tmp_path / f"{part}.zh", tmp_path / f"{part}.en") for part in parts]
        outputs = [tmp_path / f"{part}.align" for part in parts]
        align(bitexts, outputs, aligner=aligner, **settings)
        return [path.read_text().splitlines() for path in outputs]

    if aligner in ("hiero", "sil-thot"):  # others sample nothing
        assert run("s", seed=1) != run("s", seed=2)
        assert run("s") != run("s", samplers=1)
    first = run("th")
    assert (len(first[0]), len(first[1])) == (150, 200)
    assert first[0][7] == ""
    # About one link in twelve would be right by chance.
    for name, actual in (("train", first[0]), ("test", first[1])):
        gold = (demo / f"{name}.align").read_text().splitlines()[: len(actual)]
        pairs = [(set(g.split()), set(w.split())) for g, w in zip(actual, gold, strict=True) if g]
        right = sum(len(g & w) for g, w in pairs)
        f1 = 2 * right / sum(len(g) + len(w) for g, w in pairs)
        assert f1 > (0.7 if aligner in ("hiero", "sil-thot") else 0.6), name
    # Both runs have the same seed, and therefore the same links.
    union = run("th", heuristic="union")[0]
    assert sum(map(len, union)) > sum(map(len, first[0]))
    assert all(set(few.split()) <= set(many.split()) for few, many in zip(first[0], union, strict=True))


def test_the_command_aligns_several_sets_along(demo: Path, tmp_path: Path) -> None:
    sides = [demo / "test.zh", *(demo / f"test.en.{k}" for k in range(3))]
    f, *references = [tmp_path / path.name for path in sides]
    for path in sides:
        text = path.read_text().splitlines()[:40]
        (tmp_path / path.name).write_text("".join(f"{line}\n" for line in text))
    outputs = [tmp_path / f"{k}.align" for k in range(3)]
    bitexts = [(f, reference) for reference in references]
    align(bitexts, outputs)
    expected = [output.read_text() for output in outputs]
    assert len(set(expected)) == 3
    held_out = [part for bitext, output in zip(bitexts, outputs, strict=True) for part in (*bitext, output)]
    command = ("hiero", "align", "--source", f, "--target", references[0], "-o", held_out[2])
    done = call(*command, "--held-out", *held_out[3:6], "--held-out", *held_out[6:])
    assert (done.returncode, done.stderr) == (0, b"")
    assert [output.read_text() for output in outputs] == expected
    wrong = call(*command, "--held-out", *held_out[3:8])
    assert wrong.returncode == 2 and b"expected a source, a target and an output" in wrong.stderr


def f1_of(links: Path, gold: Path) -> float:
    pairs = list(zip(links.read_text().splitlines(), gold.read_text().splitlines(), strict=True))
    both = [(set(a.split()), set(b.split())) for a, b in pairs]
    return 2 * sum(len(a & b) for a, b in both) / sum(len(a) + len(b) for a, b in both)


@pytest.mark.slow
def test_further_pairs_are_aligned_by_what_was_learned(demo: Path, tmp_path: Path) -> None:
    learned, links, likely = tmp_path / "model", tmp_path / "links", tmp_path / "likely"
    align([(demo / "train.zh", demo / "train.en")], [links], save=learned, probabilities=likely)
    chances = [[float(p) for p in line.split()] for line in likely.read_text().splitlines()]
    assert [len(line) for line in chances] == [len(line.split()) for line in links.read_text().splitlines()]
    values = [p for line in chances for p in line]
    assert min(values) > 0 and max(values) <= 1 and sum(values) / len(values) > 0.7

    model = AlignmentModel(learned)
    assert model.samplers == 3
    test = [path.read_text().splitlines() for path in (demo / "test.zh", demo / "test.en.0")]
    single = [model.align(*pair) for pair in zip(*test, strict=True)]
    counts: list[int] = []
    further, more_likely = tmp_path / "further", tmp_path / "more-likely"
    model.align_files(
        *(demo / "test.zh", demo / "test.en.0", further),
        threads=2,
        probabilities=more_likely,
        progress=counts.append,
    )
    assert counts == [len(single)]
    assert further.read_text() == "".join(f"{format_links(one.links)}\n" for one in single)
    assert f1_of(further, demo / "test.align") > 0.75
    for one, source, target, line in zip(single, *test, more_likely.read_text().splitlines(), strict=True):
        assert one.forward.shape == (len(target.split()), len(source.split()) + 1)
        assert one.backward.shape == (len(source.split()), len(target.split()) + 1)
        assert np.allclose(one.forward.sum(axis=1), 1) and np.allclose(one.backward.sum(axis=1), 1)
        means = [(one.forward[t, s] + one.backward[s, t]) / 2 for s, t in one.links]
        assert line.split() == [f"{p:.3f}" for p in means]
    source, target = test[0][0].split(), test[1][0].split()
    assert model.align(source, target).links == single[0].links
    assert len(model.align(source, target, "intersection").links) < len(single[0].links)
    empty = model.align("", target)
    assert empty.links == [] and not empty.forward.any() and empty.forward.shape == (len(target), 1)
    assert model.align("新 词", "new words").forward.shape == (2, 3)
    with pytest.raises(hiero.FormatError, match=r"test\.en\.0: ends after 200 lines"):
        model.align_files(demo / "train.zh", demo / "test.en.0", further)
    learned.write_bytes(learned.read_bytes()[:-8])
    with pytest.raises(hiero.FormatError, match="model: truncated"):
        AlignmentModel(learned)
    with pytest.raises(hiero.FormatError, match="further: not an alignment model"):
        AlignmentModel(further)
    for option in ("save", "probabilities"):
        more: dict[str, Any] = {option: tmp_path / "x"}
        with pytest.raises(ValueError, match="hmm has neither a model to save, nor probabilities"):
            align([(demo / "train.zh", demo / "train.en")], [links], aligner="hmm", **more)


def test_the_command_keeps_what_it_learns_and_reads_pairs(demo: Path, tmp_path: Path) -> None:
    sides = [(demo / f"train.{side}").read_text().splitlines()[:200] for side in ("zh", "en")]
    for name, lines in zip(("s", "t"), sides, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    joined = [" ||| ".join(pair) for pair in zip(*sides, strict=True)]
    (tmp_path / "pairs").write_text("".join(f"{line}\n" for line in joined))
    bitext = ("--source", tmp_path / "s", "--target", tmp_path / "t")
    done = call("hiero", "align", *bitext, "-o", tmp_path / "links", "--save", tmp_path / "model")
    assert (done.returncode, done.stderr) == (0, b"")
    done = call("hiero", "align", "--pairs", tmp_path / "pairs", "-o", tmp_path / "same")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "same").read_text() == (tmp_path / "links").read_text()
    by_model = ("--model", tmp_path / "model", "--probabilities", tmp_path / "p", "--heuristic", "union")
    held_out = ("--held-out", tmp_path / "s", tmp_path / "t", tmp_path / "again")
    done = call(
        "hiero", "align", "--pairs", tmp_path / "pairs", "-o", tmp_path / "more", *by_model, *held_out
    )
    assert (done.returncode, done.stderr) == (0, b"")
    AlignmentModel(tmp_path / "model").align_files(
        tmp_path / "s", tmp_path / "t", tmp_path / "expected", heuristic="union"
    )
    assert (tmp_path / "more").read_text() == (tmp_path / "expected").read_text()
    assert (tmp_path / "again").read_text() == (tmp_path / "expected").read_text()
    assert len((tmp_path / "p").read_text().splitlines()) == 200
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    (tmp_path / "pairs").write_text("a ||| b\na | b\n")
    wrong = call("hiero", "align", "--pairs", tmp_path / "pairs", "-o", tmp_path / "more")
    assert b"pairs:2: expected SOURCE ||| TARGET, found 'a | b'" in wrong.stderr
    for options, message in (
        (("--pairs", "x", *bitext), b"a bitext has --source and --target, or --pairs"),
        (("--source", "x"), b"a bitext has --source and --target, or --pairs"),
        ((*bitext, "--model", tmp_path / "model", "--save", "y"), b"--save is for what is learned"),
    ):
        wrong = call("hiero", "align", *options, "-o", tmp_path / "more")
        assert wrong.returncode == 2 and message in wrong.stderr


def test_sides_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "pairs").write_text("das haus ||| the house\n ||| x\ny ||| \n|||\n")
    divide_pairs(tmp_path / "pairs", tmp_path / "s", tmp_path / "t")
    assert (tmp_path / "s").read_text() == "das haus\n\ny\n\n"
    assert (tmp_path / "t").read_text() == "the house\nx\n\n\n"


def test_an_aligner_that_is_not_installed(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sil_thot, "find_spec", lambda name: None)
    bitext = demo / "train.zh", demo / "train.en"
    with pytest.raises(hiero.Error, match="pip install sil-thot"):
        align([bitext], [tmp_path / "links"], aligner="hmm")
    for aligner in get_args(AlignerName):
        settings = TrainSettings(aligner=aligner)
        settings.check(TrainInputs(*bitext, alignment=demo / "train.align"))
        if aligner == "hiero":
            settings.check(TrainInputs(*bitext))
            continue
        with pytest.raises(hiero.Error, match="pip install sil-thot"):
            settings.check(TrainInputs(*bitext))


def test_links_are_read_once_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("1-2 0-0 1-2\n\n10-3\n")
    assert list(read_alignment(tmp_path / "links", 3)) == [[(0, 0), (1, 2)], [], [(10, 3)]]
    assert list(read_alignment(tmp_path / "links")) == [[(0, 0), (1, 2)], [], [(10, 3)]]
    for pairs in (2, 4):
        with pytest.raises(
            hiero.FormatError, match=f"of 4 sentence pairs|links:3: more lines than the {pairs}"
        ):
            list(read_alignment(tmp_path / "links", pairs))


@pytest.mark.parametrize("direction", [0, 1])
def test_a_direction_that_dies(demo: Path, tmp_path: Path, direction: int) -> None:
    """The other direction is ended if one dies, for example for lack of memory."""
    killed = []
    others = _children()  # such as a browser, for other tests

    def kill(done: int, total: int) -> None:
        if not killed:
            killed.append(True)
            both = sorted(int(child) for child in _children() if child not in others)
            os.kill(both[direction], signal.SIGKILL)

    with pytest.raises(hiero.Error, match="word alignment failed: exit code -9"):
        align([(demo / "train.zh", demo / "train.en")], [tmp_path / "a"], aligner="sil-thot", progress=kill)
    assert _children() == others and list(tmp_path.iterdir()) == []


def test_half_a_line_is_no_progress() -> None:
    """A direction that dies while it writes leaves half a line."""
    says = "print('1 9'); print('2 ', end='', flush=True)"
    dying = f"import os, sys; sys.stdin.read(); {says}; os.kill(os.getpid(), 9)"
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", dying], stdin=pipe, stdout=pipe, stderr=pipe)
    reported: list[tuple[int, int]] = []
    with pytest.raises(hiero.Error, match="word alignment failed: exit code -9"):
        _run_direction(process, [(["a"], ["b"])], lambda done, total: reported.append((done, total)))
    assert reported == [(1, 9)]


@pytest.mark.parametrize("aligner", get_args(AlignerName))
def test_nothing_to_align(tmp_path: Path, aligner: AlignerName) -> None:
    (tmp_path / "f").write_text("a\n\n")
    (tmp_path / "e").write_text("\nb\n")
    with pytest.raises(hiero.FormatError, match=r"/f: no sentence pairs to align"):
        align([(tmp_path / "f", tmp_path / "e")], [tmp_path / "a"], aligner=aligner)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("aligner", get_args(AlignerName))
def test_wrong_files(tmp_path: Path, aligner: AlignerName) -> None:
    bitext, output = (tmp_path / "f", tmp_path / "e"), tmp_path / "a"
    bitext[0].write_text("a\nb\n")
    bitext[1].write_text("c\n")
    with pytest.raises(hiero.FormatError, match=r"/e: ends after 1 lines, where .*/f has more"):
        align([bitext], [output], aligner=aligner)
    with pytest.raises(hiero.FormatError, match=r"/e: ends after 1 lines, where .*/f has more"):
        align([bitext[::-1]], [output], aligner=aligner)
    bitext[1].write_bytes(b"c\n\xff\n")
    with pytest.raises(hiero.FormatError, match=r"/e:2"):
        align([bitext], [output], aligner=aligner)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e", "f"]


@pytest.mark.slow
def test_threads_and_samplers(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    sides = [tmp_path / side for side in ("zh", "en")]
    for path in sides:
        lines = (demo / f"train.{path.name}").read_text().splitlines()[:300]
        path.write_text("".join(f"{line}\n" for line in lines))

    def links(**settings: Any) -> str:
        align([(sides[0], sides[1])], [folder / "a"], **{"aligner": "hiero", "samplers": 1, **settings})
        assert [path.name for path in folder.iterdir()] == ["a"]
        return (folder / "a").read_text()

    reported: list[tuple[int, int]] = []
    one = links(progress=lambda done, total: reported.append((done, total)))
    assert one.count("\n") == 300
    assert reported == [(k + 1, len(reported)) for k in range(len(reported))]
    assert links(samplers=2) != one
    monkeypatch.setattr(alignment, "PAIRS_AT_ONCE", 70)
    assert links(threads=3) == one
    options = ("--aligner", "hiero", "--samplers", 1, "--threads", 2, "-o", folder / "b")
    done = call("hiero", "align", "--source", sides[0], "--target", sides[1], *options)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "b").read_text() == one


@pytest.mark.slow
def test_training_passes_settings_on(demo: Path, tmp_path: Path) -> None:
    for side in ("zh", "en"):
        lines = (demo / f"train.{side}").read_text().splitlines()[:300]
        (tmp_path / side).write_text("".join(f"{line}\n" for line in lines))
    inputs = TrainInputs(tmp_path / "zh", tmp_path / "en")
    settings = TrainSettings(aligner="hiero", samplers=2, seed=5, heuristic="union")
    train(inputs, tmp_path / "model", settings=settings)
    work = tmp_path / "model.train"
    corpus = work / "corpus.source", work / "corpus.target"
    align([corpus], [tmp_path / "a"], **settings.model_dump(include={*AlignSettings.model_fields}))
    assert (tmp_path / "a").read_bytes() == (work / "alignment").read_bytes()
    assert AlignmentModel(work / "alignment.model").samplers == 2


def test_wrong_calls(tmp_path: Path) -> None:
    aligner = Aligner(str(tmp_path), 1)
    pairs = aligner.add((io.BytesIO(b"a b\n" * 100), "f"), (io.BytesIO(b"c d\n" * 100), "e"))
    with pytest.raises(ValueError, match="not trained"):
        aligner.lines(0, 1, "union")
    errors = []

    def progress(done: int, total: int) -> None:
        with pytest.raises(hiero.Error, match="at work") as error:
            aligner.lines(0, 1, "union")
        errors.append(error)

    for bad in (b"e\n\xff\n", b"e\n", b"e\n" * 3):
        with pytest.raises(hiero.FormatError):
            aligner.add((io.BytesIO(b"a b\nb\n"), "f"), (io.BytesIO(bad), "e"))
    with pytest.raises(ZeroDivisionError):
        aligner.train(1, 1, 1 << 20, lambda done, total: 1 // 0)
    for call_too_early in (lambda: aligner.lines(0, 1, "union"), lambda: aligner.save(str(tmp_path / "x"))):
        with pytest.raises(ValueError, match="not trained"):
            call_too_early()
    assert list(tmp_path.iterdir()) == []
    aligner.train(1, 1, 1 << 20, progress)
    assert len(errors) > 10
    assert [part.count(b"\n") for part in aligner.lines(0, pairs, "union")] == [pairs, pairs]
    with pytest.raises(IndexError):
        aligner.lines(0, pairs + 1, "union")
    for wrong in (
        lambda: aligner.lines(0, 1, "all"),
        lambda: aligner.train(1, 0, 1 << 20, None),
        lambda: Aligner("", 0),
    ):
        with pytest.raises(ValueError, match=r"heuristic: unknown all|expected 1 or more"):
            wrong()
    with pytest.raises(FileNotFoundError):
        Aligner(str(tmp_path / "none"), 1)
    for forward, backward in (([1], [0]), ([-2], [0]), ([0], [1])):
        with pytest.raises(ValueError, match="is not in the sentence"):
            symmetrised(forward, backward, "union")
