"""A small model and a second stage for it, made once for all tests of second stages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hiero.rerank import Reranker
from hiero.train import TrainInputs
from support.commands import call
from support.paths import DEMO

# The prior is so weak, and the sentences so many, that n-grams get a share of the weights.
OPTIONS = (
    *("--folds", 2, "--sentences", 90, "--least-count", 2, "--steps", 5, "--pop-limit", 20),
    *("--variance", 1),
)


def make_both(folder: Path) -> None:
    """Trains the model and the second stage."""
    for side in ("zh", "en"):
        lines = (DEMO / f"train.{side}").read_text().splitlines()
        (folder / f"train.{side}").write_text("".join(f"{line}\n" for line in [*lines[:250], ""]))
        (folder / f"dict.{side}").write_text("".join(f"{line}\n" for line in lines[300:310]))
    links = (DEMO / "train.align").read_text().splitlines()
    (folder / "links").write_text("".join(f"{line}\n" for line in [*links[:250], "", *links[300:310]]))
    done = call(
        *("hiero", "train", "--source", folder / "train.zh", "--target", folder / "train.en"),
        *("--dictionary", folder / "dict.zh", folder / "dict.en", "--mono", folder / "dict.en"),
        *("--alignment", folder / "links", "-o", folder / "model", "--quiet"),
    )
    assert done.returncode == 0, done
    out, log = second_stage(folder, folder / "second", "--threads", 2)
    assert "not what the model was trained on" not in log
    path = folder / "second" / "reranker.json"
    reranker = Reranker.load(path)
    assert reranker.ngrams and reranker.share > 0  # or else tests of what n-grams do would show nothing
    learnt = f"{len(reranker.ngrams):,} n-grams, score {reranker.score:.4g}, share {reranker.share:g}"
    assert out == f"{path}: {learnt}\n"


def second_stage(trained: Path, output: Path, *more: object) -> tuple[str, str]:
    """Trains a second stage for the model of a folder, and returns standard output and standard error."""
    done = call(
        *("hiero", "train-reranker", trained / "model", "-o", output),
        *("--source", trained / "train.zh", "--target", trained / "train.en"),
        *("--dictionary", trained / "dict.zh", trained / "dict.en", *OPTIONS, *more),
    )
    assert done.returncode == 0, done
    return done.stdout.decode(), done.stderr.decode()


def inputs_of(folder: Path, **changes: Any) -> TrainInputs:
    """Returns the inputs that the model of a folder was trained on, with changes."""
    dictionary = folder / "dict.zh", folder / "dict.en"
    return replace(TrainInputs(folder / "train.zh", folder / "train.en", dictionary), **changes)
