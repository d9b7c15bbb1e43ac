"""Constituency trees of source sentences, in Penn brackets.

    tree = Tree.read("(S (NP (PRP he)) (VP (VBD slept)))")
    tree.retokenize(["he", "sle", "pt"]).brackets()  # (S (NP (PRP he)) (VP (VBD sle) (VBD pt)))

Files have one tree per line; see ``read_trees``. Soft syntactic constraints (Chiang, Marton and Resnik 2008)
use the spans and labels of constituents. A tree with other tokens than the system's is transferred to the
system's tokens, as in footnote 1 of the paper.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from hiero._core import FormatError
from hiero.base.lines import PathLike, read_lines
from hiero.base.text import split
from hiero.features.characters import BRACKETS, covering_words

# Labels of the outermost brackets of a line, and labels that do not count as constituents: fragments, unknown
# labels, NAC ("not a constituent") and list markers.
ROOTS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
NOT_CONSTITUENTS = frozenset({"FRAG", "X", "NAC", "LST"})
_EMPTY = "-NONE-"
_LABEL = re.compile(r"[^()\s]+", re.ASCII)
_WORD = re.compile(r"\S+", re.ASCII)
_PARTS = re.compile(rf"[()]|{_LABEL.pattern}", re.ASCII)
_ESCAPED = str.maketrans({bracket: escape for escape, bracket in BRACKETS.items()})
_ESCAPE = re.compile("|".join(BRACKETS))


class Constituent(NamedTuple):
    """A label and the tokens that it covers, from ``begin`` to before ``end``."""

    label: str
    begin: int
    end: int


@dataclass(frozen=True)
class Tree:
    """A sentence's tokens, the part of speech of each token, and the constituents above them, in preorder.

    Labels have no functions (``NP``, not ``NP-SBJ``). The label of the outermost constituent may be empty. If
    several constituents cover the same tokens, each is above the next one. Raises ValueError if the fields do
    not describe a tree.

    >>> tree = Tree.read("(S (NP-SBJ (PRP he)) (VP (VBD slept)))")
    >>> tree.tokens, tree.tags
    (('he', 'slept'), ('PRP', 'VBD'))
    >>> tree.constituents[1]
    Constituent(label='NP', begin=0, end=1)
    >>> print(tree)
    (S (NP (PRP he)) (VP (VBD slept)))
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    constituents: tuple[Constituent, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.tokens) == len(self.tags):
            raise ValueError(f"a tree of {len(self.tokens)} tokens and {len(self.tags)} parts of speech")
        labels = [constituent.label for constituent in self.constituents]
        names = [*self.tags, *(labels[1:] if labels[:1] == [""] else labels)]
        if invalid := [name for name in names if not is_label(name)]:
            raise ValueError(f"{invalid[0]!r} is not a label")
        if not all(map(_WORD.fullmatch, self.tokens)):
            raise ValueError("a token is empty or contains white space")
        _check_nesting(self.constituents, len(self.tokens))

    @classmethod
    def read(cls, text: str) -> Tree:
        """Reads Penn brackets such as ``(S (NP (PRP he)) (VP (VBD slept)))``.

        Functions and indices of labels (``NP-SBJ-1``, ``NP=2``) are removed. So are empty elements
        (``-NONE-``), and constituents that contain nothing else. Raises FormatError with the column.
        """
        reader = _Reader()
        for part in _PARTS.finditer(text):
            try:
                reader.take(part[0], part.start())
            except FormatError as error:
                raise FormatError(f"column {part.start() + 1}: {error}") from None
        return reader.tree()

    def brackets(self) -> str:
        """Formats the tree for ``read``. A token that is an escape, ``-LRB-``, will be read as a bracket."""
        return "".join(self._pieces()).rstrip(" ")

    def __str__(self) -> str:
        return self.brackets()

    def retokenize(self, tokens: Sequence[str]) -> Tree:
        """Transfers the tree to other tokens with the same characters.

        A token takes the part of speech of the leaf that has most of its characters, the last of several. So
        every constituent begins and ends at a token boundary. A leaf without a token is removed, and so is a
        constituent without other leaves; a leaf with several tokens becomes several leaves. The module
        ``hiero.features.characters`` compares the characters. Raises FormatError, naming the words, if they
        differ.

        >>> print(Tree.read("(PP (IN b) (NP (NN byt)))").retokenize(["bbyt"]))
        (PP (NP (NN bbyt)))
        """
        if tuple(tokens) == self.tokens:
            return self
        leaves = covering_words(self.tokens, tokens)
        # The number of tokens before each leaf.
        before = [0] * (len(self.tokens) + 1)
        for leaf in leaves:
            before[leaf + 1] += 1
        for leaf in range(len(self.tokens)):
            before[leaf + 1] += before[leaf]
        moved = (Constituent(label, before[begin], before[end]) for label, begin, end in self.constituents)
        return Tree(
            tuple(tokens),
            tuple(self.tags[leaf] for leaf in leaves),
            tuple(constituent for constituent in moved if constituent.begin < constituent.end),
        )

    def _pieces(self) -> Iterator[str]:
        ends: list[int] = []
        constituents = iter(self.constituents)
        following = next(constituents, None)
        for position, (token, tag) in enumerate(zip(self.tokens, self.tags, strict=True)):
            while following is not None and following.begin == position:
                yield f"({following.label} "
                ends.append(following.end)
                following = next(constituents, None)
            yield f"({tag} {token.translate(_ESCAPED)})"
            while ends and ends[-1] == position + 1:
                yield ")"
                ends.pop()
            yield " "


