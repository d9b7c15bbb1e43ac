"""English renderings of Mandarin derivations, with their word links and the synchronous derivation.

A rendering chooses one English side for each node and inflects it. Form and agreement go down the tree (a
verb agrees with what "@" names), the agreement of noun phrases comes up. A lexical entry without stated
links links every word to every token; a rule has the links that it states, and no others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from demo_english import Morphology, adjust_articles
from demo_grammar import Grammar, Node, category, pick

TARGET = re.compile(r"(!?)([^~^@:]+)(?::(\w+))?(\^)?(?:@(\d))?((?:~[^~]+)*)$")
Spec = tuple[str, str]


@dataclass(frozen=True)
class Item:
    """A token of an English side, taken apart; `agree` is the child that it agrees with, or 0."""

    core: str
    form: str
    down: bool
    agree: int
    marks: tuple[str, ...]
    is_head: bool


@cache
def parse_item(token: str) -> Item:
    """Take an English-side token apart."""
    match = TARGET.match(token)
    if not match:
        raise ValueError(f"not an English-side token: {token!r}")
    head, core, form, down, agree, marks = match.groups()
    return Item(core, form or "", bool(down), int(agree or 0), tuple(marks.split("~")[1:]), bool(head))


@dataclass(frozen=True)
class Phrase:
    """English of a node. Links and heads are (source position, position within `words`)."""

    node: Node
    words: list[str]
    links: list[tuple[int, int]]
    head: tuple[int, int]
    agreement: str
    children: list[tuple[int, "Phrase"]]


@dataclass(frozen=True)
class Derivation:
    """A node of a synchronous derivation; spans are (first, past the end), children in Mandarin order."""

    label: str
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    children: tuple["Derivation", ...]

    def walk(self) -> Iterator["Derivation"]:
        """Yields this node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def hiero_rule(node: Derivation, source: list[str], target: list[str]) -> tuple[list[str], list[str]]:
    """The two sides of the rule at `node`, all labels X: words, and [X,1] [X,2] in Mandarin order."""
    sides = []
    for words, (start, end), spans in (
        (source, node.source_span, [child.source_span for child in node.children]),
        (target, node.target_span, [child.target_span for child in node.children]),
    ):
        opening = {first: (past, f"[X,{k}]") for k, (first, past) in enumerate(spans, 1)}
        side, position = [], start
        while position < end:
            past, symbol = opening.get(position, (position + 1, words[position]))
            side.append(symbol)
            position = past
        sides.append(side)
    return sides[0], sides[1]


