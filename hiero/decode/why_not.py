"""Answers to the question why a translation that somebody wants was not chosen.

The best derivation of the wanted words is searched for, with all other words forbidden. If there is none,
rules are missing. If there is one, it is looked up in the chart of the usual search, from the leaves up: what
is not there was pruned, and if everything is there, something else scored higher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from hiero._core import Chart, Deadline, Derivation, Forest, Translation
from hiero.decode.decoder import Decoder, Keep, Source
from hiero.features.sentence import Sentence
from hiero.forest.derivations import RuleApplication, derivation_tree, rule_application

Reason = Literal["chosen", "no rule", "limit", "pruned", "scored lower"]
# The limits that may keep a rule from being used, and their values where they do not.
_NO_LIMIT = {"ttable_limit": 0, "span_limit": 2**31 - 1}


@dataclass(frozen=True)
class PrunedItem:
    """The part of the wanted derivation that search did not keep, and what is in its cell instead.

    ``span`` and ``label`` name the cell, and ``derivation`` is the part, the lowest that is missing, with its
    score without what surrounds it. ``made`` says that search made the item and dropped it afterwards, as
    ``beam_size`` and ``beam_threshold`` say; otherwise its ``pop_limit`` was reached before.
    ``winners`` are the items of the cell that survived, best first, and ``rank`` is how many of these score
    higher, plus 1. Search orders items by estimates of what surrounds them, so the rank may be 1.
    """

    span: tuple[int, int]
    label: str
    derivation: Derivation
    made: bool
    winners: Sequence[Derivation]
    rank: int


@dataclass(frozen=True)
class WhyNot:
    """The answer of ``why_not``.

    - "chosen": the translation is the best one.
    - "no rule": no derivation has it. ``source_words`` and ``target_words`` are the positions of the words
      that no rule accounts for; if both are empty, rules for all words are there but do not fit together.
    - "limit": only without a limit on rules, ``limits``, a derivation has it, or search finds its parts.
    - "pruned": its best derivation, ``wanted``, was lost in search, see ``pruned``.
    - "scored lower": search found it, and ``best`` scored higher, or as high.

    ``best`` is the best translation, with its chart. ``wanted`` is that of the wanted words, without one
    where there is no rule; with limits, it is that without them.
    """

    reason: Reason
    tokens: Sequence[str]
    best: Translation
    wanted: Translation | None = None
    source_words: Sequence[int] = ()
    target_words: Sequence[int] = ()
    limits: Sequence[str] = ()
    pruned: PrunedItem | None = None

    @property
    def difference(self) -> float:
        """The score of the wanted translation less that of the best one: below 0, unless search missed it;
        -inf if no rules have it."""
        return -np.inf if self.wanted is None else self.wanted.score - self.best.score

    def feature_differences(self) -> dict[str, float]:
        """Returns what each feature adds to the score of the wanted translation more than to that of the best
        one, the greatest differences first. Their sum is ``difference``."""
        if self.wanted is None:
            return {}
        weights = {**self.best.weights, **self.wanted.weights}
        both = self.wanted.features, self.best.features
        differences = {
            name: weights.get(name, 0.0) * (both[0].get(name, 0.0) - both[1].get(name, 0.0))
            for name in {**both[0], **both[1]}
        }
        different = [(name, value) for name, value in differences.items() if value]
        return dict(sorted(different, key=lambda item: (-abs(item[1]), item[0])))


def why_not(
    decoder: Decoder,
    source: Source,
    wanted: str | Sequence[str],
    weights: Mapping[str, float] | None = None,
    deadline: Deadline | None = None,
) -> WhyNot:
    """Finds out why a translation was not chosen.

    ``wanted`` is raw text or tokens. Raises what ``Decoder.translate`` raises, ValueError for a wanted
    translation without words and for a lattice, and TimeoutError if the deadline passes before the answer is
    found.
    """
    sentence = Sentence.from_source(source)
    if sentence.lattice is not None:
        raise ValueError("a lattice has no single best way to a translation; take a sentence")
    side = decoder.model.text.target
    tokens = side.tokens(wanted) if isinstance(wanted, str) else list(wanted)
    if not tokens:
        raise ValueError("wanted: no words")
    search = partial(_search, weights=weights, deadline=deadline)
    best = search(decoder, sentence, "chart")
    if best.has_parse and best.tokens == tokens:
        return WhyNot("chosen", tokens, best, best)
    forced = Sentence.from_source(sentence, references=[tokens])
    reached = search(decoder, forced)
    if not reached.has_parse:
        return _unreached(decoder, forced, tokens, best, reached, search)
    chart = best.chart
    has_words = chart.forest.root >= 0 and chart.forest.constrain([tokens]).root >= 0
    lost = _lost(chart, reached)
    # The chart may have the words by another derivation, which scores lower than the best one of these words.
    if lost is None or (has_words and reached.score <= best.score):
        return WhyNot("scored lower", tokens, best, reached)
    if decoder.settings.ttable_limit > 0:
        wider = search(_without(decoder, "ttable_limit"), sentence, "chart")
        still = _lost(wider.chart, reached)
        if still is None or still.application.edge != lost.application.edge:
            return WhyNot("limit", tokens, best, reached, limits=("ttable_limit",))
    return WhyNot("pruned", tokens, best, reached, pruned=_pruned_item(chart, lost, reached))


def _search(
    decoder: Decoder,
    sentence: Sentence,
    keep: Keep = "none",
    *,
    weights: Mapping[str, float] | None,
    deadline: Deadline | None,
) -> Translation:
    """Translates a sentence. Raises TimeoutError if the deadline ends the search."""
    result = decoder.translate(sentence, keep=keep, weights=weights, deadline=deadline)
    if result.was_late:
        raise TimeoutError("there was no time to find out why: ask about a shorter sentence")
    return result


def _unreached(
    decoder: Decoder,
    forced: Sentence,
    tokens: Sequence[str],
    best: Translation,
    reached: Translation,
    search: Callable[[Decoder, Sentence], Translation],
) -> WhyNot:
    """Tells whether a limit on rules keeps the translation from being derived, or rules are missing."""
    for limits in (("ttable_limit",), ("span_limit",), ("ttable_limit", "span_limit")):
        wanted = search(_without(decoder, *limits), forced)
        if wanted.has_parse:
            return WhyNot("limit", tokens, best, wanted, limits=limits)
    return WhyNot(
        "no rule",
        tokens,
        best,
        source_words=reached.uncovered_source,
        target_words=reached.uncovered_target,
    )


def _without(decoder: Decoder, *limits: str) -> Decoder:
    """Returns a decoder without some of the limits on rules."""
    settings = {**decoder.settings.model_dump(), **{name: _NO_LIMIT[name] for name in limits}}
    return Decoder(decoder.model, **settings).with_weights(decoder.weights)


@dataclass(frozen=True)
class _Lost:
    """A part of the wanted derivation that did not survive, and whether search made it."""

    application: RuleApplication
    made: bool


def _lost(chart: Chart, wanted: Translation) -> _Lost | None:
    """Returns the lowest part of the wanted derivation that is not among the items that survived; None if all
    are."""
    nodes: dict[int, set[int]] = {}  # of the chart, by identity of applications
    for application in _children_first(derivation_tree(wanted.derivation)):
        tails = [nodes[id(child)] for child in application.children]
        same = _same_items(chart, application, tails)
        survived = {node for node in same if chart.survived[node]}
        if not survived:
            return _Lost(application, bool(same))
        nodes[id(application)] = survived
    return None


def _children_first(application: RuleApplication) -> list[RuleApplication]:
    return list(application.preorder())[::-1]


def _same_items(chart: Chart, application: RuleApplication, tails: Sequence[set[int]]) -> set[int]:
    """Returns the items of the chart that have an edge by the same rule, with one of these tails for each
    nonterminal."""
    forest = chart.forest
    items = chart.nodes(*application.span).tolist() if application.label else [forest.root]
    same = set()
    for node in items:
        for edge in range(*forest.edge_offsets[node : node + 2].tolist()):
            own_tails = forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()
            is_same = len(own_tails) == len(tails) and all(
                node in nodes for node, nodes in zip(own_tails, tails, strict=True)
            )
            if is_same and _is_same_rule(forest, edge, application):
                same.add(node)
                break
    return same


def _is_same_rule(forest: Forest, edge: int, application: RuleApplication) -> bool:
    if int(forest.edge_rules[edge]) != application.rule:
        return False
    other = rule_application(forest, edge)
    return (other.label, other.table, other.source, other.target) == (
        application.label,
        application.table,
        application.source,
        application.target,
    )


def _pruned_item(chart: Chart, lost: _Lost, wanted: Translation) -> PrunedItem:
    forest, application = wanted.derivation.forest, lost.application
    node = int(np.searchsorted(forest.edge_offsets, application.edge, "right")) - 1
    derivation = forest.viterbi(wanted.weights, node=node)
    assert derivation is not None
    winners = [
        chart.derivation(node)
        for node in chart.nodes(*application.span).tolist()
        if chart.survived[node] and chart.forest.labels[chart.forest.node_labels[node]] == application.label
    ]
    rank = 1 + sum(winner.score > derivation.score for winner in winners)
    return PrunedItem(application.span, application.label, derivation, lost.made, winners, rank)
