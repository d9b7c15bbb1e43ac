"""Runs extraction and scoring on small bitexts, and reads their files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from hiero import RuleTable
from hiero._core import ExtractStatistics, RuleCounts
from hiero.train import ExtractSettings, ScoreSettings, extract_rules, score_rules
from support.brute_force_extraction import Pair

Key = tuple[tuple[str, ...], tuple[str, ...]]


def random_pair(rng: random.Random, longest: int, words: str) -> Pair:
    """Returns a pair of up to so many words, which are small letters, and capitals on the target side."""
    source = tuple(rng.choice(words) for _ in range(rng.randint(1, longest)))
    target = tuple(rng.choice(words.upper()) for _ in range(rng.randint(1, longest)))
    density = rng.choice([0.3, 0.8, 1.5])
    links = set()
    for _ in range(round(density * len(source))):
        s = rng.randrange(len(source))
        t = min(len(target) - 1, max(0, s + rng.choice([-2, -1, 0, 0, 0, 1, 2])))
        links.add((s, t if rng.random() < 0.8 else rng.randrange(len(target))))
    return Pair(source, target, frozenset(links))


def write_bitext(folder: Path, pairs: Sequence[Pair]) -> tuple[Path, Path, Path]:
    """Writes source, target and links as the files f, e and a, and returns their paths."""
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
        *write_bitext(folder, pairs), folder / "counts", settings=ExtractSettings(**settings), memory=memory
    )


def read_counts(folder: Path) -> dict[Key, tuple[tuple[tuple[int, int], ...], float, int]]:
    """Returns the links, count and occurrences of all counted rules."""
    rules: dict[Key, tuple[tuple[tuple[int, int], ...], float, int]] = {}

    def visit(
        source: list[str], target: list[str], links: list[tuple[int, int]], count: float, occurrences: int
    ) -> None:
        key = (tuple(source), tuple(target))
        assert key not in rules
        rules[key] = (tuple(links), count, occurrences)

    RuleCounts(str(folder / "counts")).visit(visit)
    return rules


def read_features(table: Path) -> dict[Key, dict[str, float]]:
    """Returns the features of all rules of a table."""
    from hiero.base.tables import unpack

    text = bytearray()
    unpack(RuleTable.open(str(table)), text.extend)
    rules = {}
    for line in text.decode().splitlines():
        _, source, target, features, *_ = (field.split() for field in line.split("|||"))
        rules[tuple(source), tuple(target)] = {n: float(v) for n, v in (f.split("=") for f in features)}
    return rules


def score(
    folder: Path, bitext: tuple[Path, Path] | None = None, threads: int = 1, **settings: object
) -> dict[Key, dict[str, float]]:
    """Runs scoring on the counted rules of a folder, and returns the features of the rules that are kept."""
    options = ScoreSettings(**settings)
    score_rules(folder / "counts", folder / "rules.hrt", settings=options, bitext=bitext, threads=threads)
    return read_features(folder / "rules.hrt")
