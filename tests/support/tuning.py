"""Runs of tuning on a set whose best weights are known."""

from __future__ import annotations

from pathlib import Path

from hiero.evaluate import Bleu
from hiero.tune import METHODS, TuneOptions, TuneResult, tune
from support.synthetic_decoder import solvable

BEST = (1.0, -0.5, 2.0, 0.25)


START = {"f0": 1.0, "f1": 1.0, "f2": 1.0, "f3": 1.0}


# Size of a set for tests that pass with any set.
SMALL = {"sentences": 8, "size": 20}


def takes_k(method: str) -> bool:
    """Tells whether a method learns from lists by default."""
    return "k" in type(METHODS[method]).model_fields and method != "risk"


def run(directory: Path, method: str = "mert", small: bool = False, **options: object) -> TuneResult:
    decoder, references = solvable(1, BEST, **SMALL if small else {})
    settings = {"method": method, "iterations": 8, **options}
    if takes_k(method):
        settings.setdefault("k", 15)
    return tune(decoder, Bleu(references), START, directory, TuneOptions(**settings))  # type: ignore[arg-type]


def without_times(path: Path) -> bytes:
    """Reads a file of a run, without the columns of seconds."""
    if path.name != "iterations.tsv":
        return path.read_bytes()
    return b"".join(b"\t".join(line.split(b"\t")[:5]) + b"\n" for line in path.read_bytes().splitlines())
