"""Where the systems of Chiang et al. (2008) are tuned and tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.evaluate import Bleu
from hiero.experiments.chiang2008_systems import ALL, FULL, Chiang2008Options, System, local_features
from hiero.experiments.laboratory import Laboratory, Trial
from hiero.experiments.results import NamedSet
from hiero.features.protocols import LocalFeatures
from hiero.forest.losses import BleuDocument
from hiero.forest.oracles import oracle_lists, plot_oracles
from hiero.tune.iterations import HeldOut
from hiero.tune.model_decoder import ModelDecoder
from hiero.tune.options import TuneOptions


class Chiang2008Laboratory(Laboratory[System, Chiang2008Options]):
    """``further`` local features are all systems' beside their own."""

    def __init__(
        self,
        model: Model,
        tuning: NamedSet,
        held_out: NamedSet | None,
        tests: Sequence[NamedSet],
        folder: Path,
        options: Chiang2008Options,
        threads: int = 1,
        report: Callable[[str], object] = lambda _: None,
        further: Sequence[LocalFeatures] = (),
    ) -> None:
        super().__init__([*([held_out] if held_out else []), *tests], folder, options, threads, report)
        self.model = model
        self.tuning = tuning
        self.held_out = held_out
        self.further = further

    @cached_property
    def metric(self) -> Bleu:
        """The metric of the tuning set."""
        return self.bleu(self.tuning)

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

    def unused(self, system: System) -> set[str]:
        unused = {"mert", "mira", "coarse_labels", "fine_labels", "sentence"} - {system.method}
        if system.features == "coarse syntax":
            unused.remove("coarse_labels")
        if system.features in ("fine syntax", ALL):
            unused.remove("fine_labels")
        return unused

    def trial(self, system: System) -> Trial:
        decoder, start, free = self._system(system)
        learnt = set(free)
        fixed = tuple(name for name in start if name not in learnt)
        settings = {**getattr(self.options, system.method), **dict(system.options)}
        held_out = None
        if self.held_out is not None and system.method == "mira":
            other = ModelDecoder(decoder, self.held_out.sentences, self.threads)
            held_out = HeldOut(other, self.metrics[self.held_out.name])
        return Trial(
            ModelDecoder(decoder, self.tuning.sentences, self.threads),
            self.metric,
            start,
            TuneOptions(system.method, fixed=fixed, **settings),
            decoder,
            free,
            held_out,
        )

    def scatter(self, path: Path) -> None:
        """Draws Figure 1 of a sentence of the tuning set, with weights that MIRA found for all features."""
        decoder, _, _ = self._system(FULL)
        weights = read_weights(self.folder / FULL.slug / "run-1" / "weights.txt")
        number = self.options.sentence
        vector = decoder.model.weight_vector(weights)
        found = decoder.with_weights(vector).translate(self.tuning.sentences[number], keep="forest")
        if not found.has_parse:
            return
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
