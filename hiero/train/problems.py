"""Sentence pairs that may be wrong: duplicates, copies, another script, misaligned pairs.

They are found after word alignment, as the word links of all other pairs tell which pairs are no translations
(see ``LinkLexicon``). ``write_problems`` lists them, and leaves out those that one asks for. Memory holds
counts of words and of links, and about 25 bytes for each pair.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, get_args

from pydantic import BaseModel, Field

from hiero._core import DigestIndex, FormatError, LinkLexicon
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.base.settings import Settings
from hiero.base.text import split
from hiero.text.scripts import CharacterCounts, MainScripts
from hiero.train.alignment import check_links, parse_links, with_link_lines
from hiero.train.corpus import pair_example, read_pairs
from hiero.train.digests import digest

ProblemKind = Literal["duplicate", "same-text", "other-script", "misaligned"]
PROBLEMS: tuple[ProblemKind, ...] = get_args(ProblemKind)
_MEANINGS: dict[ProblemKind, str] = {
    "duplicate": "that came before",
    "same-text": "with the same text on both sides",
    "other-script": "with a side in another script than the corpus",
    "misaligned": "whose sides hardly translate each other",
}
# The files of a training directory with all problems, and with how many there are of each kind.
PROBLEMS_FILE, PROBLEM_COUNTS = "problems.tsv", "problems.json"
# Log odds below which a pair is said to be misaligned: given the other side, its words are 100 times less
# likely than without it.
_LEAST_LOG_ODDS = -math.log(100)
_SIDES = ("source", "target")
# A problem that more pairs have is one of the files, not of single pairs.
_MUCH = 0.1


class ProblemSettings(Settings):
    """Settings of which sentence pairs are left out of rule extraction."""

    leave_out: tuple[ProblemKind, ...] = Field(
        (),
        description="problems of sentence pairs that are left out of rule extraction, all of which training"
        " counts; repeatable",
    )


@dataclass(frozen=True)
class Problem:
    """A problem of the sentence pair in a line, counted from 1; ``detail`` says more of it."""

    line: int
    kind: ProblemKind
    detail: str
    source: str
    target: str
    log_odds: float = 0.0


class ProblemReport(BaseModel):
    """The number of sentence pairs, of those with each kind of problem and of those that are left out, and an
    example of each kind: for misaligned pairs the worst, otherwise the first."""

    pairs: int = 0
    left_out: int = 0
    counts: Counter[ProblemKind] = Counter()
    examples: dict[ProblemKind, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Counts a problem."""
        self.counts[problem.kind] += 1
        example = self.examples.setdefault(problem.kind, problem)
        if problem.log_odds < example.log_odds:
            self.examples[problem.kind] = problem

    def lines(self) -> Iterator[str]:
        """Yields a line for each kind of problem that occurs, one that says how many pairs are left out, and
        a warning for each problem of so many pairs that something may be wrong with the files."""
        for kind in PROBLEMS:
            if count := self.counts[kind]:
                one = self.examples[kind]
                example = pair_example(one.line, (one.source, one.target), one.detail)
                pairs = f"{count:,} {'pair' if count == 1 else 'pairs'}"
                yield f"problems: {kind}: {pairs} {_MEANINGS[kind]}, such as {example}"
        if self.counts:
            yield f"problems: {self.left_out:,} of {self.pairs:,} pairs are left out (--leave-out)"
        for kind in self.frequent:
            count = self.counts[kind]
            yield f"warning: {count:,} of {self.pairs:,} pairs are {kind}: are these the right files?"

    @property
    def frequent(self) -> list[ProblemKind]:
        """The problems of so many pairs that something may be wrong with the files."""
        kinds: tuple[ProblemKind, ...] = ("same-text", "other-script", "misaligned")
        return [kind for kind in kinds if self.counts[kind] > _MUCH * self.pairs]


