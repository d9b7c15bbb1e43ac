"""Word alignment in both directions, symmetrised: by the core's aligner, with eflomal's model (Östling and
Tiedemann 2016), or by models of sil-thot.

Alignments are written in Pharaoh format: one line for each sentence pair, with links such as ``0-0 1-2``. A
link is the position of a source word and of a target word, counted from 0.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from pydantic import Field

from hiero._core import ALIGN_BYTES_PER_TYPE, ALIGN_BYTES_PER_WORD, Aligner, FormatError, symmetrise
from hiero.base.directories import temporary_folder
from hiero.base.files import replacing
from hiero.base.lines import PathLike, check_read_twice, open_source, read_lines
from hiero.base.parallel import is_spread, spread_wide
from hiero.base.settings import Settings
from hiero.base.text import format_links, split
from hiero.train.corpus import read_pairs
from hiero.train.shards import STEP_MEMORY, Shard
from hiero.train.sil_thot import MODELS, align_both

Heuristic = Literal["grow-diag-final-and", "grow-diag-final", "grow-diag", "union", "intersection"]
HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
AlignerName = Literal["hiero", "sil-thot", "fast-align", "hmm", "ibm1"]
Links = list[tuple[int, int]]
Pair = TypeVar("Pair")
# Lines of links and of the probability of each link.
Blocks = Iterable[tuple[bytes, bytes]]

# Pairs that are written at a time.
PAIRS_AT_ONCE = 8_192


class AlignSettings(Settings):
    """Settings of word alignment."""

    heuristic: Heuristic = Field(
        "grow-diag-final-and", description="heuristic that joins the alignments of both directions"
    )
    seed: int = Field(1, ge=0, lt=1 << 32, description="seed of the word alignment")
    aligner: AlignerName = Field(
        "hiero", description="program that aligns words, or model of sil-thot's, which is to be installed"
    )
    samplers: int = Field(
        3, ge=1, description="samplers of each direction, whose probabilities of links are added up"
    )


_DEFAULTS = AlignSettings()


def align(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    outputs: Sequence[PathLike],
    *,
    heuristic: Heuristic = _DEFAULTS.heuristic,
    seed: int = _DEFAULTS.seed,
    aligner: AlignerName = _DEFAULTS.aligner,
    samplers: int = _DEFAULTS.samplers,
    memory: int = STEP_MEMORY,
    threads: int = 1,
    save: PathLike | None = None,
    probabilities: PathLike | None = None,
    shards: Sequence[PathLike] = (),
    report: Callable[[str], object] = lambda line: None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Aligns all bitexts together and writes the links of each bitext to its output file.

    - ``bitexts``: pairs of files of tokenised sentences. A pair with an empty side gets no links.
    - ``aligner``: ``hiero``, or a model of sil-thot's: ``sil-thot`` is its version of the same model;
      ``fast-align``, ``hmm`` and ``ibm1`` have neither seed nor samplers.
    - ``memory``: bytes for counts, which take up to 24 for a word of the larger side and 192 for each
      different word of a side. If they have no room for all pairs, hiero's aligner learns from as many, drawn
      at random, and aligns the others by what it has learned; ``report`` is told how many. sil-thot takes
      what it needs.
    - ``threads``: the number of threads, which changes no link; sil-thot has two processes of one thread.
    - ``save``: a file for what was learned, for ``AlignmentModel``. Only hiero's own aligner writes it.
    - ``probabilities``: a file for the probabilities of the first bitext's links, in the same order: the
      means of both directions. Only hiero's own aligner writes it.
    - ``shards``: the files of ``align_shard`` for all shards, in any order, with the same bitexts, ``seed``,
      ``samplers`` and ``memory``. What is in them is taken in place of training, for the same results. Only
      hiero's own aligner reads them.
    - ``progress``: called with the number of iterations done and their total, for both directions together.

    sil-thot holds the corpus in memory; hiero's aligner has it in files without names beside the first
    output. On a cluster its samplers learn on several machines. Raises FormatError for files of different
    lengths or without a sentence pair, and for shards that are of other bitexts or settings, missing, given
    twice or damaged; OSError, on a cluster also for files that can be read only once; Error if sil-thot fails
    or is not installed; ValueError for files that only hiero's own aligner writes or reads.
    """
    if aligner == "hiero":
        if is_spread() and not shards:
            for path in itertools.chain.from_iterable(bitexts):
                check_read_twice(path)
        core, sizes = _read_bitexts(bitexts, outputs[0], threads)
        if shards:
            learned = core.take_chains([os.fspath(shard) for shard in shards], seed, samplers, memory)
        elif is_spread():
            with temporary_folder(Path(outputs[0])) as folder:
                work = _AlignShard(bitexts, folder, seed, samplers, memory)
                learned = core.take_chains(work.run(threads, progress), seed, samplers, memory)
        else:
            learned = core.train(seed, samplers, memory, progress)
        _report_sample(core, learned, report)
        if save is not None:
            core.save(os.fspath(save))
        lines = _lines(core, sizes, heuristic)
    elif save is None and probabilities is None and not shards:
        lines = _align_by_sil_thot(bitexts, MODELS[aligner], heuristic, seed, samplers, progress)
    else:
        raise ValueError(f"{aligner} has neither a model to save, nor probabilities, nor shards")
    for output, blocks in zip(outputs, lines, strict=True):
        write_links(blocks, output, probabilities)
        probabilities = None


