"""Options that `hiero run` passes to the commands that it runs, as these parse them; the commands only
pretend."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hiero.base.parallel import processors
from hiero.cli import run
from support.commands import call, one_error_line
from support.files import write
from support.pretended_run import STAGES, Runs, count_of_lines


def test_what_takes_long_is_done_on_a_cluster(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr(run, "check_cluster", asked.append)
    where = [(name, each["cluster"]) for name, each in runs("--cluster", "host:1") if "cluster" in each]
    assert where == [(name, "host:1") for name in STAGES if name in ("train", "decode", "tune")]
    assert asked == ["host:1"]


def test_what_is_drawn_is_tuned_and_tested_on(folder: Path, runs: Runs) -> None:
    ran = runs()
    assert [name for name, _ in ran] == STAGES
    train, *before, tune, held_out, test, judge_held_out, judge_test, weights = (each for _, each in ran)
    out, sets = folder / "out", folder / "out" / "sets"
    assert (train["source"], train["target"]) == (sets / "train.source", sets / "train.target")
    assert train["output"] == out / "model" and not train["mono"] and not train["lm"]
    assert train["seed"] == 1 and not train["lowercase"] and train["tokenize"] is None
    assert (tune["model"], tune["save"], tune["output"]) == (out / "model", None, out / "tuned" / "mert")
    assert (tune["source"], tune["references"]) == (sets / "tune.source", [sets / "tune.target"])
    assert (tune["method"], tune["seed"]) == ("mert", 1)
    for name, one, other in (("held-out", before[0], held_out), ("test", before[1], test)):
        translations = out / "translations" / name
        assert one["model"] == other["model"] == out / "model"
        assert (one["weights"], other["weights"]) == (None, out / "tuned" / "mert")
        assert (one["output"], other["output"]) == (translations / "before.txt", translations / "mert.txt")
        assert one["source"] == other["source"] == sets / f"{name}.source"
    for name, judge in (("held-out", judge_held_out), ("test", judge_test)):
        assert judge["references"] == [sets / f"{name}.target"]
        assert judge["model"] == out / "model"
        translations = out / "translations" / name
        assert judge["hypothesis"] == str(translations / "before.txt")
        assert judge["compare"] == [str(translations / "mert.txt")]
        assert (judge["metric"], judge["tokenize"], judge["lowercase"]) == (
            ["bleu", "chrf++"],
            "none",
            False,
        )
    assert (weights["model"], weights["weights"]) == (out / "model", out / "tuned" / "mert")
    assert weights["output"] == out / "tuned-model"
    # A twentieth of 60 pairs each, and a fortieth.
    assert [count_of_lines(sets / f"{name}.source") for name in ("tune", "held-out", "test")] == [3, 1, 3]
    for one in (train, *before, tune, held_out, test):
        assert one["quiet"] is False
    # By default all processors are at work.
    assert {one["threads"] for one in (train, *before, tune, held_out, test)} == {processors()}


def test_options_go_on(folder: Path, runs: Runs) -> None:
    ran = runs(
        *("--seed", 7, "--lowercase", "--tokenize", "de:moses", "zh:jieba", "--threads", 2, "--quiet"),
        *("--dictionary", folder / "entries.s", folder / "entries.t", "--lm", folder / "lm"),
        *("--lm-order", 2, "--max-phrase", 4, "--lm-type", "trie", "--mono", folder / "mono"),
        *("--method", "pro", "-k", 9, "--iterations", 3, "--tune-size", 4, "--test-size", 5),
        *("--held-out-size", 6, "--protect=-[a-z]+", "--protect", "x+"),
    )
    train, before, _, tune, after, _, judge, _, _ = (parameters for _, parameters in ran)
    assert (train["seed"], tune["seed"]) == (7, 7)
    assert train["lowercase"] is True and judge["lowercase"] is True
    assert train["tokenize"] == ("de:moses", "zh:jieba") and judge["tokenize"] == "zh"
    assert train["protect"] == ["-[a-z]+", "x+"]
    assert train["dictionary"] == (folder / "entries.s", folder / "entries.t")
    assert train["lm"] == [folder / "lm"]
    assert (train["lm_order"], train["max_phrase"], train["lm_type"]) == (2, 4, "trie")
    assert (tune["method"], tune["k"], tune["iterations"]) == ("pro", 9, 3)
    assert all(one["quiet"] for one in (train, before, tune, after))
    assert before["threads"] == tune["threads"] == after["threads"] == 2
    sets = folder / "out" / "sets"
    assert [count_of_lines(sets / f"{name}.source") for name in ("tune", "held-out", "test")] == [4, 6, 5]


def test_rules_for_numbers_and_names(folder: Path, runs: Runs) -> None:
    """The model with them is the one that is tuned and translates."""
    names = write(folder / "names", ["a\tb"])
    ran = runs("--numbers", "--names", names, "--tokenize", "de:moses", "en:moses")
    train, rules, before, _, tune, after, _, judge, _, weights = (parameters for _, parameters in ran)
    out = folder / "out"
    assert (rules["model"], rules["output"]) == (out / "model", out / "model-with-rules")
    assert (rules["numbers"], rules["names"]) == ("de:en", names)
    for one in (before, tune, after, judge, weights):
        assert one["model"] == out / "model-with-rules"
    assert train["output"] == out / "model"
    languages = dict(runs("--numbers", "-o", folder / "other"))["features"]
    assert (languages["numbers"], languages["names"]) == ("und:und", None)
    # Other rules are another run.
    assert runs("--numbers", "--tokenize", "de:moses", "en:moses", code=1) == []
    assert runs("-o", folder / "other", code=1) == []


def test_options_from_a_file(folder: Path, runs: Runs) -> None:
    """A file's options are as those of the command line, which come first."""
    file = write(
        folder / "run.toml",
        [
            *('method = ["pro", "mira"]', "iterations = 4", "k = 7", 'dictionary = ["DS", "DT"]'),
            *("lowercase = true", 'mono = "MONO"', 'lm-type = "trie"', "mu = 0.25"),
        ],
    )
    text = file.read_text().replace("MONO", str(folder / "mono"))
    file.write_text(text.replace("DS", str(folder / "entries.s")).replace("DT", str(folder / "entries.t")))
    ran = runs("--config", file, "--iterations", 2)
    train, tunes = ran[0][1], [each for name, each in ran if name == "tune"]
    assert [each["method"] for each in tunes] == ["pro", "mira"]
    assert [(each["iterations"], each["k"], each["mu"]) for each in tunes] == [(2, 7, None), (2, 7, 0.25)]
    assert train["lowercase"] is True and train["lm_type"] == "trie"
    assert train["dictionary"] == (folder / "entries.s", folder / "entries.t") and len(train["mono"]) == 1
    ran = runs("--config", file, "--method", "mert", "mira")
    tunes = [each for name, each in ran if name == "tune"]
    assert [(each["method"], each["iterations"]) for each in tunes] == [("mira", 4), ("mert", 4)]
    (tune,) = (each for name, each in runs("--span-limit", 12, "-o", folder / "limit") if name == "tune")
    assert tune["span_limit"] == 12
    # A file may have settings of methods that are not asked for; they are errors in the command line.
    write(file, ['\ufeffmethod = ["mert"]', "restarts = 2", "iterations = 3", "free-scale = true"])
    ran = runs("--config", file, "--method", "pro", "-o", folder / "pro")
    (tune,) = (each for name, each in ran if name == "tune")
    assert (tune["method"], tune["restarts"], tune["iterations"]) == ("pro", None, 3)
    assert runs("--config", file, "--method", "pro", "--restarts", 3, "-o", folder / "mert", code=2) == []
    for text, expected in (
        ("method", "run.toml: Expected '=' after a key in a key/value pair (at line 2"),
        ("iteration = 3", "run.toml:2: no option iteration of run: is it iterations"),
        ("xyzzy = 3", "run.toml:2: no option xyzzy of run: --help lists them"),
        ("config = 'other'", "run.toml:2: no option config of run: --help lists them"),
        ("tokenize = 'de:moses en:moses'", "run.toml:2: tokenize: expected a list of 2 values"),
        ("tokenize = ['de:moses']", "run.toml:2: tokenize: expected a list of 2 values"),
        ("names = ['a']", "run.toml:2: names: expected one value, found a list"),
        ("[names]\na = 1", "run.toml:2: names: expected a value, found a table"),
        ("lms = 'given'\niterations = 'x'", "run.toml:3: iterations: Input should be a valid integer"),
    ):
        write(file, ["", text])
        words = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "new")
        said = one_error_line(call("hiero", "run", *words, "--config", file))
        assert expected in said, said


