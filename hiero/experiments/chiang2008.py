"""MERT and online MIRA with soft syntax and structural distortion (Chiang et al. 2008, section 5).

Table 1 has both methods on several sets of features, compared with MERT on those of the baseline. Table 2
takes parts of the method away from MIRA with all features. MIRA's passes are chosen by the held-out set, or
without one by the tuning set. Rows are left out that need parses or counts of distortion that are not there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from hiero._core import FormatError
from hiero.base.files import write_atomically
from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model
from hiero.decode.model_directory import abbreviated
from hiero.evaluate import EffectiveLength
from hiero.experiments import report
from hiero.experiments.laboratory import ExperimentOptions, Laboratory, Trial
from hiero.experiments.systems import LabelledSet, Outcome, Results, System, published_options
from hiero.features.built_in import BuiltIn
from hiero.features.distortion import CoarseDistortion, FineDistortion
from hiero.features.protocols import LocalFeatures
from hiero.features.syntax import COARSE_LABELS, FINE_LABELS, CoarseSyntax, FineSyntax, Labels
from hiero.forest.losses import BleuDocument
from hiero.forest.oracles import oracle_lists, plot_oracles
from hiero.tune.run.iterations import HeldOut
from hiero.tune.run.model_decoder import ModelDecoder

# The paper's baseline: language models, rules in both directions, lengths, and classes of rules.
BASELINE = (
    *("LM0", "LM1", "PhraseFE", "PhraseEF", "LexFE", "LexEF", "WordPenalty"),
    *("RulePenalty", "Identity", "NumberRule", "NameRule", "Glue"),
)
# The set of features with all that the model and the parses allow.
ALL = "all"


class Chiang2008Options(ExperimentOptions):
    """Settings that the paper leaves open or chose for its corpora. ``mert`` and ``mira`` hold settings of
    these methods."""

    baseline: tuple[str, ...] | None = Field(
        None, min_length=1, description="features of all systems (those of the paper that the model has)"
    )
    coarse_labels: Labels = COARSE_LABELS
    fine_labels: Labels = FINE_LABELS
    log_base: float = Field(100.0, gt=1, allow_inf_nan=False)
    effective_length: EffectiveLength = "shortest"
    mert: Mapping[str, Any] = {}
    mira: Mapping[str, Any] = {}
    sentence: int = Field(0, ge=0, description="sentence of the tuning set, from 0, for the scatter plot")

    methods: ClassVar[Mapping[str, str]] = {"mert": "mert", "mira": "mira"}

    def baseline_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Returns the baseline's features among those of a model. Raises FormatError for one in ``baseline``
        that the model lacks."""
        if self.baseline is None:
            return tuple(name for name in BASELINE if name in names)
        if missing := [name for name in self.baseline if name not in names]:
            raise FormatError(f"baseline: the model has no feature {abbreviated(missing)}")
        return self.baseline


def _system(method: str, features: str, name: str = "", **settings: Any) -> System:
    """Returns a row; a system's variant is its set of features."""
    slug = "-".join([method, *features.split(), *(f"{key}-{value}" for key, value in settings.items())])
    labels = {"coarse syntax": ("coarse_labels",), "fine syntax": ("fine_labels",), ALL: ("fine_labels",)}
    return System(
        name or f"{method.upper()}, {features}",
        slug,
        method,
        tuple(settings.items()),
        features,
        (method, *labels.get(features, ())),
    )


TABLE_1 = (
    _system("mert", "baseline"),
    _system("mert", "coarse syntax"),
    _system("mert", "fine syntax"),
    _system("mert", "coarse distortion"),
    _system("mert", "fine distortion"),
    _system("mira", "baseline"),
    _system("mira", "fine syntax"),
    _system("mira", "fine distortion"),
    _system("mira", ALL),
)
FULL = TABLE_1[-1]
TABLE_2 = (
    _system("mira", ALL, "local updating", oracle="local", no_loss_augmented=True),
    _system("mira", ALL, "local updating, LAI", oracle="local"),
    _system("mira", ALL, "mu = 0.5 oracle, no LAI", no_loss_augmented=True),
    _system("mira", ALL, "no sharing", no_sharing=True),
)


def systems(model: Model, parsed: bool) -> list[System]:
    """Returns the rows of both tables that the model and the parses allow and that differ from others."""
    absent = set() if parsed else {"coarse syntax", "fine syntax"}
    if model.distortion is None:
        absent.add("coarse distortion")
    # Without parses all features are those of the baseline and of fine distortion.
    same_as_full = set() if parsed else {("mira", "fine distortion")}
    return [
        system
        for system in (*TABLE_1, *TABLE_2)
        if system.variant not in absent and (system.method, system.variant) not in same_as_full
    ]


