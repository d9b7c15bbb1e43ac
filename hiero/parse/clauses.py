"""Phrases and clauses that words project with their dependents, as the Penn treebank brackets them.

The relation of a dependent decides its place. Subjects are beside the VP in S. Complementisers and phrases
with wh-words are beside S in SBAR. Modifiers after a noun are beside its NP. Each auxiliary has a VP.
Conjuncts are joined at the lowest of these levels that all of them have.
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
    leaves,
    phrase_label,
)

# Relations of words that never have a phrase of their own, and of words that have none within the phrase of a
# noun, adjective, adverb or number.
_BARE = frozenset({"cc", "punct", "neg", "preconj", "predet", "case", "mark", "det"}) | AUXILIARIES
_MODIFIERS = frozenset({"amod", "advmod", "quantmod", "nummod", "compound", "nmod"})
# Relations of dependents that are before a noun but outside its inner NP, or after a noun but inside.
_OUTER = frozenset({"prep", "advcl", "ccomp", "intj", "parataxis", "acl", "relcl", "appos", "pcomp", "agent"})
_INNER = frozenset({"case", "compound", "nummod", "amod", "quantmod"})
# Relations of clauses that are sentences even without a subject.
_SENTENCES = frozenset(
    {"ROOT", "xcomp", "ccomp", "advcl", "csubj", "csubjpass", "pcomp", "relcl", "parataxis"}
)
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})


@dataclass(eq=False)
class Projection:
    """A word with its dependents, before the word above it decides its bracketing.

    It is the phrase ``core``, or ``SBAR[front S[before VP[verbs[0] VP[verbs[1] ... core]]]]``.
    """

    index: int
    relation: str
    core: Phrase
    front: list[Node] = field(default_factory=list)
    before: list[Node] = field(default_factory=list)
    # Each auxiliary, with the nodes between it and the next verb.
    verbs: list[list[Node]] = field(default_factory=list)
    has_subject: bool = False
    sentence: str = "S"
    # Further conjuncts, each with the nodes before it, and the nodes after the last conjunct.
    conjuncts: list[tuple[list[Node], Projection]] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)

    @property
    def is_clause(self) -> bool:
        return self.core.label in ("VP", "SQ") or bool(self.front or self.before or self.verbs)

    @property
    def is_word(self) -> bool:
        """Whether the word has no dependents."""
        return not self.is_clause and not self.conjuncts and list(self.core.parts) == [self.index]


class Clauses:
    """The projections of the words of a sentence, made from the lowest words up."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._bracketing = Bracketing(words)
        self._phrase, self._mark_wh = self._bracketing.phrase, self._bracketing.mark_wh

    def project(self, index: int, left: Sequence[Projection], right: Sequence[Projection]) -> Projection:
        """Returns the projection of a word with its dependents on the left and on the right."""
        first = next((i for i, other in enumerate(right) if other.relation == "conj"), len(right))
        while 0 < first < len(right) and right[first - 1].relation in ("cc", "punct", "preconj"):
            first -= 1
        projection = self._without_conjuncts(index, left, right[:first])
        between: list[Node] = []
        for other in right[first:]:
            if other.relation == "conj":
                projection.conjuncts += [(between, other), *other.conjuncts]
                between, other.conjuncts, other.after = other.after, [], []
            else:
                between = [*between, *self._clause_nodes(other)]
        projection.after = between
        return projection

    def bracket(self, projection: Projection) -> Node:
        """Returns the node of a complete projection."""
        if projection.is_clause:
            return self._clause(projection)
        if projection.is_word and projection.core.label == "X":
            return projection.index
        others = [self.bracket(other) for _, other in projection.conjuncts]
        return self._coordinate(projection.core.label, projection, [projection.core, *others])

    def _without_conjuncts(
        self, index: int, left: Sequence[Projection], right: Sequence[Projection]
    ) -> Projection:
        word = self._words[index]
        label = phrase_label(word, {other.relation for other in (*left, *right)})
        projection = Projection(index, word.relation, Phrase(label, [index]))
        if label == "VP":
            adverbs = self._place_before_verb(projection, left, right)
            nodes = [*adverbs, index, *self._clause_nodes(*right)]
            projection.core = self._phrase(projection.core.label, nodes)
            return projection
        # A predicate without a verb may have the same dependents before it as a verb.
        begin = max((i + 1 for i, other in enumerate(left) if other.relation in CLAUSAL), default=0)
        self._place_before_verb(projection, left[:begin], ())
        phrase = self._noun_phrase if label == "NP" else self._modifier_phrase
        projection.core = self._mark_wh(phrase(label, index, left[begin:], right))
        return projection

    def _place_before_verb(
        self, projection: Projection, left: Sequence[Projection], right: Sequence[Projection]
    ) -> list[Node]:
        """Places the dependents before a verb in the projection. Returns those that belong to its own VP."""
        nodes = [self._clause_nodes(other) for other in left]
        is_wh_phrase = [is_wh(group[0]) for group in nodes]
        aux = [i for i, other in enumerate(left) if other.relation in AUXILIARIES]
        subjects = [i for i, other in enumerate(left) if other.relation in SUBJECTS and not is_wh_phrase[i]]
        opening = range(min([*aux, *subjects, len(left)]))
        front = max((i + 1 for i in opening if left[i].relation == "mark" or is_wh_phrase[i]), default=0)
        projection.front = _flatten(nodes[:front])
        projection.has_subject = any(other.relation in SUBJECTS for other in (*left, *right))
        is_inverted = bool(subjects) and any(i < subjects[-1] for i in aux)
        is_wh_question = projection.relation == "ROOT" and any(is_wh_phrase[:front])
        is_question = is_wh_question or any(self._words[other.index].text == "?" for other in right)
        if is_question and front == len(left) and right and right[0].relation in SUBJECTS:
            projection.core = Phrase("SQ", projection.core.parts)
            return []
        if is_wh_question or (is_question and is_inverted):
            projection.sentence = "SQ"
        # The VP begins at its first auxiliary, or, in a clause without a subject, at the adverbs before it.
        first = next((i for i in aux if not is_inverted or i > subjects[-1]), len(left))
        begin = first if projection.has_subject or projection.relation == "ROOT" else front
        projection.before = _flatten(nodes[front:begin])
        begins = [begin, *(i for i in aux if i > first)] if first < len(left) else []
        ends = [*begins[1:], len(left)]
        projection.verbs = [_flatten(nodes[i:j]) for i, j in zip(begins, ends, strict=False)]
        return [] if begins else _flatten(nodes[begin:])

    def _noun_phrase(
        self, label: str, index: int, left: Sequence[Projection], right: Sequence[Projection]
    ) -> Phrase:
        """Returns a noun with its modifiers in an inner NP, beside its other dependents."""
        outer = max((i + 1 for i, other in enumerate(left) if other.relation in _OUTER), default=0)
        is_inner = [other.relation in _INNER and other.is_word for other in right]
        inner = [*is_inner, False].index(False)
        base = [*self._phrase_nodes(label, left[outer:]), index]
        if self._words[index].tag == "CD":
            base = self._number(index, base)
        base += self._phrase_nodes(label, right[:inner])
        before, after = self._clause_nodes(*left[:outer]), self._clause_nodes(*right[inner:])
        if not all(map(self._bracketing.is_punctuation, (*before, *after))):
            base = [self._mark_wh(self._phrase(label, base))]
        return self._phrase(label, [*before, *base, *after])

    def _number(self, index: int, base: list[Node]) -> list[Node]:
        """Puts a number and its modifiers, but not its determiners, under QP."""
        first = next(i for i, node in enumerate(base) if node == index or not self._is_determiner(node))
        return [*base[:first], self._phrase("QP", base[first:])] if len(base) - first > 1 else base

    def _is_determiner(self, node: Node) -> bool:
        return isinstance(node, int) and self._words[node].relation in ("det", "predet", "poss", "punct")

    def _modifier_phrase(
        self, label: str, index: int, left: Sequence[Projection], right: Sequence[Projection]
    ) -> Phrase:
        """Returns the phrase of an adjective, adverb, preposition or other word."""
        if label == "PP":
            return self._phrase(label, [*self._clause_nodes(*left), index, *self._clause_nodes(*right)])
        return self._phrase(
            label, [*self._phrase_nodes(label, left), index, *self._phrase_nodes(label, right)]
        )

    def _phrase_nodes(self, label: str, projections: Iterable[Projection]) -> list[Node]:
        """Returns the nodes of dependents in the phrase of a noun, adjective, adverb or number."""
        nodes: list[Node] = []
        for projection in projections:
            tag = self._words[projection.index].tag
            if projection.is_word and (projection.relation in _MODIFIERS or tag in ("PRP$", "WP$")):
                nodes.append(projection.index)
            elif projection.relation in ("compound", "quantmod") and label in ("NP", "QP"):
                nodes += leaves(self._clause_nodes(projection))
            else:
                nodes += self._clause_nodes(projection)
        return nodes

    def _clause_nodes(self, *projections: Projection) -> list[Node]:
        """Returns the nodes of dependents in a clause."""
        nodes: list[Node] = []
        for projection in projections:
            node = self.bracket(projection)
            nodes += leaves([node]) if projection.relation in _BARE else [node]
        return nodes

    def _clause(self, clause: Projection) -> Node:
        """Returns a clause, with its conjuncts joined at the lowest level that all of them have."""
        others = [other for _, other in clause.conjuncts]
        members = [clause, *others]
        if any(other.front for other in others):
            return self._coordinate("SBAR", clause, [self._full_clause(member) for member in members])
        if any(other.has_subject for other in others):
            sentences = [self._sentence(member, self._predicate(member)) for member in members]
            return self._with_front(clause, self._coordinate("S", clause, sentences))
        if clause.verbs and all(self._shares_auxiliaries(clause, other) for other in others):
            core = self._coordinate("VP", clause, [member.core for member in members])
            return self._with_front(clause, self._sentence(clause, self._nest(clause.verbs, core)))
        predicates = [self._sentence(other, self._predicate(other)) for other in others]
        predicates = [self._predicate(clause), *predicates]
        coordination = self._coordinate(clause.core.label, clause, predicates)
        return self._with_front(clause, self._sentence(clause, coordination))

    def _full_clause(self, clause: Projection) -> Node:
        return self._with_front(clause, self._sentence(clause, self._predicate(clause)))

    def _predicate(self, clause: Projection) -> Node:
        """Returns the VP with its auxiliaries."""
        return self._nest(clause.verbs, clause.core) if clause.is_clause else self.bracket(clause)

    def _nest(self, verbs: Sequence[Sequence[Node]], core: Node) -> Node:
        """Puts a VP under a VP for each auxiliary."""
        for nodes in reversed(verbs):
            core = self._phrase("VP", [*nodes, core])
        return core

    def _sentence(self, clause: Projection, predicate: Node) -> Node:
        """Returns an S of a predicate and what is before it, or the predicate if it is not a sentence."""
        if not clause.is_clause or (isinstance(predicate, Phrase) and predicate.label == "SQ"):
            return predicate
        has_parts = clause.has_subject or clause.before or clause.front
        if has_parts or clause.relation in _SENTENCES or self._first_tag(clause) == "TO":
            return self._phrase(clause.sentence, [*clause.before, predicate])
        return predicate

    def _with_front(self, clause: Projection, sentence: Node) -> Node:
        """Returns a sentence with its complementiser under SBAR. Some have an SBAR without complementiser."""
        if clause.front:
            is_inverted = isinstance(sentence, Phrase) and sentence.label == "SQ"
            is_question = is_inverted and any(map(is_wh, clause.front))
            return self._phrase("SBARQ" if is_question else "SBAR", [*clause.front, sentence])
        is_reported = clause.relation == "ccomp" and self._words[clause.index].head < clause.index
        is_finite = clause.has_subject and self._first_tag(clause) in _FINITE
        if clause.relation == "relcl" or (is_reported and is_finite):
            return self._phrase("SBAR", [sentence])
        return sentence

    def _first_tag(self, clause: Projection) -> str:
        """Returns the part of speech of the first verb."""
        words = leaves(clause.verbs[0]) if clause.verbs else []
        first = next((n for n in words if self._words[n].relation in AUXILIARIES), clause.index)
        return self._words[first].tag

    def _shares_auxiliaries(self, clause: Projection, conjunct: Projection) -> bool:
        """Returns whether a conjunct can have the same auxiliaries as the first one."""
        return (
            conjunct.is_clause
            and not conjunct.verbs
            and self._words[clause.index].tag == self._words[conjunct.index].tag
        )

    def _coordinate(self, label: str, first: Projection, nodes: Sequence[Node]) -> Node:
        """Joins the nodes of conjuncts under one label.

        If all conjuncts are single words, they lose their own labels, unless they are nouns or verbs.
        """
        if not first.conjuncts and not first.after:
            return nodes[0]
        if label not in ("NP", "VP", "S", "SBAR") and all(len(leaves([node])) == 1 for node in nodes):
            nodes = leaves(nodes)
        parts = [nodes[0]]
        for (between, _), node in zip(first.conjuncts, nodes[1:], strict=True):
            parts += [*between, node]
        return self._phrase(label, [*parts, *first.after])


def _flatten(groups: Iterable[Sequence[Node]]) -> list[Node]:
    return [node for group in groups for node in group]
