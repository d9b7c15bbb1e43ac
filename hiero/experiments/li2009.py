"""Minimum risk on lists and forests, with annealing, and with many features (Li and Eisner 2009, section 7).

Table 5 compares them with MERT. Minimum risk draws nothing at random, so that runs after the first start from
weights that are displaced at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, Field, field_validator

from hiero.base.parallel import spread_map
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.evaluate import EffectiveLength
from hiero.experiments import report
from hiero.experiments.laboratory import ExperimentOptions, Laboratory, Trial
from hiero.experiments.systems import LabelledSet, Outcome, Results, System, published_options
from hiero.features.sentence import Sentence
from hiero.rerank import Reranker, SecondStageOptions, check_second_stage, train_second_stage
from hiero.rerank.features import SCORE
from hiero.train import TrainInputs
from hiero.tune import METHODS
from hiero.tune.methods.risk.options import idle_options

# Sentences that go to a place of a cluster together.
_TOGETHER = 4


class Li2009Options(ExperimentOptions):
    """Settings that the paper leaves open. ``mert`` and ``risk`` hold settings of these methods, ``second``
    of the second stage."""

    k: int = Field(100, ge=1, description="distinct translations of a sentence")
    effective_length: EffectiveLength = "closest"
    displacement: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="largest change of each weight that runs after the first start from, as a share of it, or"
        " of the mean weight if that is more",
    )
    large_runs: int = Field(1, ge=1, description="runs of the second stage, which takes long")
    mert: Mapping[str, Any] = {}
    risk: Mapping[str, Any] = {}
    second: Mapping[str, Any] = {}

    methods: ClassVar[Mapping[str, str]] = {"mert": "mert"}

    @field_validator("risk")
    @classmethod
    def _keep_rows_apart(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        for name in ("space", "annealing", "loss"):
            if name in settings:
                raise ValueError(f"{name} is what rows differ by")
        return settings

    def sections(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        yield from super().sections()
        # Only rows with annealing use its settings, which without it would be refused.
        yield "risk", type(METHODS["risk"]), {**self.risk, "annealing": True}
        yield "second", SecondStageOptions, self.second


def _risk(name: str, slug: str, space: str, annealing: bool = False, loss: str = "bleu") -> System:
    settings = (("space", space), ("annealing", annealing), ("loss", loss))
    return System(name, slug, "risk", settings, options=("risk", "k", "displacement"))


MERT = System("MERT (n-best)", "mert", "mert", options=("mert", "k", "displacement"))
FIRST_STAGE = _risk("MR+DA (forest)", "risk-forest-annealing", "forest", annealing=True)
# Starts from the weights of the row before, as in the paper.
LARGE = System("MR (forest, large)", "risk-large", "second", options=("second", "large_runs"))
TABLE_5 = (
    MERT,
    _risk("MR (n-best)", "risk-nbest", "nbest"),
    _risk("MR+DA (n-best)", "risk-nbest-annealing", "nbest", annealing=True),
    _risk("MR (forest)", "risk-forest", "forest"),
    FIRST_STAGE,
    LARGE,
    _risk("MR (n-best), linear BLEU", "risk-nbest-linear", "nbest", loss="linear-bleu"),
    _risk("MR (forest), linear BLEU", "risk-forest-linear", "forest", loss="linear-bleu"),
)


def method_settings(system: System, options: Li2009Options) -> dict[str, Any]:
    """Returns the settings of a system's tuning method."""
    settings = {"k": options.k, **getattr(options, system.method), **dict(system.settings)}
    unused = idle_options(settings["space"], settings["annealing"]) if system.method == "risk" else ()
    return {name: value for name, value in settings.items() if name not in unused}


@dataclass(frozen=True)
class TrainedModel:
    """A model directory, and the data that it was trained on."""

    directory: Path
    inputs: TrainInputs


@dataclass(frozen=True)
class _Rerank:
    """Translates a sentence into a line of tokens by both stages."""

    decoder: Decoder
    reranker: Reranker

    def __call__(self, sentence: Sentence) -> str:
        best = self.reranker.choose(self.decoder.translate(sentence, keep="forest").forest)
        return "" if best is None else " ".join(best.tokens)


