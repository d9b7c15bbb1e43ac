"""Sets out of a bitext: nothing is in two of them, and nothing that is trained on is tested."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from test_training import write

from hiero import FormatError
from hiero.train import set_aside

PAIRS = [(f"s{n % 60} ", f"t{n}") for n in range(100)] + [("", "t"), ("s", " "), ("s60", ""), ("s60", "t60")]


def sets(folder: Path, seed: int, **sizes: int) -> dict[str, list[tuple[str, str]]]:
    source = write(folder / "s", [pair[0] for pair in PAIRS])
    target = write(folder / "t", [pair[1] for pair in PAIRS])
    counts = set_aside(source, target, folder, sizes, seed)
    found = {}
    for name in (*sizes, "train"):
        sides = ((folder / f"{name}.{side}").read_text().splitlines() for side in ("source", "target"))
        found[name] = list(zip(*sides, strict=True))
    assert counts == {name: len(pairs) for name, pairs in found.items()}
    return found


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_is_in_one_set(tmp_path: Path, seed: int) -> None:
    found = sets(tmp_path, seed, tune=12, test=18)
    assert (len(found["tune"]), len(found["test"])) == (12, 18)
    sources = {name: [source.strip() for source, _ in pairs] for name, pairs in found.items()}
    assert len({*sources["tune"], *sources["test"]}) == 30  # each once
    assert not {*sources["tune"], *sources["test"]} & set(sources["train"])
    # What is drawn is the first with its source that has a translation.
    first = {s.strip(): (s, t) for s, t in reversed(PAIRS) if s.strip() and t.strip()}
    for pair in found["tune"] + found["test"]:
        assert first[pair[0].strip()] == pair
    drawn = set(sources["tune"]) | set(sources["test"])
    assert found["train"] == [pair for pair in PAIRS if pair[0].strip() not in drawn]
    order = {pair: number for number, pair in enumerate(PAIRS)}
    for pairs in found.values():
        assert [order[pair] for pair in pairs] == sorted(order[pair] for pair in pairs)


def test_draws_are_of_the_seed_and_of_equal_chances(tmp_path: Path) -> None:
    assert sets(tmp_path, 1, test=10) == sets(tmp_path, 1, test=10) != sets(tmp_path, 2, test=10)
    often = Counter(pair for seed in range(200) for pair in sets(tmp_path, seed, test=10)["test"])
    assert len(often) == 61 and max(often.values()) < 60 and min(often.values()) > 10


def test_too_few_pairs(tmp_path: Path) -> None:
    assert len(sets(tmp_path, 1, test=30)["test"]) == 30
    with pytest.raises(FormatError, match=r"s: 61 different sentences .* too few to set 31 of them aside"):
        sets(tmp_path, 1, tune=1, test=30)
