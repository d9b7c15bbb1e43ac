"""Differences of two translations, word by word, and how they are drawn."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from hiero.pages.difference import DELETED, INSERTED, SAME, difference_html, word_difference


@pytest.mark.parametrize(
    ("before", "after", "runs"),
    [
        ("a cat sat", "a cat sat", [(SAME, " a cat sat")]),
        ("the cat sat", "a cat sat", [(DELETED, " the"), (INSERTED, " a"), (SAME, " cat sat")]),
        ("sat", "it sat  down", [(INSERTED, " it"), (SAME, " sat"), (INSERTED, "  down")]),
        ("a  b", "a b", [(SAME, " a b")]),
        ("", "a", [(INSERTED, " a")]),
        ("a", "", [(DELETED, " a")]),
        ("", "", []),
        # Characters of Chinese are words, those of other scripts are not.
        ("我有猫。", "我没有 猫。", [(SAME, "我"), (INSERTED, "没"), (SAME, "有 猫。")]),
        ("cats", "cat", [(DELETED, " cats"), (INSERTED, " cat")]),
        ("用GPU算", "用CPU算", [(SAME, "用"), (DELETED, "GPU"), (INSERTED, "CPU"), (SAME, "算")]),
    ],
)
def test_differences(before: str, after: str, runs: list[tuple[int, str]]) -> None:
    assert word_difference(before, after) == runs


def test_runs_make_both_texts() -> None:
    rng = random.Random(3)
    words = ["a", "b", "c", "我", "有", " d", "  e"]
    changed = 0
    for _ in range(500):
        before, after = (" ".join(rng.choices(words, k=rng.randrange(8))) for _ in range(2))
        runs = word_difference(before, after)
        kept = "".join(text for kind, text in runs if kind != DELETED)
        assert kept.strip() == after.strip()
        lost = "".join(text for kind, text in runs if kind != INSERTED)
        assert "".join(lost.split()) == "".join(before.split())
        assert all(a[0] != b[0] for a, b in pairwise(runs))
        changed += {kind for kind, _ in runs} == {SAME, DELETED, INSERTED}
    assert changed > 100


def test_markup() -> None:
    """Texts are escaped, and white space is outside of what is underlined or struck through."""
    runs = word_difference("see <b> and go", "see you and")
    markup = difference_html(runs)
    assert markup == "see <del>&lt;b&gt;</del> <ins>you</ins> and <del>go</del>"
    assert re.sub("<del>.*?</del> ?|</?ins>", "", markup).strip() == "see you and"
    assert difference_html([]) == ""
