"""Rule extraction, in one process or by shards of the bitext in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hiero import __version__, _core
from hiero._core import ExtractStatistics
from hiero.base.directories import temporary_folder
from hiero.base.lines import PathLike, check_read_twice, open_source
from hiero.base.parallel import is_spread, machines, spread_wide
from hiero.train.rules import ExtractSettings
from hiero.train.shards import SHARDS_PER_MACHINE, STEP_MEMORY, Shard

# Called with the numbers of sentence pairs and of rule occurrences so far.
ExtractProgress = Callable[[int, int], object]


def extract_rules(
    source: PathLike,
    target: PathLike,
    alignment: PathLike,
    output: PathLike,
    *,
    settings: ExtractSettings | None = None,
    memory: int = STEP_MEMORY,
    threads: int = 1,
    progress: ExtractProgress | None = None,
) -> ExtractStatistics:
    """Extracts rules from two files of tokens and a file of links, and writes a file of rule counts.

    A ``max_phrase`` that is not set is chosen. ``memory`` limits the bytes used for sorting; neither it nor
    the number of ``threads`` changes the result. ``progress`` is called with the numbers of sentence pairs
    and of rule occurrences so far. Pairs with an empty side are skipped. On a cluster machines extract from
    shards of the pairs; their files lie beside ``output`` until all are done.
    Raises FormatError, naming the line, for files of different lengths, invalid UTF-8 or links outside a
    sentence; OSError, on a cluster also for files that can be read only once.
    """
    settings = (settings or ExtractSettings()).chosen(alignment)
    if is_spread():
        for path in (source, target, alignment):
            check_read_twice(path)
        with temporary_folder(Path(output)) as folder:
            spread = _Spread(
                (source, target, alignment), folder, settings, memory, SHARDS_PER_MACHINE * machines()
            )
            return spread.run(output, threads, progress)
    with open_source(source) as f, open_source(target) as e, open_source(alignment) as a:
        return _core.extract(
            (f, os.fspath(source)),
            (e, os.fspath(target)),
            (a, os.fspath(alignment)),
            os.fspath(output),
            settings.options(),
            memory,
            threads,
            progress,
        )


def extract_shard(
    source: PathLike,
    target: PathLike,
    alignment: PathLike,
    output: PathLike,
    shard: Shard,
    *,
    settings: ExtractSettings | None = None,
    memory: int = STEP_MEMORY,
    threads: int = 1,
    progress: ExtractProgress | None = None,
) -> ExtractStatistics:
    """Does what ``extract_rules`` does for one of several shards of the pairs, such as ``(0, 8)`` to
    ``(7, 8)``, and writes a file for ``merge_extracted``.

    Returns the statistics of the shard, without numbers of rules. Raises what ``extract_rules`` raises, and
    ValueError if there is no such shard.
    """
    settings = (settings or ExtractSettings()).chosen(alignment)
    with open_source(source) as f, open_source(target) as e, open_source(alignment) as a:
        return _core.extract_shard(
            (f, os.fspath(source)),
            (e, os.fspath(target)),
            (a, os.fspath(alignment)),
            os.fspath(output),
            settings.options(),
            f"{__version__} {settings.model_dump_json()}",
            shard,
            memory,
            threads,
            progress,
        )


def merge_extracted(
    shards: Sequence[PathLike], output: PathLike, *, memory: int = STEP_MEMORY, threads: int = 1
) -> ExtractStatistics:
    """Writes the file of rule counts from the files of all shards, in any order. It is the same as that of
    ``extract_rules``. Raises FormatError for files that are damaged or do not belong together, and if one is
    missing; OSError."""
    return _core.merge_extracted([os.fspath(path) for path in shards], os.fspath(output), memory, threads)


@dataclass(frozen=True)
class _Spread:
    """Extraction on the machines of a cluster, in three steps, each of which reads what that before wrote."""

    bitext: tuple[PathLike, PathLike, PathLike]
    folder: Path
    settings: ExtractSettings
    memory: int
    count: int  # of shards, in each step
    # The first source side of each part of source sides but the first one.
    firsts: tuple[bytes, ...] = ()

    def run(self, output: PathLike, threads: int, progress: ExtractProgress | None) -> ExtractStatistics:
        pairs = occurrences = 0
        for more_pairs, more_occurrences in spread_wide(self.extract, range(self.count), threads):
            pairs, occurrences = pairs + more_pairs, occurrences + more_occurrences
            if progress is not None:
                progress(pairs, occurrences)
        firsts = _core.divide_extracted(self.files("extracted"), os.fspath(self.folder), self.memory)
        divided = replace(self, firsts=tuple(firsts))
        for work in (divided.sum, self.code):
            for _ in spread_wide(work, range(self.count), threads):
                if progress is not None:
                    progress(pairs, occurrences)
        return _core.join_extracted(self.files("extracted"), self.files("coded"), os.fspath(output))

    def files(self, name: str) -> list[str]:
        return [os.fspath(self.folder / f"{name}.{number}") for number in range(self.count)]

    def extract(self, number: int, threads: int) -> tuple[int, int]:
        statistics = extract_shard(
            *self.bitext,
            self.files("extracted")[number],
            (number, self.count),
            settings=self.settings,
            memory=self.memory,
            threads=threads,
        )
        return statistics.pairs, statistics.occurrences

    def sum(self, number: int, threads: int) -> None:
        shard = number, self.count
        output = self.files("sums")[number]
        _core.sum_extracted(self.files("extracted"), self.firsts, output, shard, self.memory, threads)

    def code(self, number: int, threads: int) -> None:
        shard = number, self.count
        _core.code_extracted(self.files("sums"), self.files("coded")[number], shard, self.memory, threads)
