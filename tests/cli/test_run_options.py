"""Options that `hiero run` passes to the commands that it runs, as these parse them; the commands only
pretend."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hiero.cli import command_named, run
from hiero.cli.system import stages, system
from hiero.text import TextSide
from support.commands import call
from support.files import write
from support.paths import FRENCH

Given = list[tuple[str, Mapping[str, Any]]]
Runs = Callable[..., Given]
WHEN = ("before", "after")
STAGES = ["train", "decode", "tune", "decode", "eval"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bitext, sets for tuning and testing, and text."""
    for name in ("source", "target"):
        write(tmp_path / name, [f"{name} of pair {n}" for n in range(60)])
    for name in ("tune", "test"):
        write(tmp_path / f"{name}.s", [f"source of pair {n}" for n in range(2)])
        for k in range(2):
            write(tmp_path / f"{name}.r{k}", [f"{name} {n} {k}" for n in range(2)])
    write(tmp_path / "mono", ["target of pair 3", "other text"])
    shutil.copyfile(FRENCH / "lm.arpa", tmp_path / "lm")
    for name in ("entries.s", "entries.t"):
        write(tmp_path / name, ["a word"])
    return tmp_path


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs `hiero run` on these files; the commands that it ran, with their parameters."""
    given: Given = []

    class Pretending:
        def __init__(self, name: str) -> None:
            self.name = name

        def main(self, words: Sequence[str], **_: object) -> None:
            parameters = command_named(self.name).make_context(self.name, list(words)).params
            given.append((self.name, parameters))
            made = [parameters["save"]] if self.name == "tune" else [parameters["output"]]
            for path in map(Path, made):
                if self.name in ("train", "tune"):
                    path.mkdir(exist_ok=True)
                    (path / "model.toml").touch()
                    path = path / "manifest.json"
                path.write_text("made\n")

    class Judged:
        def __init__(self, *judged: object) -> None:
            given.append(("report", {"judged": judged}))

        def summary(self) -> list[str]:
            return ["so and so"]

    def page(*_: object) -> str:
        return "page"

    monkeypatch.setattr(stages, "command_named", Pretending)
    monkeypatch.setattr(system.Evaluation, "read", Judged)
    monkeypatch.setattr(run, "report_page", page)
    monkeypatch.setattr(run, "unknown_words", lambda *_: {})

    def ran(*words: object, code: int = 0) -> Given:
        given.clear()
        start = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "out")
        done = call("hiero", "run", *start, *words)
        assert done.returncode == code, done
        return list(given)

    return ran


def test_what_is_drawn_is_tuned_and_tested_on(folder: Path, runs: Runs) -> None:
    train, before, tune, after, judge, _ = (parameters for _, parameters in runs())
    out, sets = folder / "out", folder / "out" / "sets"
    assert (train["source"], train["target"]) == (sets / "train.source", sets / "train.target")
    assert train["output"] == out / "model" and not train["mono"] and not train["lm"]
    assert train["seed"] == 1 and not train["lowercase"] and train["tokenize"] is None
    assert (tune["model"], tune["save"], tune["output"]) == (
        out / "model",
        out / "tuned-model",
        out / "tuned",
    )
    assert (tune["source"], tune["references"]) == (sets / "tune.source", [sets / "tune.target"])
    assert (tune["method"], tune["seed"]) == ("mert", 1)
    assert (before["model"], before["output"]) == (out / "model", out / "before.txt")
    assert (after["model"], after["output"]) == (out / "tuned-model", out / "after.txt")
    assert before["source"] == after["source"] == sets / "test.source"
    assert judge["references"] == [sets / "test.target"]
    assert judge["model"] == out / "model"
    assert [judge["hypothesis"], *judge["compare"]] == [str(out / f"{when}.txt") for when in WHEN]
    assert (judge["metric"], judge["tokenize"], judge["lowercase"]) == (["bleu", "chrf++"], "none", False)
    # A twentieth of 60 pairs each.
    assert [len((sets / f"{name}.source").read_text().splitlines()) for name in ("tune", "test")] == [3, 3]
    for one in (train, before, tune, after):
        assert one["quiet"] is False
    assert before["threads"] == tune["threads"] == after["threads"] == 1


def test_options_go_on(folder: Path, runs: Runs) -> None:
    train, before, tune, after, judge, report = (
        parameters
        for _, parameters in runs(
            *("--seed", 7, "--lowercase", "--tokenize", "de:moses", "zh:jieba", "--threads", 2, "--quiet"),
            *("--dictionary", folder / "entries.s", folder / "entries.t", "--lm", folder / "lm"),
            *("--lm-order", 2, "--max-phrase", 4, "--lm-type", "trie", "--mono", folder / "mono"),
            *("--method", "pro", "-k", 9, "--iterations", 3, "--tune-size", 4, "--test-size", 5),
        )
    )
    assert (train["seed"], tune["seed"]) == (7, 7)
    assert (
        train["lowercase"] is True and judge["lowercase"] is True and report["judged"][-1].lowercase is True
    )
    assert report["judged"][-1] == TextSide("jieba", "zh", lowercase=True)
    assert train["tokenize"] == ("de:moses", "zh:jieba") and judge["tokenize"] == "zh"
    assert train["dictionary"] == (folder / "entries.s", folder / "entries.t")
    assert train["lm"] == [folder / "lm"]
    assert (train["lm_order"], train["max_phrase"], train["lm_type"]) == (2, 4, "trie")
    assert (tune["method"], tune["k"], tune["iterations"]) == ("pro", 9, 3)
    assert all(one["quiet"] for one in (train, before, tune, after))
    assert before["threads"] == tune["threads"] == after["threads"] == 2
    sets = folder / "out" / "sets"
    assert [len((sets / f"{name}.source").read_text().splitlines()) for name in ("tune", "test")] == [4, 5]


def test_the_seed_draws_the_sets(folder: Path, runs: Runs, tmp_path: Path) -> None:
    drawn = []
    for seed in (1, 2, 1):
        runs("--seed", seed, "-o", tmp_path / f"out{len(drawn)}")
        drawn.append((tmp_path / f"out{len(drawn)}" / "sets" / "test.source").read_text())
    assert drawn[0] == drawn[2] != drawn[1]


def test_sets_of_ones_own(folder: Path, runs: Runs) -> None:
    """Given sets replace drawn ones, with all references, and none of their sentences is trained on."""
    own = []
    for name in ("tune", "test"):
        own += [f"--{name}-source", folder / f"{name}.s"]
        own += [f"--{name}-references", folder / f"{name}.r0", folder / f"{name}.r1"]
    _, before, tune, after, judge, report = (parameters for _, parameters in runs(*own))
    assert (tune["source"], tune["references"]) == (
        folder / "tune.s",
        [folder / "tune.r0", folder / "tune.r1"],
    )
    assert before["source"] == after["source"] == folder / "test.s"
    assert judge["references"] == [folder / "test.r0", folder / "test.r1"]
    source, references = report["judged"][1:3]
    assert (source, list(references)) == (folder / "test.s", judge["references"])
    kept = (folder / "out" / "sets" / "train.source").read_text().splitlines()
    assert kept == ["", "", *(f"source of pair {n}" for n in range(2, 60))]
    assert not list((folder / "out" / "sets").glob("t*st.source"))


def test_no_reference_is_in_the_text(folder: Path, runs: Runs) -> None:
    """Nor is one of a drawn set: what a language model has seen is no test of it, nor good to tune on."""
    whole = [f"target of pair {n}" for n in range(60)]
    write(folder / "mono", [*whole, "Other text.", *map(str.upper, whole)])
    other = write(folder / "other", ["nothing of it"])
    train = runs("--mono", folder / "mono", other)[0][1]
    sets = folder / "out" / "sets"
    assert train["mono"] == [sets / "mono0", other]
    drawn = {line for name in ("tune", "test") for line in (sets / f"{name}.target").read_text().splitlines()}
    assert len(drawn) == 6
    kept = ["" if line in drawn else line for line in whole]
    text = (sets / "mono0").read_text().splitlines()
    assert text == [*kept, "Other text.", *map(str.upper, kept)]


def test_what_is_older_than_its_sources_is_made_again(folder: Path, runs: Runs) -> None:
    """Translations of a model that was changed, and what is judged of them; not what comes before."""
    out = folder / "out"
    runs()
    made = [
        *(out / "model" / "manifest.json", out / "before.txt", out / "tuned-model" / "manifest.json"),
        *(out / "after.txt", out / "evaluation.json"),
    ]
    for newer, again in (
        (made[0], ["decode", "tune", "decode", "eval"]),
        (made[1], ["eval"]),
        (made[2], ["decode", "eval"]),
        (made[3], ["eval"]),
        (made[4], []),
    ):
        for number, path in enumerate(made):
            os.utime(path, ns=(number * 10**9, number * 10**9))
        os.utime(newer, ns=(10**10, 10**10))
        assert [name for name, _ in runs() if name != "report"] == again, newer
    # Times that are the same are not older: file systems may count in seconds.
    for path in made:
        os.utime(path, ns=(10**9, 10**9))
    assert [name for name, _ in runs()] == ["report"]
    for number, path in enumerate(made):  # what is not there is made first
        path.unlink()
        found = [name for name, _ in runs() if name != "report"]
        assert found[0] == STAGES[number]


def test_a_directory_that_is_named_as_an_option(
    folder: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models are arguments, which stand behind all options."""
    monkeypatch.chdir(folder)
    _, before, tune, after, *_ = (parameters for _, parameters in runs("--output=-m"))
    assert before["model"] == tune["model"] == Path("-m/model") and after["model"] == Path("-m/tuned-model")