def local_features(features: str, model: Model, parsed: bool, options: Chiang2008Options) -> list[BuiltIn]:
    """Returns the features that a set of features adds to the baseline."""
    added: list[BuiltIn] = []
    if features == "coarse syntax":
        added.append(CoarseSyntax(labels=options.coarse_labels))
    if features == "fine syntax" or (features == ALL and parsed):
        added.append(FineSyntax(labels=options.fine_labels))
    if features == "coarse distortion":
        assert model.distortion is not None
        added.append(CoarseDistortion.from_statistics(model.distortion))
    if features in ("fine distortion", ALL):
        added.append(FineDistortion())
    return added


@dataclass(kw_only=True, eq=False)
class Chiang2008(Laboratory[Chiang2008Options]):
    """Writes ``tables.md``, ``scores.csv``, ``weights.csv``, and with matplotlib ``weights.png`` and
    ``figure-1.png``. ``added_features`` are features of all systems besides those of the paper."""

    held_out: LabelledSet | None = None
    added_features: Sequence[LocalFeatures] = ()

    shared_options: ClassVar[tuple[str, ...]] = (*Laboratory.shared_options, "baseline", "log_base")

    @property
    def sets(self) -> Sequence[LabelledSet]:
        return [*([self.held_out] if self.held_out else []), *self.tests]

    @cached_property
    def parsed(self) -> bool:
        """Whether all sets have parses. Raises ValueError where only some have."""
        every = (self.tuning, *self.sets)
        without = [one.name for one in every if not one.is_parsed]
        if without and any(one.has_parses for one in every):
            names = ", ".join(without)
            raise ValueError(f"sets with sentences without parses, where others have some: {names}")
        return not without

    def check(self) -> None:
        if self.options.sentence >= len(self.tuning.sentences):
            count = len(self.tuning.sentences)
            raise ValueError(f"no sentence {self.options.sentence}, the tuning set has {count}, from 0")
        self.options.baseline_of(self.model.feature_names)
        if absent := left_out(self.systems()):
            self.progress(absent)

    def systems(self) -> Sequence[System]:
        return systems(self.model, self.parsed)

    def trial(self, system: System) -> Trial:
        model = self._model(system)
        decoder = Decoder(model, **self.options.decoding)
        baseline = self.options.baseline_of(model.feature_names)
        added = {name for features in model.local_features for name in features.names}
        tuned = [name for name in model.feature_names if name in baseline or name in added]
        start = {name: 0.0 for name in model.feature_names}
        start |= {name: weight for name, weight in model.weights.items() if name in baseline}
        fixed = tuple(name for name in start if name not in set(tuned))
        settings = {**getattr(self.options, system.method), **dict(system.settings)}
        held_out = None
        if self.held_out is not None and system.method == "mira":
            other = ModelDecoder(decoder, self.held_out.sentences, self.threads)
            held_out = HeldOut(other, self.metrics[self.held_out.name])
        options = published_options(system.method, settings, fixed)
        return Trial(decoder, options, weights=start, tuned=tuned, held_out=held_out)

    def _model(self, system: System) -> Model:
        """Returns the model with a system's features in place of its own."""
        features = local_features(system.variant, self.model, self.parsed, self.options)
        return self.model.with_features(
            [*features, *self.added_features],
            generators=self.model.generators,
            log_base=self.options.log_base,
            log_features=self.model.log_features,
        )

    def write(self, results: Results) -> None:
        tables = tables_of(results)
        absent = left_out(results.outcomes)
        weights = report.section("Weights by MIRA with all features", _weight_lines(results.outcomes[FULL]))
        sections = [
            *([absent] if absent else []),
            *(report.score_table(results, table) for table in tables),
            weights,
        ]
        report.write_report(self.folder, results, sections, tables)
        write_atomically(self.folder / "weights.csv", weights_csv(results))
        if report.can_draw():
            plot_weights(results.outcomes[FULL], self.folder / "weights.png")
            self._plot_oracles(self.folder / "figure-1.png")

    def _plot_oracles(self, path: Path) -> None:
        """Draws Figure 1 for a sentence of the tuning set, with the weights of MIRA with all features."""
        decoder = Decoder(self._model(FULL), **self.options.decoding)
        vector = decoder.model.weight_vector(read_weights(self.run_folder(FULL, 0) / "weights.txt"))
        number = self.options.sentence
        result = decoder.with_weights(vector).translate(self.tuning.sentences[number], keep="forest")
        if not result.has_parse:
            return
        document = BleuDocument()
        lists = oracle_lists(
            result.forest,
            result.forest.scores(vector),
            self.bleu(self.tuning).references[number],
            document,
            effective_length=self.options.effective_length,
        )
        plot_oracles(lists, document, result.forest.source_length, path)


