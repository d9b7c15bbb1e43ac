"""Segmenters: dictionaries that find the words of languages without spaces, and the ways of reading a text.

>>> edges = [(0, 1, "a", -1.0), (0, 2, "ab", -1.5), (1, 2, "b", -1.0)]
>>> best_paths(edges, first=0, last=2, number=5)
[(['ab'], -1.5), (['a', 'b'], -2.0)]
"""

from __future__ import annotations

import heapq
import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from hiero._core import Error
from hiero.base.text import split

# The words of a text, and how probable they are: a natural logarithm.
Reading = tuple[list[str], float]
# An arc of a graph of words: the states at both ends, the word ("" for none), and a natural logarithm.
Edge = tuple[Any, Any, str, float]

# Signs that end sentences, and the most characters that janome's graphs are asked for at once: the time of
# its graphs grows with their square.
_SENTENCE_END = re.compile("(?<=[。！？!?])")
_PIECE = 200
# The factor by which the costs of janome's dictionary are scaled, as its maker, mecab-ipadic, says.
_COST_FACTOR = 800.0
# Lines of janome's drawings of graphs: nodes with word and cost, and arcs with the cost of neighbours.
_NODE = re.compile(r'  (\d+)\.(\d+) \[label="(.*)\\n(-?\d+)",shape=(?:box|ellipse),style=')
_ARC = re.compile(r'  (\d+)\.(\d+) -> (\d+)\.(\d+) \[label="(-?\d+)"')
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


class Segmenter(Protocol):
    """A dictionary that finds the words of a language without spaces."""

    def words(self, text: str) -> list[str]:
        """Returns the words of a text. Raises Error if the package is missing."""

    def readings(self, text: str, number: int) -> list[Reading]:
        """Returns at most ``number`` ways of reading a text: first that of ``words``, then others by score.
        Raises Error if the package is missing."""


class Jieba:
    """Segments Chinese by frequencies of words, and by a model of characters where it knows none."""

    def words(self, text: str) -> list[str]:
        return split(" ".join(_jieba().cut(text)))

    def readings(self, text: str, number: int) -> list[Reading]:
        """Returns readings made of the words that jieba finds and of all other words of its dictionary, by
        the frequencies there. A word that it finds by its model of characters is as probable as its
        characters, in place of which it stands."""
        tokenizer = _jieba()
        total = math.log(tokenizer.total)

        def score(word: str) -> float:
            frequency = tokenizer.FREQ.get(word)
            if frequency:
                return math.log(frequency) - total
            return sum(math.log(tokenizer.FREQ.get(one) or 1) - total for one in word)

        found = list(tokenizer.cut(text))
        words = {}
        begin = 0
        for word in found:
            words[begin, begin + len(word)] = word
            begin += len(word)
        for begin, ends in tokenizer.get_DAG(text).items():
            for last in ends:
                if _HAN.fullmatch(text, begin, last + 1):
                    words.setdefault((begin, last + 1), text[begin : last + 1])
        edges = [(begin, end, word.strip(), score(word)) for (begin, end), word in words.items()]
        best = (split(" ".join(found)), sum(map(score, found)))
        return _with_first(best, best_paths(edges, 0, len(text), number))[:number]


class Janome:
    """Segments Japanese by the costs of words and of neighbours in a dictionary."""

    def words(self, text: str) -> list[str]:
        return split(" ".join(map(str, _janome().tokenize(text, wakati=True))))

    def readings(self, text: str, number: int) -> list[Reading]:
        """Returns readings by the costs of janome's dictionary, sentence by sentence if the text is long."""
        edges: list[Edge] = []
        pieces = _pieces(text)
        with tempfile.TemporaryDirectory() as folder:
            for place, piece in enumerate(pieces):
                edges += self._edges(piece, place, Path(folder) / "graph.gv")
        return best_paths(edges, (0, 0, 0), (len(pieces), 0, 0), number)

    def _edges(self, text: str, place: int, drawing: Path) -> Iterator[Edge]:
        """Yields the graph that janome draws of a text; states are positions and numbers of nodes, behind
        ``place``, and the last one is the first one of the next text."""
        list(_janome().tokenize(text, wakati=True, dotfile=str(drawing)))
        nodes = {}
        arcs = []
        for line in drawing.read_text("utf-8").split("\n"):
            if node := _NODE.match(line):
                nodes[place, int(node[1]), int(node[2])] = (node[3], float(node[4]))
            elif arc := _ARC.match(line):
                begin, end = (place, int(arc[1]), int(arc[2])), (place, int(arc[3]), int(arc[4]))
                arcs.append((begin, end, float(arc[5])))
        last = max(end for _, end, _ in arcs)
        for begin, end, cost in arcs:
            word, own = nodes[begin] if begin[1] else ("", 0.0)
            yield begin, (place + 1, 0, 0) if end == last else end, word.strip(), -(own + cost) / _COST_FACTOR


def best_paths(edges: Iterable[Edge], first: Any, last: Any, number: int) -> list[Reading]:
    """Returns the best paths of an acyclic graph with different words, at most ``number``, the best first; of
    equal ones the one with fewer words. Arcs lead to greater states."""
    # Histories of words are numbers: each is the number of the one before, and a word.
    histories: dict[tuple[int, str], int] = {}
    back: list[tuple[int, str]] = [(0, "")]
    length = [0]
    reached: dict[Any, dict[int, float]] = {first: {0: 0.0}}
    for begin, end, word, score in sorted(edges, key=lambda edge: edge[0]):
        before = reached.get(begin)
        if before is None:
            continue
        if len(before) > number:
            before = reached[begin] = dict(_best(before, length, number))
        there = reached.setdefault(end, {})
        for history, so_far in before.items():
            longer = history
            if word:
                longer = histories.setdefault((history, word), len(back))
                if longer == len(back):
                    back.append((history, word))
                    length.append(length[history] + 1)
            there[longer] = max(there.get(longer, -math.inf), so_far + score)
    out = []
    for history, score in _best(reached.get(last, {}), length, number):
        words = []
        while history:
            history, word = back[history]
            words.append(word)
        out.append((words[::-1], score))
    return out


def _best(scores: dict[int, float], length: Sequence[int], number: int) -> list[tuple[int, float]]:
    return heapq.nsmallest(number, scores.items(), key=lambda one: (-one[1], length[one[0]], one[0]))


def _with_first(best: Reading, readings: Sequence[Reading]) -> list[Reading]:
    """Puts the reading that a segmenter chose before the others."""
    return [best, *(one for one in readings if one[0] != best[0])]


def _pieces(text: str) -> list[str]:
    """Splits a text at the ends of sentences, and long sentences anywhere, if it is long."""
    sentences = _SENTENCE_END.split(text) if len(text) > _PIECE else [text]
    pieces = [one[k : k + _PIECE] for one in sentences for k in range(0, len(one), _PIECE)]
    return [piece for piece in pieces if piece.strip()]


@cache  # reading the dictionary takes a second
def _jieba() -> Any:
    try:
        import jieba
    except ImportError:
        raise Error("zh:jieba needs the package jieba: pip install jieba") from None
    tokenizer = jieba.Tokenizer()
    # tokenizer.initialize() does the same, but reads a cache from a folder that anyone can write to.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@cache
def _janome() -> Any:
    try:
        from janome.tokenizer import Tokenizer
    except ImportError:
        raise Error("ja:janome needs the package janome: pip install janome") from None
    return Tokenizer(wakati=True)
