"""Tests of drawing sets from a bitext: no pair is in two sets, and no test sentence is in the training
text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.train import leave_out, set_aside
from hiero.train.held_out import sentence_key
from support.files import write

PAIRS = [(f"s{n % 60} ", f"t{n}") for n in range(100)] + [("", "t"), ("s", " "), ("s60", ""), ("s60", "t60")]
OTHERS = ["S 3!", "s59", "elsewhere"]


def make_sets(
    folder: Path, seed: int, others: list[str] | None = None, **sizes: int
) -> dict[str, list[tuple[str, str]]]:
    """Draws sets, and returns the pairs of each set and of the rest, "train"."""
    source = write(folder / "s", [pair[0] for pair in PAIRS])
    target = write(folder / "t", [pair[1] for pair in PAIRS])
    counts = set_aside(source, target, folder, sizes, seed, others or [])
    sets = {}
    for name in (*sizes, "train"):
        sides = ((folder / f"{name}.{side}").read_text().splitlines() for side in ("source", "target"))
        sets[name] = list(zip(*sides, strict=True))
    sizes_without_blank = {
        name: sum(bool(s.strip() and t.strip()) for s, t in pairs) for name, pairs in sets.items()
    }
    assert counts == sizes_without_blank | {"left out": 101 - sum(sizes_without_blank.values())}
    return sets


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_is_in_one_set(tmp_path: Path, seed: int) -> None:
    sets = make_sets(tmp_path, seed, OTHERS, tune=11, test=18)
    assert (len(sets["tune"]), len(sets["test"])) == (11, 18)
    drawn = {source.strip() for name in ("tune", "test") for source, _ in sets[name]}
    assert len(drawn) == 29 and not drawn & {"s3", "s59"}  # without duplicates
    # A drawn pair is the first one with its source side that has a translation.
    first = {s.strip(): (s, t) for s, t in reversed(PAIRS) if s.strip() and t.strip()}
    for pair in sets["tune"] + sets["test"]:
        assert first[pair[0].strip()] == pair
    # The training text keeps the line numbers.
    remaining = [pair if pair[0].strip() not in drawn | {"s3", "s59"} else ("", "") for pair in PAIRS]
    assert sets["train"] == remaining
    order = {pair: number for number, pair in enumerate(PAIRS)}
    for name in ("tune", "test"):
        assert [order[pair] for pair in sets[name]] == sorted(order[pair] for pair in sets[name])


def test_draws_are_of_the_seed_and_of_equal_chances(tmp_path: Path) -> None:
    assert (
        make_sets(tmp_path, 1, test=10) == make_sets(tmp_path, 1, test=10) != make_sets(tmp_path, 2, test=10)
    )
    often = Counter(pair for seed in range(200) for pair in make_sets(tmp_path, seed, test=10)["test"])
    assert len(often) == 61 and max(often.values()) < 60 and min(often.values()) > 10


def test_too_few_pairs(tmp_path: Path) -> None:
    assert len(make_sets(tmp_path, 1, test=30)["test"]) == 30
    with pytest.raises(FormatError, match=r"s: 61 different sentences .* too few to set 31 of them aside"):
        make_sets(tmp_path, 1, tune=1, test=30)
    with pytest.raises(FormatError, match=r"59 different .* 30 of them aside, without those of other sets"):
        make_sets(tmp_path, 1, OTHERS, test=30)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ein Hund, sagt er.", "ein  hund , sagt er .", True),
        ("他来了。", "他 来 了 。", True),
        ("Straße", "STRASSE", True),
        ("3 + 4", "3 - 4", False),
        ("हिन्दी", "हन्द", False),
        ("...", "!", False),
        ("...", " ... ", True),
    ],
)
def test_which_sentences_are_the_same(one: str, other: str, same: bool) -> None:
    assert (sentence_key(one) == sentence_key(other)) is same


def test_references_are_no_text_of_a_language_model(tmp_path: Path) -> None:
    text = write(tmp_path / "text", ["A dog .", "", "a cat", "a DOG", "dogs"])
    assert leave_out(text, tmp_path / "out", ["A dog.", ""]) == 2
    assert (tmp_path / "out").read_text() == "\n\na cat\n\ndogs\n"
