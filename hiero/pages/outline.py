"""Derivations as outlines: a rule a line, below it, further to the right, the rules of its nonterminals.

An outline is as narrow as its reader's window, and its lines are in the order of the source sentence. A chain
of glue rules, each for the first nonterminal of the one above, stays at one level: so does what it glues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hiero._core import Derivation, Forest
from hiero.forest.derivations import RuleApplication, derivation_tree
from hiero.pages.details import Details, rule_score
from hiero.pages.markup import Weights, colour, marks, number_text, place_text, sides


@dataclass
class AppliedRule:
    """A rule application with its number in preorder, place in the tree and ids of what belongs to it."""

    number: int
    application: RuleApplication
    level: int = 0  # of indentation
    nonterminal: int = 0  # of the rule above that it is for, from 1
    children: list[AppliedRule] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)


def applied_rules(derivation: Derivation, links: Sequence[tuple[int, int]]) -> list[AppliedRule]:
    """The rules in preorder."""
    rules = [AppliedRule(n, rule) for n, rule in enumerate(derivation_tree(derivation).preorder())]
    # An edge may be in a derivation twice, so it does not name an application.
    by_identity = {id(rule.application): rule for rule in rules}
    for rule in rules:
        rule.children = [by_identity[id(child)] for child in rule.application.children]
        below = {name for child in rule.children for name in covered(derivation.forest, child.application)}
        rule.own = [name for name in covered(derivation.forest, rule.application) if name not in below]
        for number, child in enumerate(rule.children, start=1):
            glued = number == 1 and not rule.own and child.application.label == rule.application.label
            child.level, child.nonterminal = rule.level + (not glued), number
    for j, owner in enumerate(_target_owners(derivation.forest, rules)):
        owner.own.append(f"t{j}")
        owner.own += [f"l{number}" for number, link in enumerate(links) if link[1] == j]
    for rule in reversed(rules):
        rule.near = [name for child in rule.children for name in child.own + child.near if name[0] != "l"]
    return rules


def covered(forest: Forest, rule: RuleApplication) -> list[str]:
    """The ids of the source words of a span, which made forests may not have."""
    begin, end = rule.span
    return [f"s{i}" for i in range(begin, min(end, len(forest.source)))]


def word_owners(rules: Sequence[AppliedRule]) -> dict[str, list[str]]:
    """The ids of the rules that a word belongs to."""
    owners: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.own:
            owners.setdefault(name, []).append(f"r{rule.number}")
    return owners


def _target_owners(forest: Forest, rules: Sequence[AppliedRule]) -> Iterator[AppliedRule]:
    """The rule that each target word is from."""
    open_: list[tuple[AppliedRule, bool]] = [(rules[0], True)]
    while open_:
        rule, whole = open_.pop()
        if not whole:
            yield rule
            continue
        template = forest.edge_targets[rule.application.edge]
        symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
        parts = [(rule, False) if s >= 0 else (rule.children[-1 - s], True) for s in symbols]
        open_.extend(reversed(parts))


def outline(name: str, rules: Sequence[AppliedRule], weights: Weights | None, details: Details) -> str:
    """The rules of the section of that name."""
    depth = max(rule.level for rule in rules)
    lines = "".join(_line(name, rule, weights, details) for rule in rules)
    return f'<ol class="tree" role="tree" aria-label="rules" style="--depth:{max(depth, 1)}">\n{lines}</ol>\n'


def _line(name: str, rule: AppliedRule, weights: Weights | None, details: Details) -> str:
    application = rule.application
    chip = f'<b class="chip {colour(rule.nonterminal)}">{rule.nonterminal}</b>' if rule.nonterminal else ""
    score = "" if weights is None else number_text(rule_score(application.features, weights))
    return (
        f'<li id="{name}-r{rule.number}" role="treeitem" aria-level="{rule.level + 1}"'
        f' tabindex="-1" style="--level:{rule.level}"'
        f' data-rule="{details.add(application)}" {marks([f"r{rule.number}", *rule.own], rule.near)}>'
        f'<div>{chip}<span class="head">{place_text(application)}</span> {sides(application)}</div>'
        f'<span class="score">{score}</span></li>\n'
    )
