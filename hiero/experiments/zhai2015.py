"""Search-aware tuning against plain tuning (Zhai, Huang and Zhao 2015, section 4).

Tables 1, 4 and 5 have MERT, batch MIRA and PRO, each plain and search-aware, compared with the plain method.
Tables 2 and 3 say what the search of MERT and of the guided backtrace could find, and how diverse their lists
are. Figure 4 is BLEU by beam, Figure 5 BLEU by the least span that is tuned on. The paper's Table 6, seconds
an iteration, is printed by ``benchmarks/zhai2015.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, Field, field_validator, model_validator

from hiero.base.weights import read_weights
from hiero.decode.decoder import Decoder
from hiero.evaluate import EffectiveLength, Runs
from hiero.experiments import report
from hiero.experiments.laboratory import ExperimentOptions, Laboratory, Stored, Trial, stored
from hiero.experiments.systems import LabelledSet, Results, System, published_options
from hiero.tune import METHODS
from hiero.tune.analysis import Analysis, analyse, plot_beams
from hiero.tune.pool.instances import SearchAware
from hiero.tune.pool.span_references import AlignedBleu
from hiero.tune.run.model_decoder import ModelDecoder


class Zhai2015Options(ExperimentOptions):
    """Settings that the paper leaves open or chose for its corpora. The beam is the pop limit. ``mert``,
    ``mira``, ``pro`` and ``hypergraph_mert`` hold settings of these methods, ``spans`` of search-aware
    tuning."""

    k: int = Field(50, ge=1, description="distinct translations of a sentence")
    pop_limit: int = Field(30, ge=1, description="pop limit of all decoding but that of MERT-S's tuning")
    larger: int = Field(200, ge=1, description="pop limit and k of MERT-S's tuning")
    pro_words: int = Field(
        10, ge=0, description="search-aware PRO is tuned on sentences of fewer words; 0: all sentences"
    )
    effective_length: EffectiveLength = "average"
    beams: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (2, 4, 8, 16, 30), min_length=1, description="pop limits of Figure 4"
    )
    shares: tuple[Annotated[float, Field(ge=0, lt=1)], ...] = Field(
        (0.25, 0.5, 0.75), description="least spans of Figure 5, as shares of a short sentence"
    )
    mert: Mapping[str, Any] = {}
    hypergraph_mert: Mapping[str, Any] = {}
    mira: Mapping[str, Any] = {}
    pro: Mapping[str, Any] = {}
    spans: Mapping[str, Any] = {}
    only: tuple[str, ...] = Field((), description="rows to run, with those that they need; (): all")

    methods: ClassVar[Mapping[str, str]] = {
        "mert": "mert",
        "hypergraph_mert": "hypergraph-mert",
        "mira": "mira-batch",
        "pro": "pro",
    }

    def sections(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        yield from super().sections()
        yield "spans", SearchAware, {**self.spans, "search_aware": "guided"}

    @field_validator("shares")
    @classmethod
    def _check_shares(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        names = [f"{share:g}" for share in shares]
        if len(set(names)) < len(names):
            raise ValueError("two shares are the same, or nearly")
        return shares

    @model_validator(mode="after")
    def _check_only(self) -> Self:
        names = {system.name for system in (*TABLE_1, *TABLE_4, *TABLE_5, *figure_5(self))}
        for name in self.only:
            if name not in names:
                raise ValueError(f"only: there is no row {name!r}")
        return self


# What differs besides settings: MERT-S is tuned with the larger beam, rows of Figure 5 on short sentences.
LARGER, SHORT = "larger", "short"


def _system(
    name: str, method: str, measure: str | None = None, variant: str = "", share: float | None = None
) -> System:
    """Returns a row; ``measure`` is what spans are judged by, None for plain tuning."""
    settings: dict[str, Any] = {} if measure is None else {"search_aware": measure}
    options = {method}
    if measure is not None or variant == SHORT:
        options.add("spans")
    if measure is not None and method == "pro":
        options.add("pro_words")
    if variant == LARGER:
        options.add("larger")
    if share is not None:
        settings["span_share"] = share
    slug = "-".join(filter(None, (method, measure, variant, "" if share is None else f"{share:g}")))
    return System(name, slug, method, tuple(settings.items()), variant, tuple(sorted(options)))


MERT = _system("MERT", "mert")
GUIDED = _system("guided backtrace", "mert", "guided")
TABLE_1 = (
    MERT,
    _system("MERT-S", "mert", variant=LARGER),
    _system("hypergraph MERT", "hypergraph_mert"),
    _system("full partial BLEU", "mert", "partial-full"),
    _system("span partial BLEU", "mert", "partial-span"),
    _system("concatenation", "mert", "concatenation"),
    _system("top-down", "mert", "top-down"),
    GUIDED,
)
_POTENTIALS = ("concatenation", "top-down", "guided")
TABLE_4 = (
    _system("batch MIRA", "mira"),
    *(_system(f"batch MIRA, {measure}", "mira", measure) for measure in _POTENTIALS),
)
TABLE_5 = (_system("PRO", "pro"), *(_system(f"PRO, {measure}", "pro", measure) for measure in _POTENTIALS))


def figure_5(options: Zhai2015Options) -> list[System]:
    """Returns MERT on short sentences, plain and with spans longer than a share of them."""
    plain = _system("MERT, short sentences", "mert", variant=SHORT)
    return [
        plain,
        *(
            _system(f"guided backtrace, spans over {share:g}", "mert", "guided", SHORT, share)
            for share in options.shares
        ),
    ]


def systems(options: Zhai2015Options, aligned: bool) -> list[System]:
    """Returns the rows asked for, those that tables and figures need with them, and no others.

    MERT and the guided backtrace, which figures show, are always among them, and the first row of each table
    that has others. Span partial BLEU needs a tuning set with word links.
    """
    rows = []
    for table in (TABLE_1, TABLE_4, TABLE_5, figure_5(options)):
        chosen = [system for system in table if not options.only or system.name in options.only]
        rows += [
            system
            for system in table
            if system in (MERT, GUIDED) or system in chosen or (chosen and system == table[0])
        ]
    return [row for row in rows if aligned or ("search_aware", "partial-span") not in row.settings]


def is_search_aware(system: System) -> bool:
    """Tells whether a system is tuned on spans as well."""
    return "search_aware" in dict(system.settings)


def method_settings(system: System, options: Zhai2015Options) -> tuple[str, dict[str, Any]]:
    """Returns a system's tuning method and the settings of it."""
    method = options.methods[system.method]
    settings: dict[str, Any] = dict(getattr(options, system.method))
    if "k" in type(METHODS[method]).model_fields:
        settings = {"k": options.larger if system.variant == LARGER else options.k, **settings}
    if is_search_aware(system):
        settings |= options.spans
    return method, settings | dict(system.settings)