def test_what_is_older_than_its_sources_is_made_again(folder: Path, runs: Runs) -> None:
    """Translations of a model that was changed, and what is judged of them; not what comes before."""
    out, sets = folder / "out", ("held-out", "test")
    runs()
    translations = [
        [out / "translations" / name / f"{when}.txt" for name in sets] for when in ("before", "mert")
    ]
    made = [
        *(out / "model" / "manifest.json", *translations[0], out / "tuned" / "mert" / "tuned.json"),
        *(*translations[1], *(out / "translations" / name / "scores.json" for name in sets)),
        out / "tuned-model" / "manifest.json",
    ]
    for newer, again in (
        (made[0], STAGES[1:]),
        (made[1], ["eval"]),
        (made[3], STAGES[4:]),
        (made[4], ["eval"]),
        (made[6], []),
        (made[8], []),
    ):
        for number, path in enumerate(made):
            os.utime(path, ns=(number * 10**9, number * 10**9))
        os.utime(newer, ns=(10**10, 10**10))
        assert [name for name, _ in runs()] == again, newer
    # Times that are the same are not older: file systems may count in seconds.
    for path in made:
        os.utime(path, ns=(10**9, 10**9))
    assert runs() == []
    for number, path in enumerate(made):  # what is not there is made first
        path.unlink()
        assert runs()[0][0] == STAGES[number]


def test_a_directory_that_is_named_as_an_option(
    folder: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models are arguments, which stand behind all options."""
    monkeypatch.chdir(folder)
    _, before, _, tune, after, *_, weights = (parameters for _, parameters in runs("--output=-m"))
    assert before["model"] == tune["model"] == after["model"] == Path("-m/model")
    assert (weights["output"], weights["weights"]) == (Path("-m/tuned-model"), Path("-m/tuned/mert"))