def tables_of(results: Results) -> list[report.Table]:
    """Returns both tables with the rows that there are."""
    before = (
        report.Measure("#", lambda results, system: str(len(results.outcomes[system].weights[0]))),
        report.TUNING_SCORE,
    )
    after = (
        report.Measure("length", _length),
        report.mean_iterations("passes"),
    )
    note = " Length: words of translations of all sets for words of references."
    second = {"full system": FULL, **report.rows(results, TABLE_2)}
    return [
        report.Table("Table 1", "methods and features", report.rows(results, TABLE_1), before, after, note),
        report.Table("Table 2", "parts of the method", second, before, after, note),
    ]


def _length(results: Results, system: System) -> str:
    return report.spread(report.length_ratios(results, results.outcomes[system]), 3)


def left_out(rows: Collection[System]) -> str:
    """Returns a sentence that lists the rows of the paper that were not run; "" if all were."""
    absent = [system.name for system in (*TABLE_1, *TABLE_2) if system not in rows]
    return f"Left out for want of parses or counts of distortion: {'; '.join(absent)}." if absent else ""


# Features that come in pairs: the columns of a table, and names with their rows and columns.
_PAIRS = (
    (("Match", "Cross"), re.compile(r"Syntax_(?P<row>.+)_(?P<column>Match|Cross)")),
    (("Monotone", "Reordered"), re.compile(r"Distortion_(?P<column>Monotone|Reordered)_(?P<row>.+)")),
)
# The columns of a table of weights, and for each row and column the weights of all runs.
WeightTable = tuple[tuple[str, ...], Mapping[str, Sequence[Sequence[float]]]]


def weight_tables(outcome: Outcome) -> list[WeightTable]:
    """Returns weights of constituents by label, of nonterminals by size, and at last all others."""
    others = {name: [run[name] for run in outcome.weights] for name in outcome.weights[0]}
    tables: list[WeightTable] = []
    for columns, pattern in _PAIRS:
        rows: dict[str, dict[str, list[float]]] = {}
        for match in filter(None, map(pattern.fullmatch, list(others))):
            rows.setdefault(match["row"], {})[match["column"]] = others.pop(match[0])
        if rows:
            tables.append((columns, {row: [pair[name] for name in columns] for row, pair in rows.items()}))
    return [*tables, (("weight",), {name: [values] for name, values in others.items()})]


def _weight_lines(outcome: Outcome) -> Iterator[str]:
    for columns, rows in weight_tables(outcome):
        cells = ([row, *(report.spread(values, 3) for values in each)] for row, each in rows.items())
        yield from report.markdown_rows(["" if len(columns) > 1 else "feature", *columns], cells)
        if len(columns) > 1:
            yield ""


def weights_csv(results: Results) -> str:
    """Returns a line for each system and feature: mean, deviation and the weights of all runs."""
    rows: list[Sequence[object]] = [["system", "feature", "mean", "deviation", "runs"]]
    for system, outcome in results.outcomes.items():
        for name in outcome.weights[0]:
            values = [run[name] for run in outcome.weights]
            rows.append([system.name, name, np.mean(values), report.deviation(values), *values])
    return report.csv_text(rows)


def plot_weights(outcome: Outcome, path: Path) -> None:
    """Draws the tables of weights, with the deviation between runs."""
    *paired, others = weight_tables(outcome)
    with report.figure(path, 5 * (len(paired) + 1), 5) as drawn:
        panels = drawn.subplots(1, len(paired) + 1, squeeze=False)[0]
        for axes, (columns, rows) in zip(panels, (others, *paired), strict=True):
            for number, name in enumerate(columns):
                values = [row[number] for row in rows.values()]
                places = np.arange(len(rows)) + 0.2 * (number - (len(columns) - 1) / 2)
                means, errors = (
                    [np.mean(each) for each in values],
                    [report.deviation(each) for each in values],
                )
                axes.errorbar(means, places, xerr=errors, fmt="os"[number], capsize=3, label=name)
            axes.set_yticks(range(len(rows)), list(rows))
            axes.axvline(0, color="grey", linewidth=0.8)
            axes.invert_yaxis()
            axes.set_xlabel("weight")
            if len(columns) > 1:
                axes.legend()
