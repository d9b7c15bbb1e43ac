"""Slow and simple versions of what the core computes, for comparison: all derivations of a sentence by
enumeration, and back-off n-gram models read from ARPA text. Also random grammars for them."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiero import Rule

Span = tuple[int, int]


@dataclass(frozen=True)
class Derivation:
    """A derivation of a span: its words and the sums of its features, without those of language models."""

    words: tuple[str, ...]
    features: Mapping[str, float]


def is_nonterminal(token: str) -> bool:
    return token.startswith("[") and token.endswith("]")


def nonterminal_label(token: str) -> str:
    return token[1:-1].rpartition(",")[0]


def side_matches(sentence: Sequence[str], side: Sequence[str], max_span: int = 0) -> bool:
    """Returns whether a rule side matches any span of a sentence. Tries a regular expression on each span."""
    pattern = re.compile("".join(r"(?:\S+ )+" if is_nonterminal(t) else re.escape(t) + " " for t in side))
    return any(
        pattern.fullmatch("".join(word + " " for word in sentence[i:j]))
        for i, j in itertools.combinations(range(len(sentence) + 1), 2)
        if not max_span or j - i <= max_span
    )


@dataclass(frozen=True)
class EnumeratedRule:
    """A rule for the enumeration; `span_limit` is the maximum number of words that it may span."""

    lhs: str
    source: Sequence[str]
    target: Sequence[str]
    features: Mapping[str, float]
    span_limit: float = math.inf


class Enumerator:
    """Enumerates all derivations of a sentence by recursion over spans and labels.

    `sentence_rules` are rules for this sentence alone. They span any number of words and have no RulePenalty.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        sentence: Sequence[str],
        span_limit: int,
        goal: str = "S",
        sentence_rules: Sequence[Rule] = (),
    ) -> None:
        self.sentence = sentence
        self.goal = goal
        self.rules: list[EnumeratedRule] = []
        for rule in rules:
            features = Counter(rule.features)
            features["RulePenalty"] += 1
            limit = math.inf if rule.lhs == goal else span_limit
            self.rules.append(EnumeratedRule(rule.lhs, rule.source, rule.target, features, limit))
        has_glue = any(rule.lhs == goal for rule in rules)
        labels = {rule.lhs for rule in rules} - {goal}
        all_labels = labels | {nonterminal_label(t) for r in rules for t in r.source if is_nonterminal(t)}
        self.pass_labels = ["X"] if "X" in all_labels or not labels else sorted(labels)
        if not has_glue:
            for label in labels | set(self.pass_labels):
                self.rules.append(EnumeratedRule(goal, [f"[{label},1]"], [f"[{label},1]"], {}))
                pair = [f"[{goal},1]", f"[{label},2]"]
                self.rules.append(EnumeratedRule(goal, pair, pair, {"Glue": 1.0}))
        self.rules += [
            EnumeratedRule(rule.lhs, rule.source, rule.target, rule.features) for rule in sentence_rules
        ]
        translated = {rule.source[0] for rule in self.rules if len(rule.source) == 1}
        for word in set(sentence) - translated:
            for label in self.pass_labels:
                self.rules.append(EnumeratedRule(label, [word], [word], {"OOV": 1.0, "Identity": 1.0}))
        self.memory: dict[tuple[int, int, str], list[Derivation]] = {}

    def derivations(self) -> list[Derivation]:
        return self.span_derivations(0, len(self.sentence), self.goal)

    def span_derivations(self, begin: int, end: int, label: str) -> list[Derivation]:
        key = (begin, end, label)
        if key not in self.memory:
            derivations = []
            for rule in self.rules:
                if rule.lhs == label and end - begin <= rule.span_limit:
                    for gaps in self.matches(rule.source, begin, end):
                        derivations += self.applications(rule, gaps)
            self.memory[key] = derivations
        return self.memory[key]

    def matches(self, source: Sequence[str], begin: int, end: int) -> Iterator[list[Span]]:
        """Yields the spans of the nonterminals for every way in which `source` covers [begin, end)."""
        if not source:
            if begin == end:
                yield []
            return
        if begin == end:
            return
        if not is_nonterminal(source[0]):
            if self.sentence[begin] == source[0]:
                yield from self.matches(source[1:], begin + 1, end)
            return
        for middle in range(begin + 1, end + 1):
            for rest in self.matches(source[1:], middle, end):
                yield [(begin, middle), *rest]

    def applications(self, rule: EnumeratedRule, gaps: Sequence[Span]) -> Iterator[Derivation]:
        """Yields the derivations that a rule makes of the derivations of its gaps."""
        labels = [nonterminal_label(token) for token in rule.source if is_nonterminal(token)]
        choices = [self.span_derivations(*gap, label) for gap, label in zip(gaps, labels, strict=True)]
        for tails in itertools.product(*choices):
            words: list[str] = []
            terminals = 0
            for token in rule.target:
                if is_nonterminal(token):
                    words += tails[int(token[1:-1].rpartition(",")[2]) - 1].words
                else:
                    words.append(token)
                    terminals += 1
            total = Counter(rule.features)
            total["WordPenalty"] -= terminals
            for tail in tails:
                total.update(tail.features)
            yield Derivation(tuple(words), total)


