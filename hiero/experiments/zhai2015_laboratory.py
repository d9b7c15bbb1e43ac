"""Where the systems of Zhai et al. (2015) are tuned and tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.experiments.laboratory import Laboratory, Trial
from hiero.experiments.results import NamedSet
from hiero.experiments.zhai2015_systems import METHOD_OPTIONS, System, Zhai2015Options
from hiero.tune.analysis import Analysis, analyse
from hiero.tune.instances import SearchAware
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions
from hiero.tune.span_references import AlignedBleu, Links


class _Analysed(BaseModel):
    """An analysis as a file holds it, and the weights that it is of."""

    model_config = ConfigDict(extra="forbid", strict=True)

    weights: dict[str, float]
    analysis: dict[str, float]


@dataclass(frozen=True)
class TuningSet:
    """A set to tune on, and word links of each reference of each segment, if there are some."""

    own: NamedSet
    alignments: Sequence[Sequence[Links]] | None

    def part(self, takes: Callable[[int], bool]) -> TuningSet:
        """Selects sentences by their number of words. Raises ValueError where there is none."""
        own = self.own
        kept = [i for i, sentence in enumerate(own.sentences) if takes(len(sentence.tokens))]
        if not kept:
            raise ValueError("no sentence of the tuning set is short enough to tune on")
        sentences = [own.sentences[i] for i in kept]
        references = [own.references[i] for i in kept]
        alignments = None if self.alignments is None else [self.alignments[i] for i in kept]
        return TuningSet(NamedSet(own.name, sentences, references, {}), alignments)


class Zhai2015Laboratory(Laboratory[System, Zhai2015Options]):
    """Sentences are in tokens."""

    def __init__(
        self,
        model: Model,
        tuning: TuningSet,
        tests: Sequence[NamedSet],
        folder: Path,
        options: Zhai2015Options,
        threads: int = 1,
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__(tests, folder, options, threads, report)
        self.model = model
        self.tuning = tuning

    def decoder(self, pop_limit: int) -> Decoder:
        return Decoder(self.model, **{**self.options.decoding, "pop_limit": pop_limit})

    @cached_property
    def _spans(self) -> SearchAware:
        return SearchAware.model_validate({**self.options.spans, "search_aware": "guided"})

    def tuned_on(self, system: System) -> TuningSet:
        """The sentences that a system is tuned on."""
        least = self.options.pro_words
        if system.method == "pro" and system.measure is not None and least > 0:
            return self.tuning.part(lambda words: words < least)
        if system.short:
            return self.tuning.part(lambda words: words < self._spans.short_sentence)
        return self.tuning

    def unused(self, system: System) -> set[str]:
        unused = {*METHOD_OPTIONS, "spans", "larger", "pro_words", "beams", "shares", "only"}
        unused.remove(system.method)
        if system.measure is not None or system.short:
            unused.remove("spans")
        if system.measure is not None and system.method == "pro":
            unused.remove("pro_words")
        if system.larger:
            unused.remove("larger")
        return unused

    def trial(self, system: System) -> Trial:
        options, model = self.options, self.model
        tuning = self.tuned_on(system)
        method, settings = system.options(options)
        metric = self.bleu(tuning.own)
        if tuning.alignments is not None and system.measure == "partial-span":
            metric = AlignedBleu(
                tuning.own.references, tuning.alignments, effective_length=options.effective_length
            )
        pop_limit = options.larger if system.larger else options.pop_limit
        start = {name: model.weights.get(name, 0.0) for name in model.feature_names}
        return Trial(
            ModelDecoder(self.decoder(pop_limit), tuning.own.sentences, self.threads),
            metric,
            start,
            TuneOptions(method, **settings),
            self.decoder(options.pop_limit),
            list(start),
        )

    def analysis(self, system: System, one: NamedSet) -> Analysis:
        """Analyses a set with the weights of the system's first run, which has ended."""
        run = self.folder / system.slug / "run-1"
        weights = read_weights(run / "weights.txt")
        path = run.with_name(f"{run.name}.{one.name}.analysis.json")
        if path.exists() and (found := read_json(path, _Analysed)).weights == weights:
            return Analysis(**found.analysis)
        made = analyse(
            ModelDecoder(self.decoder(self.options.pop_limit), one.sentences, self.threads),
            self.bleu(one),
            self.model.weight_vector(weights),
            k=self.options.k,
            beam=self._spans.beam,
        )
        kept = _Analysed(weights=dict(weights), analysis=asdict(made))
        write_atomically(path, kept.model_dump_json(indent=0) + "\n")
        return made

    def by_beam(self, system: System, one: NamedSet) -> dict[int, float]:
        """BLEU of a set at the beams of Figure 4, the mean of all runs."""
        options, curve = self.options, {}
        for pop_limit in options.beams:
            scores = []
            for number in range(options.runs):
                run = self.folder / system.slug / f"run-{number + 1}"
                weights = read_weights(run / "weights.txt")
                how = f".pop-limit-{pop_limit}"
                lines = self.translated(self.decoder(pop_limit), one, weights, run, how)
                statistics = self.metrics[one.name].statistics(lines)
                scores.append(float(self.metrics[one.name].score(statistics.sum(axis=0))))
            curve[pop_limit] = float(np.mean(scores))
        return curve
