"""Extraction and scoring on small bitexts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hiero import RuleTable
from hiero._core import ExtractStatistics, RuleCounts
from hiero.train import ExtractSettings, ScoreSettings, extract_rules, score_rules
from support.brute_force_extraction import Pair

Key = tuple[tuple[str, ...], tuple[str, ...]]


def write(folder: Path, pairs: Sequence[Pair]) -> tuple[Path, Path, Path]:
    texts = {
        "f": [" ".join(p.source) for p in pairs],
        "e": [" ".join(p.target) for p in pairs],
        "a": [" ".join(f"{s}-{t}" for s, t in sorted(p.links)) for p in pairs],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return folder / "f", folder / "e", folder / "a"


def extract(
    folder: Path, pairs: Sequence[Pair], memory: int = 1 << 30, **settings: object
) -> ExtractStatistics:
    return extract_rules(
        *write(folder, pairs), folder / "counts", settings=ExtractSettings(**settings), memory=memory
    )


def read(folder: Path) -> dict[Key, tuple[tuple[tuple[int, int], ...], float, int]]:
    rules: dict[Key, tuple[tuple[tuple[int, int], ...], float, int]] = {}

    def visit(
        source: list[str], target: list[str], links: list[tuple[int, int]], count: float, occurrences: int
    ) -> None:
        key = (tuple(source), tuple(target))
        assert key not in rules
        rules[key] = (tuple(links), count, occurrences)

    RuleCounts(str(folder / "counts")).visit(visit)
    return rules


def rows(table: Path) -> dict[Key, dict[str, float]]:
    from hiero.base.tables import unpack

    text = bytearray()
    unpack(RuleTable.open(str(table)), text.extend)
    out = {}
    for line in text.decode().splitlines():
        _, source, target, features, *_ = (field.split() for field in line.split("|||"))
        out[tuple(source), tuple(target)] = {n: float(v) for n, v in (f.split("=") for f in features)}
    return out


def scored(
    folder: Path, bitext: tuple[Path, Path] | None = None, **settings: object
) -> dict[Key, dict[str, float]]:
    score_rules(folder / "counts", folder / "rules.hrt", settings=ScoreSettings(**settings), bitext=bitext)
    return rows(folder / "rules.hrt")
