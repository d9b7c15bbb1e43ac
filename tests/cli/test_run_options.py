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
from hiero.cli.io.results import Result, results_json
from hiero.cli.io.results import System as SystemScores
from hiero.cli.io.tuned import Tuned
from hiero.cli.system import stages
from support.commands import call, one_error_line
from support.files import write
from support.paths import FRENCH

Given = list[tuple[str, Mapping[str, Any]]]
Runs = Callable[..., Given]
# The held-out set and the test set are each translated and judged.
STAGES = ["train", "decode", "decode", "tune", "decode", "decode", "eval", "eval", "weights"]


# The file that a command writes last in its directory.
MADE = {
    **{"train": "manifest.json", "features": "manifest.json", "weights": "manifest.json"},
    "tune": "tuned.json",
}
# BLEU of methods on the tuning set and on the held-out set, where that before tuning is 20.
TUNED = {"mert": 40.0, "pro": 50.0, "mira": 30.0}
HELD_OUT = {"mert": 22.0, "pro": 23.0, "mira": 24.0}


def tuning_record(parameters: Mapping[str, Any]) -> str:
    """Returns what `hiero tune` writes about its weights."""
    record = Tuned(
        **{"method": parameters["method"], "metric": "m", "score": TUNED[parameters["method"]]},
        **{"before": 0.0, "held_out": False, "sentences": 1, "source": "s", "references": ["r"]},
    )
    return record.model_dump_json()


def judged(parameters: Mapping[str, Any]) -> str:
    """Returns what `hiero eval` writes about the systems that it compares."""
    systems = [SystemScores("before", 20.0, (19.0, 21.0), 1, 0.0)]
    for path in parameters["compare"]:
        score = HELD_OUT[Path(path).stem]
        systems.append(SystemScores(path, score, (score, score), 1, 0.0, score - 20, 0.01, 0.02))
    results = [Result(metric, "higher", "", "", systems) for metric in ("BLEU", "chrF++")]
    return results_json(results)


# The sentences of the sets, which share one.
NUMBERS = {"tune": (0, 1), "test": (1, 2)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bitext, sets for tuning and testing, and text."""
    for name in ("source", "target"):
        write(tmp_path / name, [f"{name} of pair {n}" for n in range(60)])
    for name in ("tune", "test"):
        write(tmp_path / f"{name}.s", [f"source of pair {n}" for n in NUMBERS[name]])
        for k in range(2):
            write(tmp_path / f"{name}.r{k}", [f"{name} {n} {k}" for n in range(2)])
    write(tmp_path / "mono", ["target of pair 3", "other text"])
    shutil.copyfile(FRENCH / "lm.arpa", tmp_path / "lm")
    for name in ("entries.s", "entries.t"):
        write(tmp_path / name, [f"a word of {name}"])
    return tmp_path


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs `hiero run` on these files; the commands that it ran, with their parameters."""
    given: Given = []
    made = {"tune": tuning_record, "eval": judged}

    class Pretending:
        def __init__(self, name: str) -> None:
            self.name = name

        def main(self, words: Sequence[str], **_: object) -> None:
            parameters = command_named(self.name).make_context(self.name, list(words)).params
            given.append((self.name, parameters))
            path = Path(parameters["output"])
            if self.name in MADE:
                path.mkdir(exist_ok=True, parents=True)
                (path / "model.toml").touch()
                path = path / MADE[self.name]
            path.write_text(made.get(self.name, lambda _: "made")(parameters))

    monkeypatch.setattr(stages, "command_named", Pretending)

    class Finished:
        unknown: Mapping[str, object] = {}

    monkeypatch.setattr(run, "finished_run", lambda *_: Finished())
    monkeypatch.setattr(run, "report_page", lambda _: "page")

    def ran(*words: object, code: int = 0) -> Given:
        given.clear()
        start = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "out")
        done = call("hiero", "run", *start, *words)
        assert done.returncode == code, done
        return list(given)

    return ran


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
    assert [lines(sets / f"{name}.source") for name in ("tune", "held-out", "test")] == [3, 1, 3]
    for one in (train, *before, tune, held_out, test):
        assert one["quiet"] is False
    assert {one["threads"] for one in (*before, tune, held_out, test)} == {1}


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
    assert [lines(sets / f"{name}.source") for name in ("tune", "held-out", "test")] == [4, 6, 5]


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_several_methods(folder: Path, runs: Runs) -> None:
    """Each is tuned with the settings that it has, and all are judged together; the best on the held-out set
    is the final model, and on the tuning set if there is none."""
    words = ("--method", "mert", "pro", "--restarts", 4, "-k", 30, "--mu", 0.5)
    assert runs(*words, code=2) == []  # neither has mu
    ran = runs(*words[:-2])
    assert [name for name, _ in ran] == [*STAGES[:3], *STAGES[3:6] * 2, *STAGES[6:]]
    mert, pro = (parameters for name, parameters in ran if name == "tune")
    assert [mert["method"], pro["method"]] == ["mert", "pro"]
    assert (mert["restarts"], mert["k"], pro["restarts"], pro["k"]) == (4, 30, None, 30)
    for name in ("held-out", "test"):
        judge = next(p for command, p in ran if command == "eval" and p["output"].parent.name == name)
        names = [str(folder / "out" / "translations" / name / f"{method}.txt") for method in ("mert", "pro")]
        assert judge["compare"] == names
    assert ran[-1][1]["weights"] == folder / "out" / "tuned" / "pro"
    ran = runs("--method", "mira", "pro", "--held-out-size", 0, "-o", folder / "other")
    assert ran[-1][1]["weights"] == folder / "other" / "tuned" / "pro"
    assert not (folder / "other" / "sets" / "held-out.source").exists()


