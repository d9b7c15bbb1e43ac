"""Constituency trees of source sentences, in Penn brackets.

    tree = Tree.read("(S (NP (PRP he)) (VP (VBD slept)))")
    tree.on(["he", "sle", "pt"]).brackets()  # (S (NP (PRP he)) (VP (VBD sle) (VBD pt)))

Files have one tree a line: ``read_trees``. Soft syntactic constraints (Chiang, Marton and Resnik 2008) are
about spans and their labels. A tree over other tokens than the system's is forced onto these, as in the
paper's footnote 1.
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
from hiero.features.characters import BRACKETS, words_of

# Labels of what is the whole line; and of what is no constituent: fragments, what is unknown, what is marked
# as none, and list markers.
ROOTS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
NOT_CONSTITUENTS = frozenset({"FRAG", "X", "NAC", "LST"})
_EMPTY = "-NONE-"
_LABEL = re.compile(r"[^()\s]+", re.ASCII)
_WORD = re.compile(r"\S+", re.ASCII)
_PARTS = re.compile(rf"[()]|{_LABEL.pattern}", re.ASCII)
_WRITTEN = str.maketrans({bracket: escape for escape, bracket in BRACKETS.items()})
_ESCAPE = re.compile("|".join(BRACKETS))


class Constituent(NamedTuple):
    """A label over the tokens from ``begin`` to before ``end``."""

    label: str
    begin: int
    end: int


@dataclass(frozen=True)
class Tree:
    """A sentence's tokens, the part of speech of each, and the constituents above these, in preorder.

    Labels are without functions (``NP``, not ``NP-SBJ``); that of the outermost constituent may be empty. Of
    several over the same tokens, each is above the next. Raises ValueError where this is not a tree.

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
        if bad := [name for name in names if not is_label(name)]:
            raise ValueError(f"{bad[0]!r} is no label")
        if not all(map(_WORD.fullmatch, self.tokens)):
            raise ValueError("a token is empty, or has white space in it")
        _check_nesting(self.constituents, len(self.tokens))

    @classmethod
    def read(cls, text: str) -> Tree:
        """Reads brackets, ``(S (NP (PRP he)) (VP (VBD slept)))``.

        Functions (``NP-SBJ-1``, ``NP=2``) are left out of labels, and empty elements (``-NONE-``) with
        all constituents that have nothing else. Raises FormatError, which tells the column.
        """
        reader = _Reader()
        for part in _PARTS.finditer(text):
            try:
                reader.take(part[0], part.start())
            except FormatError as error:
                raise FormatError(f"column {part.start() + 1}: {error}") from None
        return reader.tree()

    def brackets(self) -> str:
        """The tree as ``read`` takes it. A token that is spelt as an escape (``-LRB-``) is a bracket then."""
        return "".join(self._pieces()).rstrip(" ")

    def __str__(self) -> str:
        return self.brackets()

    def on(self, tokens: Sequence[str]) -> Tree:
        """The same tree over other tokens of the same characters.

        A token takes the leaf that most of its characters are of, of several the last: so it has a part of
        speech, and every constituent begins and ends between tokens. Leaves that no token takes vanish,
        and constituents that have no other; a leaf that is cut becomes several. Characters are compared as
        ``hiero.features.characters`` says. Raises FormatError where they differ, which tells the words.

        >>> print(Tree.read("(PP (IN b) (NP (NN byt)))").on(["bbyt"]))
        (PP (NP (NN bbyt)))
        """
        if tuple(tokens) == self.tokens:
            return self
        leaves = words_of(self.tokens, tokens)
        # How many tokens have leaves before each.
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
        opening = iter(self.constituents)
        following = next(opening, None)
        for place, (token, tag) in enumerate(zip(self.tokens, self.tags, strict=True)):
            while following is not None and following.begin == place:
                yield f"({following.label} "
                ends.append(following.end)
                following = next(opening, None)
            yield f"({tag} {token.translate(_WRITTEN)})"
            while ends and ends[-1] == place + 1:
                yield ")"
                ends.pop()
            yield " "


def read_tree(line: str) -> Tree | None:
    """The tree of a line; None for a blank one, ``()`` and ``(())``: no parse. Raises FormatError."""
    return None if "".join(split(line)) in ("", "()", "(())") else Tree.read(line)


def iterate_trees(path: PathLike) -> Iterator[Tree | None]:
    """Trees of a file (plain, gzip, xz), one a line, as ``read_tree`` has them.

    Raises FormatError, which tells file and line.
    """
    for number, line in enumerate(read_lines(path), start=1):
        try:
            tree = read_tree(line)
        except FormatError as error:
            raise FormatError(f"{os.fspath(path)}:{number}: {error}") from None
        yield tree


