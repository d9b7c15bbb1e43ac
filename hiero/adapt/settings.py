"""Settings of learning from corrections."""

from __future__ import annotations

from pydantic import Field

from hiero.base.settings import Settings


class AdaptSettings(Settings):
    """Settings of what a correction changes, and how much.

    Steps of weights are those of online MIRA (Chiang et al. 2008), taken with weights whose absolute values
    sum to 15.
    """

    rules: bool = Field(True, description="use the rules of corrections")
    weights: bool = Field(True, description="move the weights by each correction")
    c: float = Field(
        0.001,
        gt=0,
        allow_inf_nan=False,
        description="largest step of the weights, of which the absolute values sum to 15",
    )
    k: int = Field(10, ge=1, description="translations in each of the three lists that a step learns from")
    mu: float = Field(
        0.5, ge=0, allow_inf_nan=False, description="weight of the model's score in the choice of the oracle"
    )
