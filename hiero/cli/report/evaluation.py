"""A test set with its translations by several systems, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hiero.cli.io.results import Result
from hiero.cli.io.sets import read_files
from hiero.evaluate import Bleu, ChrfPlusPlus, Text, Tokenizer
from hiero.evaluate.metric import Array
from hiero.text import TextSide

# A test set with fewer sentences cannot tell systems apart.
FEW = 100


@dataclass(frozen=True)
class Evaluation:
    """A test set: source sentences as raw text, references of each, and translations by system, of which the
    first is the system before tuning.

    ``metrics`` has the results of `hiero eval` for these systems in the same order: those of BLEU, whose
    tokeniser is ``tokenizer``, then those of other metrics. For scores, text is normalised as that of
    ``side``.
    """

    metrics: Sequence[Result]
    source: Sequence[str]
    references: Sequence[Sequence[str]]
    translations: Mapping[str, Sequence[str]]
    side: TextSide
    tokenizer: Tokenizer

    @classmethod
    def read(
        cls,
        metrics: Sequence[Result],
        source: Path,
        references: Sequence[Path],
        translations: Mapping[str, Path],
        side: TextSide,
        tokenizer: Tokenizer,
    ) -> Evaluation:
        """Reads the texts. Raises FormatError for texts that do not fit together, OSError."""
        lines, test_set = read_files(source, references)
        texts = {name: test_set.hypotheses(path) for name, path in translations.items()}
        return cls(metrics, lines, test_set.references, texts, side, tokenizer)

    @property
    def systems(self) -> list[str]:
        """The names of the systems, that before tuning first."""
        return list(self.translations)

    @cached_property
    def bleu(self) -> Bleu:
        """BLEU by the normalised references."""
        return Bleu(self._normalised_references, Text(self.tokenizer, self.side.lowercase))

    @cached_property
    def statistics(self) -> dict[str, Array]:
        """BLEU's statistics by system, a row for each segment."""
        return {name: self.bleu.statistics(lines) for name, lines in self._normalised.items()}

    @cached_property
    def by_segment(self) -> dict[str, list[float]]:
        """The chrF++ of each segment by system."""
        scorer = ChrfPlusPlus(self._normalised_references, Text(lowercase=self.side.lowercase))
        rows = {name: scorer.statistics(lines) for name, lines in self._normalised.items()}
        return {name: scorer.segment_scores(statistics).tolist() for name, statistics in rows.items()}

    @cached_property
    def _normalised(self) -> dict[str, list[str]]:
        normal = self.side.normalised
        return {name: [normal(line) for line in lines] for name, lines in self.translations.items()}

    @cached_property
    def _normalised_references(self) -> list[list[str]]:
        return [[self.side.normalised(line) for line in segment] for segment in self.references]
