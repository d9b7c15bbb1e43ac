"""Unions of forests, against the derivations of their parts."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Forest
from support.brute_force_forest import (
    derivations,
    small_random_forest,
)
from support.seeds import each_seed
from support.small_forest import VALID_ARRAYS


def leaves_out(forest: Forest) -> bool:
    arities = np.diff(forest.tail_offsets)[np.argsort(forest.edge_targets)]
    sides = np.split(forest.target_symbols, forest.target_offsets[1:-1])
    return any((side < 0).sum() < arity for side, arity in zip(sides, arities, strict=True))


def with_rules(forest: Forest) -> Forest:
    """Returns the forest with a different rule for each edge."""
    names = ("edge_offsets", "tail_offsets", "tails", "words", "edge_targets", "target_offsets")
    arrays = {name: getattr(forest, name) for name in (*names, "target_symbols", "features", "feature_names")}
    return Forest.from_arrays(**arrays, edge_rules=range(forest.edge_count))


@each_seed(range(300))
def test_union(seed: int) -> None:
    """The union of parts of one forest, with nodes split in different ways as in several searches."""
    rng = random.Random(seed)
    # Annotation changes target sides below tails that a target side does not have, so such forests are
    # skipped.
    while leaves_out(whole := with_rules(small_random_forest(rng, most=300, nodes=7))):
        pass
    forests, expected = [], {}
    for _ in range(rng.randint(1, 4)):
        part = whole.subforest([rng.random() < 0.85 for _ in range(whole.edge_count)])
        if part.root >= 0 and rng.random() < 0.7:
            part = part.annotate_ngrams(rng.randint(1, 3))
        if rng.random() < 0.3:
            part = part.with_features(part.features[:, ::-1], list(part.feature_names)[::-1])
        forests.append(part)
        for d in derivations(part) if part.root >= 0 else []:
            rules = tuple(part.edge_rules[list(d)].tolist())
            derivation = part.derivation(d)
            expected.setdefault(rules, (derivation.tokens, derivation.features))
    union = Forest.union(forests)
    assert union.derivation_count == len(expected)
    for d in derivations(union) if union.root >= 0 else []:
        tokens, features = expected.pop(tuple(union.edge_rules[list(d)].tolist()))
        derivation = union.derivation(d)
        assert (derivation.tokens, derivation.features) == (tokens, pytest.approx(features))
    assert not expected


@each_seed(range(100))
def test_union_of_other_forests(seed: int) -> None:
    """Edges without a rule are the same if their target sides and features are."""
    rng = random.Random(seed)
    forests = [small_random_forest(rng, most=100) for _ in range(rng.randint(1, 3))]
    copies = [*forests, forests[0].subforest(np.zeros(forests[0].edge_count, bool)), forests[-1]]
    union = Forest.union(copies)
    weights = np.array([rng.gauss(0, 1) for _ in union.feature_names])
    actual = {(round(d.score, 9), tuple(d.tokens)) for d in union.kbest(1000, union.scores(weights))}
    expected = {
        (round(d.score, 9), tuple(d.tokens))
        for forest in forests
        for d in forest.kbest(1000, forest.scores(weights))
    }
    assert actual == expected
    assert union.derivation_count <= sum(forest.derivation_count for forest in forests)
    with pytest.raises(ValueError, match="a forest or more"):
        Forest.union([])


def test_union_of_two_searches(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    for line in (french / "input.fr").read_text().splitlines():
        whole = hiero.Decoder(model, pop_limit=0).translate(line, keep="forest").forest
        parts = [
            hiero.Decoder(model, pop_limit=2)
            .with_weights({**model.weights, "LM0": lm})
            .translate(line, keep="forest")
            for lm in (0.1, 1.0, 3.0)
        ]
        union = Forest.union([part.forest for part in parts])
        seen = {tuple(d.features.items()) for part in parts for d in part.forest.kbest(10**4, {})}
        assert union.derivation_count <= min(
            whole.derivation_count, sum(p.forest.derivation_count for p in parts)
        )
        assert {tuple(d.features.items()) for d in union.kbest(10**4, {})} == seen
        assert (
            Forest.union([whole, union, *(part.forest for part in parts)]).derivation_count
            == whole.derivation_count
        )


def test_union_with_nothing() -> None:
    with pytest.raises(TypeError, match="None is no forest"):
        Forest.union([Forest.from_arrays(**VALID_ARRAYS), None])  # type: ignore[list-item]