def test_tuning_that_does_harm(folder: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The final model has the weights of training, until another method is better than these."""
    monkeypatch.setitem(HELD_OUT, "mert", 15.0)
    out = folder / "out"
    assert runs()[-1][1]["weights"] == out / "model" / "weights.txt"
    assert runs() == []
    assert runs("--method", "pro")[-1][1]["weights"] == out / "tuned" / "pro"


def test_the_final_model_of_an_older_method(
    folder: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method that was tuned before the final model was made takes its place where another became worse."""
    tuned = folder / "out" / "tuned"
    assert runs("--method", "mert", "pro")[-1][1]["weights"] == tuned / "pro"
    monkeypatch.setitem(HELD_OUT, "pro", 21.0)
    assert runs("--method", "pro", "--iterations", 9)[-1][1]["weights"] == tuned / "mert"


def test_more_of_what_is_trained(folder: Path, runs: Runs) -> None:
    """Another method joins those before, which are not tuned again, unless they get other settings."""
    runs()
    first = runs("--method", "mira", "--iterations", 3)
    again = ["tune", "decode", "decode", "eval", "eval", "weights"]
    assert [name for name, _ in first] == again
    assert first[-1][1]["weights"] == folder / "out" / "tuned" / "mira"
    judge = dict(first)["eval"]
    assert [Path(path).stem for path in judge["compare"]] == ["mert", "mira"]
    assert runs("--method", "mira", "--iterations", 3) == []
    more = runs("--iterations", 5)
    assert [each["method"] for name, each in more if name == "tune"] == ["mert"]
    assert dict(more)["tune"]["iterations"] == 5
    assert [name for name, _ in more] == again[:-1]  # the final model is still mira's
    # The settings of earlier calls are kept.
    for path in (folder / "out" / "tuned").glob("*/tuned.json"):
        path.unlink()
    tuned = [each for name, each in runs("--method", "pro") if name == "tune"]
    given = [(each["method"], each["iterations"]) for each in tuned]
    assert given == [("mert", 5), ("mira", 3), ("pro", None)]


def test_several_test_sets(folder: Path, runs: Runs) -> None:
    """Each is named after its file. With one set, all references are its own."""
    (folder / "more").mkdir()
    write(folder / "more" / "test.s", ["source of pair 0"])
    write(folder / "more" / "test.r", ["r"])
    joined = f"{folder / 'test.r0'},{folder / 'test.r1'}"
    two = ("--test-source", folder / "test.s", folder / "more" / "test.s")
    assert runs(*two, "--test-references", joined, code=2) == []
    ran = runs(*two, "--test-references", joined, folder / "more" / "test.r")
    judges = {Path(each["output"]).parent.name: each for name, each in ran if name == "eval"}
    assert list(judges) == ["held-out", "test", "test-2"]
    assert judges["test"]["references"] == [folder / "test.r0", folder / "test.r1"]
    assert judges["test-2"]["references"] == [folder / "more" / "test.r"]
    sources = [each["source"] for name, each in ran if name == "decode"][:3]
    assert sources[1:] == [folder / "test.s", folder / "more" / "test.s"]
    kept = (folder / "out" / "sets" / "train.source").read_text().splitlines()
    assert kept[:3] == ["", "", ""]
    one = runs(*two[:2], "--test-references", folder / "test.r0", folder / "test.r1", "-o", folder / "one")
    assert [each["references"] for name, each in one if name == "eval"][1:] == [judges["test"]["references"]]


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
    for text, expected in (
        ("method", "run.toml: Expected '=' after a key in a key/value pair (at line 2"),
        ("iteration = 3", "run.toml:2: no option iteration of run: is it iterations"),
        ("xyzzy = 3", "run.toml:2: no option xyzzy of run: --help lists them"),
        ("config = 'other'", "run.toml:2: no option config of run: --help lists them"),
        ("lms = 'given'\niterations = 'x'", "run.toml:3: iterations: Input should be a valid integer"),
    ):
        write(file, ["", text])
        words = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "new")
        said = one_error_line(call("hiero", "run", *words, "--config", file))
        assert expected in said, said


