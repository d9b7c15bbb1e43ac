"""Tests how far words move in aligned bitexts, and the length of phrases that is chosen by it."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.train import ExtractSettings, Movement, extract_rules, measure_movement
from hiero.train.movement import pieces
from support.seeds import each_seed

Link = tuple[int, int]


def cut_everywhere(links: Sequence[Link], words: int) -> list[tuple[int, int]]:
    """Tries every pair of cuts, between any two source words and any two target words, and returns the
    lengths of what is left between those at which no link crosses."""
    cuts = [
        k
        for k in range(1, words)
        if any(all((s < k) == (t < other) for s, t in links) for other in range(words + 1))
    ]
    found = []
    for begin, end in zip([0, *cuts], [*cuts, words], strict=True):
        inside = [link for link in links if begin <= link[0] < end]
        if inside:
            sides = [[link[side] for link in inside] for side in (0, 1)]
            found.append((max(sides[0]) - min(sides[0]) + 1, max(sides[1]) - min(sides[1]) + 1))
    return found


@each_seed(range(100))
def test_pieces_are_as_cutting_everywhere_finds_them(seed: int) -> None:
    rng = random.Random(seed)
    words = rng.randint(1, 9)
    near = rng.randint(0, 4)
    links = sorted(
        {
            (s, min(max(s + rng.randint(-near, near), 0), words - 1))
            for s in range(words)
            for _ in range(rng.choice([0, 1, 1, 2]))
        }
    )
    assert list(pieces(links)) == cut_everywhere(links, words)


def write_links(path: Path, *sentences: Sequence[Link]) -> Path:
    path.write_text("".join(" ".join(f"{s}-{t}" for s, t in links) + "\n" for links in sentences))
    return path


def reversed_words(words: int) -> list[Link]:
    return [(k, words - 1 - k) for k in range(words)]


def test_words_count_by_the_longer_side(tmp_path: Path) -> None:
    in_order = [(0, 0), (1, 1), (2, 2)]
    one_to_four = [(0, 0), (0, 3)]
    alignment = write_links(tmp_path / "a", in_order, reversed_words(3), one_to_four, [])
    movement = measure_movement(alignment)
    assert movement.words == (3, 0, 3, 1)
    assert [movement.share(length) for length in (0, 1, 2, 3, 4, 20)] == [0, 3 / 7, 3 / 7, 6 / 7, 1, 1]
    assert measure_movement(alignment, 2).words == (3, 0, 3)
    assert measure_movement(write_links(tmp_path / "b", [])).share(10) == 1


@pytest.mark.parametrize(
    ("lengths", "chosen"),
    [
        ([1] * 10, 10),
        ([10] * 10, 10),
        ([10] * 20 + [11], 15),  # more than 5 % of the words
        ([10] * 21 + [11], 10),
        ([11] * 10, 15),
        ([15] * 10, 15),
        ([16] * 10, 20),
        ([30] * 10, 10),  # no length helps
        ([10] * 7 + [15] * 2 + [30], 15),  # 30 of the 60 words that are left out
        ([10] * 7 + [15] * 2 + [31], 10),
        ([10] * 7 + [12, 18], 20),  # 12, then 30, of 30 words
        ([10] * 2 + [15] * 4 + [18, 25], 15),  # 18 of the 43 words that 15 leaves out
        ([10] * 2 + [15] * 4 + [18, 17], 20),
        ([], 10),
    ],
)
def test_the_length_of_phrases(tmp_path: Path, lengths: list[int], chosen: int) -> None:
    movement = measure_movement(write_links(tmp_path / "a", *map(reversed_words, lengths)))
    assert movement.phrase_length() == chosen


def test_extraction_takes_the_length_that_is_chosen(tmp_path: Path) -> None:
    """A reversed sentence of 13 words is one initial phrase; with phrases of 10 words it is none."""
    texts = [tmp_path / name for name in ("f", "e")]
    for path in texts:
        path.write_text(" ".join(f"w{k}" for k in range(13)) + "\n")
    alignment = write_links(tmp_path / "a", reversed_words(13))
    settings = ExtractSettings(max_nonterminals=0)
    lines: list[str] = []
    assert settings.chosen(alignment, report=lines.append).max_phrase == 15
    assert lines == [
        "0.0 % of words can be put in order within 10 words, 100.0 % within 15, 100.0 % within 20; initial"
        " phrases have at most 15"
    ]
    assert settings.chosen(alignment, 0).max_phrase == 10
    assert ExtractSettings(max_phrase=7).chosen(tmp_path / "missing") == ExtractSettings(max_phrase=7)
    by_length = {
        length: extract_rules(
            *texts,
            alignment,
            tmp_path / "counts",
            settings=settings.model_copy(update={"max_phrase": length}),
        ).phrases
        for length in (None, 15, 10)
    }
    assert by_length[None] == by_length[15] == by_length[10] + 3 + 2 + 1


def test_malformed_links_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0-0\n0-x\n")
    with pytest.raises(FormatError, match="a:2: expected links such as 0-0 1-2, found 0-x"):
        measure_movement(tmp_path / "a")


def test_a_length_without_words_is_0() -> None:
    assert Movement(words=(0, 4)).share(1) == 0


def test_links_from_a_pipe(tmp_path: Path) -> None:
    """Links of a pipe can be read once only, so that the length must be given."""
    pipe = tmp_path / "links"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file, and is to be read twice"):
        ExtractSettings().chosen(pipe)
    assert ExtractSettings(max_phrase=7).chosen(pipe).max_phrase == 7
