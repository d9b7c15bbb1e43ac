"""Random cases of search: a sentence, a small grammar and language models."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import hiero
from hiero import Rule
from support.brute_force import is_nonterminal, nonterminal_label, random_rules, unary_rules, write_arpa

SOURCE = "abc"
TARGET = "uvw"


@dataclass(frozen=True)
class Case:
    """A sentence, the rules of the tables, the sentence's own, and the language models."""

    rules: list[Rule]
    sentence: list[str]
    lms: list[Path]
    span_limit: int = 10
    own: tuple[Rule, ...] = ()
    one_table: bool = True

    def model(self) -> hiero.Model:
        parts = [self.rules] if self.one_table else [self.rules[::2], self.rules[1::2]]
        tables = [hiero.RuleTable.from_rules(part) for part in parts if part]
        return hiero.Model(tables, [hiero.LanguageModel.load(str(path)) for path in self.lms], {})


def small_lms(folder: Path, seed: int) -> list[Path]:
    """Writes language models of orders 2 and 3, over target words and a source word."""
    rng = random.Random(seed)
    paths = [folder / "2.arpa", folder / "3.arpa"]
    for order, path in enumerate(paths, start=2):
        write_arpa(path, [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], order)
    return paths


def plain_case(rng: random.Random, lms: list[Path]) -> Case:
    labels = rng.choice([["X"], ["X"], ["X", "Y"], ["A", "B"], ["S", "X"]])
    rules = random_rules(rng, labels, SOURCE, TARGET)
    sentence = rng.choices(SOURCE, k=rng.randint(1, 5))
    span_limit = rng.choice([2, 3, 10])
    paths = rng.sample(lms, rng.choice([0, 1, 1, 1, 2]))
    one_table = rng.random() < 0.5 or labels[0] == "S"
    return Case(rules, sentence, paths, span_limit, one_table=one_table)


def many_nonterminals(rng: random.Random, lms: list[Path]) -> Case:
    rules = random_rules(rng, rng.choice([["X"], ["X", "Y"]]), "ab", TARGET, arity_limit=4)
    sentence = rng.choices("ab", k=rng.randint(3, 5))
    return Case(rules, sentence, rng.sample(lms, rng.choice([0, 1, 1, 2])), rng.choice([4, 10]))


def many_labels(rng: random.Random, lms: list[Path]) -> Case:
    labels = rng.choice([list("ABCDEF"), list("ABCDEX"), list("XABCDE"), list("SABCDX")])
    rules = random_rules(rng, labels, SOURCE, TARGET) + unary_rules(rng, labels, TARGET)
    sentence = rng.choices(SOURCE, k=rng.randint(1, 3))
    return Case(rules, sentence, rng.sample(lms, 1), rng.choice([2, 10]), one_table="S" in labels)


def own_rules(rng: random.Random, lms: list[Path]) -> Case:
    """Rules of the sentence: unary ones, the goal's, with features of their own or without."""
    labels = rng.choice([["X"], ["X", "Y"], ["A", "B", "C"], ["S", "X", "Y"]])
    while not (rules := random_rules(rng, labels, SOURCE, TARGET)):
        pass
    known = [label for label in labels if any(f"[{label}" in str(rule) for rule in rules)]
    own = []
    for rule in random_rules(rng, known, SOURCE, TARGET, features=("P", rng.choice(["P2", "OwnRule"]))):
        if all(nonterminal_label(t) != "S" for t in rule.source if is_nonterminal(t)):
            lhs = "S" if rng.random() < 0.3 else rule.lhs
            own.append(Rule(str(rule).replace(f"[{rule.lhs}]", f"[{lhs}]", 1)))
    if known[0] != "S" and rng.random() < 0.5:
        own += unary_rules(rng, known, TARGET)
    sentence = rng.choices(SOURCE, k=rng.randint(2, 4))
    paths = rng.sample(lms, rng.choice([0, 1, 1, 2]))
    return Case(rules, sentence, paths, rng.choice([1, 2, 10]), tuple(own), one_table="S" in labels)