def read_trees(path: PathLike) -> list[Tree | None]:
    """All of them at once; raises as ``iterate_trees``."""
    return list(iterate_trees(path))


def frequent_labels(trees: Iterable[Tree | None], least: int = 100) -> list[str]:
    """Labels of more than ``least`` constituents, the most frequent first, equal ones by name.

    Left out are labels of roots (``ROOTS``) and of what is no constituent (``NOT_CONSTITUENTS``); parts of
    speech are none. Sentences without a parse, None, are passed over.
    """
    counts = Counter(label for tree in trees if tree is not None for label, _, _ in tree.constituents)
    found = [label for label in counts.keys() - ROOTS - NOT_CONSTITUENTS if counts[label] > least]
    return sorted(found, key=lambda label: (-counts[label], label))


@dataclass
class _Open:
    """A bracket that is not closed yet: a leaf once it has a ``word``, a constituent once one has opened in
    it, which then has its ``place`` among the constituents."""

    column: int
    begin: int
    label: str = ""
    word: str | None = None
    place: int | None = None


@dataclass
class _Reader:
    """Takes brackets, labels and words one by one; no recursion, as trees may be of any depth."""

    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    constituents: list[Constituent] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    closed: bool = False

    def take(self, part: str, start: int) -> None:
        if self.closed or not (self.stack or part == "("):
            raise FormatError(f'"{part}" outside of the tree\'s brackets')
        if part == "(":
            self._open(start)
        elif part == ")":
            self._close()
        else:
            self._name(part)

    def tree(self) -> Tree:
        if self.stack:
            raise FormatError(f"column {self.stack[-1].column}: a bracket that is not closed")
        if not self.tokens:
            raise FormatError("a tree without words")
        return Tree(tuple(self.tokens), tuple(self.tags), tuple(self.constituents))

    def _open(self, start: int) -> None:
        if self.stack:
            above = self.stack[-1]
            if above.word is not None:
                raise FormatError(f'a bracket beside the word "{above.word}"')
            if not above.label and len(self.stack) > 1:
                raise FormatError("a constituent without a label, which only the outermost may be")
            if above.place is None:
                above.place = len(self.constituents)
                self.constituents.append(Constituent(above.label, above.begin, above.begin))
        self.stack.append(_Open(start + 1, len(self.tokens)))

    def _name(self, part: str) -> None:
        above = self.stack[-1]
        if above.place is not None:
            raise FormatError(f'the word "{part}" beside constituents')
        if above.word is not None:
            raise FormatError(f'the word "{part}" beside the word "{above.word}"')
        if above.label:
            above.word = part
        else:
            above.label = _bare(part)

    def _close(self) -> None:
        done = self.stack.pop()
        if done.place is not None:
            if done.begin == len(self.tokens):
                # Of empty elements alone; those within are gone already.
                self.constituents.pop()
            else:
                self.constituents[done.place] = Constituent(done.label, done.begin, len(self.tokens))
        elif done.word is None:
            raise FormatError(f'"{done.label}" is empty' if done.label else "empty brackets")
        elif not self.stack:
            raise FormatError("a part of speech without a constituent above it")
        elif done.label != _EMPTY:
            self.tags.append(done.label)
            self.tokens.append(_ESCAPE.sub(lambda found: BRACKETS[found[0]], done.word))
        self.closed = not self.stack


def is_label(name: str) -> bool:
    """Whether trees have such labels, or parts of speech."""
    return _LABEL.fullmatch(name) is not None and name == _bare(name)


@lru_cache(maxsize=1 << 12)
def _bare(label: str) -> str:
    """A label without functions and indices; ``-LRB-`` and ``-NONE-`` have none."""
    return label if label[:1] in ("-", "=") else re.split("[-=]", label, maxsplit=1)[0]


def _check_nesting(constituents: Sequence[Constituent], words: int) -> None:
    """Raises ValueError unless these are the constituents of a tree over words, in preorder."""
    ends = [words]
    place = 0
    for number, (label, begin, end) in enumerate(constituents):
        while ends and begin >= ends[-1]:
            ends.pop()
        if not place <= begin < end <= (ends[-1] if ends else 0):
            raise ValueError(f"{label!r} from {begin} to {end} does not nest")
        if number == 0 and (begin, end) != (0, words):
            raise ValueError(f"{label!r} from {begin} to {end} is outermost, of {words} tokens")
        ends.append(end)
        place = begin
    if not constituents:
        raise ValueError("a tree without constituents")
