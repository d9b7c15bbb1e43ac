"""Minimum error training by the downhill simplex, against uniform weights (Cettolo and Federico 2004).

With threshold pruning, weights times a small number search wide and weights times a large number search
little: each set of weights has a curve of quality against hypotheses generated (Figures 1 and 2), of which
the best points make a table (Tables 3 and 4). Weights are tuned on BLEU and on NIST where pruning is loosest,
so that none can buy quality by a wider beam; tuned on the test set itself they bound what is to be had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hiero.base.directories import run_directory
from hiero.base.files import replacing, write_atomically
from hiero.base.json_files import read_json
from hiero.base.settings import Settings
from hiero.decode.decoder import Decoder, Source
from hiero.decode.model import Model
from hiero.evaluate import Bleu, Nist
from hiero.tune.loop import tune
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions

Weights = Mapping[str, float]
# The rows of the table, and the set and the metric that weights were tuned on.
TUNED = {
    "BLEU-tuned": ("tuning", "BLEU"),
    "NIST-tuned": ("tuning", "NIST"),
    "BLEU-tuned on test": ("test", "BLEU"),
    "NIST-tuned on test": ("test", "NIST"),
}
UNIFORM = "uniform"
_SETTINGS = "experiment.json"


@dataclass(frozen=True)
class LabelledSet:
    """Source sentences as the decoder takes them, and lines of reference tokens for each."""

    sentences: Sequence[Source]
    references: Sequence[Sequence[str]]


class Cettolo2004Options(Settings):
    """Pruning, the scales of working points, and decodings that a search may spend."""

    beam_threshold: float = Field(4.0, ge=0, description="natural log, for uniform weights of size 1")
    pop_limit: int = Field(50, ge=1, description="hypotheses a cell, where pruning is loose")
    scales: tuple[float, ...] = tuple(2.0 ** (half / 2) for half in range(-6, 7))
    decodings: int = Field(150, ge=1, description="at most, of each search for weights")
    seed: int = Field(1, ge=0, description="of all searches")


@dataclass(frozen=True)
class Point:
    """A working point: weights times ``scale`` translate the test set."""

    scale: float
    generated: int
    bleu: float
    nist: float


@dataclass(frozen=True)
class Cettolo2004:
    """Weights by name, and their working points by rising scale."""

    weights: Mapping[str, Weights]
    curves: Mapping[str, Sequence[Point]] = field(repr=False)

    def best(self, name: str) -> tuple[float, float]:
        """BLEU and NIST, each at its best working point."""
        points = self.curves[name]
        return max(point.bleu for point in points), max(point.nist for point in points)

    def cost(self, name: str) -> int | None:
        """The fewest hypotheses of a working point with the best BLEU of uniform weights, or better."""
        enough = [point.generated for point in self.curves[name] if point.bleu >= self.best(UNIFORM)[0]]
        return min(enough, default=None)


def uniform(weights: Weights) -> dict[str, float]:
    """Weights of equal size for the features that have any, in their directions."""
    return {name: float(np.sign(weight)) for name, weight in weights.items()}


def cettolo2004(
    model: Model,
    tuning: LabelledSet,
    test: LabelledSet,
    directory: str | os.PathLike[str],
    options: Cettolo2004Options | None = None,
    *,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Cettolo2004:
    """Tunes, translates the test set at all working points, and writes ``table.txt`` and ``curves.tsv``.

    Every decoding is kept in the directory, so that an experiment goes on where it was interrupted, or had
    ended with fewer ``decodings``; one with other options or another ``origin``, which says what model and
    sets are, is refused. Only features with a weight in the model take part. Raises FormatError, OSError and
    ValueError as ``hiero.tune.loop.tune``.
    """
    chosen = options or Cettolo2004Options()
    known = {"options": chosen.model_dump(exclude={"decodings"}), "origin": dict(origin or {})}
    folder = Path(directory)
    rows = [folder / _slug(name) for name in TUNED]
    with run_directory(folder, _SETTINGS, known, lambda: any(row.exists() for row in rows)):
        decoder = Decoder(model, pop_limit=chosen.pop_limit, beam_threshold=chosen.beam_threshold)
        start = {name: 0.0 for name in model.feature_names} | uniform(model.weights)
        weights: dict[str, Weights] = {UNIFORM: start}
        for name, (on, metric) in TUNED.items():
            labelled = tuning if on == "tuning" else test
            report(f"{name}:")
            weights[name] = _tuned(
                decoder, labelled, metric, start, folder / _slug(name), chosen, threads, report
            )
        curves = {
            name: _Curve(decoder, test, folder / f"{_slug(name)}.json", threads).points(each, chosen.scales)
            for name, each in weights.items()
        }
        result = Cettolo2004(weights, curves)
        write_atomically(folder / "table.txt", table(result))
        write_atomically(folder / "curves.tsv", _tsv(result))
    return result


def _tuned(
    decoder: Decoder,
    labelled: LabelledSet,
    metric: str,
    start: Weights,
    directory: Path,
    options: Cettolo2004Options,
    threads: int,
    report: Callable[[str], object],
) -> Weights:
    """Weights tuned where pruning is loosest, brought back to scale 1."""
    loosest = min(options.scales)
    result = tune(
        ModelDecoder(decoder, labelled.sentences, threads),
        Bleu(labelled.references) if metric == "BLEU" else Nist(labelled.references),
        {name: weight * loosest for name, weight in start.items()},
        directory,
        TuneOptions(
            method="simplex",
            seed=options.seed,
            iterations=options.decodings,
            fixed=tuple(name for name, weight in start.items() if weight == 0),
        ),
        report=report,
    )
    report(result.reason)
    return {name: weight / loosest for name, weight in result.weights.items()}


class _Points(BaseModel):
    """Working points as a file holds them, and the weights that they are of."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]
    points: list[Point]


