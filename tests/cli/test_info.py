"""`hiero info` of what commands leave: forests, second stages, tuning and training directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiero
from hiero.evaluate import Bleu
from hiero.rerank import Reranker
from hiero.tune import HeldOut, TuneOptions, TuneResult, tune, tune_runs
from support.commands import call, one_error_line
from support.synthetic_decoder import solvable


def facts(path: Path) -> dict[str, str]:
    done = call("hiero", "info", path)
    assert (done.returncode, done.stderr) == (0, b""), done
    lines = done.stdout.decode().splitlines()
    width = len(lines[0]) - len(lines[0].removeprefix("kind").lstrip())
    return {line[:width].rstrip(): line[width:] for line in lines}


def tuned(folder: Path, seed: int = 3, held_out: bool = False) -> TuneResult:
    decoder, references = solvable(1, (1.0, -0.5, 2.0, 0.25), sentences=10, size=20)
    start = dict.fromkeys(decoder.feature_names, 1.0)
    other = HeldOut(decoder, Bleu([*references[1:], references[0]])) if held_out else None
    options = TuneOptions("mert", k=5, iterations=3, seed=seed, restarts=2)
    return tune(decoder, Bleu(references), start, folder, options, held_out=other)


@pytest.mark.parametrize("held_out", [False, True])
def test_a_tuning_run(tmp_path: Path, held_out: bool) -> None:
    result = tuned(tmp_path / "out", held_out=held_out)
    scores = [iteration.judged for iteration in result.iterations]
    signature = "BLEU|nrefs:1|length:closest|case:mixed|tok:none|eff:no|smooth:exp"
    found = facts(tmp_path / "out")
    weights = found.pop("weights")
    assert found == {
        "kind": "tuning run",
        "method": "mert",
        "seed": "3",
        "metric": signature,
        "held-out set": signature if held_out else "no",
        "features": "4",
        "iterations": str(len(scores)),
        "best": f"iteration {result.best}, {max(scores):.2f}; before {scores[0]:.2f}",
    }
    assert weights.split()[0].startswith("f0=") and len(weights.split()) == 4
    # The first of the best.
    path, kind = tmp_path / "out" / "iteration-001" / "scores.json", "held_out" if held_out else "score"
    path.write_text(json.dumps({**json.loads(path.read_text()), kind: 101.5}))
    assert facts(tmp_path / "out")["best"] == f"iteration 1, 101.50; before {scores[0]:.2f}"
    # One that was interrupted.
    (tmp_path / "out" / "weights.txt").unlink()
    assert facts(tmp_path / "out")["weights"] == "not yet: the same command goes on"
    for folder in (tmp_path / "out").glob("iteration-*"):
        folder.rename(tmp_path / folder.name)
    assert facts(tmp_path / "out")["iterations"] == "0" and "best" not in facts(tmp_path / "out")


def test_tuning_runs(tmp_path: Path) -> None:
    done = tune_runs(lambda _, folder, seed: tuned(folder, seed), 2, 7, tmp_path / "out")
    found = facts(tmp_path / "out")
    assert (found["kind"], found["seed of the first"]) == ("tuning runs", "7")
    assert found["best"] == ", ".join(f"{name} {each.score:.2f}" for name, each in done.results.items())
    assert found["weights"].startswith("f0=")


def test_forests(french: Path, tmp_path: Path) -> None:
    system = ("--grammar", french / "grammar.txt", "--lm", french / "lm.arpa")
    weights = ("--weights", french / "weights.txt")
    path = tmp_path / "all.forests"
    command = ("hiero-decode", *system, *weights, "--input", french / "input.fr", "--forests", path)
    assert call(*command).returncode == 0
    lines = (french / "input.fr").read_text().splitlines()
    found = facts(path)
    assert (found["kind"], found["sentences"]) == ("forests", str(len(lines)))
    assert f"LM0={hiero.read_weights(french / 'weights.txt')['LM0']:g}" in found["weights"].split()
    with hiero.forest.files.ForestWriter(tmp_path / "bare.forests"):
        pass
    assert facts(tmp_path / "bare.forests") == {
        "kind": "forests",
        "sentences": "0",
        "rule tables": "(not given)",
        "weights": "(not given)",
    }
    path.write_bytes(path.read_bytes()[:-1])
    assert f"{path}: not a file of forests" in one_error_line(call("hiero", "info", path))


def test_a_second_stage(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    Reranker(weights={"LM0": 1.5}, score=0.5, ngrams={"the house": 0.25, "a": 1.0}, share=0.5).save(path)
    assert facts(path) == {
        "kind": "second stage (for hiero-decode --reranker)",
        "n-grams": "2",
        "share": "0.5",
        "weight of the score": "0.5",
        "first stage's weights": "LM0=1.5",
    }
    path.write_text(path.read_text().replace("0.25", '"much"'))
    assert f"{path}: damaged: ngrams.the house" in one_error_line(call("hiero", "info", path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("other.json", "{}", "a directory that is none of a model, tuning, training or hiero run"),
        ("run.json", "{", "run.json: damaged"),
        ("run.json", '{"options": 3}', "run.json: damaged"),
        ("runs.json", "[]", "runs.json: damaged"),
        ("steps.json", '{"corpus": 1}', "steps.json: damaged"),
    ],
)
def test_other_directories(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    said = one_error_line(call("hiero", "info", tmp_path))
    assert str(tmp_path) in said and message in said


def test_trainings_that_have_just_begun(tmp_path: Path) -> None:
    begun = {"corpus": {"inputs": {}, "settings": {}, "outputs": {"corpus.source": "0" * 64}}}
    for name, kind in (("m.train", "training of a model"), ("second", "training of a second stage")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "steps.json").write_text("{}")
        assert facts(tmp_path / name)["steps done"] == "none"
        (tmp_path / name / "steps.json").write_text(json.dumps(begun))
        assert facts(tmp_path / name) == {
            "kind": kind,
            "steps done": "corpus",
            "made": "not yet: the same command goes on",
        }
