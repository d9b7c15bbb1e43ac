"""Tests of drawing sets from a bitext: no pair is in two sets, and no test sentence is in the training
text."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.train import leave_out, set_aside
from hiero.train.held_out import LeftOutExample, sentence_key
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


def sets_by_text(
    pairs: list[tuple[str, str]], sizes: dict[str, int], seed: int, others: list[str], example: LeftOutExample
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, int]]:
    """Draws sets as ``set_aside`` does, but holds all texts. Returns the pairs of each set and of "train",
    and the number of those with a text on both sides, also of those that are left out."""
    left_out = set(map(sentence_key, others))
    first_lines: dict[str, int] = {}
    for number, pair in enumerate(pairs):
        if all(map(str.strip, pair)) and sentence_key(pair[0]) not in left_out:
            first_lines.setdefault(sentence_key(pair[0]), number)
    drawn = random.Random(seed).sample(list(first_lines), sum(sizes.values()))
    set_of = dict(zip(drawn, (name for name in sizes for _ in range(sizes[name])), strict=True))
    sets: dict[str, list[tuple[str, str]]] = {name: [] for name in (*sizes, "train")}
    counts = dict.fromkeys((*sizes, "train", "left out"), 0)
    for number, pair in enumerate(pairs):
        key = sentence_key(pair[0])
        name = set_of.get(key, "left out" if key in left_out else "train")
        if name in sizes and number != first_lines[key]:
            name = "left out"
        if name == "left out":
            example.add(number, pair)
        else:
            sets[name].append(pair)
        if name != "train":
            sets["train"].append(("", ""))
        counts[name] += all(map(str.strip, pair))
    return sets, counts


@pytest.mark.parametrize("seed", range(40))
def test_digests_of_sentences_draw_what_the_sentences_draw(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    words = ["", " ", "a", "A", "b.", "é", "...", "!", "\U0001f600", *map(str, range(4 + 20 * (seed % 3)))]
    pairs = [
        (" ".join(rng.choices(words, k=rng.randint(0, 3))), rng.choice(["", " ", "x", "y"]))
        for _ in range(rng.randint(150, 400))
    ]
    others = rng.sample([pair[0] for pair in pairs] + ["elsewhere", "\ud800"], rng.choice([0, 1, 9]))
    sizes = {"tune": rng.randint(0, 3), "test": rng.randint(1, 3)} if seed % 4 else {}
    source, target = (write(tmp_path / "st"[side], [pair[side] for pair in pairs]) for side in (0, 1))
    example, other_example = LeftOutExample(), LeftOutExample()
    expected, counts = sets_by_text(pairs, sizes, seed, others, other_example)
    assert set_aside(source, target, tmp_path, sizes, seed, others, example) == counts
    assert str(example) == str(other_example)
    for name, lines in expected.items():
        for side, file in enumerate(("source", "target")):
            text = "".join(pair[side] + "\n" for pair in lines)
            assert (tmp_path / f"{name}.{file}").read_bytes() == text.encode()
    assert not sizes or len(pairs) > counts["train"] + sum(sizes.values()) + counts["left out"]  # blanks


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
