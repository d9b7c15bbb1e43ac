"""Marks of sentences, drawn at random, and all derivations that agree with them, by enumeration."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hiero import Markup, Phrase, Rule, Wall
from support.brute_force import (
    Derivation,
    EnumeratedRule,
    Enumerator,
    Span,
    is_nonterminal,
    nonterminal_label,
)


@dataclass(frozen=True)
class Marked(Derivation):
    """A derivation that knows for each of its words the positions of the source words of its rule, and the
    span of the rule's application."""

    origins: tuple[tuple[frozenset[int], Span], ...] = ()


@dataclass(frozen=True)
class Application:
    """A rule over a span, with the positions of its own source words and the strings that it makes."""

    rule: EnumeratedRule
    span: Span
    own: frozenset[int]
    words: Sequence[str]
    origins: Sequence[tuple[frozenset[int], Span]] = field(default=())


class MarkedEnumerator(Enumerator):
    """Enumerates the derivations of a sentence that agree with its marks, and with words that are kept."""

    def __init__(
        self,
        rules: Sequence[Rule],
        sentence: Sequence[str],
        span_limit: int,
        markup: Markup,
        kept: Sequence[str] = (),
        sentence_rules: Sequence[Rule] = (),
    ) -> None:
        super().__init__(rules, sentence, span_limit, sentence_rules=sentence_rules)
        self.markup = markup
        self.kept = kept
        translated = {
            rule.source[0] for rule in self.rules if len(rule.source) == 1 and "OOV" not in rule.features
        }
        for word in set(kept).intersection(sentence, translated):
            for label in self.pass_labels:
                self.rules.append(EnumeratedRule(label, [word], [word], {"Identity": 1.0}))

    def span_derivations(self, begin: int, end: int, label: str) -> list[Derivation]:
        key = (begin, end, label)
        if key not in self.memory:
            self.memory[key] = [
                one
                for rule in self.rules
                if rule.lhs == label and end - begin <= rule.span_limit
                for gaps in self.matches(rule.source, begin, end)
                for one in self.marked(rule, (begin, end), gaps)
            ] + list(self.placed((begin, end), label))
        return self.memory[key]

    def placed(self, span: Span, label: str) -> Iterator[Marked]:
        """Yields the derivations by rules of marked phrases."""
        rules = {
            (tuple(translation), math.log(probability))
            for phrase in self.markup.phrases
            for translation, probability in zip(phrase.translations, phrase.probabilities, strict=True)
            if (phrase.begin, phrase.end) == span
            and label in ([phrase.label] if phrase.label else self.pass_labels)
        }
        for words, log in sorted(rules):
            own = frozenset(range(*span))
            features = {"Markup": 1.0, "MarkupProbability": log, "WordPenalty": -len(words)}
            yield Marked(words, Counter(features), tuple((own, span) for _ in words))

    def marked(self, rule: EnumeratedRule, span: Span, gaps: Sequence[Span]) -> Iterator[Marked]:
        """Yields the derivations that a rule makes, if they agree."""
        inner = {position for gap in gaps for position in range(*gap)}
        own = frozenset(range(*span)) - inner
        labels = [nonterminal_label(token) for token in rule.source if is_nonterminal(token)]
        choices = [self.span_derivations(*gap, label) for gap, label in zip(gaps, labels, strict=True)]
        for tails in itertools.product(*choices):
            words: list[str] = []
            origins: list[tuple[frozenset[int], Span]] = []
            total = Counter(rule.features)
            for token in rule.target:
                if is_nonterminal(token):
                    tail = tails[int(token[1:-1].rpartition(",")[2]) - 1]
                    assert isinstance(tail, Marked)
                    words += tail.words
                    origins += tail.origins
                else:
                    words.append(token)
                    origins.append((own, span))
                    total["WordPenalty"] -= 1
            for tail in tails:
                total.update(tail.features)
            if self.agrees(Application(rule, span, own, words, origins)):
                yield Marked(tuple(words), total, tuple(origins))

    def agrees(self, application: Application) -> bool:
        return (
            all(self.agrees_with_phrase(application, phrase) for phrase in self.markup.phrases)
            and all(self.agrees_with_zone(application, zone) for zone in self.markup.zones)
            and all(self.agrees_with_wall(application, wall) for wall in self.markup.walls)
            and all(
                [self.sentence[position] for position in application.own].count(word)
                == list(application.rule.target).count(word)
                for word in self.kept
            )
        )

    def agrees_with_phrase(self, application: Application, phrase: Phrase) -> bool:
        words = set(range(phrase.begin, phrase.end))
        if phrase.mode == "inclusive" or not words & application.own:
            return True
        target = f" {' '.join(application.rule.target)} "
        has_one = any(f" {' '.join(t)} " in target for t in phrase.translations)
        return phrase.mode == "constraint" and words <= application.own and has_one

    def agrees_with_zone(self, application: Application, zone: tuple[int, int]) -> bool:
        """Tells whether the words of a zone are together in the string, at its end where the span ends within
        the zone, and at its beginning where the span begins there."""
        (begin, end), words = application.span, set(range(*zone))
        if not words & set(range(begin, end)) or words >= set(range(begin, end)):
            return True
        sides = []
        for own, span in application.origins:
            if own & words and own - words:
                return False
            is_inside = bool(own) or zone[0] <= span[0] <= span[1] <= zone[1]
            sides.append("I" if is_inside and own <= words else "O")
        runs = "".join(side for side, _ in itertools.groupby(sides))
        return (
            runs.count("I") <= 1
            and not (end < zone[1] and runs.endswith("IO"))
            and not (begin > zone[0] and runs.startswith("OI"))
        )

    def agrees_with_wall(self, application: Application, wall: Wall) -> bool:
        begin, end = wall.begin or 0, len(self.sentence) if wall.end is None else wall.end
        left, right = set(range(begin, wall.position)), set(range(wall.position, end))
        sides = []
        for own, _ in application.origins:
            if own & left and own & right:
                return False
            if own & (left | right):
                sides.append(bool(own & right))
        return sides == sorted(sides)


