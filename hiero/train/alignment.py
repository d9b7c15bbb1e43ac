"""Word alignment in both directions by sil-thot's eflomal model (Östling and Tiedemann 2016), symmetrised.

Alignments are written in Pharaoh format: one line for each sentence pair, with links such as ``0-0 1-2``. A
link is the position of a source word and of a target word, counted from 0.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from pydantic import Field
from thot.common import WordAlignmentMatrix

from hiero._core import Error, FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.base.settings import Settings
from hiero.base.text import format_links, split
from hiero.train.corpus import read_pairs

Heuristic = Literal["grow-diag-final-and", "grow-diag-final", "grow-diag", "union", "intersection"]
HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
Links = list[tuple[int, int]]
Positions = npt.NDArray[np.int32]


class AlignSettings(Settings):
    """Settings of word alignment."""

    heuristic: Heuristic = Field(
        "grow-diag-final-and", description="heuristic that joins the alignments of both directions"
    )
    seed: int = Field(1, ge=0, lt=1 << 32, description="seed of the word alignment")


_DEFAULTS = AlignSettings()


def align(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    outputs: Sequence[PathLike],
    *,
    heuristic: Heuristic = _DEFAULTS.heuristic,
    seed: int = _DEFAULTS.seed,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Aligns all bitexts together and writes the links of each bitext to its output file.

    The files contain tokenised sentences. A pair with an empty side gets no links. The same seed gives the
    same alignment on any number of processors. ``progress`` is called with the number of iterations done
    and their total, for both directions together. The corpus is held in memory.
    Raises FormatError for files of different lengths or without a sentence pair; OSError.
    """
    corpora = [
        [(split(source), split(target)) for source, target in read_pairs(*bitext)] for bitext in bitexts
    ]
    aligned = [pair for corpus in corpora for pair in corpus if all(pair)]
    if not aligned:
        raise FormatError(f"{os.fspath(bitexts[0][0])}: no sentence pairs to align")
    symmetrised = symmetrise(aligned, *_align_both(aligned, seed, progress), heuristic)
    with ExitStack() as stack:
        for corpus, output in zip(corpora, outputs, strict=True):
            file = stack.enter_context(stack.enter_context(replacing(output)).open("w", newline="\n"))
            for pair in corpus:
                links = next(symmetrised) if all(pair) else []
                file.write(format_links(links) + "\n")


def read_alignment(path: PathLike, pairs: int) -> Iterator[Links]:
    """Yields the links of every line, sorted and without duplicates.

    Raises FormatError, naming the line, for malformed links and unless there are ``pairs`` lines.
    """
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{os.fspath(path)}:{number}"
        if number > pairs:
            raise FormatError(f"{where}: more lines than the {pairs} sentence pairs")
        yield sorted({_parse_link(token, where) for token in split(line)})
    if number < pairs:
        raise FormatError(f"{os.fspath(path)}: ends after {number} lines of {pairs} sentence pairs")


def check_links(links: Links, lengths: tuple[int, int], where: str) -> None:
    """Raises FormatError for a link outside a sentence pair with these numbers of source and target words."""
    for s, t in links:
        if s >= lengths[0] or t >= lengths[1]:
            raise FormatError(
                f"{where}: link {s}-{t} points beyond a sentence pair of {lengths[0]} and {lengths[1]} words"
            )


def import_alignment(alignment: PathLike, source: PathLike, target: PathLike, output: PathLike) -> None:
    """Copies an alignment of all lines of a prepared corpus. Pairs that the corpus leaves out get no links.

    Raises FormatError, naming the line, for links that do not fit the corpus; OSError.
    """
    lengths = [(len(split(f)), len(split(e))) for f, e in read_pairs(source, target)]
    with replacing(output) as path, path.open("w", newline="\n") as file:
        for number, links in enumerate(read_alignment(alignment, len(lengths))):
            if lengths[number] != (0, 0):
                check_links(links, lengths[number], f"{os.fspath(alignment)}:{number + 1}")
            file.write((format_links(links) if lengths[number] != (0, 0) else "") + "\n")


