"""Rule scoring, in one process or by shards of the counted rules in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hiero import __version__, _core
from hiero._core import RuleCounts, ScoreStatistics
from hiero.base.directories import temporary_folder
from hiero.base.lines import PathLike, check_read_twice, open_source
from hiero.base.parallel import is_spread, machines, spread_wide
from hiero.train.rules import ScoreSettings
from hiero.train.shards import SHARDS_PER_MACHINE, Shard

Bitext = tuple[PathLike, PathLike]
# Called with the number of rules done and their total.
ScoreProgress = Callable[[int, int], object]


def score_rules(
    counts: PathLike,
    output: PathLike,
    *,
    settings: ScoreSettings | None = None,
    bitext: Bitext | None = None,
    threads: int = 1,
    progress: ScoreProgress | None = None,
) -> ScoreStatistics:
    """Writes a packed rule table from rule counts.

    Its features are PhraseFE, PhraseEF, LexFE and LexEF (natural logs of probabilities), RuleCount (log of
    the count) and Singleton (1 for a rule that occurred once). Probabilities are estimated from all counted
    rules, before pruning. Pruning by significance counts in how many sentence pairs of ``bitext`` each side
    occurs; the bitext must be the one from which the rules were extracted.
    The number of ``threads`` changes nothing but the time. ``progress`` is called with the number of rules
    done and their total. On a cluster machines score shards of the rules; their files lie beside ``output``
    until all are done.
    Raises ValueError for pruning by significance without a bitext; FormatError; OSError, on a cluster also
    for files that can be read only once.
    """
    settings = settings or ScoreSettings()
    rules = RuleCounts(os.fspath(counts))
    total = rules.statistics.rules
    if is_spread():
        for path in (counts, *(bitext or ())):
            check_read_twice(path)
        with temporary_folder(Path(output)) as folder:
            work = _ScoreShard(counts, folder, settings, bitext, SHARDS_PER_MACHINE * machines())
            done = 0
            for read in spread_wide(work, range(work.count), threads):
                done += read
                if progress is not None:
                    progress(done, total)
            return merge_scored(work.files(), output)
    with _tested_bitext(settings, bitext) as files:
        report = None if progress is None else lambda done: progress(done, total)
        least_significance = settings.least_significance(rules.statistics.pairs)
        return _core.score(
            rules, os.fspath(output), settings.options(), files, least_significance, threads, report
        )


def score_shard(
    counts: PathLike,
    output: PathLike,
    shard: Shard,
    *,
    settings: ScoreSettings | None = None,
    bitext: Bitext | None = None,
    threads: int = 1,
    progress: ScoreProgress | None = None,
) -> ScoreStatistics:
    """Does what ``score_rules`` does for one of several shards of the rules, such as ``(0, 8)`` to
    ``(7, 8)``, and writes a file for ``merge_scored``.

    Raises what ``score_rules`` raises, but nothing for a shard without rules, and ValueError if there is no
    such shard.
    """
    settings = settings or ScoreSettings()
    rules = RuleCounts(os.fspath(counts))
    with _tested_bitext(settings, bitext) as files:
        return _core.score_shard(
            rules,
            os.fspath(output),
            settings.options(),
            f"{__version__} {settings.model_dump_json()}",
            files,
            settings.least_significance(rules.statistics.pairs),
            shard,
            threads,
            None if progress is None else lambda done: progress(done, rules.statistics.rules),
        )


def merge_scored(shards: Sequence[PathLike], output: PathLike) -> ScoreStatistics:
    """Writes the rule table from the files of all shards, in any order. It is the same as that of
    ``score_rules``. Raises FormatError for files that are damaged or do not belong together, if one is
    missing, and for a table without rules; OSError."""
    return _core.merge_scored([os.fspath(path) for path in shards], os.fspath(output))


@contextmanager
def _tested_bitext(
    settings: ScoreSettings, bitext: Bitext | None
) -> Iterator[tuple[tuple[IO[bytes], str], tuple[IO[bytes], str]] | None]:
    """Opens the bitext in which significance is tested, if it is. Raises ValueError if there is none."""
    if settings.significance is None:
        yield None
        return
    if bitext is None:
        raise ValueError("pruning by significance needs the bitext that the rules come from")
    with ExitStack() as stack:
        source, target = ((stack.enter_context(open_source(p)), os.fspath(p)) for p in bitext)
        yield source, target


@dataclass(frozen=True)
class _ScoreShard:
    """Scores a shard on a machine of a cluster."""

    counts: PathLike
    folder: Path
    settings: ScoreSettings
    bitext: Bitext | None
    count: int

    def files(self) -> list[Path]:
        return [self.folder / f"scored.{number}" for number in range(self.count)]

    def __call__(self, number: int, threads: int) -> int:
        """Returns the number of rules of the shard."""
        return score_shard(
            self.counts,
            self.files()[number],
            (number, self.count),
            settings=self.settings,
            bitext=self.bitext,
            threads=threads,
        ).read
