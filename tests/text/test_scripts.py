"""Tests of counting the characters of a text, and of finding lines in other scripts."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from hiero.text.scripts import CharacterCounts, MainScripts


def test_characters_are_counted_many_lines_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hiero.text.scripts._AT_ONCE", 100)
    rng = random.Random(1)
    # Higher characters come later, so that the array of counts grows.
    lines = ["".join(rng.choices("ab é漢😀"[: 2 + k // 50], k=rng.randint(0, 30))) for k in range(250)]
    counts, expected = CharacterCounts(), Counter[str]()
    assert counts.counts() == {}
    for line in lines:
        counts.add(line)
        expected.update(line)
    assert counts.counts() == expected == counts.counts()
    assert len(expected) == 6


JAPANESE = ["彼 は スキー が 好き です 。", "ドア を 開け て ください 。", "カメラ ！ コーヒー ！ ビール ！"]


@pytest.mark.parametrize(
    ("text", "line", "script"),
    [
        (JAPANESE, JAPANESE[2], ""),  # Katakana only
        (JAPANESE, "彼女 学生 毎日 東京 大学", ""),  # Han only
        (JAPANESE, "Ｗｉｎｄｏｗｓ を 使う", ""),  # wide letters are half of all or fewer
        (JAPANESE, "Ｗｉｎｄｏｗｓ Ｗｏｒｌｄ を 使う", "Latin"),
        (JAPANESE, "오늘은 날씨가 좋습니다", "Hangul"),
        (JAPANESE, "NASA", ""),  # too short to tell
        (["a word of English"], "12 , 34 - 56 !!!!!!!!!!!!!!!!!", ""),
        (["a word of English"], "Это другой язык", "Cyrillic"),
        (["a word of English"], "Это друг of a long English line", ""),
        (["слово a слово", "word of words"], "Это другой язык", ""),  # a text in two scripts
        (["今天 天气 很 好", "我 喜欢 学习"], "これはにほんごです", "Hiragana"),
    ],
)
def test_scripts(text: list[str], line: str, script: str) -> None:
    characters = Counter("".join(text * 20 + [line]))
    assert MainScripts(characters).other_script(line) == script
