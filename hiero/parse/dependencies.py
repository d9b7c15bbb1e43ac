"""Conversion of dependency trees to constituents: every word projects a phrase with its dependents.

    words = [Word("he", "PRP", "nsubj", 1), Word("slept", "VBD", "ROOT", 1), Word(".", ".", "punct", 1)]
    constituents(words)  # (TOP (S (NP (PRP he)) (VP (VBD slept)) (. .)))

Words are English, with the Penn treebank's parts of speech and ClearNLP's relations, as in spaCy. The result
is always a tree over the words in their order: a dependent that is not adjacent to its head is attached to
the lowest word above it to which it is adjacent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hiero.features.trees import Constituent, Tree
from hiero.parse.clauses import Clauses, Projection
from hiero.parse.phrases import Node, Phrase, Word


class _Block(NamedTuple):
    """A word with its dependents, which cover adjacent words."""

    begin: int
    end: int
    projection: Projection


def constituents(words: Sequence[Word]) -> Tree:
    """Converts the dependency tree of words to constituents.

    Raises ValueError for a head that is not a word, and for heads that form a cycle.

    >>> words = [Word("he", "PRP", "nsubj", 1), Word("slept", "VBD", "ROOT", 1)]
    >>> print(constituents(words))
    (TOP (S (NP (PRP he)) (VP (VBD slept))))
    """
    clauses = Clauses(words)
    unattached: list[list[_Block]] = [[] for _ in words]
    roots: list[_Block] = []
    for index in reversed(_top_down([word.head for word in words])):
        blocks = sorted(unattached[index], key=lambda block: block.begin)
        left, right = _adjacent(index, blocks)
        adjacent = [*left, *right]
        above = roots if words[index].head == index else unattached[words[index].head]
        above += [block for block in blocks if block not in adjacent]
        projection = clauses.project(
            index, [block.projection for block in left], [block.projection for block in right]
        )
        begin = left[0].begin if left else index
        end = right[-1].end if right else index + 1
        above.append(_Block(begin, end, projection))
    roots.sort(key=lambda block: block.begin)
    return _tree(words, Phrase("TOP", [clauses.bracket(block.projection) for block in roots]))


def _top_down(heads: Sequence[int]) -> list[int]:
    """Returns the indices of words, each after the index of its head."""
    dependents: list[list[int]] = [[] for _ in heads]
    order = []
    for index, head in enumerate(heads):
        if not 0 <= head < len(heads):
            raise ValueError(f"word {index} depends on word {head}, of {len(heads)}")
        if head == index:
            order.append(index)
        else:
            dependents[head].append(index)
    for index in order:
        order += dependents[index]
    if len(order) < len(heads):
        raise ValueError("words depend on each other in a cycle")
    return order


def _adjacent(index: int, blocks: Sequence[_Block]) -> tuple[list[_Block], list[_Block]]:
    """Returns the blocks that form one span with a word: those on its left and those on its right."""
    left: list[_Block] = []
    right: list[_Block] = []
    for block in reversed(blocks):
        if block.end == (left[-1].begin if left else index):
            left.append(block)
    for block in blocks:
        if block.begin == (right[-1].end if right else index + 1):
            right.append(block)
    return left[::-1], right


def _tree(words: Sequence[Word], top: Phrase) -> Tree:
    labels: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    # The nodes to visit, and the number of each phrase at its end.
    stack: list[Node | tuple[int]] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, Phrase):
            stack += [(len(spans),), *reversed(node.parts)]
            labels.append(node.label)
            spans.append((position, position))
        elif isinstance(node, tuple):
            spans[node[0]] = (spans[node[0]][0], position)
        else:
            assert node == position
            position += 1
    constituents = (Constituent(label, *span) for label, span in zip(labels, spans, strict=True))
    return Tree(tuple(word.text for word in words), tuple(word.tag for word in words), tuple(constituents))
