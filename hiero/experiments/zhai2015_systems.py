"""The systems of Zhai, Huang and Zhao (2015), section 4: what is tuned how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from hiero.evaluate import EffectiveLength
from hiero.experiments.laboratory import ExperimentOptions
from hiero.tune.instances import SearchAware
from hiero.tune.methods import METHODS


class Zhai2015Options(ExperimentOptions):
    """Settings that the paper leaves open or chose for its corpora. The beam is the pop limit. ``mert``,
    ``mira``, ``pro`` and ``hypergraph_mert`` are options of these methods, ``spans`` of search-aware
    tuning."""

    k: int = Field(50, ge=1, description="distinct translations a sentence")
    pop_limit: int = Field(30, ge=1, description="of all decoding but that of MERT-S's tuning")
    larger: int = Field(200, ge=1, description="pop limit and k of MERT-S's tuning")
    pro_words: int = Field(10, ge=0, description="that search-aware PRO's sentences have fewer than; 0: all")
    effective_length: EffectiveLength = "average"
    beams: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (2, 4, 8, 16, 30), min_length=1, description="pop limits of Figure 4"
    )
    shares: tuple[Annotated[float, Field(ge=0, lt=1)], ...] = Field(
        (0.25, 0.5, 0.75), description="of short sentences, for Figure 5"
    )
    mert: Mapping[str, Any] = {}
    hypergraph_mert: Mapping[str, Any] = {}
    mira: Mapping[str, Any] = {}
    pro: Mapping[str, Any] = {}
    spans: Mapping[str, Any] = {}
    only: tuple[str, ...] = Field((), description="rows of the tables beside those that they need; (): all")

    def parts(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        yield from super().parts()
        for name, method in METHOD_OPTIONS.items():
            yield name, type(METHODS[method]), getattr(self, name)
        yield "spans", SearchAware, {**self.spans, "search_aware": "guided"}

    @field_validator("shares")
    @classmethod
    def _apart(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        names = [f"{share:g}" for share in shares]
        if len(set(names)) < len(names):
            raise ValueError("two shares are the same, or nearly")
        return shares

    @model_validator(mode="after")
    def _known_rows(self) -> Self:
        known = {system.name for system in (*TABLE_1, *TABLE_4, *TABLE_5, *figure_5(self))}
        for name in self.only:
            if name not in known:
                raise ValueError(f"only: there is no row {name!r}")
        return self


# Methods by the names of their options.
METHOD_OPTIONS = {"mert": "mert", "hypergraph_mert": "hypergraph-mert", "mira": "mira-batch", "pro": "pro"}


@dataclass(frozen=True)
class System:
    """A row of a table: its name, a method by the name of its options, what spans are judged by if they are
    tuned on, and whether tuning has the larger beam; whether it is tuned on short sentences, and then the
    share of a sentence that spans have more than."""

    name: str
    method: str
    measure: str | None = None
    larger: bool = False
    short: bool = False
    share: float | None = None

    @property
    def slug(self) -> str:
        marks = ("larger" if self.larger else "", "short" if self.short else "")
        share = "" if self.share is None else f"{self.share:g}"
        return "-".join(part for part in (self.method, self.measure, *marks, share) if part)

    def options(self, given: Zhai2015Options) -> tuple[str, dict[str, Any]]:
        """The method, and its options."""
        values: dict[str, Any] = dict(getattr(given, self.method))
        method = METHOD_OPTIONS[self.method]
        if "k" in type(METHODS[method]).model_fields:
            values = {"k": given.larger if self.larger else given.k, **values}
        if self.measure is not None:
            values |= {**given.spans, "search_aware": self.measure}
        if self.share is not None:
            values["span_share"] = self.share
        return method, values


_POTENTIAL = ("concatenation", "top-down", "guided")
MERT, GUIDED = System("MERT", "mert"), System("guided backtrace", "mert", "guided")
TABLE_1 = (
    MERT,
    System("MERT-S", "mert", larger=True),
    System("hypergraph MERT", "hypergraph_mert"),
    System("full partial BLEU", "mert", "partial-full"),
    System("span partial BLEU", "mert", "partial-span"),
    *(System(measure, "mert", measure) for measure in _POTENTIAL[:-1]),
    GUIDED,
)


def _others(name: str, method: str) -> tuple[System, ...]:
    return (System(name, method), *(System(f"{name}, {measure}", method, measure) for measure in _POTENTIAL))


TABLE_4, TABLE_5 = _others("batch MIRA", "mira"), _others("PRO", "pro")


def figure_5(options: Zhai2015Options) -> Sequence[System]:
    """MERT on short sentences, plain and with spans of more than some shares of them."""
    name = "guided backtrace, spans over"
    aware = (System(f"{name} {s:g}", "mert", "guided", short=True, share=s) for s in options.shares)
    return [System("MERT, short sentences", "mert", short=True), *aware]


def systems(options: Zhai2015Options, aligned: bool) -> list[System]:
    """All that can be had and are asked for, with MERT and the guided backtrace, which the figures are of,
    and the first row of each table that has others; span partial BLEU wants alignments."""
    found = []
    for rows in (TABLE_1, TABLE_4, TABLE_5, figure_5(options)):
        chosen = [system for system in rows if not options.only or system.name in options.only]
        found += [s for s in rows if s in (MERT, GUIDED) or s in chosen or (chosen and s == rows[0])]
    return [system for system in found if aligned or system.measure != "partial-span"]
