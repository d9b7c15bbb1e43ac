"""Derivations as outlines: a rule on each line, and indented below it the rules of its nonterminals.

Outlines fit into narrow windows, and their lines are in the order of the source sentence. A chain of glue
rules, each for the first nonterminal of the rule above, is on one level together with the parts it glues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hiero._core import Derivation, Forest
from hiero.forest.derivations import RuleApplication, derivation_tree
from hiero.pages.details import Details, rule_score
from hiero.pages.markup import Weights, colour_class, marks, number_text, rule_sides, span_text


@dataclass
class AppliedRule:
    """A rule application with its number in preorder, its place in the tree, and ids of page elements."""

    number: int
    application: RuleApplication
    level: int = 0  # of indentation
    nonterminal: int = 0  # the nonterminal of the rule above that it replaces, from 1
    children: list[AppliedRule] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)  # its words and links
    below: list[str] = field(default_factory=list)  # words of the rules below it


def applied_rules(derivation: Derivation, links: Sequence[tuple[int, int]]) -> list[AppliedRule]:
    """Returns the rules of a derivation in preorder."""
    rules = [AppliedRule(n, rule) for n, rule in enumerate(derivation_tree(derivation).preorder())]
    # An edge may occur in a derivation twice, so it does not identify an application.
    by_identity = {id(rule.application): rule for rule in rules}
    for rule in rules:
        rule.children = [by_identity[id(child)] for child in rule.application.children]
        inner = {
            name for child in rule.children for name in source_word_ids(derivation.forest, child.application)
        }
        words = source_word_ids(derivation.forest, rule.application)
        rule.elements = [name for name in words if name not in inner]
        if len(derivation.forest.source_nodes):
            side = derivation.forest.source_side(rule.application.edge)
            rule.elements = [f"s{symbol}" for symbol in side if symbol >= 0]
        for number, child in enumerate(rule.children, start=1):
            same_label = child.application.label == rule.application.label
            is_glued = number == 1 and not rule.elements and same_label
            child.level, child.nonterminal = rule.level + (not is_glued), number
    for j, owner in enumerate(_target_owners(derivation.forest, rules)):
        owner.elements.append(f"t{j}")
        owner.elements += [f"l{number}" for number, link in enumerate(links) if link[1] == j]
    for rule in reversed(rules):
        names = (name for child in rule.children for name in child.elements + child.below)
        rule.below = [name for name in names if name[0] != "l"]
    return rules


def source_word_ids(forest: Forest, rule: RuleApplication) -> list[str]:
    """Returns the ids of the source words in a rule's span, in a lattice of all arcs there. A forest made
    from arrays may have no words."""
    begin, end = rule.span
    if len(forest.source_nodes):
        nodes = forest.source_nodes.tolist()
        return [f"s{i}" for i, (first, last) in enumerate(nodes) if begin <= first and last <= end]
    return [f"s{i}" for i in range(begin, min(end, len(forest.source)))]


def rules_of_words(rules: Sequence[AppliedRule]) -> dict[str, list[str]]:
    """Maps the ids of words and links to the ids of their rules."""
    owners: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.elements:
            owners.setdefault(name, []).append(f"r{rule.number}")
    return owners


def _target_owners(forest: Forest, rules: Sequence[AppliedRule]) -> Iterator[AppliedRule]:
    """Yields the rule of each target word."""
    stack: list[tuple[AppliedRule, bool]] = [(rules[0], True)]
    while stack:
        rule, expand = stack.pop()
        if not expand:
            yield rule
            continue
        template = forest.edge_targets[rule.application.edge]
        symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
        parts = [(rule, False) if s >= 0 else (rule.children[-1 - s], True) for s in symbols]
        stack.extend(reversed(parts))


def outline(name: str, rules: Sequence[AppliedRule], weights: Weights | None, details: Details) -> str:
    """Draws the rules of a derivation in the section ``name``."""
    depth = max(rule.level for rule in rules)
    lines = "".join(_line(name, rule, weights, details) for rule in rules)
    return f'<ol class="tree" role="tree" aria-label="rules" style="--depth:{max(depth, 1)}">\n{lines}</ol>\n'


def _line(name: str, rule: AppliedRule, weights: Weights | None, details: Details) -> str:
    application = rule.application
    number = rule.nonterminal
    chip = f'<b class="chip {colour_class(number)}">{number}</b>' if number else ""
    score = "" if weights is None else number_text(rule_score(application.features, weights))
    return (
        f'<li id="{name}-r{rule.number}" role="treeitem" aria-level="{rule.level + 1}"'
        f' tabindex="-1" style="--level:{rule.level}"'
        f' data-rule="{details.add(application)}" {marks([f"r{rule.number}", *rule.elements], rule.below)}>'
        f'<div>{chip}<span class="head">{span_text(application)}</span> {rule_sides(application)}</div>'
        f'<span class="score">{score}</span></li>\n'
    )
