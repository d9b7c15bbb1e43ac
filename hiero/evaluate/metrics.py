"""Metrics of translations: BLEU, NIST, chrF and TER, as statistics of segments that add up.

A metric is made with the references of a set of segments. ``statistics`` of hypotheses are rows that add up
over segments; ``score`` of their sum is the metric of a set, so that resampling, tuning and documents all
work on sums of rows. ``signature`` names every choice that a score depends on.

>>> metric = Bleu([["the cat sleeps on the mat", "a cat sleeps on the mat"]])
>>> rows = metric.statistics(["the cat sleeps on a mat"])
>>> round(float(metric.score(rows.sum(axis=0))), 2)
53.73
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
import sacrebleu

from hiero._core import Forest, KBestArrays, ReferenceSet, bleu
from hiero.base.arguments import several
from hiero.forest.losses import BleuColumns

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
EffectiveLength = Literal["shortest", "closest", "average"]
# Of sacrebleu's, those that fetch nothing.
Tokenizer = Literal["none", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab"]


@dataclass(frozen=True)
class Text:
    """How text becomes tokens to count: lowercased or not, then split by one of sacrebleu's tokenisers.

    Raises ValueError for an unknown one.
    """

    tokenizer: Tokenizer = "none"
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.tokenizer not in get_args(Tokenizer):
            expected = ", ".join(get_args(Tokenizer))
            raise ValueError(f"unknown tokeniser {self.tokenizer!r}: expected one of {expected}")

    def tokens(self, lines: Iterable[str]) -> list[list[str]]:
        """The tokens of each line. Raises ValueError for a tokeniser whose package is missing."""
        tokenize = _tokenizer(self.tokenizer)
        cased = (line.lower() if self.lowercase else line for line in lines)
        return [tokenize(line.rstrip()).split() for line in cased]

    @property
    def signature(self) -> str:
        version = "" if self.tokenizer == "none" else f"|sacrebleu:{sacrebleu.__version__}"
        return f"case:{'lc' if self.lowercase else 'mixed'}|tok:{self.tokenizer}{version}"


@lru_cache
def _tokenizer(name: str) -> Any:
    try:
        return sacrebleu.BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:  # a package is missing
        raise ValueError(f"tokeniser {name}: {error}") from None


@dataclass(frozen=True)
class Hypotheses:
    """Tokens of many hypotheses: ``words`` are indices into ``vocabulary``, those of hypothesis i from
    ``offsets[i]`` to ``offsets[i + 1]``."""

    vocabulary: Sequence[str]
    words: IntArray
    offsets: IntArray

    @classmethod
    def of_tokens(cls, lines: Iterable[Sequence[str]]) -> Hypotheses:
        numbers: dict[str, int] = {}
        words: list[int] = []
        offsets = [0]
        for line in lines:
            words += [numbers.setdefault(token, len(numbers)) for token in line]
            offsets.append(len(words))
        return cls(list(numbers), np.array(words, dtype=np.int32), np.array(offsets, dtype=np.int32))

    @classmethod
    def of_list(cls, forest: Forest, found: KBestArrays) -> Hypotheses:
        """Makes the hypotheses of a k-best list of a forest."""
        return cls(forest.words, found.words, found.word_offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def split(self) -> Hypotheses:
        """With tokens split at white space of any kind, as the tokens of text are: to models, only ASCII's
        separates, and a no-break space may be within one."""
        if " ".join(self.vocabulary).split() == list(self.vocabulary):
            return self
        return Hypotheses.of_tokens(text.split() for text in self.texts())

    def first(self) -> str:
        """The tokens of the first joined by spaces, nothing where there is none."""
        return " ".join(self.vocabulary[word] for word in self.words[: self.offsets[1]]) if len(self) else ""

    def texts(self) -> list[str]:
        """Tokens joined by spaces."""
        tokens = [self.vocabulary[word] for word in self.words.tolist()]
        bounds = self.offsets.tolist()
        return [" ".join(tokens[a:b]) for a, b in itertools.pairwise(bounds)]


class Metric(ABC):
    """A metric against references; see the module. ``checksum`` is the SHA-256 of the references."""

    name: ClassVar[str]
    lower_is_better: ClassVar[bool] = False

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        """``references`` of every segment as lines of text; empty ones are missing.

        Raises ValueError for no segments, and naming a segment, from 0, that has no reference; TypeError for
        one whose references are a string, or lists of tokens in place of lines.
        """
        several("references", references, Iterable, "segments, each a list of references")
        if not references:
            raise ValueError("a metric is of one segment or more")
        for number, segment in enumerate(references):
            several(f"segment {number}", segment, str, "references, each a line of text")
            if not any(line.strip() for line in segment):
                raise ValueError(f"segment {number}: no reference that is not empty")
        self.text = text if text is not None else Text()
        self.segments = len(references)
        self.most_references = max(len(segment) for segment in references)
        counts = {sum(bool(line.strip()) for line in segment) for segment in references}
        self._reference_count = str(*counts) if len(counts) == 1 else "var"
        self.checksum = hashlib.sha256(json.dumps([list(s) for s in references]).encode()).hexdigest()

    @property
    def width(self) -> int:
        """Numbers in a row of statistics."""
        return int(self.token_statistics([0], Hypotheses.of_tokens([[]])).shape[1])

    def statistics(self, lines: Sequence[str]) -> Array:
        """Counts for one hypothesis a segment, as text; float64 (segments, width). Raises ValueError for
        another number of lines, TypeError for lists of tokens in place of lines."""
        self._check(lines)
        segments = np.arange(self.segments, dtype=np.int32)
        return self.token_statistics(segments, Hypotheses.of_tokens(self.text.tokens(lines)))

    def _check(self, lines: Sequence[str]) -> None:
        several("hypotheses", lines, str, "lines of text, one for each segment")
        if len(lines) != self.segments:
            raise ValueError(f"{len(lines)} hypotheses for {self.segments} segments")

    @abstractmethod
    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        """Counts for hypotheses in tokens, each for one of the segments; float64 (n, width)."""

    def empty_statistics(self, segments: Sequence[int]) -> Array:
        """Counts statistics of empty translations of some segments, float64 (n, width)."""
        return self.token_statistics(segments, Hypotheses.of_tokens([[]] * len(segments)))

    @abstractmethod
    def score(self, statistics: npt.ArrayLike) -> Array:
        """Computes the metric of sums of statistics, (..., width) to (...)."""

    def segment_scores(self, statistics: npt.ArrayLike) -> Array:
        """The metric of each segment by itself, (..., width) to (...)."""
        return self.score(statistics)

    def details(self, statistics: Array) -> str:
        """Describes the parts of a score, to be printed behind it."""
        return ""

    @property
    @abstractmethod
    def signature(self) -> str:
        """All that a score depends on."""

    @property
    def segment_signature(self) -> str:
        """In what the signature of ``segment_scores`` differs."""
        return ""


class Bleu(Metric):
    """BLEU (Papineni et al. 2002) from 0 to 100, as sacrebleu has it: where an order has no match, its
    precision is 1/2, 1/4, ... of a match.

    Statistics (10): length, effective reference length, n-gram totals and clipped matches, n = 1 to 4.
    """

    name = "BLEU"
    order = 4

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        text: Text | None = None,
        effective_length: EffectiveLength = "closest",
    ) -> None:
        super().__init__(references, text)
        self.effective_length = effective_length
        # By segment, the tokens of each reference.
        self.references = [self.text.tokens(segment) for segment in references]
        self._set = ReferenceSet(self.references)

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        words = hypotheses.split()
        return self._set.bleu(segments, words.vocabulary, words.words, words.offsets, self.effective_length)

    def unclipped(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        """The n-grams, n = 1 to 4, of each hypothesis that are in a reference, however often they are there;
        float64 (n, 4)."""
        words = hypotheses.split()
        return self._set.unclipped(segments, words.vocabulary, words.words, words.offsets)

    def score(self, statistics: npt.ArrayLike) -> Array:
        return _smoothed(np.asarray(statistics, dtype=np.float64), effective_order=False)

    def segment_scores(self, statistics: npt.ArrayLike) -> Array:
        """As sacrebleu's sentence BLEU: orders that the hypothesis is too short for do not count."""
        return _smoothed(np.asarray(statistics, dtype=np.float64), effective_order=True)

    def details(self, statistics: Array) -> str:
        length, reference_length = statistics[[BleuColumns.LENGTH, BleuColumns.REFERENCE_LENGTH]].tolist()
        totals, matches = statistics[BleuColumns.TOTALS], statistics[BleuColumns.MATCHES]
        precisions = "/".join(f"{100 * p:.1f}" for p in matches / np.maximum(totals, 1))
        # BLEU of such a translation if all of its n-grams matched.
        brevity = bleu([length, reference_length, *[1.0] * 8]) if length else 0.0
        lengths = f"hyp_len = {length:g} ref_len = {reference_length:g}"
        return f" {precisions} (BP = {brevity:.3f} ratio = {length / reference_length:.3f} {lengths})"

    @property
    def signature(self) -> str:
        references = f"nrefs:{self._reference_count}|length:{self.effective_length}"
        return f"BLEU|{references}|{self.text.signature}|eff:no|smooth:exp"

    @property
    def segment_signature(self) -> str:
        return "eff:yes"