def test_the_seed_draws_the_sets(folder: Path, runs: Runs, tmp_path: Path) -> None:
    drawn = []
    for seed in (1, 2, 1):
        runs("--seed", seed, "-o", tmp_path / f"out{len(drawn)}")
        drawn.append((tmp_path / f"out{len(drawn)}" / "sets" / "test.source").read_text())
    assert drawn[0] == drawn[2] != drawn[1]


def test_sets_of_ones_own(folder: Path, runs: Runs) -> None:
    """Given sets replace drawn ones, with all references, and none of their sentences is trained on. A
    held-out set is then set aside only where its size says so."""
    own = []
    for name in ("tune", "test"):
        own += [f"--{name}-source", folder / f"{name}.s"]
        own += [f"--{name}-references", folder / f"{name}.r0", folder / f"{name}.r1"]
    ran = runs(*own)
    _, before, tune, after, judge, weights = (parameters for _, parameters in ran)
    assert (tune["source"], tune["references"]) == (
        folder / "tune.s",
        [folder / "tune.r0", folder / "tune.r1"],
    )
    assert before["source"] == after["source"] == folder / "test.s"
    assert judge["references"] == [folder / "test.r0", folder / "test.r1"]
    assert weights["weights"] == folder / "out" / "tuned" / "mert"
    kept = (folder / "out" / "sets" / "train.source").read_text().splitlines()
    assert kept == ["", "", "", *(f"source of pair {n}" for n in range(3, 60))]
    assert not list((folder / "out" / "sets").glob("t*st.source"))
    for k, more in enumerate(
        (
            ["--held-out-size", 7],
            ["--held-out-source", folder / "mono", "--held-out-references", folder / "mono"],
        )
    ):
        ran = runs(*own, *more, "-o", folder / f"out{k}")
        assert [name for name, _ in ran] == STAGES
        source = ran[1][1]["source"]
        assert source == (folder / "out0" / "sets" / "held-out.source", folder / "mono")[k]
    assert lines(folder / "out0" / "sets" / "held-out.source") == 7


def test_two_sets_that_are_the_same(folder: Path) -> None:
    own = []
    for name in ("tune", "test"):
        own += [f"--{name}-source", folder / f"{name}.s", f"--{name}-references", folder / f"{name}.r0"]
    shutil.copyfile(folder / "tune.s", folder / "test.s")
    bitext = ("--source", folder / "source", "--target", folder / "target")
    done = call("hiero", "run", *bitext, "-o", folder / "out", *own)
    assert done.returncode == 1
    assert f"test.s: has the same content as {folder / 'tune.s'}" in done.stderr.decode()
    assert not (folder / "out").exists()


def test_no_reference_is_in_the_text(folder: Path, runs: Runs) -> None:
    """Nor is one of a drawn set: what a language model has seen is no test of it, nor good to tune on."""
    whole = [f"target of pair {n}" for n in range(60)]
    write(folder / "mono", [*whole, "Other text.", *map(str.upper, whole)])
    other = write(folder / "other", ["nothing of it"])
    train = runs("--mono", folder / "mono", other)[0][1]
    sets = folder / "out" / "sets"
    assert train["mono"] == [sets / "mono0", other]
    names = ("tune", "held-out", "test")
    drawn = {line for name in names for line in (sets / f"{name}.target").read_text().splitlines()}
    assert len(drawn) == 7
    kept = ["" if line in drawn else line for line in whole]
    text = (sets / "mono0").read_text().splitlines()
    assert text == [*kept, "Other text.", *map(str.upper, kept)]


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