@dataclass(kw_only=True, eq=False)
class Li2009(Laboratory[Li2009Options]):
    """Writes ``tables.md`` and ``scores.csv``. The row with a second stage, for which the bitext is decoded,
    is left out without ``trained``."""

    trained: TrainedModel | None = None

    @cached_property
    def decoder(self) -> Decoder:
        return Decoder(self.model, **self.options.decoding)

    def check(self) -> None:
        if not self.tests:
            raise ValueError("no set to test on")
        if self.options.large_runs not in (1, self.options.runs):
            raise ValueError(f"large_runs: 1, or all {self.options.runs} runs")
        if self.tuning.name in self.metrics:
            raise ValueError("two sets have one name")

    def systems(self) -> list[System]:
        return [system for system in TABLE_5 if system != LARGE or self.trained is not None]

    def check_system(self, system: System) -> None:
        if system != LARGE:
            return super().check_system(system)
        assert self.trained is not None
        model = Model.load(self.trained.directory, **self._loading)
        check_second_stage(model, self.trained.inputs, decoding=self.options.decoding)

    def trial(self, system: System) -> Trial:
        settings = method_settings(system, self.options)
        return Trial(self.decoder, published_options(system.method, settings))

    def start(self, trial: Trial, run: int) -> Mapping[str, float]:
        if run == 0:
            return trial.start
        draws = np.random.default_rng([self.options.seed, run]).uniform(-1, 1, len(trial.start))
        weights = np.array(list(trial.start.values()))
        sizes = np.maximum(np.abs(weights), np.abs(weights).mean())
        displaced = weights + self.options.displacement * sizes * draws
        return dict(zip(trial.start, displaced.tolist(), strict=True))

    def outcome(self, system: System) -> Outcome:
        return self._second_stages() if system == LARGE else super().outcome(system)

    @property
    def _loading(self) -> dict[str, Any]:
        """Returns arguments of ``Model.load`` for what a model directory does not hold."""
        return {"local_features": self.model.local_features, "generators": self.model.generators}

    def second_options(self, run: int) -> SecondStageOptions:
        """Returns the options of a run of the second stage, the first being 0."""
        return SecondStageOptions(**{"seed": self.options.seed + run, **self.options.second})

    def _second_stages(self) -> Outcome:
        """Trains second stages on the weights of minimum risk with annealing on forests, and tests them."""
        self.begin(LARGE)
        metrics = {self.tuning.name: self.bleu(self.tuning), **self.metrics}
        weights, statistics = [], {name: [] for name in metrics}  # type: ignore[var-annotated]
        for run in range(self.options.large_runs):
            reranker = self._second_stage(run)
            weights.append({SCORE: reranker.score, **reranker.ngrams})
            for one in (self.tuning, *self.sets):
                lines = self._reranked(reranker, one, run, weights[-1])
                statistics[one.name].append(metrics[one.name].statistics(lines))
        tuning = [
            float(metrics[self.tuning.name].score(segments.sum(axis=0)))
            for segments in statistics.pop(self.tuning.name)
        ]
        tests = {name: np.array(runs) for name, runs in statistics.items()}
        return Outcome(weights, tuning, [0] * len(weights), tests)

    def _second_stage(self, run: int) -> Reranker:
        assert self.trained is not None
        folder = self.run_folder(LARGE, run)
        return train_second_stage(
            self.trained.directory,
            self.trained.inputs,
            folder,
            self.second_options(run),
            weights=read_weights(self.run_folder(FIRST_STAGE, run) / "weights.txt"),
            **self._loading,
            decoding=self.options.decoding,
            threads=self.threads,
            report=lambda line: self.progress(f"{LARGE.name}, {folder.name}: {line}"),
        )

    def _reranked(
        self, reranker: Reranker, one: LabelledSet, run: int, weights: Mapping[str, float]
    ) -> list[str]:
        decoder = self.decoder.with_weights(self.decoder.model.weight_vector(reranker.weights))

        def translate() -> list[str]:
            return list(spread_map(_Rerank(decoder, reranker), one.sentences, self.threads, _TOGETHER))

        return self.lines(self.run_folder(LARGE, run), one.name, weights, translate)

    def write(self, results: Results) -> None:
        table = table_of(results)
        report.write_report(self.folder, results, [report.score_table(results, table)], [table])


def table_of(results: Results) -> report.Table:
    """Returns Table 5 with the rows that there are."""
    return report.Table(
        "Table 5",
        "minimum risk",
        report.rows(results, TABLE_5),
        before=(report.Measure("features", _nonzero_weights), report.TUNING_SCORE),
        after=(report.Measure("iterations", _iterations),),
    )


def _nonzero_weights(results: Results, system: System) -> str:
    runs = results.outcomes[system].weights
    return f"{np.mean([sum(weight != 0 for weight in run.values()) for run in runs]):,.0f}"


def _iterations(results: Results, system: System) -> str:
    return "" if system == LARGE else f"{np.mean(results.outcomes[system].iterations):.1f}"