def _smoothed(statistics: Array, effective_order: bool) -> Array:
    totals, matches = statistics[..., BleuColumns.TOTALS], statistics[..., BleuColumns.MATCHES]
    defined = np.logical_and.accumulate(totals > 0, axis=-1)
    # A half of a match for the first order without any, a fourth for the next.
    missing = np.cumsum(defined & (matches == 0), axis=-1)
    counted = np.where(matches > 0, matches, 0.5**missing)
    orders = np.maximum(defined.sum(axis=-1), 1) if effective_order else Bleu.order
    smoothed = statistics[..., : BleuColumns.WIDTH].copy()  # rows may have further columns
    smoothed[..., BleuColumns.MATCHES] = counted
    scores = 100 * np.asarray(bleu(smoothed, orders))
    return np.asarray(np.where((matches > 0).any(axis=-1), scores, 0.0))


class Nist(Metric):
    """The NIST score (Doddington 2002), as mteval-v13a computes it.

    exp(beta ln^2 min(1, L / mean L_ref)) times the sum over n = 1 to 5 of the information of matched n-grams
    by the number of n-grams, beta = ln 0.5 / ln^2 1.5. Statistics (12): length, mean reference length,
    information and totals by n.
    """

    name = "NIST"
    beta = math.log(0.5) / math.log(1.5) ** 2

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        super().__init__(references, text)
        self._set = ReferenceSet([self.text.tokens(segment) for segment in references])

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        words = hypotheses.split()
        return self._set.nist(segments, words.vocabulary, words.words, words.offsets)

    def score(self, statistics: npt.ArrayLike) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        lengths, reference_lengths = values[..., 0], values[..., 1]
        by_order = values[..., 2:7] / np.maximum(values[..., 7:12], 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(np.minimum(1.0, lengths / reference_lengths))
            penalty = np.where(lengths > 0, np.exp(self.beta * ratio**2), 0.0)
        return np.asarray(penalty * by_order.sum(axis=-1))

    @property
    def signature(self) -> str:
        return f"NIST|nrefs:{self._reference_count}|length:average|{self.text.signature}"


class _Sacrebleu(Metric):
    """A metric of sacrebleu, which counts characters or words of text in its own way."""

    def __init__(self, references: Sequence[Sequence[str]], text: Text | None = None) -> None:
        super().__init__(references, text)
        streams = [
            [segment[k] if k < len(segment) and segment[k].strip() else None for segment in references]
            for k in range(self.most_references)
        ]
        self._metric = self._make(streams)

    @abstractmethod
    def _make(self, streams: Any) -> Any:
        """The metric of the library; streams of references, None where one is missing."""

    def statistics(self, lines: Sequence[str]) -> Array:
        self._check(lines)
        return self._rows(range(self.segments), lines)

    def token_statistics(self, segments: npt.ArrayLike, hypotheses: Hypotheses) -> Array:
        return self._rows(np.asarray(segments).tolist(), hypotheses.texts())

    # Statistics and the score of their sums are not in the library's public interface, but what its own
    # significance tests stand on.

    def _rows(self, segments: Sequence[int], lines: Sequence[str]) -> Array:
        metric = self._metric
        rows = [
            metric._compute_segment_statistics(metric._preprocess_segment(line), metric._ref_cache[segment])
            for segment, line in zip(segments, lines, strict=True)
        ]
        return np.array(rows, dtype=np.float64) if rows else np.zeros((0, self.width))

    def score(self, statistics: npt.ArrayLike) -> Array:
        values = np.asarray(statistics, dtype=np.float64)
        rows = values.reshape(-1, values.shape[-1]).tolist()
        scores = [self._metric._compute_score_from_stats(row).score for row in rows]
        return np.array(scores, dtype=np.float64).reshape(values.shape[:-1])

    @property
    def signature(self) -> str:
        return f"{self.name}|{self._metric.get_signature()}"


class Chrf(_Sacrebleu):
    """chrF2 (Popović 2015) from 0 to 100, by sacrebleu; of text as given, whatever the tokeniser."""

    name = "chrF"

    def _make(self, streams: Any) -> Any:
        return sacrebleu.CHRF(lowercase=self.text.lowercase, references=streams)


class ChrfPlusPlus(_Sacrebleu):
    """chrF2++ (Popović 2017), which counts pairs of words too, by sacrebleu; of text as given."""

    name = "chrF++"

    def _make(self, streams: Any) -> Any:
        return sacrebleu.CHRF(word_order=2, lowercase=self.text.lowercase, references=streams)


class Ter(_Sacrebleu):
    """TER (Snover et al. 2006) in percent, less is better, by sacrebleu; words are what white space
    separates, whatever the tokeniser."""

    name = "TER"
    lower_is_better = True

    def _make(self, streams: Any) -> Any:
        return sacrebleu.TER(case_sensitive=not self.text.lowercase, references=streams)


# By the names that commands know them by.
METRICS: dict[str, type[Metric]] = {
    **{"bleu": Bleu, "nist": Nist, "ter": Ter},
    **{"chrf": Chrf, "chrf++": ChrfPlusPlus},
}


def metric_named(
    name: str,
    references: Sequence[Sequence[str]],
    text: Text | None = None,
    effective_length: EffectiveLength = "closest",
) -> Metric:
    """A metric by its name in ``METRICS``; the effective length is for BLEU alone."""
    if name == "bleu":
        return Bleu(references, text, effective_length)
    return METRICS[name](references, text)