class _StoredAnalysis(Stored):
    analysis: dict[str, float]


@dataclass(kw_only=True, eq=False)
class Zhai2015(Laboratory[Zhai2015Options]):
    """Writes ``tables.md`` and ``scores.csv``, and with matplotlib ``figure-4.png`` and ``figure-5.png``."""

    shared_options: ClassVar[tuple[str, ...]] = (*Laboratory.shared_options, "k", "pop_limit")

    def __post_init__(self) -> None:
        # Search-aware tuning takes sentences in tokens, whose spans it judges.
        side = self.model.text.source
        self.tuning = replace(self.tuning, sentences=[s.with_tokens(side) for s in self.tuning.sentences])

    def check(self) -> None:
        if not self.tests:
            raise ValueError("no set to test on")
        if self.tuning.name == self.tests[0].name:  # by which files of analyses are named
            raise ValueError("two sets have one name")

    def systems(self) -> list[System]:
        return systems(self.options, self.tuning.links is not None)

    def decoder(self, pop_limit: int) -> Decoder:
        return Decoder(self.model, **{**self.options.decoding, "pop_limit": pop_limit})

    @cached_property
    def _spans(self) -> SearchAware:
        return SearchAware.model_validate({**self.options.spans, "search_aware": "guided"})

    def tuning_set(self, system: System) -> LabelledSet:
        """Returns the sentences that a system is tuned on: search-aware PRO and Figure 5 take short ones."""
        if system.method == "pro" and is_search_aware(system) and self.options.pro_words > 0:
            return self.tuning.shorter_than(self.options.pro_words)
        if system.variant == SHORT:
            return self.tuning.shorter_than(self._spans.short_sentence)
        return self.tuning

    def trial(self, system: System) -> Trial:
        tuning = self.tuning_set(system)
        method, settings = method_settings(system, self.options)
        metric = None
        if tuning.links is not None and settings.get("search_aware") == "partial-span":
            length = self.options.effective_length
            metric = AlignedBleu(tuning.references, tuning.links, effective_length=length)
        return Trial(
            self.decoder(self.options.pop_limit),
            published_options(method, settings),
            tuning,
            self.decoder(self.options.larger) if system.variant == LARGER else None,
            metric,
        )

    def analysis(self, system: System, one: LabelledSet) -> Analysis:
        """Analyses a set with the weights of a system's first run, which must have ended."""
        run = self.run_folder(system, 0)
        weights = read_weights(run / "weights.txt")

        def analysed() -> dict[str, Any]:
            analysis = analyse(
                ModelDecoder(self.decoder(self.options.pop_limit), one.sentences, self.threads),
                self.bleu(one),
                self.model.weight_vector(weights),
                k=self.options.k,
                beam=self._spans.beam,
            )
            return {"analysis": asdict(analysis)}

        path = run.with_name(f"{run.name}.{one.name}.analysis.json")
        return Analysis(**stored(path, weights, _StoredAnalysis, analysed).analysis)

    def by_beam(self, system: System, one: LabelledSet) -> dict[int, float]:
        """Returns mean BLEU of a set over all runs for each pop limit of Figure 4."""
        runs = [self.run_folder(system, number) for number in range(self.options.runs)]
        weights = {run: read_weights(run / "weights.txt") for run in runs}
        curve = {}
        for pop_limit in self.options.beams:
            decoder, suffix = self.decoder(pop_limit), f".pop-limit-{pop_limit}"
            statistics = [self.statistics(decoder, one, weights[run], run, suffix) for run in runs]
            curve[pop_limit] = Runs.of(self.metrics[one.name], statistics).mean
        return curve

    def write(self, results: Results) -> None:
        compared, first = (MERT, GUIDED), self.tests[0]
        searches = {
            (system.name, one.name): self.analysis(system, one)
            for system in compared
            for one in (self.tuning, first)
        }
        curves = {system.name: self.by_beam(system, first) for system in compared}
        short = short_sentence_table(results, self.options)
        sections = sections_of(results, searches, curves, short)
        report.write_report(self.folder, results, sections, tables_of(results))
        if report.can_draw():
            plot_beams(curves, self.folder / "figure-4.png")
            if short is not None:
                plot_shares(results, short, self.folder / "figure-5.png")


