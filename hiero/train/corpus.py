"""Preparation of the bitext for training: tokenisation, checks, and removal of unsuitable sentence pairs.

Sentence pairs keep their line numbers: a pair that is removed becomes an empty line on both sides. So
alignments, line ranges and messages refer to the lines of the input files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from pydantic import Field

from hiero._core import FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.base.settings import Settings
from hiero.base.text import looks_untokenised
from hiero.text import TextProcessing, TextSide
from hiero.train.lm_text import RESERVED
from hiero.train.tokenised import tokenised

# The number of lines that are checked for missing tokenisation and for sides that are the same.
_CHECKED_LINES = 1000
# The number of characters of a side that an example shows.
_SHOWN = 60
_RESERVED = frozenset(word.decode() for word in RESERVED)


class CorpusSettings(Settings):
    """Limits on the sentence pairs used for training."""

    max_length: int = Field(
        100, ge=1, description="greatest number of tokens in a sentence; pairs with more are left out"
    )
    max_ratio: float = Field(
        9.0, ge=1, description="greatest ratio of the lengths of a pair; pairs beyond it are left out"
    )


_DEFAULTS = CorpusSettings()


@dataclass
class CorpusReport:
    """Numbers of sentence pairs that were read, kept, and left out, by reason.

    ``empty`` counts the pairs in which one side has no tokens. ``blank`` counts the lines that are empty on
    both sides, which are not counted as pairs.
    """

    pairs: int = 0
    kept: int = 0
    empty: int = 0
    too_long: int = 0
    lopsided: int = 0
    blank: int = 0

    def __str__(self) -> str:
        left_out = {k: v for k, v in asdict(self).items() if k not in ("pairs", "kept", "blank") and v}
        reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left_out.items())
        lines = "line is" if self.blank == 1 else "lines are"
        blank = f"; {self.blank:,} {lines} blank on both sides, as where pairs were set aside"
        blank = blank if self.blank else ""
        return f"{self.kept:,} of {self.pairs:,} sentence pairs{f' ({reasons})' if reasons else ''}{blank}"


def read_pairs(source: PathLike, target: PathLike) -> Iterator[tuple[str, str]]:
    """Yields the lines of two files in pairs. Raises FormatError if one file has fewer lines."""
    lines = itertools.zip_longest(read_lines(source), read_lines(target))
    for number, (source_line, target_line) in enumerate(lines):
        if source_line is None or target_line is None:
            short, long = (source, target) if source_line is None else (target, source)
            raise FormatError(
                f"{os.fspath(short)}: ends after {number} lines, where {os.fspath(long)} has more"
            )
        yield source_line, target_line


def divide_pairs(pairs: PathLike, source: PathLike, target: PathLike) -> None:
    """Writes the sides of a file of lines such as ``das haus ||| the house`` to two files.

    Raises FormatError, naming the line, for one that has not two sides; OSError.
    """
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                stack.enter_context(replacing(path)).open("w", encoding="utf-8", newline="\n")
            )
            for path in (source, target)
        ]
        for number, line in enumerate(read_lines(pairs), start=1):
            sides = f" {line} ".split(" ||| ")
            if len(sides) != 2:
                raise FormatError(f"{os.fspath(pairs)}:{number}: expected SOURCE ||| TARGET, found {line!r}")
            for file, side in zip(files, sides, strict=True):
                file.write(f"{side.strip()}\n")


def prepare_corpus(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    output_source: PathLike,
    output_target: PathLike,
    *,
    text: TextProcessing | None = None,
    max_length: int = _DEFAULTS.max_length,
    max_ratio: float = _DEFAULTS.max_ratio,
    processes: int = 1,
    progress: Callable[[int], object] | None = None,
) -> CorpusReport:
    """Writes the tokens of all bitexts, one bitext after the other, to two files. Raw text is tokenised by
    several ``processes``, which change nothing but the time.

    A pair becomes an empty line if one side is empty, if one side has more than ``max_length`` tokens, or if
    one side is more than ``max_ratio`` times as long as the other.
    Raises FormatError, naming the line, for files of different lengths, for invalid UTF-8 and for target
    tokens that are reserved in language models (``<s>``, ``</s>``, ``<unk>``, ``<UNK>``); also if no pair is
    kept. Raises OSError.
    """
    text = text or TextProcessing()
    report = CorpusReport()
    with replacing(output_source) as source_path, replacing(output_target) as target_path:
        with (
            source_path.open("w", encoding="utf-8", newline="\n") as source_file,
            target_path.open("w", encoding="utf-8", newline="\n") as target_file,
        ):
            for source, target in bitexts:
                pairs = tokenised((text.source, text.target), read_pairs(source, target), processes)
                for number, (source_tokens, target_tokens) in enumerate(pairs, start=1):
                    check_reserved(target_tokens, target, number)
                    keep = _count_pair(source_tokens, target_tokens, max_length, max_ratio, report)
                    source_file.write((" ".join(source_tokens) if keep else "") + "\n")
                    target_file.write((" ".join(target_tokens) if keep else "") + "\n")
                    lines = report.pairs + report.blank
                    if progress is not None and lines % 1000 == 0:
                        progress(lines)
        if report.kept == 0:
            names = ", ".join(os.fspath(source) for source, _ in bitexts)
            raise FormatError(f"{names}: no sentence pairs to train on: {report}")
    return report


def count_sentences(path: PathLike) -> int:
    """Returns the number of lines of a prepared text that are not blank. Raises FormatError, OSError."""
    return sum(1 for line in read_lines(path) if line)


def pair_example(line: int, pair: tuple[str, str], detail: str = "") -> str:
    """Returns a sentence pair with the number of its line, counted from 1, cut to a readable length."""
    source, target = (side if len(side) <= _SHOWN else f"{side[: _SHOWN - 1].rstrip()}…" for side in pair)
    return f"line {line}{f' ({detail})' if detail else ''}: {source} | {target}"


def text_warnings(
    bitext: tuple[PathLike, PathLike], prepared: tuple[PathLike, PathLike], text: TextProcessing
) -> Iterator[str]:
    """Yields what is doubtful of a bitext, by the first lines of its files and of the prepared corpus: text
    that is taken for tokens, and sides that are the same. Raises FormatError, OSError."""
    for path, side in zip(bitext, (text.source, text.target), strict=True):
        if side.scheme == "none" and looks_untokenised(itertools.islice(read_lines(path), _CHECKED_LINES)):
            yield (
                f"{os.fspath(path)}: looks like raw text, but is taken for tokens: most lines "
                "have words that end in punctuation; see --tokenize, such as --tokenize de:moses en:moses"
            )
    pairs = [pair for pair in itertools.islice(read_pairs(*prepared), _CHECKED_LINES) if any(pair)]
    if 2 * sum(source.casefold() == target.casefold() for source, target in pairs) > len(pairs):
        source, target = (os.fspath(path) for path in bitext)
        yield f"{source} and {target}: most lines are the same on both sides"


def prepare_text(
    texts: Sequence[PathLike],
    output: PathLike,
    side: TextSide,
    progress: Callable[[int], object] | None = None,
    processes: int = 1,
) -> int:
    """Writes the tokens of monolingual texts to one file without empty lines. Returns the number of lines.
    Raw text is tokenised by several ``processes``.

    Raises FormatError as ``prepare_corpus`` does, also if there are no tokens; OSError.
    """
    lines = 0
    with replacing(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts:
            lines_of_text = ((line,) for line in read_lines(text))
            for number, (tokens,) in enumerate(tokenised((side,), lines_of_text, processes), start=1):
                check_reserved(tokens, text, number)
                if not tokens:
                    continue
                file.write(" ".join(tokens) + "\n")
                lines += 1
                if progress is not None and lines % 1000 == 0:
                    progress(lines)
        if lines == 0:
            names = ", ".join(os.fspath(text) for text in texts)
            raise FormatError(f"{names}: no text to estimate a language model from")
    return lines


def check_reserved(tokens: Sequence[str], path: PathLike, number: int) -> None:
    """Raises FormatError for a token that is reserved in language models."""
    for token in tokens:
        if token in _RESERVED:
            where = f"{os.fspath(path)}:{number}"
            raise FormatError(f"{where}: {token} may not occur in the text of a language model")


def _count_pair(
    source: Sequence[str], target: Sequence[str], max_length: int, max_ratio: float, report: CorpusReport
) -> bool:
    """Adds a pair to the counts of the report. Returns whether it is kept."""
    if not source and not target:
        report.blank += 1
        return False
    report.pairs += 1
    shorter, longer = sorted((len(source), len(target)))
    if shorter == 0:
        report.empty += 1
    elif longer > max_length:
        report.too_long += 1
    elif longer > max_ratio * shorter:
        report.lopsided += 1
    else:
        report.kept += 1
        return True
    return False
