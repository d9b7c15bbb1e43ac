"""Settings of minimum risk training."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from hiero.base.settings import Settings, refuse_idle

Space = Literal["forest", "nbest"]


class RiskOptions(Settings):
    """Settings of the objective, and of how temperature and gamma change."""

    model_config = ConfigDict(allow_inf_nan=False)

    space: Space = Field("forest", description="the derivations: those of forests or of k-best lists")
    loss: Literal["bleu", "linear-bleu", "sentence-bleu"] = Field(
        "bleu",
        description="the loss: BLEU of the whole set (bleu), the paper's, which is linear and has no brevity"
        " penalty (linear-bleu), or the mean of 1 - smoothed BLEU, for lists alone (sentence-bleu)",
    )
    annealing: bool = Field(False, description="deterministic annealing: from hot to cold")
    temperature: float = Field(
        8.0, gt=0, description="temperature of annealing's first step, halved with each"
    )
    coldest: float = Field(0.05, gt=0, description="temperature below which annealing sets it to 0")
    greatest_gamma: float = Field(8.0, ge=1, description="gamma up to which annealing doubles it")
    steps: int = Field(50, ge=1, description="most steps of L-BFGS at each temperature")
    edges: int = Field(
        3000,
        ge=1,
        description="edges kept of a forest, those of the best derivations, before it is annotated",
    )
    k: int = Field(100, ge=1, description="distinct translations of each sentence")

    @model_validator(mode="after")
    def _of_use(self) -> Self:
        if self.space == "forest" and self.loss == "sentence-bleu":
            raise ValueError("sentence-bleu is a loss of lists")
        if self.annealing and self.temperature < self.coldest:
            raise ValueError(f"temperature: {self.temperature:g} is below the coldest, {self.coldest:g}")
        for name, owner in idle_options(self.space, self.annealing).items():
            refuse_idle(self, (name,), f"is of {owner}")
        return self


def idle_options(space: str, annealing: bool) -> dict[str, str]:
    """Returns the options that have no effect, and what they belong to."""
    idle = {"k": "lists"} if space == "forest" else {"edges": "forests"}
    if not annealing:
        idle |= dict.fromkeys(("temperature", "coldest", "greatest_gamma"), "annealing")
    return idle