class _Curve:
    """Working points of one set of weights; a file holds those that are done."""

    def __init__(self, decoder: Decoder, test: LabelledSet, path: Path, threads: int) -> None:
        self._decoder = decoder
        self._test = test
        self._path = path
        self._threads = threads
        self._metrics = Bleu(test.references), Nist(test.references)

    def points(self, weights: Weights, scales: Sequence[float]) -> list[Point]:
        kept = _Points(weights=dict(weights), points=[])
        if self._path.exists() and (found := read_json(self._path, _Points)).weights == kept.weights:
            kept = found
        for scale in sorted(scales)[len(kept.points) :]:
            kept.points.append(self._point(weights, scale))
            write_atomically(self._path, kept.model_dump_json(indent=1) + "\n")
        return kept.points

    def _point(self, weights: Weights, scale: float) -> Point:
        scaled = self._decoder.with_weights(scale * self._decoder.model.weight_vector(weights))
        results = scaled.translate_batch(self._test.sentences, threads=self._threads)
        lines = [" ".join(result.tokens) for result in results]
        bleu, nist = (float(metric.score(metric.statistics(lines).sum(axis=0))) for metric in self._metrics)
        return Point(float(scale), sum(result.stats.hypotheses for result in results), bleu, nist)


def table(result: Cettolo2004) -> str:
    """Each set of weights at its best working points, and what the best BLEU of uniform weights costs."""
    rows = [f"{'weights':20} {'BLEU':>14} {'NIST':>16} {'hypotheses':>12}"]
    base = result.best(UNIFORM)
    for name in result.weights:
        bleu, nist = result.best(name)
        cost = result.cost(name)
        row = f"{name:20} {bleu:6.2f} {_relative(bleu, base[0]):7} {nist:8.4f} {_relative(nist, base[1]):7} "
        rows.append(row + (f"{cost:12,}" if cost is not None else f"{'never':>12}"))
    rows.append(
        "BLEU and NIST each at the best working point; hypotheses: generated over the test set at the"
    )
    rows.append("cheapest working point with the best BLEU of uniform weights, or better.")
    return "\n".join(rows) + "\n"


def _relative(value: float, base: float) -> str:
    return "" if value == base or base == 0 else f"{value / base - 1:+.1%}"


def _tsv(result: Cettolo2004) -> str:
    rows = ["weights\tscale\tgenerated\tBLEU\tNIST"]
    for name, points in result.curves.items():
        rows += [f"{name}\t{p.scale!r}\t{p.generated}\t{p.bleu!r}\t{p.nist!r}" for p in points]
    return "\n".join(rows) + "\n"


def plot(result: Cettolo2004, directory: str | os.PathLike[str]) -> None:
    """Figures 1 and 2: BLEU and NIST against hypotheses generated, of uniform weights and of those tuned on
    the metric. Needs matplotlib; raises ModuleNotFoundError without it."""
    from matplotlib.figure import Figure

    for number, metric in enumerate(("BLEU", "NIST"), start=1):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        for name, style in ((UNIFORM, "--"), (f"{metric}-tuned", "-"), (f"{metric}-tuned on test", ":")):
            points = result.curves[name]
            scores = [point.bleu if metric == "BLEU" else point.nist for point in points]
            axes.plot([point.generated for point in points], scores, style, marker=".", label=name)
        axes.set_xscale("log")
        axes.set_xlabel("hypotheses generated")
        axes.set_ylabel(metric)
        axes.legend()
        with replacing(Path(directory) / f"figure-{number}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=150)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")
