"""Constituents of dependency trees: what a word projects with what depends on it.

    words = [Word("he", "PRP", "nsubj", 1), Word("slept", "VBD", "ROOT", 1), Word(".", ".", "punct", 1)]
    constituents(words)  # (TOP (S (NP (PRP he)) (VP (VBD slept)) (. .)))

Words are English, with the Penn treebank's parts of speech and ClearNLP's relations, as spaCy has them. The
result is always a tree over the words in their order: what depends on a word across others that do not goes
to the first word above that it lies together with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hiero.features.trees import Constituent, Tree
from hiero.parse.clauses import Clauses, Part
from hiero.parse.phrases import Node, Phrase, Word


class _Block(NamedTuple):
    """A word with its dependents, which lie together."""

    begin: int
    end: int
    part: Part


def constituents(words: Sequence[Word]) -> Tree:
    """The tree of words by their heads. Raises ValueError for heads that are no words, or go in a circle.

    >>> words = [Word("he", "PRP", "nsubj", 1), Word("slept", "VBD", "ROOT", 1)]
    >>> print(constituents(words))
    (TOP (S (NP (PRP he)) (VP (VBD slept))))
    """
    clauses = Clauses(words)
    waiting: list[list[_Block]] = [[] for _ in words]
    roots: list[_Block] = []
    for place in reversed(_top_down([word.head for word in words])):
        blocks = sorted(waiting[place], key=lambda block: block.begin)
        left, right = _adjacent(place, blocks)
        near = [*left, *right]
        above = roots if words[place].head == place else waiting[words[place].head]
        above += [block for block in blocks if block not in near]
        part = clauses.part(place, [block.part for block in left], [block.part for block in right])
        begin = left[0].begin if left else place
        end = right[-1].end if right else place + 1
        above.append(_Block(begin, end, part))
    roots.sort(key=lambda block: block.begin)
    return _tree(words, Phrase("TOP", [clauses.finished(block.part) for block in roots]))


def _top_down(heads: Sequence[int]) -> list[int]:
    """Places of words, each behind its head's."""
    below: list[list[int]] = [[] for _ in heads]
    order = []
    for place, head in enumerate(heads):
        if not 0 <= head < len(heads):
            raise ValueError(f"word {place} depends on word {head}, of {len(heads)}")
        if head == place:
            order.append(place)
        else:
            below[head].append(place)
    for place in order:
        order += below[place]
    if len(order) < len(heads):
        raise ValueError("words depend on each other in a circle")
    return order


def _adjacent(place: int, blocks: Sequence[_Block]) -> tuple[list[_Block], list[_Block]]:
    """The blocks, of some in order, that lie together with a word: those before it and those behind."""
    left: list[_Block] = []
    right: list[_Block] = []
    for block in reversed(blocks):
        if block.end == (left[-1].begin if left else place):
            left.append(block)
    for block in blocks:
        if block.begin == (right[-1].end if right else place + 1):
            right.append(block)
    return left[::-1], right


def _tree(words: Sequence[Word], top: Phrase) -> Tree:
    labels: list[str] = []
    spans: list[tuple[int, int]] = []
    done = 0
    # What is still to come, and the numbers of phrases where they end.
    stack: list[Node | tuple[int]] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, Phrase):
            stack += [(len(spans),), *reversed(node.parts)]
            labels.append(node.label)
            spans.append((done, done))
        elif isinstance(node, tuple):
            spans[node[0]] = (spans[node[0]][0], done)
        else:
            assert node == done
            done += 1
    found = (Constituent(label, *span) for label, span in zip(labels, spans, strict=True))
    return Tree(tuple(word.text for word in words), tuple(word.tag for word in words), tuple(found))
