"""Lattices of several readings of a sentence: of alternatives, and of variants of its words.

>>> lattice = lattice_of([(["a", "b"], -1.0), (["a", "c"], -2.0)])
>>> [(arc.word, arc.begin, arc.end, arc.scores) for arc in lattice.arcs]
... # doctest: +NORMALIZE_WHITESPACE
[('a', 0, 1, (-1.0,)), ('b', 1, 2, (0.0,)), ('c', 1, 2, (-1.0,))]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hiero._core import FormatError
from hiero.base.lines import read_lines
from hiero.base.text import split
from hiero.features.lattice import Arc, Lattice

# Digits to which scores of arcs are equal, so that rounding does not keep them apart.
_DIGITS = 12
# A reading of a sentence: its words and its score; None: without scores.
Reading = tuple[Sequence[str], float | None]


@dataclass
class _State:
    """A state of a prefix tree: its children by word, and the score of the reading that ends in it."""

    children: dict[str, _State] = field(default_factory=dict)
    end: float | None = None
    best: float = float("-inf")  # of the readings that pass the state


def lattice_of(readings: Iterable[Reading]) -> Lattice:
    """Returns the smallest lattice whose paths are these readings; of readings with the same words, the best.

    Scores stand on the arcs where readings part, and the best of all on the first arcs (weight pushing, Mohri
    1997). Raises FormatError for readings without words, for none, and if some have scores and others not.
    """
    root = _State()
    kinds = set()
    for words, score in readings:
        if not words:
            raise FormatError("lattice: a reading without words")
        kinds.add(score is None)
        state = root
        value = score or 0.0
        state.best = max(state.best, value)
        for word in words:
            state = state.children.setdefault(word, _State())
            state.best = max(state.best, value)
        state.end = value if state.end is None else max(state.end, value)
    if len(kinds) != 1:
        raise FormatError("lattice: no readings, or some with scores and others without")
    return _minimised(root, has_scores=kinds == {False})


def _minimised(root: _State, has_scores: bool) -> Lattice:
    """Merges states with the same continuations, from the ends of the readings on."""
    classes: dict[tuple[object, ...], int] = {(): 0}  # of the state where all readings end
    ways: list[list[tuple[str, float, int]]] = [[]]  # by class: word, score and class behind it

    def class_of(state: _State) -> int:
        # From the leaves on, without recursion: readings may be long.
        done: dict[int, int] = {}
        stack = [(state, False)]
        while stack:
            one, is_open = stack.pop()
            if not is_open:
                stack.append((one, True))
                stack += [(child, False) for child in one.children.values()]
                continue
            out = [
                (word, round(child.best - one.best, _DIGITS), done[id(child)])
                for word, child in one.children.items()
            ]
            if one.end is not None and out:
                out.append(("", round(one.end - one.best, _DIGITS), 0))
            key = tuple(sorted(out))
            if key not in classes:
                classes[key] = len(ways)
                ways.append(out)
            done[id(one)] = classes[key]
        return done[id(state)]

    first = class_of(root)
    number = _topological(ways, first)
    arcs = []
    for begin, out in enumerate(ways):
        for word, score, end in out if begin in number else ():
            total = score + (root.best if begin == first else 0.0)
            arcs.append(Arc(word, number[begin], number[end], (total,) if has_scores else ()))
    return Lattice(arcs)


def _topological(ways: Sequence[Sequence[tuple[str, float, int]]], first: int) -> dict[int, int]:
    """Returns numbers of the classes, such that words lead to greater ones."""
    order: list[int] = []
    seen = set()
    stack = [(first, False)]
    while stack:
        state, is_left = stack.pop()
        if is_left:
            order.append(state)
        elif state not in seen:
            seen.add(state)
            stack.append((state, True))
            stack += [(end, False) for _, _, end in reversed(ways[state])]
    return {state: place for place, state in enumerate(reversed(order))}


@dataclass(frozen=True)
class Variants:
    """A table of spelling variants: for each word what may stand for it, each with a score."""

    table: Mapping[str, Sequence[tuple[tuple[str, ...], float]]]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Variants:
        """Reads a file with lines ``word TAB variant TAB score``; the variant may be several words, and the
        score, a natural logarithm, may be missing. Raises OSError, and FormatError, which names the line."""
        table: dict[str, list[tuple[tuple[str, ...], float]]] = {}
        for number, line in enumerate(read_lines(path), start=1):
            if line.startswith("#") or not line.strip():
                continue
            fields = line.split("\t")
            words = [split(part) for part in fields[:2]]
            try:
                score = float(fields[2]) if len(fields) == 3 else 0.0
            except ValueError:
                score = float("nan")
            if len(fields) not in (2, 3) or len(words[0]) != 1 or not words[1] or not abs(score) < 1e9:
                raise FormatError(
                    f"{os.fspath(path)}:{number}: expected a word, a tab, its variant, and a score"
                )
            table.setdefault(words[0][0], []).append((tuple(words[1]), score))
        return cls(table)

    def lattice(self, words: Sequence[str]) -> Lattice:
        """Returns the lattice of a sentence in which each word may be one of its variants. The words
        themselves have the score 0. Raises FormatError for no words."""
        arcs: list[Arc] = []
        node = 0
        for word in words:
            variants = [(one, score) for one, score in self.table.get(word, ()) if one != (word,)]
            inner = sum(len(one) - 1 for one, _ in variants)
            end = node + inner + 1
            arcs.append(Arc(word, node, end, (0.0,)))
            used = node
            for one, score in variants:
                at = node
                for place, part in enumerate(one):
                    used += place + 1 < len(one)
                    after = used if place + 1 < len(one) else end
                    arcs.append(Arc(part, at, after, (score if place == 0 else 0.0,)))
                    at = after
            node = end
        return Lattice(arcs)
