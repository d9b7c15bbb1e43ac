"""Phrases over English words: labels by part of speech and relation, and the brackets around phrases.

Punctuation is attached as high as possible, except that text in brackets is a PRN. Phrases that begin with a
wh-word are WHNP, WHPP, WHADJP or WHADVP.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple


class Word(NamedTuple):
    """A word with its part of speech and its relation to the word ``head``. A root is its own head."""

    text: str
    tag: str
    relation: str
    head: int


@dataclass(frozen=True, eq=False)
class Phrase:
    """A label over words and phrases."""

    label: str
    parts: Sequence[Node]


# A word, by its index, or a phrase.
Node = int | Phrase

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
AUXILIARIES = frozenset({"aux", "auxpass"})
# Relations of dependents before the predicate of a sentence, and of dependents that only verbs have.
CLAUSAL = SUBJECTS | AUXILIARIES | {"mark"}
_VERBAL = CLAUSAL | {"dobj", "ccomp", "xcomp", "prt", "attr", "acomp", "dative", "oprd"}
# Relations that only nouns have.
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


def phrase_label(word: Word, dependents: AbstractSet[str]) -> str:
    """Returns the label of the phrase of a word whose dependents have these relations; X if unknown."""
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
    """Returns the words under nodes."""
    words = []
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, Phrase):
            stack += reversed(node.parts)
        else:
            words.append(node)
    return words


def is_wh(node: Node) -> bool:
    """Returns whether a node is a phrase that begins with a wh-word."""
    return isinstance(node, Phrase) and node.label.startswith("WH")


class Bracketing:
    """Makes phrases over the words of a sentence."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words

    def phrase(self, label: str, nodes: Iterable[Node]) -> Phrase:
        """Returns a phrase. Punctuation at the edges of its nodes becomes part of the phrase itself."""
        parts = self._with_brackets([part for node in nodes for part in self._release_punctuation(node)])
        if len(parts) == 1 and isinstance(parts[0], Phrase) and parts[0].label == label:
            return parts[0]
        return Phrase(label, parts)

    def mark_wh(self, phrase: Phrase) -> Phrase:
        """Returns the phrase with a label such as WHNP if it begins with a wh-word."""
        first = phrase.parts[0]
        has_wh = is_wh(first) or (isinstance(first, int) and self._words[first].tag in _WH)
        if phrase.label in ("NP", "PP"):  # of which, all of whom
            has_wh |= any(
                isinstance(part, Phrase) and part.label in ("WHNP", "WHPP") for part in phrase.parts[1:2]
            )
        has_wh_label = has_wh and phrase.label in ("NP", "PP", "ADJP", "ADVP")
        return Phrase(f"WH{phrase.label}", phrase.parts) if has_wh_label else phrase

    def is_punctuation(self, node: Node) -> bool:
        return isinstance(node, int) and self._words[node].tag in _PUNCTUATION

    def _release_punctuation(self, node: Node) -> Sequence[Node]:
        """Returns a node without punctuation at its edges, and this punctuation beside it."""
        if isinstance(node, int) or node.label == "PRN":
            return [node]
        words = [i for i, part in enumerate(node.parts) if not self.is_punctuation(part)]
        if len(words) == 0 or words[-1] - words[0] + 1 == len(node.parts):
            return [node] if words else node.parts
        begin, end = words[0], words[-1] + 1
        return [*node.parts[:begin], self.phrase(node.label, node.parts[begin:end]), *node.parts[end:]]

    def _with_brackets(self, parts: Sequence[Node]) -> Sequence[Node]:
        """Puts text in brackets under PRN, unless it is the complete phrase."""
        nodes: list[Node] = []
        opening: list[int] = []
        for part in parts:
            tag = self._words[part].tag if isinstance(part, int) else ""
            if tag == "-LRB-":
                opening.append(len(nodes))
            nodes.append(part)
            if tag == "-RRB-" and opening and len(nodes) - (begin := opening.pop()) > 2:
                nodes[begin:] = [Phrase("PRN", nodes[begin:])]
        return parts if len(nodes) == 1 else nodes