def align_shard(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    output: PathLike,
    shard: Shard,
    *,
    seed: int = _DEFAULTS.seed,
    samplers: int = _DEFAULTS.samplers,
    memory: int = STEP_MEMORY,
    threads: int = 1,
    report: Callable[[str], object] = lambda line: None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Trains a shard of hiero's own aligner and writes it to a file, for ``align`` with ``shards``.

    The samplers of both directions, ``2 * samplers`` in all, learn independently of each other, so that they
    can be trained by several processes or machines at once. Each reads all bitexts. Take as many shards as
    divide the samplers evenly.

    - ``bitexts``, ``seed``, ``samplers``, ``memory``, ``threads``, ``report``: as for ``align``; all but the
      last two must be the same for all shards.
    - ``shard``: ``(i, n)`` for shard i, from 0, of n. Of more shards than samplers, some are empty.
    - ``progress``: called with the number of iterations done and their total, for this shard.

    Raises FormatError for files of different lengths or without a sentence pair; OSError; ValueError unless
    ``0 <= i < n``.
    """
    core, _ = _read_bitexts(bitexts, output, threads)
    learned = core.train(seed, samplers, memory, progress, shard)
    _report_sample(core, learned, report)
    core.save_chains(os.fspath(output))


def memory_setting(source: PathLike, target: PathLike, aligner: AlignerName, memory: int) -> dict[str, int]:
    """Returns the memory as a setting of the step that aligns a corpus, if the counts of all pairs might not
    fit into it: then the pairs that are learned from depend on it. Raises FormatError, OSError."""
    if aligner != "hiero":
        return {}
    # A word has two bytes at least, with the space behind it, and all might differ.
    words = [os.path.getsize(path) // 2 for path in (source, target)]
    if max(words) * ALIGN_BYTES_PER_WORD + (sum(words) + 2) * ALIGN_BYTES_PER_TYPE <= memory:
        return {}
    core = Aligner(str(Path(source).parent), 1)
    _add_bitexts(core, [(source, target)])
    return {"memory": memory} if core.bytes_needed > memory else {}


def write_links(blocks: Blocks, output: PathLike, probabilities: PathLike | None) -> None:
    """Writes lines of links and, if asked for, of their probabilities, to files that appear when they are
    complete."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(stack.enter_context(replacing(path)).open("wb"))
            for path in (output, probabilities)
            if path is not None
        ]
        for parts in blocks:
            for file, part in zip(files, parts, strict=False):
                file.write(part)


def _read_bitexts(
    bitexts: Sequence[tuple[PathLike, PathLike]], output: PathLike, threads: int
) -> tuple[Aligner, list[int]]:
    """Returns an aligner, whose files lie beside the output, and the number of pairs of each bitext."""
    core = Aligner(str(Path(output).parent), threads)
    return core, _add_bitexts(core, bitexts)


@dataclass(frozen=True)
class _AlignShard:
    """Trains a sampler of a direction on a machine of a cluster."""

    bitexts: Sequence[tuple[PathLike, PathLike]]
    folder: Path
    seed: int
    samplers: int
    memory: int

    def run(self, threads: int, progress: Callable[[int, int], object] | None) -> list[str]:
        """Trains all, and returns their files."""
        count = 2 * self.samplers
        for done, _ in enumerate(spread_wide(self, range(count), threads), start=1):
            if progress is not None:
                progress(done, count)
        return [os.fspath(self.file(number)) for number in range(count)]

    def file(self, number: int) -> Path:
        return self.folder / f"sampler.{number}"

    def __call__(self, number: int, threads: int) -> None:
        align_shard(
            self.bitexts,
            self.file(number),
            (number, 2 * self.samplers),
            seed=self.seed,
            samplers=self.samplers,
            memory=self.memory,
            threads=threads,
        )


def _report_sample(core: Aligner, learned: int, report: Callable[[str], object]) -> None:
    if learned < core.pairs:
        report(f"learned from {learned:,} of {core.pairs:,} pairs, for which there is memory")


