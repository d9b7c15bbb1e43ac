"""Phrases over English words: what part of speech and relation make of a word, and labels over parts.

Punctuation stands as high as it can, but that brackets make a PRN of what they enclose. Phrases that begin
with a wh-word are WHNP, WHPP, WHADJP, WHADVP.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple


class Word(NamedTuple):
    """A word with its part of speech and its relation to the word at ``head``; a root is its own head."""

    text: str
    tag: str
    relation: str
    head: int


@dataclass(frozen=True, eq=False)
class Phrase:
    """The parts under one label."""

    label: str
    parts: Sequence[Node]


# A word, by its place, or a phrase.
Node = int | Phrase

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
AUXILIARIES = frozenset({"aux", "auxpass"})
# What stands before the predicate of a sentence, and what only verbs have.
CLAUSAL = SUBJECTS | AUXILIARIES | {"mark"}
_VERBAL = CLAUSAL | {"dobj", "ccomp", "xcomp", "prt", "attr", "acomp", "dative", "oprd"}
# What only nouns are.
_NOMINAL = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "dative", "poss", "appos", "npadvmod"})

_VERBS = ["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"]
_BY_TAG = {
    **dict.fromkeys(_VERBS, "VP"),
    **dict.fromkeys(["JJ", "JJR", "JJS"], "ADJP"),
    **dict.fromkeys(["RB", "RBR", "RBS", "WRB", "IN", "TO", "RP"], "ADVP"),
    **dict.fromkeys(["NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "DT", "PDT", "EX", "CD", "$"], "NP"),
    **dict.fromkeys(["WP", "WP$", "WDT", "FW", "ADD", "AFX", "POS"], "NP"),
    "UH": "INTJ",
    "LS": "LST",
}
_BY_RELATION = {"prep": "PP", "agent": "PP", "prt": "PRT", "intj": "INTJ"}
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "NFP"})
_WH = frozenset({"WDT", "WP", "WP$", "WRB"})


def label_of(word: Word, dependents: AbstractSet[str]) -> str:
    """The label of the phrase about a word whose dependents have these relations; X if there is none."""
    if word.relation in _BY_RELATION:
        return _BY_RELATION[word.relation]
    label = _BY_TAG.get(word.tag, "X")
    if word.tag in ("IN", "TO", "RP"):
        return "PP" if word.relation == "dative" or dependents & {"pobj", "pcomp"} else label
    if label == "VP" and not dependents & _VERBAL:
        if word.relation in ("amod", "acomp"):
            return "ADJP"
        return "NP" if word.relation in _NOMINAL or "det" in dependents else label
    if label == "ADJP" and (word.relation in _NOMINAL or "det" in dependents):
        return "NP"
    if word.relation == "advmod" and (label == "ADJP" or word.tag == "DT"):
        return "ADVP"
    return "QP" if dependents and word.tag == "CD" and word.relation in ("nummod", "quantmod") else label


def leaves(nodes: Iterable[Node]) -> list[int]:
    """The words under nodes."""
    found = []
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, Phrase):
            stack += reversed(node.parts)
        else:
            found.append(node)
    return found


def is_wh(node: Node) -> bool:
    """Whether a phrase begins with a wh-word."""
    return isinstance(node, Phrase) and node.label.startswith("WH")


class Bracketing:
    """Puts labels over words and phrases."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words

    def over(self, label: str, nodes: Iterable[Node]) -> Phrase:
        """A phrase of nodes, which leave punctuation at their edges to it."""
        parts = self._with_brackets([part for node in nodes for part in self._opened(node)])
        if len(parts) == 1 and isinstance(parts[0], Phrase) and parts[0].label == label:
            return parts[0]
        return Phrase(label, parts)

    def asking(self, phrase: Phrase) -> Phrase:
        """A phrase with the label that tells that it begins with a wh-word, if it does."""
        first = phrase.parts[0]
        begins = is_wh(first) or (isinstance(first, int) and self._words[first].tag in _WH)
        if phrase.label in ("NP", "PP"):  # of which, all of whom
            begins |= any(
                isinstance(part, Phrase) and part.label in ("WHNP", "WHPP") for part in phrase.parts[1:2]
            )
        found = begins and phrase.label in ("NP", "PP", "ADJP", "ADVP")
        return Phrase(f"WH{phrase.label}", phrase.parts) if found else phrase

    def is_punctuation(self, node: Node) -> bool:
        return isinstance(node, int) and self._words[node].tag in _PUNCTUATION

    def _opened(self, node: Node) -> Sequence[Node]:
        """A node with the punctuation at its edges beside it."""
        if isinstance(node, int) or node.label == "PRN":
            return [node]
        kept = [i for i, part in enumerate(node.parts) if not self.is_punctuation(part)]
        if len(kept) == 0 or kept[-1] - kept[0] + 1 == len(node.parts):
            return [node] if kept else node.parts
        begin, end = kept[0], kept[-1] + 1
        return [*node.parts[:begin], self.over(node.label, node.parts[begin:end]), *node.parts[end:]]

    def _with_brackets(self, parts: Sequence[Node]) -> Sequence[Node]:
        """Puts what brackets enclose under PRN, unless it is everything."""
        found: list[Node] = []
        opening: list[int] = []
        for part in parts:
            tag = self._words[part].tag if isinstance(part, int) else ""
            if tag == "-LRB-":
                opening.append(len(found))
            found.append(part)
            if tag == "-RRB-" and opening and len(found) - (begin := opening.pop()) > 2:
                found[begin:] = [Phrase("PRN", found[begin:])]
        return parts if len(found) == 1 else found
