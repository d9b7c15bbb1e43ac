"""Source sentences that are lattices: of a speech recogniser, of several segmentations or spellings.

In Python Lattice Format (PLF), as Moses, cdec and Joshua read it, a line is a tuple of nodes, and a node is a
tuple of arcs: a word, one score or several, and how many nodes further the arc leads.

>>> lattice = Lattice.from_plf("((('a',-0.1,1),('an',-2,2),),(('n',-0.5,1),),)")
>>> lattice.words, lattice.arcs[1]
(('a', 'an', 'n'), Arc(word='an', begin=0, end=2, scores=(-2.0,)))
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from hiero._core import FormatError, SourceLattice
from hiero.base.arguments import checked_tuple, describe
from hiero.base.text import split
from hiero.text import TextSide

_FEATURE = "Lattice"
# Words of arcs without a word, in PLF.
_EMPTY = ("", "*EPS*")
# A backslash before what it does not escape, of which Python would warn.
_STRANGE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[^\\'\"nrtxuU])")
# The most arcs of a lattice, and the longest line that is read as one.
_MOST_ARCS = 100_000
_LONGEST = 10_000_000


@dataclass(frozen=True)
class Arc:
    """An arc from the node ``begin`` to a later one, ``end``, with a word, "" for none, and scores, such as
    natural logarithms of probabilities. Score k is the feature ``Latticek``. Raises TypeError for fields of
    other types, FormatError for a score that is too large."""

    word: str
    begin: int
    end: int
    scores: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.word, str):
            raise TypeError(f"word: expected a string, not {describe(self.word)}")
        for name, node in (("begin", self.begin), ("end", self.end)):
            if not isinstance(node, int):
                raise TypeError(f"{name}: expected the number of a node, not {describe(node)}")
        if type(self.scores) is not tuple or not all(type(score) is float for score in self.scores):
            scores = checked_tuple("scores", self.scores, (int, float), "numbers")
            try:
                object.__setattr__(self, "scores", tuple(map(float, scores)))
            except OverflowError:
                raise FormatError("lattice: a score is too large") from None


@dataclass(frozen=True)
class Lattice:
    """Arcs between nodes that are numbered topologically. A path from node 0 to the last one is a sentence.

    Words are tokens, or, if ``raw``, text that the model tokenises. Raises FormatError for arcs that do not
    lead to a later node or are on no path, words with white space, and scores that are not as many for each
    arc or not finite; for no arcs and for too many.
    """

    arcs: Sequence[Arc]
    raw: bool = False

    def __post_init__(self) -> None:
        arcs = checked_tuple("arcs", self.arcs, Arc, "hiero.Arc")
        object.__setattr__(self, "arcs", tuple(sorted(arcs, key=lambda arc: arc.begin)))
        if not 0 < len(arcs) <= _MOST_ARCS:
            raise FormatError(f"lattice: {len(arcs)} arcs, expected 1 to {_MOST_ARCS}")
        last = max(arc.end for arc in arcs)
        left, entered = {arc.begin for arc in arcs}, {arc.end for arc in arcs}
        for arc in arcs:
            if not 0 <= arc.begin < arc.end:
                raise FormatError(
                    f"lattice: an arc from node {arc.begin} to {arc.end}, which is no later one"
                )
            if arc.word.encode(errors="replace").decode() != arc.word:
                raise FormatError(f"lattice: word {arc.word!r} is not valid Unicode")
            if arc.word and split(arc.word) != [arc.word]:
                raise FormatError(f"lattice: word {arc.word!r} contains white space")
            if len(arc.scores) != len(arcs[0].scores):
                raise FormatError("lattice: arcs have not all as many scores")
            if not all(math.isfinite(score) for score in arc.scores):
                raise FormatError("lattice: a score is not finite")
        # A node with an arc into it and one out of it is on a path, as nodes are in order.
        if lost := set(range(1, last)) - (left & entered) if last <= len(arcs) else {last}:
            raise FormatError(f"lattice: node {min(lost)} is on no path")
        if 0 not in left:
            raise FormatError("lattice: no arc leads from node 0")

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all arcs."""
        return tuple(arc.word for arc in self.arcs)

    @property
    def has_empty_arcs(self) -> bool:
        """Whether there are arcs without a word."""
        return not all(arc.word for arc in self.arcs)

    @property
    def features(self) -> list[str]:
        """The names of the features of scores."""
        return [f"{_FEATURE}{k}" for k in range(len(self.arcs[0].scores))]

    @classmethod
    def from_plf(cls, line: str, raw: bool = False) -> Lattice:
        """Reads a line in PLF. Raises FormatError."""
        if len(line) > _LONGEST:
            raise FormatError(f"PLF: over {_LONGEST} characters")
        if (escape := _STRANGE_ESCAPE.search(line)) is not None:
            raise FormatError(f"PLF: {escape[1]} is no escape")
        try:
            nodes = ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise FormatError("PLF: expected tuples of strings and numbers") from None
        if not isinstance(nodes, tuple) or not nodes:
            raise FormatError("PLF: expected a tuple of nodes")
        arcs = [_arc(arc, begin) for begin, node in enumerate(nodes) for arc in _checked(node, "arcs")]
        if arcs and max(arc.end for arc in arcs) > len(nodes):
            raise FormatError(f"PLF: an arc leads beyond the last node, {len(nodes)}")
        return cls(arcs, raw)

    def to_plf(self) -> str:
        """Returns a line that ``from_plf`` reads."""
        nodes: list[list[str]] = [[] for _ in range(max(arc.end for arc in self.arcs))]
        for arc in self.arcs:
            parts = [repr(arc.word or _EMPTY[1]), *map(repr, arc.scores), str(arc.end - arc.begin)]
            nodes[arc.begin].append(f"({','.join(parts)}),")
        return f"({''.join(f'({chr(32).join(node)}),' for node in nodes)})"

    def with_tokens(self, side: TextSide) -> Lattice:
        """Returns the lattice with tokens in place of raw text: an arc whose word is several tokens becomes
        as many, the first of which has its scores."""
        if not self.raw:
            return self
        chains = [(arc, side.tokens(arc.word)) for arc in self.arcs]
        # New nodes are numbered behind the node that their arc leads from.
        extra: dict[int, int] = {}
        for arc, words in chains:
            extra[arc.begin] = extra.get(arc.begin, 0) + max(0, len(words) - 1)
        number, shift = {}, 0
        for node in range(max(arc.end for arc in self.arcs) + 1):
            number[node] = node + shift
            shift += extra.get(node, 0)
        used: dict[int, int] = {}
        arcs = []
        for arc, words in chains:
            at = number[arc.begin]
            for place, word in enumerate(words or [""]):
                if place + 1 < len(words):
                    used[arc.begin] = used.get(arc.begin, 0) + 1
                    end = number[arc.begin] + used[arc.begin]
                else:
                    end = number[arc.end]
                scores = arc.scores if place == 0 else (0.0,) * len(arc.scores)
                arcs.append(Arc(word, at, end, scores))
                at = end
        return Lattice(arcs)

    def without_empty_arcs(self) -> Lattice:
        """Returns a lattice with the same paths whose arcs all have words: an arc with a word leads on over
        the empty ones behind it, whose scores it takes. A path without words is dropped. Raises FormatError
        if there is no other, and for more arcs than a lattice may have."""
        if not self.has_empty_arcs:
            return self
        last = max(arc.end for arc in self.arcs)
        empty: dict[int, list[Arc]] = {}
        for arc in self.arcs:
            if not arc.word:
                empty.setdefault(arc.begin, []).append(arc)
        goes_on = {arc.begin for arc in self.arcs if arc.word} | {last}

        def ways(node: int) -> Iterator[tuple[int, tuple[float, ...]]]:
            """Yields the nodes that empty arcs lead to and from which words go on, with sums of scores."""
            open_ways: list[tuple[int, tuple[float, ...]]] = [(node, (0.0,) * len(self.arcs[0].scores))]
            for _ in range(_MOST_ARCS):
                if not open_ways:
                    return
                at, scores = open_ways.pop()
                if at in goes_on:
                    yield at, scores
                open_ways += [(arc.end, _sum(scores, arc.scores)) for arc in empty.get(at, ())]
            raise FormatError(f"lattice: over {_MOST_ARCS} paths of empty arcs from a node")

        arcs: list[Arc] = []
        starts = list(ways(0))
        if not any(arc.word for arc in self.arcs):
            raise FormatError("lattice: no path has words")
        for arc in self.arcs:
            if not arc.word:
                continue
            begins = [(arc.begin, (0.0,) * len(arc.scores))] if arc.begin > 0 else []
            begins += [(0, scores) for node, scores in starts if node == arc.begin]
            for begin, before in begins:
                for end, after in ways(arc.end):
                    arcs.append(
                        replace(arc, begin=begin, end=end, scores=_sum(_sum(before, arc.scores), after))
                    )
                    if len(arcs) > _MOST_ARCS:
                        raise FormatError(f"lattice: over {_MOST_ARCS} arcs without the empty ones")
        return Lattice(_trimmed(arcs, last), self.raw)

    def to_core(self) -> SourceLattice:
        """Returns the arcs for the decoder, without words."""
        return SourceLattice(
            [(arc.begin, arc.end) for arc in self.arcs], [list(arc.scores) for arc in self.arcs]
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the object of JSON that ``LatticeRecord`` reads."""
        arcs = [{"word": a.word, "begin": a.begin, "end": a.end, "scores": list(a.scores)} for a in self.arcs]
        return {"arcs": arcs, **({"raw": True} if self.raw else {})}


def is_lattice_feature(name: str) -> bool:
    """Tells whether a feature is a score of arcs."""
    return name.removeprefix(_FEATURE).isdecimal() and name.startswith(_FEATURE)


class _ArcRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    word: str
    begin: int
    end: int
    scores: list[float] = []


class LatticeRecord(BaseModel):
    """A lattice as an object of JSON, with the fields of ``Lattice`` and ``Arc``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arcs: list[_ArcRecord]
    raw: bool = False

    def lattice(self) -> Lattice:
        """Returns the lattice. Raises FormatError."""
        return Lattice([Arc(a.word, a.begin, a.end, tuple(a.scores)) for a in self.arcs], self.raw)


def _checked(value: object, what: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple) or not value:
        raise FormatError(f"PLF: expected a tuple of {what}")
    return value


def _arc(value: object, begin: int) -> Arc:
    parts = value if isinstance(value, tuple) and len(value) >= 2 else (None, None)
    word, *scores, step = parts
    is_right = isinstance(word, str) and all(type(number) in (int, float) for number in scores)
    if not is_right or type(step) is not int:
        raise FormatError("PLF: expected an arc of a word, scores and a number of nodes")
    try:
        return Arc("" if word in _EMPTY else str(word), begin, begin + step, tuple(map(float, scores)))
    except OverflowError:
        raise FormatError("PLF: a score is too large") from None


def _sum(left: Sequence[float], right: Sequence[float]) -> tuple[float, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _trimmed(arcs: Sequence[Arc], last: int) -> list[Arc]:
    """Returns the arcs that are on a path from 0 to the last node, whose nodes are numbered anew."""
    reached, ending = {0}, {last}
    for arc in sorted(arcs, key=lambda arc: arc.begin):
        if arc.begin in reached:
            reached.add(arc.end)
    for arc in sorted(arcs, key=lambda arc: -arc.end):
        if arc.end in ending:
            ending.add(arc.begin)
    kept = [arc for arc in arcs if arc.begin in reached and arc.end in ending]
    nodes = sorted({node for arc in kept for node in (arc.begin, arc.end)})
    number: Callable[[int], int] = {node: place for place, node in enumerate(nodes)}.__getitem__
    return [replace(arc, begin=number(arc.begin), end=number(arc.end)) for arc in kept]