class Renderer:
    """Makes English of the derivations of a grammar."""

    def __init__(self, grammar: Grammar, morphology: Morphology) -> None:
        self._kinds = {
            name: kind for kind in ("verb", "noun", "pronoun", "adjective") for name in grammar.settings[kind]
        }
        self._morphology = morphology

    def render(self, root: Node, random: Random) -> tuple[list[str], list[tuple[int, int]], Derivation]:
        """One rendering: words, sorted links (source, target), derivation. `random` makes the choices."""
        phrase = self._phrase(root, ("", ""), random)
        return adjust_articles(phrase.words), sorted(set(phrase.links)), _derivation(phrase, 0)

    def _phrase(self, node: Node, spec: Spec, random: Random) -> Phrase:
        targets = node.entry.targets
        target = pick(random, targets, [1 / (1 + rank) for rank in range(len(targets))])
        if node.lexical:
            return self._leaf(node, target, spec)
        return self._inner(node, target, spec, random)

    def _leaf(self, node: Node, target: tuple[str, ...], spec: Spec) -> Phrase:
        tokens = list(target) or list(node.entry.source)
        words = [token.partition("~")[0] for token in tokens]
        marks = [token.split("~")[1:] for token in tokens]
        tags, kind = node.entry.tags, self._kinds.get(category(node.symbol))
        agreement = "p" if "agrp" in tags else "1" if "agr1" in tags else "3"
        form, wanted = spec
        if kind == "pronoun":
            words = [words[0].split("/")[{"nom": 0, "poss": 2}.get(form, 1)]]
        elif kind == "verb" and form:
            words[0] = self._morphology.verb(words[0], form, wanted)
        elif kind == "adjective" and form:
            words = self._morphology.compare(words[0], form)
        elif kind == "noun":
            agreement, words = self._noun(words, agreement, form, wanted, tags)
        marks = [[]] * (len(words) - len(marks)) + marks
        stated = any(marks)
        start = node.starts[0]
        links = [
            (start + i, j)
            for j, mark in enumerate(marks)
            for i, token in enumerate(node.entry.source)
            if token in mark or not stated
        ]
        head = (node.starts[-1] - 1, 0 if kind == "verb" else len(words) - 1)
        return Phrase(node, words, links, (start if kind == "verb" else head[0], head[1]), agreement, [])

    def _noun(
        self, words: list[str], agreement: str, form: str, wanted: str, tags: frozenset[str]
    ) -> tuple[str, list[str]]:
        """A noun with its article, or in the plural; `wanted` is the agreement that a number asks for."""
        indefinite_plural = form in ("a", "ind") and "many" in tags
        if "mass" in tags or "plural" in tags:
            return agreement, ["the", *words] if form == "the" else words
        if form == "pl" or (not form and wanted == "p") or indefinite_plural:
            return "p", [*words[:-1], self._morphology.plural(words[-1])]
        return agreement, [form, *words] if form in ("a", "the") else words

    def _inner(self, node: Node, target: tuple[str, ...], spec: Spec, random: Random) -> Phrase:
        items = [parse_item(token) for token in target if not token.startswith("+")]
        done: dict[int, Phrase] = {}
        for item in sorted(items, key=lambda item: bool(item.agree)):
            if item.core.isdigit():
                child = node.children[int(item.core) - 1]
                done[int(item.core)] = self._phrase(child, self._spec(item, spec, done), random)
        words: list[str] = []
        links: list[tuple[int, int]] = []
        offsets: dict[int, int] = {}
        heads: dict[str, tuple[int, int]] = {"": (node.starts[-1] - 1, 0)}
        for item in items:
            here = len(words)
            if item.core.isdigit():
                part = done[int(item.core)]
                offsets[int(item.core)] = here
                words += part.words
                links += [(i, here + j) for i, j in part.links]
                ends = [here + part.head[1]]
                heads["!" if item.is_head else item.core] = part.head[0], ends[0]
            else:
                words += self._words(item, self._spec(item, spec, done), done)
                ends = list(range(here, len(words)))
                if item.is_head:
                    heads["!"] = self._position(node, item.marks[0], done), here
            links += [(self._position(node, mark, done), j) for mark in item.marks for j in ends]
        head = heads.get("!") or heads[str(max(done, default=""))]
        agreement = done[max(done)].agreement if done else "3"
        for token in target:
            if token.startswith("+agr"):
                agreement = done[int(token[5:])].agreement if token[4] == "@" else token[4:]
        return Phrase(node, words, links, head, agreement, [(offsets[k], done[k]) for k in sorted(done)])

    def _spec(self, item: Item, spec: Spec, done: dict[int, Phrase]) -> Spec:
        agreement = done[item.agree].agreement if item.agree else spec[1] if item.down else ""
        return (item.form or (spec[0] if item.down else "")), agreement

    def _words(self, item: Item, spec: Spec, done: dict[int, Phrase]) -> list[str]:
        form, agreement = spec
        if item.core == "same":
            return done[item.agree].words
        if item.core == "det":
            tags = done[item.agree].node.entry.tags
            bare = tags & {"mass", "plural"} or (form == "a" and "many" in tags)
            return ["the"] if form == "the" else [form] if form == "a" and not bare else []
        return [self._morphology.verb(item.core, form, agreement)] if form else [item.core]

    def _position(self, node: Node, mark: str, done: dict[int, Phrase]) -> int:
        """The source position that a link names: the head of a child, or the nth time a word occurs."""
        if mark.isdigit():
            return done[int(mark)].head[0]
        word, _, nth = mark.partition(".")
        places = [start for start, token in zip(node.starts, node.entry.words, strict=False) if token == word]
        if not places:
            raise ValueError(f"{node.entry}: no word {word!r} to link to")
        return places[int(nth or 1) - 1]


def _derivation(phrase: Phrase, offset: int) -> Derivation:
    node = phrase.node
    return Derivation(
        node.symbol,
        (node.starts[0], node.starts[-1]),
        (offset, offset + len(phrase.words)),
        tuple(_derivation(child, offset + start) for start, child in phrase.children),
    )