class BackoffModel:
    """A back-off n-gram model of an ARPA file. Scores of words are base 10, those of sentences natural
    logs."""

    def __init__(self, path: Path) -> None:
        self.entries: dict[tuple[str, ...], tuple[float, float]] = {}
        self.order = 0
        for line in path.read_text().splitlines():
            if line.endswith("-grams:"):
                self.order = int(line[1:].split("-")[0])
            elif line and not line.startswith(("\\", "ngram")):
                fields = line.split("\t")
                backoff = float(fields[2]) if len(fields) > 2 else 0.0
                self.entries[tuple(fields[1].split(" "))] = (float(fields[0]), backoff)

    def has_word(self, word: str) -> bool:
        return (word,) in self.entries and word != "<unk>"

    def word_score(self, context: tuple[str, ...], word: str) -> float:
        if (*context, word) in self.entries:
            return self.entries[(*context, word)][0]
        if not context:
            return self.entries[("<unk>",)][0]
        return self.entries.get(context, (0.0, 0.0))[1] + self.word_score(context[1:], word)

    def sentence_score(self, words: Sequence[str]) -> float:
        padded = ["<s>", *[w if self.has_word(w) else "<unk>" for w in words], "</s>"]
        total = 0.0
        for i in range(1, len(padded)):
            total += self.word_score(tuple(padded[max(0, i - self.order + 1) : i]), padded[i])
        return total * math.log(10)

    def unknown_count(self, words: Sequence[str]) -> int:
        return sum(not self.has_word(word) for word in words)


def write_arpa(path: Path, sentences: Sequence[Sequence[str]], order: int, discount: float = 0.4) -> None:
    """Estimates an interpolated model of sentences with absolute discounting, and writes it as an ARPA file.
    Every word has a unigram."""
    counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order + 1)]
    for words in sentences:
        padded = ["<s>", *words, "</s>"]
        for n in range(1, order + 1):
            for i in range(len(padded) - n + 1):
                counts[n][tuple(padded[i : i + n])] += 1
    del counts[1][("<s>",)]
    total = sum(counts[1].values())
    vocabulary = len(counts[1]) + 1
    unigram = {w: (c - discount) / total for w, c in counts[1].items()}
    discounted = discount * len(counts[1]) / total
    probability: dict[tuple[str, ...], float] = {w: p + discounted / vocabulary for w, p in unigram.items()}
    probability[("<unk>",)] = discounted / vocabulary
    backoff: dict[tuple[str, ...], float] = {}
    for n in range(2, order + 1):
        followers: Counter[tuple[str, ...]] = Counter()
        mass: Counter[tuple[str, ...]] = Counter()
        for gram, count in counts[n].items():
            followers[gram[:-1]] += 1
            mass[gram[:-1]] += count
        for context in followers:
            backoff[context] = discount * followers[context] / mass[context]
        for gram, count in counts[n].items():
            share = (count - discount) / mass[gram[:-1]]
            probability[gram] = share + backoff[gram[:-1]] * probability[gram[1:]]
    probability[("<s>",)] = 1e-99
    lines = ["\\data\\"]
    lines += [f"ngram {n}={sum(len(g) == n for g in probability)}" for n in range(1, order + 1)]
    for n in range(1, order + 1):
        lines += ["", f"\\{n}-grams:"]
        for gram in sorted(g for g in probability if len(g) == n):
            weight = f"\t{math.log10(backoff[gram]):.7f}" if gram in backoff else ""
            lines.append(f"{math.log10(probability[gram]):.7f}\t{' '.join(gram)}{weight}")
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))


def random_rules(
    rng: random.Random,
    labels: Sequence[str],
    source: str,
    target: str,
    *,
    arity_limit: int = 2,
    features: tuple[str, str] = ("P", "Q"),
) -> list[Rule]:
    """Makes a small grammar with few nonterminals, empty targets and repeated words, and without unary
    cycles.

    Every rule has the first feature, and some rules have the second.
    """
    rules = []
    for _ in range(rng.randint(3, 9)):
        lhs = rng.choice(labels)
        symbols: list[str] = []
        arity = 0
        for _ in range(rng.choice([1, 1, 1, 2, 2, *range(3, arity_limit + 2)])):
            if arity < arity_limit and rng.random() < 0.45:
                arity += 1
                symbols.append(f"[{rng.choice(labels)},{arity}]")
            else:
                symbols.append(rng.choice(source))
        if len(symbols) == 1 and arity == 1:
            # A unary rule has an earlier label on its left-hand side, so that there is no cycle.
            child = nonterminal_label(symbols[0])
            if labels.index(lhs) >= labels.index(child):
                continue
        output = [s for s in symbols if is_nonterminal(s)]
        rng.shuffle(output)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            output.insert(rng.randint(0, len(output)), rng.choice(target))
        values = f"{features[0]}={rng.uniform(-2, 0):.3f}"
        if rng.random() < 0.3:
            values += f" {features[1]}={rng.uniform(-1, 1):.3f}"
        rules.append(Rule(f"[{lhs}] ||| {' '.join(symbols)} ||| {' '.join(output)} ||| {values}"))
    return rules


def unary_rules(rng: random.Random, labels: Sequence[str], target: str) -> list[Rule]:
    """Makes many unary rules, each of a later label with an earlier one as its left-hand side."""
    rules = []
    for lhs, child in itertools.combinations(labels, 2):
        if rng.random() < 0.4:
            words = [f"[{child},1]", *rng.choices(target, k=rng.choice([0, 0, 1]))]
            rules.append(
                Rule(f"[{lhs}] ||| [{child},1] ||| {' '.join(words)} ||| P={rng.uniform(-2, 0):.3f}")
            )
    return rules


def lm_features(words: tuple[str, ...], models: list[BackoffModel]) -> dict[str, float]:
    features: dict[str, float] = {}
    for k, model in enumerate(models):
        features[f"LM{k}"] = model.sentence_score(words)
        features[f"LM{k}_OOV"] = model.unknown_count(words)
    return features


def same_features(first: dict[str, float], second: dict[str, float]) -> bool:
    """Compares features to within 0.001; a missing feature is 0."""
    names = set(first) | set(second)
    return all(abs(first.get(n, 0.0) - second.get(n, 0.0)) < 1e-3 for n in names)