@dataclass(frozen=True)
class AlignedCorpus:
    """Files of a prepared corpus: both sides and word links, line by line. ``pairs`` is the number of lines
    of the bitext, with which the corpus begins; a dictionary comes after it."""

    source: PathLike
    target: PathLike
    alignment: PathLike
    pairs: int

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Yields both sides and the links of all lines. Raises FormatError for files of different lengths,
        OSError."""
        pairs = read_pairs(self.source, self.target)
        for (source, target), line in with_link_lines(pairs, self.alignment):
            yield source, target, line

    def links_at(self, number: int) -> str:
        """Returns the place of the links of a line in messages, such as ``alignment:17``."""
        return f"{os.fspath(self.alignment)}:{number}"


def find_problems(
    corpus: AlignedCorpus, progress: Callable[[int], object] | None = None
) -> Iterator[Problem]:
    """Yields the problems of the pairs of the bitext, by line and then in the order of ``PROBLEMS``.

    - "duplicate": an earlier line has the same pair. Other problems of that line are problems of this, too.
    - "same-text": both sides are the same but for case.
    - "other-script": more than half of the letters of a side are in scripts that few letters of this side of
      the corpus are in; eight letters at least.
    - "misaligned": given the other side, the words of the pair are 100 times less likely than without it.

    A dictionary counts for what words mean, and is not judged. ``progress`` is called with the number of
    lines. Raises FormatError for files of different lengths, and for links that are malformed or do not fit;
    OSError.
    """
    finder = _Finder(corpus)
    for number, (source, target, links) in enumerate(corpus.lines(), start=1):
        if number > corpus.pairs:
            break
        if source:
            yield from finder.problems(number, source, target, links)
        if progress is not None and number % 1000 == 0:
            progress(number)


class _Finder:
    """A judge of the pairs of a corpus, by the first line of each pair, scripts and lexicon."""

    def __init__(self, corpus: AlignedCorpus) -> None:
        self._pairs = DigestIndex()  # of all lines
        # Problems of lines with copies behind them, without the text, which copies have.
        self._found: dict[int, list[Problem]] = {}
        self._lexicon = LinkLexicon()
        characters = CharacterCounts(), CharacterCounts()
        for number, (source, target, links) in enumerate(corpus.lines(), start=1):
            # A pair that is there twice must not explain itself.
            if self._pairs.add(digest(f"{source}\t{target}")) != number - 1:
                check_links(
                    parse_links(links, corpus.links_at(number)),
                    (len(split(source)), len(split(target))),
                    corpus.links_at(number),
                )
                continue
            try:
                self._lexicon.add(source, target, links)
            except FormatError as error:
                raise FormatError(f"{corpus.links_at(number)}: {error}") from None
            if number <= corpus.pairs:
                for counts, side in zip(characters, (source, target), strict=True):
                    counts.add(side)
        self._scripts = [MainScripts(counts.counts()) for counts in characters]

    def problems(self, number: int, source: str, target: str, links: str) -> Iterator[Problem]:
        """Yields the problems of the pair of a line. Lines are to be asked for in their order."""
        first = self._pairs.first(number - 1) + 1
        if first != number:
            yield Problem(number, "duplicate", f"as line {first}", source, target)
            for known in self._found.get(first, ()):
                yield replace(known, line=number, source=source, target=target)
            return
        found = list(self._judge(number, source, target, links))
        if found and self._pairs.is_repeated(number - 1):
            self._found[number] = [replace(problem, source="", target="") for problem in found]
        yield from found

    def _judge(self, number: int, source: str, target: str, links: str) -> Iterator[Problem]:
        if source.casefold() == target.casefold():
            yield Problem(number, "same-text", "", source, target)
        sides = zip(self._scripts, (source, target), strict=True)
        scripts = [main.other_script(side) for main, side in sides]
        if any(scripts):
            detail = ", ".join(f"{name} in {one}" for name, one in zip(_SIDES, scripts, strict=True) if one)
            yield Problem(number, "other-script", detail, source, target)
        log_odds = self._lexicon.log_odds(source, target, links)
        if log_odds < _LEAST_LOG_ODDS:
            yield Problem(number, "misaligned", f"log odds {log_odds:.1f}", source, target, log_odds)


def write_problems(
    corpus: AlignedCorpus,
    output: PathLike,
    *,
    leave_out: Collection[ProblemKind] = (),
    kept: Sequence[PathLike] = (),
    progress: Callable[[int], object] | None = None,
) -> ProblemReport:
    """Writes the problems of a corpus to a file: line, problem, detail, source and target, separated by tabs.

    With ``kept``, the names of three files, the corpus is written to these (source, target and links), with
    blank lines for the pairs that have a problem in ``leave_out``. Raises FormatError if no pair is kept,
    OSError.
    """
    report = ProblemReport()
    left_out = bytearray(corpus.pairs + 1)  # 1 for lines, counted from 1
    with replacing(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("line\tproblem\tdetail\tsource\ttarget\n")
        for problem in find_problems(corpus, progress):
            report.add(problem)
            row = (str(problem.line), problem.kind, problem.detail, problem.source, problem.target)
            file.write("\t".join(row) + "\n")
            if problem.kind in leave_out:
                left_out[problem.line] = 1
    report.left_out = sum(left_out)
    report.pairs = sum(1 for line in islice(read_lines(corpus.source), corpus.pairs) if line)
    if kept:
        _write_kept(corpus, kept, left_out)
    return report


def _write_kept(corpus: AlignedCorpus, kept: Sequence[PathLike], left_out: bytearray) -> None:
    is_empty = True
    with ExitStack() as stack:
        for path, output in zip((corpus.source, corpus.target, corpus.alignment), kept, strict=True):
            file = stack.enter_context(
                stack.enter_context(replacing(output)).open("w", encoding="utf-8", newline="\n")
            )
            for number, line in enumerate(read_lines(path), start=1):
                line = "" if number <= corpus.pairs and left_out[number] else line
                is_empty = is_empty and not line
                file.write(line + "\n")
        if is_empty:
            raise FormatError("all sentence pairs have problems that are to be left out")
