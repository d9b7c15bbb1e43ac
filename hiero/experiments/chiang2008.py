"""MERT and online MIRA with soft syntax and structural distortion (Chiang et al. 2008, section 5).

Table 1 is both methods on several sets of features, judged against MERT on those of the baseline; Table 2
takes parts of the method from MIRA with all features, judged against that. Every system is tuned several
times with other seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero.base.directories import run_directory
from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.evaluate import Bleu
from hiero.experiments.chiang2008_report import markdown, plot_weights, scores_csv, weights_csv
from hiero.experiments.chiang2008_systems import (
    FULL,
    Chiang2008,
    Chiang2008Options,
    Outcome,
    ParsedSet,
    System,
    local_features,
    systems,
)
from hiero.forest.losses import BleuDocument
from hiero.forest.oracles import oracle_lists, plot_oracles
from hiero.tune.iterations import HeldOut, TuneResult
from hiero.tune.loop import tune
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions

_SETTINGS = "experiment.json"


def chiang2008(
    model: Model,
    tuning: ParsedSet,
    held_out: ParsedSet | None,
    tests: Sequence[ParsedSet],
    directory: str | os.PathLike[str],
    options: Chiang2008Options | None = None,
    *,
    threads: int = 1,
    origin: Mapping[str, Any] | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> Chiang2008:
    """Tunes all systems, translates all sets and writes ``tables.md``, ``scores.csv``, ``weights.csv``, and
    with matplotlib ``weights.png`` and ``figure-1.png``; what is done is kept in the directory.

    MIRA's passes are chosen by the held-out set, MERT's iterations by the tuning set. Systems with syntax
    need parses of all sets, and one with coarse distortion needs counts of training: rows are left out that
    cannot be had, or then are the same as others. ``origin`` says what model and sets are; a directory that
    holds another experiment is refused. Raises ValueError for two sets of one name, FormatError, OSError and
    ValueError as ``hiero.tune.tune``.
    """
    chosen = options or Chiang2008Options()
    sets = [*([held_out] if held_out else []), *tests]
    metrics = {one.name: Bleu(one.references, effective_length=chosen.effective_length) for one in sets}
    if len(metrics) < len(sets):
        raise ValueError("two sets have one name")
    if chosen.sentence > len(tuning.sentences):
        raise ValueError(f"sentence {chosen.sentence} of a tuning set of {len(tuning.sentences)}")
    folder = Path(directory)
    known = {"options": chosen.model_dump(mode="json"), "origin": dict(origin or {})}
    outcomes = {}
    with run_directory(folder, _SETTINGS, known):
        laboratory = _Laboratory(model, tuning, held_out, sets, metrics, folder, chosen, threads, report)
        for system in systems(model, laboratory.parsed):
            outcomes[system] = laboratory.outcome(system)
        result = Chiang2008(outcomes, sets, metrics)
        write_atomically(folder / "tables.md", markdown(result))
        write_atomically(folder / "scores.csv", scores_csv(result))
        write_atomically(folder / "weights.csv", weights_csv(result))
        if find_spec("matplotlib") is not None:
            plot_weights(result, folder / "weights.png")
            laboratory.scatter(folder / "figure-1.png")
    return result


class _Translations(BaseModel):
    """A translated set as a file holds it, and the weights that translated it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]
    lines: list[str]