def _parse_link(token: str, where: str) -> tuple[int, int]:
    source, dash, target = token.partition("-")
    if not (dash and source.isascii() and target.isascii() and source.isdigit() and target.isdigit()):
        raise FormatError(f"{where}: expected links such as 0-0 1-2, found {token}")
    return int(source), int(target)


def _align_both(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    seed: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[Positions, Positions]:
    """Returns the forward and the backward alignment.

    The forward alignment has the position of the source word of every target word of all pairs, or -1. The
    backward alignment has the position of the target word of every source word.
    """
    counts = [(0, 0), (0, 0)]

    def report(direction: int, done: int, total: int) -> None:
        counts[direction] = (done, total)
        if progress is not None and counts[0][1] and counts[1][1]:
            progress(sum(done for done, _ in counts), sum(total for _, total in counts))

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        processes = [stack.enter_context(_alignment_process(seed)) for _ in range(2)]
        forward = pool.submit(_run_direction, processes[0], pairs, partial(report, 0))
        backward = pool.submit(_run_direction, processes[1], [(t, s) for s, t in pairs], partial(report, 1))
        for future in as_completed([forward, backward]):
            future.result()  # raises the error of the one that fails first
        return forward.result(), backward.result()


@contextmanager
def _alignment_process(seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Yields a process that aligns in one direction. Kills it at the end if it is still running."""
    program = Path(__file__).with_name("direction.py")
    process = subprocess.Popen(
        [sys.executable, "-P", str(program), str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # an interrupt from the keyboard is for this process alone
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _run_direction(
    process: subprocess.Popen[bytes],
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    report: Callable[[int, int], None],
) -> Positions:
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        try:
            with process.stdin:
                for source, target in pairs:
                    process.stdin.write(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
            # A process that is killed may leave an incomplete line.
            while counts := re.fullmatch(rb"(\d+) (\d+)\n", process.stdout.readline()):
                report(int(counts[1]), int(counts[2]))
        except BrokenPipeError:
            pass  # the error message is read below
        positions = process.stdout.read()
        messages = process.stderr.read().decode(errors="replace").strip()
    words = sum(len(target) for _, target in pairs)
    if process.wait() != 0 or len(positions) != words * np.dtype(np.int32).itemsize:
        reason = messages.splitlines()[-1] if messages else f"exit code {process.returncode}"
        raise Error(f"word alignment failed: {reason}")
    return np.frombuffer(positions, np.int32)


def symmetrise(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
    forward: Positions,
    backward: Positions,
    heuristic: Heuristic,
) -> Iterator[Links]:
    """Yields the links of every pair, combined from the alignments of both directions."""
    begin_target, begin_source = 0, 0
    for source, target in pairs:
        end_target, end_source = begin_target + len(target), begin_source + len(source)
        matrix, other = (WordAlignmentMatrix(len(source), len(target)) for _ in range(2))
        for t, s in enumerate(forward[begin_target:end_target].tolist()):
            if s >= 0:
                matrix[s, t] = True
        for s, t in enumerate(backward[begin_source:end_source].tolist()):
            if t >= 0:
                other[s, t] = True
        begin_target, begin_source = end_target, end_source
        combine(matrix, other, heuristic)
        yield [(int(s), int(t)) for s, t in np.argwhere(matrix.to_numpy())]


def combine(matrix: WordAlignmentMatrix, other: WordAlignmentMatrix, heuristic: Heuristic) -> None:
    """Combines two matrices of source by target words in place into the first (Koehn et al. 2005)."""
    if heuristic == "intersection":
        matrix.intersect(other)
    elif heuristic == "union":
        matrix.union(other)
    elif heuristic == "grow-diag":
        matrix.grow_diag(other)
    elif heuristic == "grow-diag-final":
        matrix.grow_diag_final(other)
    else:
        matrix.grow_diag_final_and(other)
