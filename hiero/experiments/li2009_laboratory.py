"""Where the systems of Li and Eisner (2009) are tuned and tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.memory import peak_memory
from hiero.base.parallel import ordered_map
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.experiments.laboratory import Laboratory, Trial
from hiero.experiments.li2009_systems import FIRST_STAGE, LARGE, Li2009Options, System
from hiero.experiments.results import NamedSet, Outcome
from hiero.features.sentence import Sentence
from hiero.rerank import Reranker, SecondStageOptions, check_second_stage, train_second_stage
from hiero.rerank.features import SCORE
from hiero.rerank.pipeline import RERANKER, read_examples
from hiero.rerank.training import penalties_of, space_of
from hiero.train import TrainInputs
from hiero.tune.annealing import evaluated
from hiero.tune.methods import Risk
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions
from hiero.tune.protocol import Array
from hiero.tune.risk import Loss, RiskSpace


class Pass(BaseModel):
    """One evaluation of what is minimised, with its gradient, over the tuning set or the forests of the
    bitext: seconds, and the peak of the process."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Trained:
    """The data that the model was trained on, and where the model is."""

    directory: Path
    inputs: TrainInputs


class Li2009Laboratory(Laboratory[System, Li2009Options]):
    """Without ``trained`` there is no second stage."""

    def __init__(
        self,
        model: Model,
        tuning: NamedSet,
        tests: Sequence[NamedSet],
        folder: Path,
        options: Li2009Options,
        trained: Trained | None,
        threads: int = 1,
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__(tests, folder, options, threads, report)
        self.model = model
        self.tuning = tuning
        self.trained = trained
        self.decoder = Decoder(model, **options.decoding)

    def start(self, trial: Trial, run: int) -> Mapping[str, float]:
        """Minimum risk draws nothing at random: runs differ by where they start."""
        if run == 0:
            return trial.start
        drawn = np.random.default_rng([self.options.seed, run]).uniform(-1, 1, len(trial.start))
        weights = np.array(list(trial.start.values()))
        sizes = np.maximum(np.abs(weights), np.abs(weights).mean())
        moved = weights + self.options.displacement * sizes * drawn
        return dict(zip(trial.start, moved.tolist(), strict=True))

    def unused(self, system: System) -> set[str]:
        unused = {"mert", "risk", "second", "large_runs"} - {system.method}
        return (unused | {"k", "displacement"}) - {"large_runs"} if system == LARGE else unused

    def check(self, system: System) -> None:
        if system != LARGE:
            return super().check(system)
        assert self.trained is not None
        model = Model.load(self.trained.directory, **self._given)
        check_second_stage(model, self.trained.inputs, decoding=self.options.decoding)

    def trial(self, system: System) -> Trial:
        start = {name: self.model.weights.get(name, 0.0) for name in self.model.feature_names}
        return Trial(
            ModelDecoder(self.decoder, self.tuning.sentences, self.threads),
            self.bleu(self.tuning),
            start,
            TuneOptions(system.method, **system.settings(self.options)),
            self.decoder,
            list(start),
        )

    def outcome(self, system: System) -> Outcome:
        return self._large() if system == LARGE else super().outcome(system)

    def _run(self, system: System, run: int) -> Path:
        return self.folder / system.slug / f"run-{run + 1}"

    @property
    def _given(self) -> dict[str, Any]:
        """The arguments that opening the model's directory takes besides."""
        return {"local_features": self.model.local_features, "generators": self.model.generators}

    def _second_options(self, run: int) -> SecondStageOptions:
        return SecondStageOptions(**{"seed": self.options.seed + run, **self.options.second})

    def _large(self) -> Outcome:
        """Second stages of the weights that minimum risk with annealing on forests has found."""
        assert self.trained is not None
        metrics = {self.tuning.name: self.bleu(self.tuning), **self.metrics}
        found: dict[str, list[Array]] = {name: [] for name in metrics}
        weights = []
        for run in range(self.options.large_runs):
            folder = self.begun(LARGE) / f"run-{run + 1}"
            reranker = train_second_stage(
                self.trained.directory,
                self.trained.inputs,
                folder,
                self._second_options(run),
                weights=read_weights(self._run(FIRST_STAGE, run) / "weights.txt"),
                **self._given,
                decoding=self.options.decoding,
                threads=self.threads,
                report=lambda line, run=run: self.report(f"{LARGE.name}, run-{run + 1}: {line}"),  # type: ignore[misc]
            )
            weights.append({SCORE: reranker.score, **reranker.ngrams})
            for one in (self.tuning, *self.sets):
                lines = self._reranked(reranker, one, folder, weights[-1])
                found[one.name].append(metrics[one.name].statistics(lines))
        tuning, nothing = metrics[self.tuning.name], [0.0] * len(weights)
        scores = [float(tuning.score(each.sum(axis=0))) for each in found[self.tuning.name]]
        statistics = {one.name: np.array(found[one.name]) for one in self.sets}
        return Outcome(weights, scores, [0] * len(weights), nothing, nothing, statistics)

    def _reranked(
        self, reranker: Reranker, one: NamedSet, run: Path, weights: Mapping[str, float]
    ) -> list[str]:
        decoder = self.decoder.with_weights(self.decoder.model.weight_vector(reranker.weights))

        def line(sentence: Sentence) -> str:
            best = reranker.of(decoder.translate(sentence, keep="forest").forest)
            return "" if best is None else " ".join(best.tokens)

        return self.lines(
            run, one.name, weights, lambda: list(ordered_map(line, one.sentences, self.threads))
        )

    def a_pass(self, system: System) -> Pass | None:
        """Reads the pass of the first run, where it has ended; None for a method without passes."""
        if system.method == "mert":
            return None
        path = self.folder / system.slug / "pass.json"
        if path.exists():
            return read_json(path, Pass)
        space, loss, weights = self._second_space() if system == LARGE else self._space(system)
        with peak_memory() as peak:
            begun = time.perf_counter()
            evaluated(space, loss, weights, 1.0, 0.0)
            seconds = time.perf_counter() - begun
        made = Pass(seconds=seconds, megabytes=peak.megabytes)
        write_atomically(path, made.model_dump_json() + "\n")
        return made

    def _space(self, system: System) -> tuple[RiskSpace, Loss, Array]:
        """Makes the risk of all derivations that decoding of the tuning set has accumulated."""
        trial = self.trial(system)
        run = self._run(system, 0)
        weights = self.model.weight_vector(read_weights(run / "weights.txt"))
        method = trial.options.settings
        assert isinstance(method, Risk)
        found = method.nothing(trial.metric, len(weights))
        for folder in sorted(run.glob("iteration-*")):
            found.restore(folder)
        return *method.objective(found, trial.metric, weights, self.threads), weights

    def _second_space(self) -> tuple[RiskSpace, Loss, Array]:
        examples = read_examples(self._run(LARGE, 0))
        reranker = Reranker.load(self._run(LARGE, 0) / RERANKER)
        ngrams = [reranker.ngrams.get(" ".join(ngram), 0.0) for ngram in examples.features.ngrams]
        penalties = penalties_of(examples.features, self._second_options(0))
        return *space_of(examples, penalties, self.threads), np.array([reranker.score, *ngrams])
