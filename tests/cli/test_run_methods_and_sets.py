"""Several methods and several sets of `hiero run`: what is tuned, judged and chosen, and what is left out of
training. The commands only pretend."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.commands import call
from support.files import write
from support.pretended_run import HELD_OUT, STAGES, Runs, count_of_lines


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
    assert runs("--method", "pro", "--iterations", 50)[-1][1]["weights"] == tuned / "mert"


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
    stages = folder / "out" / "stages.json"
    record = json.loads(stages.read_text())
    record["done"] |= dict.fromkeys(("tune mert", "translate test mert"), 1000.0)
    stages.write_text(json.dumps(record))
    more = runs("--iterations", 50)
    seconds = json.loads(stages.read_text())["done"]
    # Tuning went on, and the translation was made anew.
    assert seconds["tune mert"] > 1000 > seconds["translate test mert"]
    assert [each["method"] for name, each in more if name == "tune"] == ["mert"]
    assert dict(more)["tune"]["iterations"] == 50
    assert [name for name, _ in more] == again[:-1]  # the final model is still mira's
    # Fewer iterations or less patience change nothing of what is done.
    assert runs("--iterations", 5) == runs("--iterations", 50, "--patience", 1) == []
    settings = json.loads(stages.read_text())["settings"]
    assert settings["tune mert"]["iterations"] == 50
    # The settings of earlier calls are kept.
    for path in (folder / "out" / "tuned").glob("*/tuned.json"):
        path.unlink()
    tuned = [each for name, each in runs("--method", "pro") if name == "tune"]
    given = [(each["method"], each["iterations"]) for each in tuned]
    assert given == [("mert", 50), ("mira", 3), ("pro", None)]


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
    # No set takes the name of the tuning set.
    taken = ["tuning", "tune", "held-out"]
    sources = [write(folder / "more" / f"{name}.s", [f"source of pair {k}"]) for k, name in enumerate(taken)]
    references = [folder / "more" / "test.r"] * 3
    ran = runs("--test-source", *sources, "--test-references", *references, "-o", folder / "names")
    names = [Path(each["output"]).parent.name for name, each in ran if name == "eval"]
    assert names == ["held-out", *(f"{name}-2" for name in taken)]
    one = runs(*two[:2], "--test-references", folder / "test.r0", folder / "test.r1", "-o", folder / "one")
    assert [each["references"] for name, each in one if name == "eval"][1:] == [judges["test"]["references"]]


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
    assert count_of_lines(folder / "out0" / "sets" / "held-out.source") == 7


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


def test_files_that_are_given_twice(folder: Path, runs: Runs) -> None:
    """Each is named once, by the name that the user gave."""
    own = ["--test-source", folder / "test.s", "--test-references", folder / "test.r0", folder / "test.r0"]
    own += ["--tune-source", folder / "tune.s", "--tune-references", folder / "tune.s"]
    words = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "out")
    runs(*own)  # makes what the commands leave
    done = call(
        "hiero", "run", *words, *own, "--mono", folder / "mono", folder / "mono", "-o", folder / "new"
    )
    said = [line for line in done.stderr.decode().splitlines() if "given twice" in line]
    assert said == [
        f"hiero: warning: {folder / name}: is given twice" for name in ("tune.s", "test.r0", "mono")
    ]


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
