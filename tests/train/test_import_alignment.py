"""Tests of alignments that are given: they are read with the corpus, line by line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hiero
from hiero.train.alignment import check_links, import_alignment
from support.files import write


def imported(links: Path, pairs: list[tuple[str, str]]) -> str:
    """Returns the text of an alignment for pairs, with all pairs and lines in memory."""
    lines = []
    for number, line in enumerate(links.read_text().splitlines(), start=1):
        if number > len(pairs):
            raise hiero.FormatError(f"{links}:{number}: more lines than the {len(pairs)} sentence pairs")
        lengths = len(pairs[number - 1][0].split()), len(pairs[number - 1][1].split())
        words = sorted({tuple(map(int, link.split("-"))) for link in line.split()}) if any(lengths) else []
        check_links(words, lengths, f"{links}:{number}")
        lines.append(" ".join(f"{s}-{t}" for s, t in words) + "\n")
    if len(lines) < len(pairs):
        raise hiero.FormatError(f"{links}: ends after {len(lines)} lines of {len(pairs)} sentence pairs")
    return "".join(lines)


def test_alignments_are_imported_line_by_line(tmp_path: Path) -> None:
    """Pairs that the corpus leaves out get no links, and other numbers of lines and words are errors."""
    outcomes: set[str] = set()
    for seed in range(300):
        rng = random.Random(seed)
        lengths = [rng.choice([(0, 0), (1, 2), (3, 3)]) for _ in range(rng.randint(0, 5))]
        pairs = [(" ".join("f" * f), " ".join("e" * e)) for f, e in lengths]
        source, target = (write(tmp_path / "fe"[side], [pair[side] for pair in pairs]) for side in (0, 1))
        most = [(f or 9, e or 9) if rng.random() < 0.95 else (4, 4) for f, e in lengths] + [(1, 1)] * 2
        tokens = [
            [f"{rng.randrange(f)}-{rng.randrange(e)}" for _ in range(rng.randint(0, 3))] for f, e in most
        ]
        count = max(0, len(pairs) + rng.choice([0, 0, 0, 1, 2, -1, -2]))
        links = write(tmp_path / "links", [" ".join(line) for line in tokens[:count]])
        (tmp_path / "out").unlink(missing_ok=True)
        try:
            expected = imported(links, pairs)
        except hiero.FormatError as error:
            with pytest.raises(hiero.FormatError) as raised:
                import_alignment(links, source, target, tmp_path / "out")
            assert str(raised.value) == str(error) and not (tmp_path / "out").exists()
            outcomes.add(str(error).split(": ")[1][:4])
        else:
            import_alignment(links, source, target, tmp_path / "out")
            assert (tmp_path / "out").read_text() == expected
            outcomes.add("good" if expected else "empty")
    assert outcomes == {"good", "empty", "link", "more", "ends"}
