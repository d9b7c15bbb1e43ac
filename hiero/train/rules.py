"""Settings of rule extraction and rule scoring."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, Unpack

from pydantic import ConfigDict, Field, field_validator

from hiero import _core
from hiero.base.lines import PathLike, check_read_twice
from hiero.base.settings import settings_model
from hiero.decode.settings import SPAN_LIMITS
from hiero.train.movement import measure_movement

Ranges = tuple[tuple[int, int], ...]
Significance = Literal["a+e", "a-e"] | None


class ExtractArguments(TypedDict, total=False):
    """Names and types of the settings in ``ExtractSettings``. Lines may also be text, such as "1-9,20-30"."""

    max_phrase: int | None
    max_symbols: int
    max_nonterminals: int
    min_gap: int
    unaligned_edges: bool
    phrase_lines: Ranges | str
    hierarchical_lines: Ranges | str


class ScoreArguments(TypedDict, total=False):
    """Names and types of the settings in ``ScoreSettings``."""

    discount: Literal["none", "good_turing", "absolute"]
    min_count: int
    ttable_limit: int
    owner: str
    span_limit: int
    significance: float | Significance


class ExtractSettings(settings_model(_core.ExtractOptions)):  # type: ignore[misc]
    """Settings of rule extraction. Except for ``max_phrase``, which is chosen, the defaults are those of
    Chiang (2007), section 3.2."""

    model_config = ConfigDict(title="Rule extraction")

    max_phrase: int | None = Field(
        None,
        ge=1,
        le=100,
        description="greatest number of words in an initial phrase pair, on either side (default: one of"
        f" {', '.join(map(str, SPAN_LIMITS))}, by how far words move in the alignment)",
    )

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[ExtractArguments]) -> None: ...

    @field_validator("phrase_lines", "hierarchical_lines", mode="before")
    @classmethod
    def _parse_ranges(cls, value: object) -> object:
        return parse_ranges(value) if isinstance(value, str) else value

    @field_validator("phrase_lines", "hierarchical_lines")
    @classmethod
    def _check_ranges(cls, ranges: Ranges) -> Ranges:
        for first, last in ranges:
            if not 1 <= first <= last < 1 << 63:
                raise ValueError(f"lines {first}-{last}: lines count from 1, the first one named first")
        return ranges

    def chosen(
        self,
        alignment: PathLike,
        pairs: int | None = None,
        report: Callable[[str], object] = lambda line: None,
    ) -> ExtractSettings:
        """Returns the settings with a ``max_phrase``: their own, or one chosen by how far words move in the
        first ``pairs`` lines of a file of links, which ``report`` is told. Raises FormatError, OSError."""
        if self.max_phrase is not None:
            return self
        check_read_twice(alignment)
        movement = measure_movement(alignment, pairs)
        length = movement.phrase_length()
        report(f"{movement.describe()}; initial phrases have at most {length}")
        return ExtractSettings(**{**self.model_dump(), "max_phrase": length})

    def options(self) -> _core.ExtractOptions:
        """Returns the settings as an options struct of the core, with its default for a ``max_phrase`` that
        is not chosen."""
        return _core.ExtractOptions(**self.model_dump(exclude_none=True))


class ScoreSettings(settings_model(_core.ScoreOptions)):  # type: ignore[misc]
    """Settings of rule scoring and pruning."""

    model_config = ConfigDict(title="Rule scoring")

    if TYPE_CHECKING:

        def __init__(self, **settings: Unpack[ScoreArguments]) -> None: ...

    significance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | Significance = Field(
        None,
        description="threshold of -log p by Fisher's exact test, above which rules are kept: a number, or a"
        " little more (a+e) or less (a-e) than the value of rules seen once whose sides were seen once"
        " (default: all rules are kept)",
    )

    def options(self) -> _core.ScoreOptions:
        """Returns the settings, except for significance, as an options struct of the core."""
        return _core.ScoreOptions(**self.model_dump(exclude={"significance"}))

    def least_significance(self, pairs: int) -> float:
        """Returns the -log p that rules must exceed.

        A rule that occurs once, and both of whose sides occur once, has -log p = a = log N for N sentence
        pairs. ``a+e`` prunes such rules, ``a-e`` keeps them (Johnson et al. 2007).
        """
        if self.significance is None:
            return 0.0
        if isinstance(self.significance, float):
            return self.significance
        return math.log(pairs) + (1e-6 if self.significance == "a+e" else -1e-6)


def parse_ranges(text: str) -> Ranges:
    """Parses line ranges such as ``1-20000,30001-40000``. Raises ValueError."""
    ranges = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal()):
            raise ValueError(f"{text!r}: expected ranges of lines such as 1-20000,30001-40000")
        ranges.append((int(first), int(last)))
    return tuple(ranges)