def random_markup(rng: random.Random, sentence: Sequence[str], words: str, kinds: str) -> Markup:
    """Draws marks of these kinds: p for phrases, z for zones, w for walls. No zone or wall ends within a
    phrase, whose translation would be all on one side of it."""
    phrases: list[Phrase] = []
    zones: list[tuple[int, int]] = []
    walls: list[Wall] = []

    def span() -> tuple[int, int]:
        begin = rng.randrange(len(sentence))
        return begin, rng.randint(begin + 1, min(len(sentence), begin + 3))

    if "p" in kinds:
        for _ in range(rng.randint(1, 2)):
            translations = [rng.choices(words, k=rng.randint(1, 2)) for _ in range(rng.randint(1, 2))]
            probabilities = [rng.uniform(0.1, 1) if rng.random() < 0.7 else 1.0 for _ in translations]
            mode = rng.choice(["exclusive", "inclusive", "constraint"])
            phrases.append(Phrase(*span(), translations, probabilities, mode))
    if "z" in kinds:
        begin, end = span()
        if all(end <= p.begin or p.end <= begin or begin <= p.begin <= p.end <= end for p in phrases):
            zones.append((begin, end))
    if "w" in kinds and len(sentence) > 1:
        scope = (0, len(sentence))
        if rng.random() < 0.5:
            begin = rng.randrange(len(sentence) - 1)
            scope = (begin, rng.randint(begin + 2, len(sentence)))
        position = rng.randint(scope[0] + 1, scope[1] - 1)
        if not any(p.begin < position < p.end for p in phrases):
            walls.append(Wall(position, *scope))
    return Markup(phrases, zones, walls)