@dataclass(frozen=True)
class _Laboratory:
    """Tunes systems and translates with what came out; does nothing twice."""

    model: Model
    tuning: ParsedSet
    held_out: ParsedSet | None
    sets: Sequence[ParsedSet]
    metrics: Mapping[str, Bleu]
    folder: Path
    options: Chiang2008Options
    threads: int
    report: Callable[[str], object]

    @cached_property
    def metric(self) -> Bleu:
        """Of the tuning set."""
        return Bleu(self.tuning.references, effective_length=self.options.effective_length)

    @cached_property
    def parsed(self) -> bool:
        return all(one.is_parsed for one in (self.tuning, *self.sets))

    def _system(self, system: System) -> tuple[Decoder, dict[str, float], list[str]]:
        """A decoder with the system's features, the weights to start from, which are the model's for the
        baseline, and the features that have weights."""
        options = self.options
        made = local_features(system.features, self.model, self.parsed, options)
        model = self.model.with_features(made, generators=self.model.generators, log_base=options.log_base)
        start = {name: 0.0 for name in model.feature_names}
        start |= {name: weight for name, weight in model.weights.items() if name in options.baseline}
        own = {name for each in made for name in each.names}
        free = [name for name in model.feature_names if name in options.baseline or name in own]
        return Decoder(model, **options.decoding), start, free

    def outcome(self, system: System) -> Outcome:
        decoder, start, free = self._system(system)
        fixed = tuple(name for name in start if name not in free)
        results = []
        for run in range(self.options.runs):
            folder = self.folder / system.slug / f"run-{run + 1}"
            folder.parent.mkdir(exist_ok=True)
            results.append(self._tuned(system, decoder, start, fixed, folder, self.options.seed + run))
        lines = {
            one.name: [
                self._translated(decoder, one, result.weights, self.folder / system.slug / f"run-{run + 1}")
                for run, result in enumerate(results)
            ]
            for one in self.sets
        }
        return Outcome(
            [{name: result.weights[name] for name in free} for result in results],
            [result.iterations[result.best].score for result in results],
            [len(result.iterations) - 1 for result in results],
            [sum(iteration.seconds for iteration in result.iterations) for result in results],
            {
                name: np.array([self.metrics[name].statistics(each) for each in runs])
                for name, runs in lines.items()
            },
        )

    def _tuned(
        self,
        system: System,
        decoder: Decoder,
        start: Mapping[str, float],
        fixed: Sequence[str],
        folder: Path,
        seed: int,
    ) -> TuneResult:
        settings = {**getattr(self.options, system.method), **dict(system.options)}
        held_out = None
        if self.held_out is not None and system.method == "mira":
            held_out = HeldOut(
                ModelDecoder(decoder, self.held_out.sentences, self.threads),
                self.metrics[self.held_out.name],
            )
        what = f"{system.name}, {folder.name}"
        return tune(
            ModelDecoder(decoder, self.tuning.sentences, self.threads),
            self.metric,
            start,
            folder,
            TuneOptions(system.method, seed=seed, fixed=fixed, **settings),
            held_out=held_out,
            threads=self.threads,
            report=lambda line: self.report(f"{what}: {line}"),
        )

    def scatter(self, path: Path) -> None:
        """Draws Figure 1 of a sentence of the tuning set, with weights that MIRA found for all features."""
        decoder, _, _ = self._system(FULL)
        weights = read_weights(self.folder / FULL.slug / "run-1" / "weights.txt")
        number = self.options.sentence - 1
        found = decoder.with_weights(weights).translate(self.tuning.sentences[number], keep="forest")
        if found.forest is None or found.forest.root < 0:
            return
        vector = decoder.model.weight_vector(weights)
        references = self.metric.references[number]
        document = BleuDocument()
        lists = oracle_lists(found.forest, found.forest.scores(vector), references, document)
        plot_oracles(lists, document, len(found.forest.source), path)

    def _translated(
        self, decoder: Decoder, one: ParsedSet, weights: Mapping[str, float], run: Path
    ) -> list[str]:
        """Lines of tokens."""
        path = run.with_name(f"{run.name}.{one.name}.json")
        if path.exists() and (found := read_json(path, _Translations)).weights == weights:
            return found.lines
        results = decoder.with_weights(weights).translate_batch(one.sentences, threads=self.threads)
        made = _Translations(weights=dict(weights), lines=[" ".join(result.tokens) for result in results])
        write_atomically(path, made.model_dump_json(indent=0) + "\n")
        return made.lines
