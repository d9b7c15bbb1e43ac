"""Words with their dependents as phrases and clauses, as the Penn treebank brackets them.

A dependent is placed by its relation: subjects beside the VP in S, complementisers and phrases with wh-words
beside S in SBAR, modifiers behind a noun beside its NP. Auxiliaries have a VP each. Conjuncts are joined at
the lowest of these that all have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hiero.parse.phrases import (
    AUXILIARIES,
    CLAUSAL,
    SUBJECTS,
    Bracketing,
    Node,
    Phrase,
    Word,
    is_wh,
    label_of,
    leaves,
)

# Words without a phrase of their own, and those without one in that of a noun, adjective, adverb or number.
_BARE = frozenset({"cc", "punct", "neg", "preconj", "predet", "case", "mark", "det"}) | AUXILIARIES
_MODIFIERS = frozenset({"amod", "advmod", "quantmod", "nummod", "compound", "nmod"})
# Before a noun, but not in its NP; and behind one, but in it.
_OUTER = frozenset({"prep", "advcl", "ccomp", "intj", "parataxis", "acl", "relcl", "appos", "pcomp", "agent"})
_INNER = frozenset({"case", "compound", "nummod", "amod", "quantmod"})
# Clauses that are sentences also without a subject.
_SENTENCES = frozenset(
    {"ROOT", "xcomp", "ccomp", "advcl", "csubj", "csubjpass", "pcomp", "relcl", "parataxis"}
)
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


@dataclass(eq=False)
class Part:
    """A word with its dependents, before it is known what the word above makes of it: the phrase ``core``, or
    ``SBAR[front S[before VP[verbs[0] VP[verbs[1] ... core]]]]``."""

    place: int
    relation: str
    core: Phrase
    front: list[Node] = field(default_factory=list)
    before: list[Node] = field(default_factory=list)
    # Auxiliaries, each with what stands between it and the next verb.
    verbs: list[list[Node]] = field(default_factory=list)
    has_subject: bool = False
    sentence: str = "S"
    # Further conjuncts, each behind what joins it, and what stands behind the last.
    joined: list[tuple[list[Node], Part]] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)

    @property
    def is_clause(self) -> bool:
        return self.core.label in ("VP", "SQ") or bool(self.front or self.before or self.verbs)

    @property
    def is_word(self) -> bool:
        """Whether nothing depends on it."""
        return not self.is_clause and not self.joined and list(self.core.parts) == [self.place]


class Clauses:
    """Makes phrases and clauses of words, from the lowest up."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._bracketing = Bracketing(words)
        self._over, self._asking = self._bracketing.over, self._bracketing.asking

    def part(self, place: int, left: Sequence[Part], right: Sequence[Part]) -> Part:
        """A word between its dependents."""
        first = next((i for i, part in enumerate(right) if part.relation == "conj"), len(right))
        while 0 < first < len(right) and right[first - 1].relation in ("cc", "punct", "preconj"):
            first -= 1
        part = self._alone(place, left, right[:first])
        joint: list[Node] = []
        for other in right[first:]:
            if other.relation == "conj":
                part.joined += [(joint, other), *other.joined]
                joint, other.joined, other.after = other.after, [], []
            else:
                joint = [*joint, *self._nodes(other)]
        part.after = joint
        return part

    def finished(self, part: Part) -> Node:
        """A word with its dependents."""
        if part.is_clause:
            return self._clause(part)
        if part.is_word and part.core.label == "X":
            return part.place
        return self._join(
            part.core.label, part, [part.core, *(self.finished(other) for _, other in part.joined)]
        )

    def _alone(self, place: int, left: Sequence[Part], right: Sequence[Part]) -> Part:
        """A word without its conjuncts."""
        word = self._words[place]
        label = label_of(word, {part.relation for part in (*left, *right)})
        part = Part(place, word.relation, Phrase(label, [place]))
        if label == "VP":
            within = self._place(part, left, right)
            part.core = self._over(part.core.label, [*within, place, *self._nodes(*right)])
            return part
        # A sentence without a verb has before its predicate what verbs have.
        own = max((i + 1 for i, other in enumerate(left) if other.relation in CLAUSAL), default=0)
        self._place(part, left[:own], ())
        phrase = self._noun if label == "NP" else self._modifier
        part.core = self._asking(phrase(label, place, left[own:], right))
        return part

    def _place(self, part: Part, left: Sequence[Part], right: Sequence[Part]) -> list[Node]:
        """Puts what stands before a verb where it belongs, and returns what belongs to its own VP."""
        nodes = [self._nodes(other) for other in left]
        asks = [is_wh(each[0]) for each in nodes]
        aux = [i for i, other in enumerate(left) if other.relation in AUXILIARIES]
        subjects = [i for i, other in enumerate(left) if other.relation in SUBJECTS and not asks[i]]
        opening = range(min([*aux, *subjects, len(left)]))
        front = max((i + 1 for i in opening if left[i].relation == "mark" or asks[i]), default=0)
        part.front = _flat(nodes[:front])
        part.has_subject = any(other.relation in SUBJECTS for other in (*left, *right))
        turned = bool(subjects) and any(i < subjects[-1] for i in aux)
        asks_for = part.relation == "ROOT" and any(asks[:front])
        question = asks_for or any(self._words[other.place].text == "?" for other in right)
        if question and front == len(left) and right and right[0].relation in SUBJECTS:
            part.core = Phrase("SQ", part.core.parts)
            return []
        if asks_for or (question and turned):
            part.sentence = "SQ"
        # The first auxiliary of the VP, and where the VP begins: with adverbs, if it is all there is.
        first = next((i for i in aux if not turned or i > subjects[-1]), len(left))
        begin = first if part.has_subject or part.relation == "ROOT" else front
        part.before = _flat(nodes[front:begin])
        begins = [begin, *(i for i in aux if i > first)] if first < len(left) else []
        part.verbs = [_flat(nodes[i:j]) for i, j in zip(begins, [*begins[1:], len(left)], strict=False)]
        return [] if begins else _flat(nodes[begin:])

    def _noun(self, label: str, place: int, left: Sequence[Part], right: Sequence[Part]) -> Phrase:
        """A noun with what modifies it, and beside that what else depends on it."""
        outer = max((i + 1 for i, other in enumerate(left) if other.relation in _OUTER), default=0)
        stays = [other.relation in _INNER and other.is_word for other in right]
        inner = [*stays, False].index(False)
        base = [*self._within(label, left[outer:]), place]
        if self._words[place].tag == "CD":
            base = self._number(place, base)
        base += self._within(label, right[:inner])
        before, behind = self._nodes(*left[:outer]), self._nodes(*right[inner:])
        if not all(map(self._bracketing.is_punctuation, (*before, *behind))):
            base = [self._asking(self._over(label, base))]
        return self._over(label, [*before, *base, *behind])

    def _number(self, place: int, base: list[Node]) -> list[Node]:
        """A number and what tells it more precisely under QP."""
        first = next(i for i, node in enumerate(base) if node == place or not self._determines(node))
        return [*base[:first], self._over("QP", base[first:])] if len(base) - first > 1 else base

    def _determines(self, node: Node) -> bool:
        return isinstance(node, int) and self._words[node].relation in ("det", "predet", "poss", "punct")

    def _modifier(self, label: str, place: int, left: Sequence[Part], right: Sequence[Part]) -> Phrase:
        if label == "PP":
            return self._over(label, [*self._nodes(*left), place, *self._nodes(*right)])
        return self._over(label, [*self._within(label, left), place, *self._within(label, right)])

    def _within(self, label: str, parts: Iterable[Part]) -> list[Node]:
        """Dependents as they stand in the phrase of a noun, adjective, adverb or number."""
        found: list[Node] = []
        for part in parts:
            alone = part.relation in _MODIFIERS or self._words[part.place].tag in ("PRP$", "WP$")
            if alone and part.is_word:
                found.append(part.place)
            elif part.relation in ("compound", "quantmod") and label in ("NP", "QP"):
                found += leaves(self._nodes(part))
            else:
                found += self._nodes(part)
        return found

    def _nodes(self, *parts: Part) -> list[Node]:
        """Dependents as they stand in a clause."""
        found: list[Node] = []
        for part in parts:
            node = self.finished(part)
            found += leaves([node]) if part.relation in _BARE else [node]
        return found

    def _clause(self, part: Part) -> Node:
        """With conjuncts where they belong: not in one VP, say, if they have subjects."""
        members = [part, *(other for _, other in part.joined)]
        others = members[1:]
        if any(other.front for other in others):
            return self._join("SBAR", part, [self._whole(each) for each in members])
        if any(other.has_subject for other in others):
            pieces = [self._sentence(each, self._predicate(each)) for each in members]
            return self._fronted(part, self._join("S", part, pieces))
        if part.verbs and all(self._continues(part, other) for other in others):
            core = self._join("VP", part, [each.core for each in members])
            return self._fronted(part, self._sentence(part, self._nested(part.verbs, core)))
        pieces = [self._predicate(part), *(self._sentence(other, self._predicate(other)) for other in others)]
        return self._fronted(part, self._sentence(part, self._join(part.core.label, part, pieces)))

    def _whole(self, part: Part) -> Node:
        return self._fronted(part, self._sentence(part, self._predicate(part)))

    def _predicate(self, part: Part) -> Node:
        """The VP with its auxiliaries."""
        return self._nested(part.verbs, part.core) if part.is_clause else self.finished(part)

    def _nested(self, verbs: Sequence[Sequence[Node]], core: Node) -> Node:
        for each in reversed(verbs):
            core = self._over("VP", [*each, core])
        return core

    def _sentence(self, part: Part, predicate: Node) -> Node:
        """A predicate with its subject, or as a sentence without one where such are."""
        if not part.is_clause or (isinstance(predicate, Phrase) and predicate.label == "SQ"):
            return predicate
        stands = part.has_subject or part.before or part.front or part.relation in _SENTENCES
        if stands or self._first_tag(part) == "TO":
            return self._over(part.sentence, [*part.before, predicate])
        return predicate

    def _fronted(self, part: Part, sentence: Node) -> Node:
        """A sentence with its complementiser, which may be unsaid."""
        if part.front:
            asks = isinstance(sentence, Phrase) and sentence.label == "SQ" and any(map(is_wh, part.front))
            return self._over("SBARQ" if asks else "SBAR", [*part.front, sentence])
        reports = part.relation == "ccomp" and self._words[part.place].head < part.place
        if part.relation == "relcl" or (reports and part.has_subject and self._first_tag(part) in _FINITE):
            return self._over("SBAR", [sentence])
        return sentence

    def _first_tag(self, part: Part) -> str:
        """Gives the tag of the first verb."""
        words = leaves(part.verbs[0]) if part.verbs else []
        first = next((n for n in words if self._words[n].relation in AUXILIARIES), part.place)
        return self._words[first].tag

    def _continues(self, part: Part, other: Part) -> bool:
        """Whether a conjunct may have the same auxiliaries."""
        return (
            other.is_clause
            and not other.verbs
            and self._words[part.place].tag == self._words[other.place].tag
        )

    def _join(self, label: str, part: Part, pieces: Sequence[Node]) -> Node:
        """Conjuncts under one label, each under its own but for single words that are no nouns or verbs."""
        if not part.joined and not part.after:
            return pieces[0]
        if label not in ("NP", "VP", "S", "SBAR") and all(len(leaves([piece])) == 1 for piece in pieces):
            pieces = leaves(pieces)
        nodes = [pieces[0]]
        for (joint, _), piece in zip(part.joined, pieces[1:], strict=True):
            nodes += [*joint, piece]
        return self._over(label, [*nodes, *part.after])


def _flat(nodes: Iterable[Sequence[Node]]) -> list[Node]:
    return [node for each in nodes for node in each]