def read_tree(line: str) -> Tree | None:
    """Reads the tree of a line. Returns None for no parse: a blank line, ``()`` or ``(())``.

    Raises FormatError.
    """
    return None if "".join(split(line)) in ("", "()", "(())") else Tree.read(line)


def iterate_trees(path: PathLike) -> Iterator[Tree | None]:
    """Yields the tree of every line of a file (plain, gzip, xz); see ``read_tree``.

    Raises FormatError with file and line.
    """
    for number, line in enumerate(read_lines(path), start=1):
        try:
            tree = read_tree(line)
        except FormatError as error:
            raise FormatError(f"{os.fspath(path)}:{number}: {error}") from None
        yield tree


def read_trees(path: PathLike) -> list[Tree | None]:
    """Reads all trees of a file; see ``iterate_trees``."""
    return list(iterate_trees(path))


def frequent_labels(trees: Iterable[Tree | None], least: int = 100) -> list[str]:
    """Returns labels with more than ``least`` constituents, by falling frequency, then by name.

    Labels in ``ROOTS`` and ``NOT_CONSTITUENTS`` and parts of speech are left out. Missing trees (None) are
    skipped.
    """
    counts = Counter(label for tree in trees if tree is not None for label, _, _ in tree.constituents)
    labels = [label for label in counts.keys() - ROOTS - NOT_CONSTITUENTS if counts[label] > least]
    return sorted(labels, key=lambda label: (-counts[label], label))


@dataclass
class _Open:
    """A bracket that is not closed yet.

    It is a leaf if it has a ``word``. It is a constituent if another bracket was opened in it; then it has an
    ``index`` among the constituents.
    """

    column: int
    begin: int
    label: str = ""
    word: str | None = None
    index: int | None = None


@dataclass
class _Reader:
    """A parser that takes brackets, labels and words one by one. Trees may be too deep for recursion."""

    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    constituents: list[Constituent] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    closed: bool = False

    def take(self, part: str, start: int) -> None:
        if self.closed or not (self.stack or part == "("):
            raise FormatError(f'"{part}" is outside the brackets of the tree')
        if part == "(":
            self._open(start)
        elif part == ")":
            self._close()
        else:
            self._name(part)

    def tree(self) -> Tree:
        if self.stack:
            raise FormatError(f"column {self.stack[-1].column}: this bracket is not closed")
        if not self.tokens:
            raise FormatError("a tree without words")
        return Tree(tuple(self.tokens), tuple(self.tags), tuple(self.constituents))

    def _open(self, start: int) -> None:
        if self.stack:
            parent = self.stack[-1]
            if parent.word is not None:
                raise FormatError(f'a bracket beside the word "{parent.word}"')
            if not parent.label and len(self.stack) > 1:
                raise FormatError("a constituent without a label is not the outermost one")
            if parent.index is None:
                parent.index = len(self.constituents)
                self.constituents.append(Constituent(parent.label, parent.begin, parent.begin))
        self.stack.append(_Open(start + 1, len(self.tokens)))

    def _name(self, part: str) -> None:
        parent = self.stack[-1]
        if parent.index is not None:
            raise FormatError(f'the word "{part}" beside constituents')
        if parent.word is not None:
            raise FormatError(f'the word "{part}" beside the word "{parent.word}"')
        if parent.label:
            parent.word = part
        else:
            parent.label = _strip_functions(part)

    def _close(self) -> None:
        bracket = self.stack.pop()
        if bracket.index is not None:
            if bracket.begin == len(self.tokens):
                # All words in it were empty elements. Constituents within it are already removed.
                self.constituents.pop()
            else:
                self.constituents[bracket.index] = Constituent(bracket.label, bracket.begin, len(self.tokens))
        elif bracket.word is None:
            raise FormatError(f'"{bracket.label}" is empty' if bracket.label else "empty brackets")
        elif not self.stack:
            raise FormatError("a part of speech without a constituent above it")
        elif bracket.label != _EMPTY:
            self.tags.append(bracket.label)
            self.tokens.append(_ESCAPE.sub(lambda match: BRACKETS[match[0]], bracket.word))
        self.closed = not self.stack


def is_label(name: str) -> bool:
    """Returns whether a string can be a label or part of speech of a tree."""
    return _LABEL.fullmatch(name) is not None and name == _strip_functions(name)


@lru_cache(maxsize=1 << 12)
def _strip_functions(label: str) -> str:
    """Removes functions and indices from a label. ``-LRB-`` and ``-NONE-`` have none."""
    return label if label[:1] in ("-", "=") else re.split("[-=]", label, maxsplit=1)[0]


def _check_nesting(constituents: Sequence[Constituent], words: int) -> None:
    """Raises ValueError unless these are, in preorder, the constituents of a tree over ``words`` words."""
    ends = [words]
    previous_begin = 0
    for number, (label, begin, end) in enumerate(constituents):
        while ends and begin >= ends[-1]:
            ends.pop()
        if not previous_begin <= begin < end <= (ends[-1] if ends else 0):
            raise ValueError(f"{label!r} from {begin} to {end} does not nest")
        if number == 0 and (begin, end) != (0, words):
            raise ValueError(
                f"{label!r} from {begin} to {end} is outermost but does not cover {words} tokens"
            )
        ends.append(end)
        previous_begin = begin
    if not constituents:
        raise ValueError("a tree without constituents")
