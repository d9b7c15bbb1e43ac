"""The part of a training that a model keeps so that it can learn from corrections (``hiero.adapt``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel, ConfigDict


class Learning(BaseModel):
    """The files by which corrected pairs are aligned and their rules scored, and the settings of both.

    ``alignment`` is a file of ``hiero.train.AlignmentModel``, and ``words`` one of rule counts, of which a
    model directory keeps how often words are translations of each other, without rules. ``heuristic`` joins
    links, and ``extraction`` are the settings of ``ExtractSettings``, without lines.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    alignment: str
    words: str
    heuristic: str
    extraction: Mapping[str, int | bool]

    def renamed(self, rename: Callable[[str, str], str]) -> Learning:
        """Returns the same with other files: ``rename(field, file)``."""
        files = {name: rename(name, getattr(self, name)) for name in FILES}
        return self.model_copy(update=files)


FILES = ("alignment", "words")
