"""Small random forests, and slow and simple versions of what forests compute: enumerated derivations, their
number, yield and score."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from hiero import Forest

Derivation = tuple[int, ...]  # edges in preorder
WORDS = ["a", "b", "c", "d"]


def random_forest(rng: random.Random, nodes: int = 6, features: int = 4) -> Forest:
    """Makes a forest with repeated tails, parallel edges, unary chains, unused nodes, and arity 0 to 4."""
    edge_offsets, tail_offsets, tails, targets = [0], [0], [], []
    target_offsets, target_symbols = [0], []
    for node in range(nodes):
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            arity = min(rng.choice([0, 0, 1, 1, 2, 2, 3, 4]), 4 if node else 0)
            # Most tails are the two nodes before, so that derivations are deep and tails repeat.
            edge_tails = [rng.choice([node - 1, max(node - 2, 0), rng.randrange(node)]) for _ in range(arity)]
            side = [-1 - i for i in range(arity) if rng.random() < 0.95]
            side += [rng.randrange(len(WORDS)) for _ in range(rng.choice([0, 1, 1, 2]))]
            rng.shuffle(side)
            tails += edge_tails
            tail_offsets.append(len(tails))
            targets.append(len(target_offsets) - 1)
            target_symbols += side
            target_offsets.append(len(target_symbols))
        edge_offsets.append(len(targets))
    matrix = np.array(
        [[rng.choice([0, 0, 1, rng.gauss(0, 1)]) for _ in range(features)] for _ in targets]
    ).reshape(len(targets), features)
    return Forest.from_arrays(
        edge_offsets=edge_offsets,
        tail_offsets=tail_offsets,
        tails=tails,
        words=WORDS,
        edge_targets=targets,
        target_offsets=target_offsets,
        target_symbols=target_symbols,
        features=matrix,
        feature_names=[f"f{i}" for i in range(features)],
    )


def small_random_forest(rng: random.Random, most: int = 2000, nodes: int = 6) -> Forest:
    """Makes a random forest with at most ``most`` derivations per node."""
    while True:
        forest = random_forest(rng, rng.randint(1, nodes))
        if max(derivation_counts(forest)) <= most:
            return forest


def derivation_counts(forest: Forest) -> list[int]:
    """Computes the number of derivations of every node, in integers without limit."""
    counts: list[int] = []
    for node in range(forest.node_count):
        total = 0
        for edge in incoming_edges(forest, node):
            product = 1
            for tail in tails(forest, edge):
                product *= counts[tail]
            total += product
        counts.append(total)
    return counts


def incoming_edges(forest: Forest, node: int) -> range:
    return range(int(forest.edge_offsets[node]), int(forest.edge_offsets[node + 1]))


def tails(forest: Forest, edge: int) -> list[int]:
    tails: list[int] = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]].tolist()
    return tails


def derivations(forest: Forest, node: int | None = None) -> list[Derivation]:
    """Enumerates all derivations of a node, by default of the root, sorted by their edges."""

    @cache
    def below(v: int) -> list[Derivation]:
        out = []
        for edge in incoming_edges(forest, v):
            for parts in itertools.product(*(below(tail) for tail in tails(forest, edge))):
                out.append((edge, *itertools.chain.from_iterable(parts)))
        return out

    return sorted(below(forest.root if node is None else node))


@lru_cache(maxsize=4)
def edge_rules(forest: Forest) -> list[tuple[int, list[str | int]]]:
    """Returns the number of tails and the target side of every edge: words, and -1 - i for the yield of tail
    i."""
    symbols, offsets = forest.target_symbols.tolist(), forest.target_offsets.tolist()
    targets = [
        [forest.words[s] if s >= 0 else s for s in symbols[begin:end]]
        for begin, end in itertools.pairwise(offsets)
    ]
    sizes = np.diff(forest.tail_offsets).tolist()
    return [(size, targets[target]) for size, target in zip(sizes, forest.edge_targets.tolist(), strict=True)]


def derivation_words(forest: Forest, derivation: Derivation) -> list[str]:
    """Returns the yield of a derivation."""
    rules = edge_rules(forest)
    edges = iter(derivation)

    def walk() -> list[str]:
        arity, target = rules[next(edges)]
        parts = [walk() for _ in range(arity)]
        return [word for s in target for word in ([s] if isinstance(s, str) else parts[-1 - s])]

    return walk()


def derivation_value(values: Sequence[float] | npt.NDArray[np.float64], derivation: Derivation) -> float:
    """Returns the sum of edge values over a derivation."""
    return float(sum(values[edge] for edge in derivation))
