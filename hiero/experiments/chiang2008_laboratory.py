"""Where the systems of Chiang et al. (2008) are tuned and tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.evaluate import Bleu
from hiero.experiments.chiang2008_systems import (
    FULL,
    Chiang2008Options,
    Outcome,
    ParsedSet,
    System,
    local_features,
)
from hiero.features.protocols import LocalFeatures
from hiero.forest.losses import BleuDocument
from hiero.forest.oracles import oracle_lists, plot_oracles
from hiero.tune.iterations import HeldOut, TuneResult
from hiero.tune.loop import tune
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions


class _Translations(BaseModel):
    """A translated set as a file holds it, and the weights that translated it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]
    lines: list[str]


@dataclass(frozen=True)
class Laboratory:
    """Tunes systems and translates with what came out; does nothing twice. ``further`` local features are all
    systems' beside their own."""

    model: Model
    tuning: ParsedSet
    held_out: ParsedSet | None
    tests: Sequence[ParsedSet]
    folder: Path
    options: Chiang2008Options
    threads: int = 1
    report: Callable[[str], object] = lambda _: None
    further: Sequence[LocalFeatures] = ()

    @cached_property
    def sets(self) -> list[ParsedSet]:
        """What is translated."""
        return [*([self.held_out] if self.held_out else []), *self.tests]

    @cached_property
    def metrics(self) -> dict[str, Bleu]:
        """By the names of sets. Raises ValueError for a name of two."""
        effective = self.options.effective_length
        found = {one.name: Bleu(one.references, effective_length=effective) for one in self.sets}
        if len(found) < len(self.sets):
            raise ValueError("two sets have one name")
        return found

    @cached_property
    def metric(self) -> Bleu:
        """Of the tuning set."""
        return Bleu(self.tuning.references, effective_length=self.options.effective_length)

    @cached_property
    def parsed(self) -> bool:
        """Whether all sets are. Raises ValueError where some are, for what would be left out then is most
        likely wanted."""
        every = (self.tuning, *self.sets)
        without = [one.name for one in every if not one.is_parsed]
        if without and any(one.has_parses for one in every):
            names = ", ".join(without)
            raise ValueError(f"sets with sentences without parses, where others have some: {names}")
        return not without

    def _system(self, system: System) -> tuple[Decoder, dict[str, float], list[str]]:
        """A decoder with the system's features, the weights to start from, which are the model's for the
        baseline, and the features that have weights."""
        options = self.options
        made = [*local_features(system.features, self.model, self.parsed, options), *self.further]
        model = self.model.with_features(
            made,
            generators=self.model.generators,
            log_base=options.log_base,
            log_features=self.model.log_features,
        )
        baseline = options.baseline_of(model.feature_names)
        start = {name: 0.0 for name in model.feature_names}
        start |= {name: weight for name, weight in model.weights.items() if name in baseline}
        own = {name for each in made for name in each.names}
        free = [name for name in model.feature_names if name in baseline or name in own]
        return Decoder(model, **options.decoding), start, free

    def outcome(self, system: System) -> Outcome:
        """Runs are in the folder, in one of the system's name. Raises what ``hiero.tune.tune`` raises."""
        decoder, start, free = self._system(system)
        learnt = set(free)
        fixed = tuple(name for name in start if name not in learnt)
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
        lists = oracle_lists(
            found.forest,
            found.forest.scores(vector),
            references,
            document,
            effective_length=self.options.effective_length,
        )
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