_BEFORE = (report.TUNING_SCORE,)
_AFTER = (
    report.Measure("mean", lambda results, system: f"{np.mean(_means(results, system)):.2f}"),
    report.mean_iterations("iterations"),
)


def _means(results: Results, system: System) -> list[float]:
    """Returns mean BLEU of each set over the runs of a system."""
    statistics = results.outcomes[system].statistics
    return [Runs.of(results.metrics[one.name], statistics[one.name]).mean for one in results.sets]


def tables_of(results: Results) -> list[report.Table]:
    """Returns Tables 1, 4 and 5 with the rows that there are."""
    numbered = (("Table 1", "MERT", TABLE_1), ("Table 4", "batch MIRA", TABLE_4), ("Table 5", "PRO", TABLE_5))
    return [
        report.Table(number, method, rows, _BEFORE, _AFTER)
        for number, method, every in numbered
        if (rows := report.rows(results, every))
    ]


def short_sentence_table(results: Results, options: Zhai2015Options) -> report.Table | None:
    """Returns the points of Figure 5 as a table, with plain MERT first; None if they were not asked for."""
    rows = report.rows(results, figure_5(options))
    return report.Table("Figure 5", "tuning on short sentences", rows, _BEFORE, _AFTER) if rows else None


def sections_of(
    results: Results,
    searches: Mapping[tuple[str, str], Analysis],
    curves: Mapping[str, Mapping[int, float]],
    short: report.Table | None,
) -> list[str]:
    """Returns the sections of the report. ``searches`` are analyses by the names of system and set,
    ``curves`` BLEU by pop limit for each system."""
    sections = [report.score_table(results, table) for table in tables_of(results)]
    sections.append(report.section("Tables 2 and 3: what search could find", _search_rows(searches)))
    beams = [str(beam) for beam in next(iter(curves.values()))]
    rows = ([name, *(f"{score:.2f}" for score in curve.values())] for name, curve in curves.items())
    sections.append(report.section("Figure 4: BLEU by beam", report.markdown_rows(["system", *beams], rows)))
    return sections if short is None else [*sections, report.score_table(results, short)]


def _search_rows(searches: Mapping[tuple[str, str], Analysis]) -> list[str]:
    names = ["system", "set", "best", "k-best oracle", "guided oracle", "diversity", "top-down", "guided"]
    rows = []
    for (system, one), search in searches.items():
        scores = [f"{score:.2f}" for score in (search.best, search.kbest_oracle, search.guided_oracle)]
        reached = [f"{share:.1%}" for share in (search.top_down, search.guided)]
        rows.append([system, one, *scores, f"{search.diversity:.4f}", *reached])
    note = "BLEU of oracles by Bleu+1, diversity of the k best, and the share of spans that are reached."
    return [*report.markdown_rows(names, rows), "", note]


def plot_shares(results: Results, table: report.Table, path: Path) -> None:
    """Draws Figure 5: BLEU of the first set by the least span, with the deviation between runs."""
    column = report.whole(results.sets[0])
    plain, *aware = table.rows.values()
    scores = [report.compare(results, system, column, plain).runs.scores for system in aware]
    shares = [float(dict(system.settings)["span_share"]) for system in aware]
    means, errors = [np.mean(runs) for runs in scores], [report.deviation(list(runs)) for runs in scores]
    with report.figure(path, 5, 4) as drawn:
        axes = drawn.add_subplot()
        axes.errorbar(shares, means, yerr=errors, marker="o", capsize=3, label="guided backtrace")
        axes.axhline(report.compare(results, plain, column, plain).runs.mean, color="grey", label="MERT")
        axes.set_xlabel("least span, as a share of the sentence")
        axes.set_ylabel("BLEU")
        axes.legend()
