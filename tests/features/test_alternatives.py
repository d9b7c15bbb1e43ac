"""Lattices of alternatives and of variants of words, beside the lists that they are made of."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.features.alternatives import Variants, lattice_of
from support.lattices import paths


def test_paths_are_the_readings() -> None:
    shared = 0
    for seed in range(500):
        rng = random.Random(seed)
        has_scores = rng.random() < 0.7
        readings = [
            (rng.choices("abc", k=rng.randint(1, 5)), round(rng.uniform(-3, 0), 3) if has_scores else None)
            for _ in range(rng.randint(1, 8))
        ]
        best: dict[tuple[str, ...], float] = {}
        for words, score in readings:
            best[tuple(words)] = max(best.get(tuple(words), -9.0), score or 0.0)
        lattice = lattice_of(readings)
        found = paths(lattice)
        assert [words for words, _ in found] == sorted(best)
        if has_scores:
            assert [scores[0] for _, scores in found] == pytest.approx([best[words] for words, _ in found])
        shared += len(lattice.arcs) < sum(map(len, best))
        # No two nodes have the same ways on.
        ways: dict[int, list[tuple[object, ...]]] = {}
        for arc in lattice.arcs:
            ways.setdefault(arc.begin, []).append((arc.word, tuple(round(s, 9) for s in arc.scores), arc.end))
        assert len({tuple(sorted(out)) for begin, out in ways.items() if begin > 0}) == len(ways) - 1
    assert shared > 200


def test_readings_that_make_no_lattice() -> None:
    for wrong in ([], [([], None)], [(["a"], None), (["b"], 1.0)]):
        with pytest.raises(FormatError, match="lattice: "):
            lattice_of(wrong)  # type: ignore[arg-type]
    long = [f"w{k}" for k in range(5000)]
    assert len(lattice_of([(long, -1.0), ([*long, "x"], -2.0)]).arcs) == 5002


def test_variants(tmp_path: Path) -> None:
    path = tmp_path / "variants"
    path.write_text("# chat\nu\tyou\t-0.5\nu\tto you\t-2\ncant\tcan not\nu\tu\t-1\n")
    lattice = Variants.read(path).lattice(["u", "cant", "go"])
    assert paths(lattice) == [
        (("to", "you", "can", "not", "go"), (-2.0,)),
        (("to", "you", "cant", "go"), (-2.0,)),
        (("u", "can", "not", "go"), (0.0,)),
        (("u", "cant", "go"), (0.0,)),
        (("you", "can", "not", "go"), (-0.5,)),
        (("you", "cant", "go"), (-0.5,)),
    ]
    for wrong in ("a", "a\t", "a b\tc", "a\tb\tx", "a\tb\tnan", "a\tb\t1\t2"):
        path.write_text(f"u\tyou\n{wrong}\n")
        with pytest.raises(FormatError, match=re.escape(f"{path}:2: expected a word, a tab, its variant")):
            Variants.read(path)
