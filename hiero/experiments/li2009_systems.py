"""The systems of Li and Eisner (2009), Table 5: what is tuned how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, field_validator

from hiero.evaluate import EffectiveLength
from hiero.experiments.laboratory import ExperimentOptions
from hiero.rerank import SecondStageOptions
from hiero.tune.methods import METHODS
from hiero.tune.risk import idle


class Li2009Options(ExperimentOptions):
    """Settings that the paper leaves open. ``mert`` and ``risk`` are options of these methods, ``second`` of
    the second stage."""

    k: int = Field(100, ge=1, description="distinct translations a sentence")
    effective_length: EffectiveLength = "closest"
    displacement: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="of each weight that runs after the first start from, as a share of it, or of the"
        " mean if that is more",
    )
    large_runs: int = Field(1, ge=1, description="of the second stage, which takes long; at most the others'")
    mert: Mapping[str, Any] = {}
    risk: Mapping[str, Any] = {}
    second: Mapping[str, Any] = {}

    @field_validator("risk")
    @classmethod
    def _of_all_rows(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        for name in ("space", "annealing", "loss"):
            if name in options:
                raise ValueError(f"{name} is what rows differ by")
        return options

    def parts(self) -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
        yield from super().parts()
        yield "mert", type(METHODS["mert"]), self.mert
        # Rows take of these options what they have use for.
        yield "risk", type(METHODS["risk"]), {**self.risk, "annealing": True}
        yield "second", SecondStageOptions, self.second


@dataclass(frozen=True)
class System:
    """A row: its name, that of its folder, a method, and options of it."""

    name: str
    slug: str
    method: str
    options: tuple[tuple[str, Any], ...] = ()

    def settings(self, given: Li2009Options) -> dict[str, Any]:
        """Options of the method."""
        values = {"k": given.k, **getattr(given, self.method), **dict(self.options)}
        unused = idle(values["space"], values["annealing"]) if self.method == "risk" else ()
        return {name: value for name, value in values.items() if name not in unused}


def _risk(name: str, slug: str, space: str, annealing: bool = False, loss: str = "bleu") -> System:
    return System(name, slug, "risk", (("space", space), ("annealing", annealing), ("loss", loss)))


MERT = System("MERT (n-best)", "mert", "mert")
FIRST_STAGE = _risk("MR+DA (forest)", "risk-forest-annealing", "forest", annealing=True)
# On the weights of the row before, as in the paper.
LARGE = System("MR (forest, large)", "risk-large", "second")
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
