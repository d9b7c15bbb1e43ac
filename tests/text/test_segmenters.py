"""Ways in which segmenters read a text, beside all paths of random graphs and their dictionaries' costs."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from hiero.text import TextSide, segmenters
from hiero.text.segmenters import Edge, Reading, best_paths
from support.commands import call


def all_paths(edges: list[Edge], state: int, last: int) -> list[Reading]:
    if state == last:
        return [([], 0.0)]
    return [
        ([word, *words] if word else words, score + rest)
        for begin, end, word, score in edges
        if begin == state
        for words, rest in all_paths(edges, end, last)
    ]


def test_best_paths_are_those_of_all() -> None:
    had_doubles = 0
    for seed in range(500):
        rng = random.Random(seed)
        last = rng.randint(1, 6)
        edges: list[Edge] = []
        for _ in range(rng.randint(1, 14)):
            begin = rng.randrange(last)
            edges.append(
                (begin, rng.randint(begin + 1, last), rng.choice(["", "a", "b", "c"]), rng.uniform(-3, 0))
            )
        best: dict[tuple[str, ...], float] = {}
        every = all_paths(edges, 0, last)
        for words, score in every:
            best[tuple(words)] = max(best.get(tuple(words), -math.inf), score)
        had_doubles += len(best) < len(every)
        ordered = sorted(best.items(), key=lambda one: -one[1])
        for number in (1, 3, 100):
            found = best_paths(edges, 0, last, number)
            assert [tuple(words) for words, _ in found] == [words for words, _ in ordered[:number]]
            assert [score for _, score in found] == pytest.approx([score for _, score in ordered[:number]])
    assert had_doubles > 100
    # Of equal readings the one with fewer words.
    shorter: list[Edge] = [(0, 1, "a", -1), (1, 3, "b", -1), (0, 2, "", -1), (2, 3, "ab", -1)]
    assert best_paths(shorter, 0, 3, 1) == [(["ab"], -2)]


@pytest.mark.parametrize(
    ("side", "text", "count"),
    [
        (TextSide("jieba", "zh"), "我们在南京市长江大桥见面。", 40),
        (TextSide("jieba", "zh"), "他来到了网易杭研大厦", 10),  # 杭研 is found by the model of characters
        (TextSide("janome", "ja"), "彼はつらい人生を送った。", 20),
        (TextSide("janome", "ja"), "「すもも」も桃。" * 40, 3),  # longer than a piece
    ],
)
def test_readings(side: TextSide, text: str, count: int) -> None:
    readings = side.readings(text, count)
    assert readings[0][0] == side.tokens(text)
    assert len({tuple(words) for words, _ in readings}) == len(readings) == count
    assert all(side.text(words) == text for words, _ in readings)
    assert all(one[1] >= other[1] for one, other in pairwise(readings))
    assert side.readings(text, 2) == readings[:2]


def test_scores_of_jieba_are_relative_frequencies() -> None:
    import jieba

    with jieba.dt.get_dict_file() as file:
        frequency = {word: int(count) for word, count, _ in map(str.split, file.read().decode().splitlines())}
    total = sum(frequency.values())

    def score(word: str) -> float:
        return math.log(frequency[word] / total) if word in frequency else sum(map(score, word))

    for words, found in TextSide("jieba", "zh").readings("他来到了网易杭研大厦", 10):
        assert found == pytest.approx(sum(map(score, words)))


def test_scores_of_janome_are_costs() -> None:
    from janome.tokenizer import Tokenizer

    tokenizer = Tokenizer()
    text = "彼はつらい人生を送った。"
    nodes = [token.node for token in tokenizer.tokenize(text)]
    right, cost = 0, 0.0
    for node in nodes:
        cost += node.cost + tokenizer.sys_dic.get_trans_cost(right, node.left_id)
        right = node.right_id
    cost += tokenizer.sys_dic.get_trans_cost(right, 0)
    ((_, score),) = TextSide("janome", "ja").readings(text, 1)
    assert score == pytest.approx(-cost / 800)


def test_readings_are_tokens_of_the_side() -> None:
    side = TextSide("jieba", "zh", lowercase=True)
    for words, _ in (found := side.readings("见 <B>南京市</B> 长江Anna Smith", 4)):
        assert [word for word in words if "b>" in word.lower()] == ["<B>", "</B>"] and words[-2:] == [
            "anna",
            "smith",
        ]
    assert found[0][0] == side.tokens("见 <B>南京市</B> 长江Anna Smith") and len(found) == 4
    assert TextSide("moses", "en").readings("Don't", 5) == [(["Don", "'t"], 0.0)]
    for empty in (TextSide("jieba", "zh"), TextSide("janome", "ja")):
        assert empty.readings("  ", 3) == [([], 0.0)]


def test_long_and_spaced_text() -> None:
    japanese = TextSide("janome", "ja")
    for text in ("本を読む" * 70, "見る 本"):
        assert japanese.readings(text, 1)[0][0] == japanese.tokens(text)
    # A text that is left as it is.
    assert len(TextSide("jieba", "zh", rules=1).readings("南京市长江大桥", 3)) == 3


def test_no_cache_is_read_from_where_anyone_may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    import jieba

    def refused(*_: object) -> None:
        raise AssertionError("the cache of jieba")

    monkeypatch.setattr(jieba.Tokenizer, "initialize", refused)
    segmenters._jieba.cache_clear()
    assert TextSide("jieba", "zh").tokens("他买了书") == ["他", "买", "了", "书"]


def test_command() -> None:
    done = call("hiero", "tokenize", "zh:jieba", "--readings", 2, stdin="他买了两本书\n\n")
    assert done.stdout.decode().splitlines() == [
        "0 ||| 他 买 了 两本书 ||| -34.691352",
        "0 ||| 他 买 了 两 本书 ||| -35.921610",
        "1 |||  ||| 0.000000",
    ]
    lattices = (
        call("hiero", "lattice", "--input-format", "nbest", stdin=done.stdout).stdout.decode().splitlines()
    )
    assert len(lattices) == 2 and "('两本书',0.0,2), ('两',-1.230258,1)" in lattices[0] and lattices[1] == ""
    one = call("hiero", "tokenize", "zh:jieba", "--readings", 1, stdin="他买了两本书\n".encode() + b"\xff\n")
    assert one.stdout.decode().splitlines() == ["0 ||| 他 买 了 两本书 ||| -34.691352", "1 |||  ||| 0.000000"]
    assert one.returncode == 1 and call("hiero", "tokenize", "zh:jieba", "--readings", 0).returncode == 2
    wrong = call("hiero", "tokenize", "en:moses", "--readings", 2)
    assert wrong.returncode == 2 and b"--readings: only jieba and janome read text" in wrong.stderr
