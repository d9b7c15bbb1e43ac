"""Descriptions of outputs of commands: forests, rerankers, and directories of tuning, training and
`hiero run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, RootModel

from hiero import FormatError, read_weights
from hiero.base.json_files import read_json
from hiero.base.ownership import STEPS
from hiero.cli.io.records import assignments
from hiero.cli.io.tuned import TUNED
from hiero.forest.files import ForestFile

_FORESTS = b"HIEROFR"
_RERANKER = b'"hiero reranker"'
_RUN, _RUNS = "run.json", "runs.json"
_UNFINISHED = "not yet: the same command goes on"


class _Tuning(BaseModel):
    """The part of a tuning run's record that is described."""

    options: dict[str, Any]
    metric: tuple[str, str]
    held_out: tuple[str, str] | None
    features: dict[str, Any]


class _Run(BaseModel):
    """The part of a record of `hiero run` that is described."""

    program: str
    sizes: dict[str, int]
    seed: int


class _Seed(BaseModel):
    """The record of several tuning runs."""

    seed: int


class _Step(BaseModel):
    """The part of a training step's record that is described."""

    outputs: dict[str, str]


def describe_output(path: Path) -> dict[str, object] | None:
    """Returns facts about an archive of forests or a reranker, None for another file. Raises FormatError,
    OSError."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(_FORESTS):
        return _forests(path)
    return _reranker(path) if _RERANKER in start else None


def describe_output_directory(path: Path) -> dict[str, object]:
    """Returns facts about a directory of tuning, training or `hiero run`. Raises FormatError for another
    directory, OSError."""
    if (path / _RUN).is_file():
        record = read_json(path / _RUN, RootModel[_Tuning | _Run]).root
        return _tuning(path, record) if isinstance(record, _Tuning) else _run(path, record)
    if (path / _RUNS).is_file():
        return _runs(path)
    if (path / STEPS).is_file():
        return _training(path)
    raise FormatError(f"{path}: a directory that is none of a model, tuning, training or hiero run")


def _forests(path: Path) -> dict[str, object]:
    with ForestFile(path) as archive:
        tables, weights = archive.about.get("tables"), archive.weights
        return {
            "kind": "forests",
            "sentences": len(archive),
            "rule tables": " ".join(tables) if isinstance(tables, dict) else "(not given)",
            "weights": assignments(weights) if weights is not None else "(not given)",
        }


def _reranker(path: Path) -> dict[str, object]:
    from hiero.rerank.reranker import Reranker  # here, as it takes long to import

    reranker = Reranker.load(path)
    return {
        "kind": "second stage (for hiero-decode --reranker)",
        "n-grams": f"{len(reranker.ngrams):,}",
        "share": f"{reranker.share:g}",
        "weight of the score": f"{reranker.score:g}",
        "first stage's weights": assignments(reranker.weights),
    }


def _tuning(path: Path, record: _Tuning) -> dict[str, object]:
    return {
        "kind": "tuning run",
        "method": record.options.get("method"),
        "seed": record.options.get("seed"),
        "metric": record.metric[0],
        "held-out set": "no" if record.held_out is None else record.held_out[0],
        "features": record.features.get("number"),
        **_iterations(path),
        **_weights(path),
    }


def _scores(path: Path) -> list[float]:
    from hiero.tune.run.iterations import read_scores  # here, as it takes long to import

    return read_scores(path)


def _iterations(path: Path) -> dict[str, object]:
    """Describes how many iterations a tuning run has, and which is the best."""
    scores = _scores(path)
    if not scores:
        return {"iterations": 0}
    best = scores.index(max(scores))
    return {
        "iterations": len(scores),
        "best": f"iteration {best}, {scores[best]:.2f}; before {scores[0]:.2f}",
    }


def _weights(path: Path) -> dict[str, object]:
    """Describes the weights that a tuning run ended with."""
    weights = path / "weights.txt"
    return {"weights": assignments(read_weights(weights)) if weights.is_file() else _UNFINISHED}


def _runs(path: Path) -> dict[str, object]:
    seed = read_json(path / _RUNS, _Seed).seed
    names = sorted((file.parent.name for file in path.glob(f"run-*/{_RUN}")), key=lambda name: int(name[4:]))
    best = (f"{name} {max(scores):.2f}" for name in names if (scores := _scores(path / name)))
    return {"kind": "tuning runs", "seed of the first": seed, "best": ", ".join(best), **_weights(path)}


def _training(path: Path) -> dict[str, object]:
    steps = read_json(path / STEPS, RootModel[dict[str, _Step]]).root
    is_model = path.suffix == ".train" and "model 0" not in steps
    last = steps.get("model" if is_model else "share")
    output = _UNFINISHED
    if last is not None:
        file = Path(os.path.normpath(path / next(iter(last.outputs))))
        output = str(file.parent if is_model else file)
    return {
        "kind": f"training of a {'model' if is_model else 'second stage'}",
        "steps done": ", ".join(steps) or "none",
        "made": output,
    }


def _run(path: Path, record: _Run) -> dict[str, object]:
    models = sorted(str(file.parent) for file in path.glob("*/model.toml"))
    methods = sorted(file.parent.name for file in path.glob(f"tuned/*/{TUNED}"))
    report = path / "report.html"
    return {
        "kind": f"run of hiero {record.program}",
        "tuned by": ", ".join(methods) or "nothing yet",
        "seed": record.seed,
        "models": ", ".join(models) or "none yet",
        "report": report if report.is_file() else _UNFINISHED,
    }