def _add_bitexts(aligner: Aligner, bitexts: Sequence[tuple[PathLike, PathLike]]) -> list[int]:
    """Returns the number of pairs of each bitext."""
    sizes = []
    for bitext in bitexts:
        with ExitStack() as stack:
            files = [(stack.enter_context(open_source(path)), os.fspath(path)) for path in bitext]
            sizes.append(aligner.add(*files))
    _check_pairs(aligner.pairs > 0, bitexts)
    return sizes


def _lines(aligner: Aligner, sizes: Sequence[int], heuristic: Heuristic) -> Iterator[Blocks]:
    """Yields the lines of each bitext, several at a time."""
    begin = 0
    for size in sizes:
        end = begin + size
        begins = range(begin, end, PAIRS_AT_ONCE)
        yield (aligner.lines(first, min(end, first + PAIRS_AT_ONCE), heuristic) for first in begins)
        begin = end


def _align_by_sil_thot(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    model: str,
    heuristic: Heuristic,
    seed: int,
    samplers: int,
    progress: Callable[[int, int], object] | None,
) -> Iterator[Blocks]:
    """Yields the lines of links of each bitext."""
    corpora = [
        [(split(source), split(target)) for source, target in read_pairs(*bitext)] for bitext in bitexts
    ]
    aligned = [pair for corpus in corpora for pair in corpus if all(pair)]
    _check_pairs(bool(aligned), bitexts)
    forward, backward = align_both(aligned, model, seed, samplers, progress)
    begin_source = begin_target = 0

    def line(source: Sequence[str], target: Sequence[str]) -> bytes:
        nonlocal begin_source, begin_target
        links: Links = []
        if source and target:
            end_source, end_target = begin_source + len(source), begin_target + len(target)
            there, back = forward[begin_target:end_target], backward[begin_source:end_source]
            links = symmetrise(there.tolist(), back.tolist(), heuristic)
            begin_source, begin_target = end_source, end_target
        return f"{format_links(links)}\n".encode()

    for corpus in corpora:
        yield ((line(*pair), b"") for pair in corpus)


def _check_pairs(there_are: bool, bitexts: Sequence[tuple[PathLike, PathLike]]) -> None:
    if not there_are:
        raise FormatError(f"{os.fspath(bitexts[0][0])}: no sentence pairs to align")


def read_alignment(path: PathLike, pairs: int | None = None) -> Iterator[Links]:
    """Yields the links of every line, sorted and without duplicates.

    Raises FormatError, naming the line, for malformed links and, if ``pairs`` is given, unless there are so
    many lines.
    """
    if pairs is None:
        for number, line in enumerate(read_lines(path), start=1):
            yield parse_links(line, f"{os.fspath(path)}:{number}")
    else:
        for _, links in with_links(range(pairs), path):
            yield links


def with_links(pairs: Iterable[Pair], alignment: PathLike) -> Iterator[tuple[Pair, Links]]:
    """Yields each sentence pair, whatever it is given as, with the links of its line, which are sorted and
    without duplicates.

    Raises FormatError, naming the line, for malformed links and unless there are as many lines as pairs.
    """
    for number, (pair, line) in enumerate(with_link_lines(pairs, alignment), start=1):
        yield pair, parse_links(line, f"{os.fspath(alignment)}:{number}")


def with_link_lines(pairs: Iterable[Pair], alignment: PathLike) -> Iterator[tuple[Pair, str]]:
    """Yields each sentence pair with its line of links as text. Raises FormatError unless there are as many
    lines as pairs."""
    where = os.fspath(alignment)
    lines = read_lines(alignment)
    rest = iter(pairs)
    number = 0
    for number, pair in enumerate(rest, start=1):
        line = next(lines, None)
        if line is None:
            total = number + sum(1 for _ in rest)
            raise FormatError(f"{where}: ends after {number - 1} lines of {total} sentence pairs")
        yield pair, line
    if next(lines, None) is not None:
        raise FormatError(f"{where}:{number + 1}: more lines than the {number} sentence pairs")


def parse_links(line: str, where: str) -> Links:
    """Returns the links of a line, sorted and without duplicates. Raises FormatError that begins with
    ``where`` for malformed links."""
    return sorted({_parse_link(token, where) for token in split(line)})


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
    with replacing(output) as path, path.open("w", newline="\n") as file:
        lines = with_links(read_pairs(source, target), alignment)
        for number, (pair, links) in enumerate(lines, start=1):
            lengths = len(split(pair[0])), len(split(pair[1]))
            if lengths == (0, 0):
                links = []
            check_links(links, lengths, f"{os.fspath(alignment)}:{number}")
            file.write(format_links(links) + "\n")


def _parse_link(token: str, where: str) -> tuple[int, int]:
    source, dash, target = token.partition("-")
    if not (dash and source.isascii() and target.isascii() and source.isdigit() and target.isdigit()):
        raise FormatError(f"{where}: expected links such as 0-0 1-2, found {token}")
    return int(source), int(target)
