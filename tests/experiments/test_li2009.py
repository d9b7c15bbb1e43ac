"""`hiero experiment li2009`: its systems and their settings, and a small run, whole and resumed."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero.evaluate import Bleu, Runs
from hiero.experiments.li2009 import (
    FIRST_STAGE,
    LARGE,
    MERT,
    TABLE_5,
    Li2009,
    Li2009Options,
    TrainedModel,
    method_settings,
)
from hiero.experiments.systems import LabelledSet
from hiero.features.sentence import Sentence
from hiero.rerank import Reranker
from hiero.train import TrainInputs
from hiero.tune import TuneOptions
from hiero.tune.methods.risk.descent import evaluate
from hiero.tune.pool.blocks import load_block
from support.commands import call, one_error_line
from support.experiments import check_refused, check_relevant_options
from support.local_features import SpanAndGapSize
from support.paths import DEMO, ROOT


def test_the_systems_of_the_paper() -> None:
    options = Li2009Options(k=7, risk={"steps": 3}, mert={"restarts": 2})
    assert len({system.slug for system in TABLE_5}) == len({system.name for system in TABLE_5}) == 8
    settings_of = {}
    for system in TABLE_5:
        if system == LARGE:
            continue
        settings = TuneOptions(system.method, **method_settings(system, options)).settings.model_dump()
        settings_of[system.name] = [settings.get(name) for name in ("space", "annealing", "loss", "steps")]
        assert settings["k"] == (100 if settings.get("space") == "forest" else 7)
    assert settings_of == {
        "MERT (n-best)": [None, None, None, None],
        "MR (n-best)": ["nbest", False, "bleu", 3],
        "MR+DA (n-best)": ["nbest", True, "bleu", 3],
        "MR (forest)": ["forest", False, "bleu", 3],
        "MR+DA (forest)": ["forest", True, "bleu", 3],
        "MR (n-best), linear BLEU": ["nbest", False, "linear-bleu", 3],
        "MR (forest), linear BLEU": ["forest", False, "linear-bleu", 3],
    }
    assert method_settings(MERT, options)["restarts"] == 2 and TABLE_5.index(LARGE) == 5


def test_defaults() -> None:
    """Defaults are those of docs/experiments.md."""
    options = Li2009Options()
    assert (options.runs, options.seed, options.k, options.effective_length) == (3, 1, 100, "closest")
    assert (options.displacement, options.large_runs) == (0.2, 1)
    assert options.mert == options.risk == options.second == options.decoding == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("li")
    for side in ("zh", "en", "align"):
        lines = (DEMO / f"train.{side}").read_text().splitlines()[:150]
        (folder / f"train.{side}").write_text("".join(f"{line}\n" for line in lines))
    sets = (("tuning", "dev", 0, 12), ("test", "test", 0, 10), ("other", "test", 10, 14))
    for name, file, begin, end in sets:
        for ending, suffix in (("zh", "zh"), ("en.0", "en"), ("en.1", "en.1")):
            lines = (DEMO / f"{file}.{ending}").read_text().splitlines()[begin:end]
            (folder / f"{name}.{suffix}").write_text("".join(f"{line}\n" for line in lines))
    done = call(
        *("hiero", "train", "--source", folder / "train.zh", "--target", folder / "train.en"),
        *("--alignment", folder / "train.align", "-o", folder / "model", "--quiet"),
    )
    assert done.returncode == 0, done
    shutil.rmtree(folder / "model.train")
    (folder / "experiment.toml").write_text(
        'model = "model"\nruns = 2\nk = 10\n'
        "[mert]\niterations = 2\nrestarts = 1\n[risk]\niterations = 2\nsteps = 3\ntemperature = 0.1\n"
        "[second]\nfolds = 2\nsentences = 20\nsteps = 3\n[decoding]\npop_limit = 10\n"
        '[bitext]\nsource = "train.zh"\ntarget = "train.en"\n'
        '[tuning]\nsource = "tuning.zh"\nreferences = ["tuning.en", "tuning.en.1"]\n'
        '[[test]]\nsource = "test.zh"\nreferences = ["test.en", "test.en.1"]\n'
        '[[test]]\nsource = "other.zh"\nreferences = ["other.en"]\n'
    )
    return folder


@pytest.mark.slow
def test_the_experiment(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ("hiero", "experiment", "li2009", folder / "experiment.toml", "-o", out)
    done = call(*command)
    assert done.returncode == 0, done
    tables = (out / "tables.md").read_text()
    assert done.stdout.decode().endswith(tables)
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["system"] for row in rows[::2]] == [system.name for system in TABLE_5]
    assert {row["system"]: row["runs"] for row in rows}[LARGE.name] == "1"
    # Scores are those of the second stage's choices from forests by the first one's weights.
    texts = [(folder / f"test.{ending}").read_text().splitlines() for ending in ("en", "en.1")]
    references = list(map(list, zip(*texts, strict=True)))
    metric = Bleu(references, None, "closest")
    sentences = [line.split() for line in (folder / "test.zh").read_text().splitlines()]
    reranker = Reranker.load(out / LARGE.slug / "run-1" / "reranker.json")
    first = hiero.read_weights(out / FIRST_STAGE.slug / "run-1" / "weights.txt")
    assert reranker.weights == first
    model = hiero.Model.load(folder / "model")
    decoder = hiero.Decoder(model, pop_limit=10).with_weights(first)
    lines = []
    for result in decoder.translate_batch(sentences, keep="forest"):
        assert result.forest is not None
        best = reranker.choose(result.forest)
        lines.append(" ".join(best.tokens) if best else "")
    row = next(row for row in rows if row["system"] == LARGE.name and row["set"] == "test")
    assert float(row["BLEU"]) == Runs.of(metric, metric.statistics(lines)[None]).mean
    features = len(reranker.ngrams) + 1
    tuned = json.loads((out / LARGE.slug / "run-1.tuning.json").read_text())["lines"]
    texts = [(folder / f"tuning.{ending}").read_text().splitlines() for ending in ("en", "en.1")]
    tuning = Bleu(list(map(list, zip(*texts, strict=True))), None, "closest")
    score = tuning.score(tuning.statistics(tuned).sum(axis=0))
    assert f"| {LARGE.name} | {features:,} | {score:.2f} ±0.00 |" in tables
    # The first run starts from the model's weights, the others near them.
    weights, names = model.weights, model.feature_names
    starts = [json.loads((out / MERT.slug / f"run-{k}" / "run.json").read_text())["start"] for k in (1, 2)]
    mean = np.mean([abs(weights.get(name, 0.0)) for name in names])
    moved = {n: (starts[1][n] - weights.get(n, 0.0)) / max(abs(weights.get(n, 0.0)), mean) for n in names}
    assert starts[0] == {n: w for n, w in weights.items() if w}
    assert -0.2 <= min(moved.values()) < -0.05 and 0.05 < max(moved.values()) <= 0.2

    # Interrupted and started again it comes to the same.
    before = (out / "scores.csv").read_bytes()
    (out / "risk-nbest" / "run-1" / "weights.txt").unlink()
    (out / LARGE.slug / "run-1.test.json").unlink()
    (out / LARGE.slug / "run-1" / "examples-0.counts").unlink()
    again = call(*command, "--quiet", "--threads", 2)
    assert (again.returncode, again.stdout.decode()) == (0, (out / "tables.md").read_text())
    assert (out / "scores.csv").read_bytes() == before
    # A pass of the benchmark is over what all iterations have accumulated: with next to no gamma all
    # derivations are as likely.
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    benchmark = importlib.import_module("li2009")
    entropies: list[float] = []

    def measured(space: Any, loss: Any, weights: Any, gamma: float, temperature: float) -> Any:
        slopes = loss.slopes(space.counts(weights, 1.0))
        entropies.append(space.risk(weights, 1e-9, 0.0, slopes).entropy)
        return evaluate(space, loss, weights, gamma, temperature)

    monkeypatch.setattr(benchmark, "evaluate", measured)
    capsys.readouterr()
    benchmark.print_passes(folder / "experiment.toml", out)
    passes = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [cells[0] for cells in passes[2:]] == [system.name for system in TABLE_5 if system != MERT]
    assert all(float(seconds) >= 0 and float(megabytes) > 10 for _, seconds, megabytes in passes[2:])
    sizes = np.zeros(12)
    for path in (out / "risk-nbest" / "run-1").glob("iteration-*/new.npz"):
        block = load_block(path, 12, len(names), 14)
        sizes += np.diff(block.arrays.offsets)
    assert entropies[0] == pytest.approx(np.log(sizes).sum())

    # A row that has begun keeps its options.
    text = (folder / "experiment.toml").read_text()
    changed = folder / "other.toml"
    changed.write_text(text.replace("folds = 2", "folds = 3"))
    refused = call("hiero", "experiment", "li2009", changed, "-o", out)
    changed.unlink()
    assert f"{LARGE.slug}: {LARGE.name} has begun with other settings, see row.json, second.folds" in (
        one_error_line(refused, 1)
    )

    # Without the bitext there is no second stage.
    text = (folder / "experiment.toml").read_text()
    changed = folder / "without.toml"
    bitext = '[bitext]\nsource = "train.zh"\ntarget = "train.en"\n'
    changed.write_text(text.replace(bitext, "").replace("runs = 2", "runs = 1"))
    assert (
        call("hiero", "experiment", "li2009", changed, "-o", tmp_path / "without", "--quiet").returncode == 0
    )
    assert LARGE.name not in (tmp_path / "without" / "tables.md").read_text()
    changed.unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runs = 2", "runs = 0"), "experiment.toml: runs"),
        (("folds = 2", "folds = 1"), "experiment.toml: second: folds"),
        (("steps = 3\ntemp", "edges = 0\ntemp"), "experiment.toml: risk: edges"),
        (("steps = 3\ntemp", "annealing = true\ntemp"), "risk: annealing is what rows differ by"),
        (("k = 10", "large_runs = 3"), "large_runs: 1, or all 2 runs"),
        (("k = 10", "displacement = 1"), "experiment.toml: displacement"),
        (('"other.zh"', '"other.zh"\nname = "test"'), "two sets have one name"),
        (('"other.zh"', '"other.zh"\nname = "tuning"'), "two sets have one name"),
        (
            ('source = "train.zh"', 'source = "tuning.zh"'),
            "tuning.zh: not the source that the model was trained",
        ),
        (('target = "train.en"', 'target = "none.en"'), "none.en: No such file"),
        (('target = "train.en"', 'target = "train.en"\nmono = ["other.en"]'), "monolingual text"),
        (("pop_limit = 10", "sentence_marks = 10"), "experiment.toml: decoding: sentence_marks"),
    ],
)
def test_bad_configurations(folder: Path, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    check_refused("li2009", folder, tmp_path, change, message)


def test_options_of_rows(folder: Path, tmp_path: Path) -> None:
    """Options on which a row does not depend may change when it has begun, and no others."""
    model = hiero.Model.load(folder / "model")
    tuning = LabelledSet("tuning", [Sentence(tokens=["a"])], [["a"]])

    def laboratory(options: Li2009Options) -> Li2009:
        return Li2009(model=model, tuning=tuning, tests=[], folder=tmp_path, options=options)

    changes = {
        **{"mert": {"restarts": 2}, "risk": {"steps": 2}, "second": {"order": 1}, "large_runs": 3},
        **{"displacement": 0.1, "decoding": {"pop_limit": 3}, "effective_length": "average"},
    }
    systems = [system for system in TABLE_5 if system != LARGE]
    check_relevant_options(laboratory, Li2009Options(), changes, systems)
    relevant = {*Li2009.shared_options, *LARGE.options}
    assert set(Li2009Options.model_fields) - relevant == {"mert", "risk", "k", "displacement"}
    assert all("k" in system.options for system in systems)


def test_runs_start_apart(folder: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(folder / "model")
    tuning = LabelledSet("tuning", [Sentence(tokens=["a"])], [["a"]])
    for displacement in (0.0, 0.5):
        options = Li2009Options(displacement=displacement)
        laboratory = Li2009(model=model, tuning=tuning, tests=[], folder=tmp_path, options=options)
        trial = laboratory.trial(MERT)
        starts = [np.array(list(laboratory.start(trial, run).values())) for run in range(3)]
        assert starts[0].tolist() == list(trial.start.values())
        assert np.array_equal(starts[1], starts[2]) == (displacement == 0)
        sizes = np.maximum(np.abs(starts[0]), np.abs(starts[0]).mean())
        assert (np.abs(starts[1] - starts[0]) <= displacement * sizes + 1e-12).all()
        assert (starts[1] != starts[0]).all() == (displacement > 0)


def test_the_second_stage_has_features_of_ones_own(folder: Path, tmp_path: Path) -> None:
    """The second stage's model is opened with the local features of the first one's."""
    features = [SpanAndGapSize()]
    model = hiero.Model.load(folder / "model").with_features(features)
    model.save(tmp_path / "model")
    tuning = LabelledSet("tuning", [Sentence(tokens=["a"])], [["a"]])
    inputs = TrainInputs(folder / "train.zh", folder / "missing")
    trained = TrainedModel(tmp_path / "model", inputs)
    laboratory = Li2009(
        model=model, tuning=tuning, tests=[], folder=tmp_path, options=Li2009Options(), trained=trained
    )
    first = tmp_path / FIRST_STAGE.slug / "run-1"
    first.mkdir(parents=True)
    (first / "weights.txt").write_text("LM0 1\n")
    for step in (laboratory.check_system, laboratory.outcome):
        with pytest.raises(FileNotFoundError, match="missing"):  # behind the model
            step(LARGE)
