"""Tests of semirings: axioms, numeric range against mpmath, tables of Li and Eisner (2009), and inside and
outside against all derivations."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import pytest

from hiero import Forest
from hiero.forest import semirings as sr
from hiero.forest.semirings import Scaled
from support.brute_force_forest import (
    derivation_counts,
    derivations,
    incoming_edges,
    small_random_forest,
    tails,
)
from support.seeds import each_seed

mpmath.mp.dps = 60


def to_mpmath(value: Scaled | float) -> mpmath.mpf:
    """Converts a Scaled to a number of mpmath."""
    if isinstance(value, Scaled):
        return value.sign * mpmath.exp(mpmath.mpf(value.log_abs)) if value.sign else mpmath.mpf(0)
    return mpmath.mpf(value)


def flat(value: Any) -> list[Scaled | float]:
    return [value] if isinstance(value, (Scaled, float, int)) else [x for part in value for x in flat(part)]


@dataclass
class Case:
    """A semiring, random values of it, random values for `star`, and whether its operations are exact."""

    semiring: Any
    draw: Callable[[random.Random], Any]
    closed: Callable[[random.Random], Any] | None = None
    exact: bool = False
    commutes: bool = True


def dyadic(rng: random.Random) -> float:
    """Draws a multiple of 1/8; sums and products of a few of them are exact."""
    return rng.randint(-16, 16) / 8


def small(rng: random.Random) -> float:
    return rng.uniform(-0.3, 0.3)


def edges(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.randrange(3) for _ in range(2))  # none begins with another


def ranked(rng: random.Random, high: int = 2) -> list[tuple[float, tuple[int, ...]]]:
    return [(float(rng.randint(-3, high)), e) for e in {edges(rng) for _ in range(rng.randint(0, 4))}]


def vector(rng: random.Random, n: int, draw: Callable[[random.Random], float]) -> tuple[float, ...]:
    return tuple(draw(rng) for _ in range(n))


def first(draw: Callable[[random.Random], float]) -> Callable[[random.Random], Any]:
    return lambda rng: (draw(rng), vector(rng, 3, draw))


def second(draw: Callable[[random.Random], float]) -> Callable[[random.Random], Any]:
    return lambda rng: (draw(rng), vector(rng, 2, draw), vector(rng, 3, draw), vector(rng, 6, draw))


def lifted(draw: Callable[[random.Random], float]) -> Callable[[random.Random], Any]:
    return lambda rng: nested(second(draw)(rng))


def nested(value: Any) -> Any:
    p, r, s, t = value
    return (p, r), (s, t)


CASES = {
    "boolean": Case(sr.BooleanSemiring(), lambda r: r.random() < 0.5, lambda r: r.random() < 0.5, True),
    "counting": Case(sr.CountingSemiring(), lambda r: r.randrange(1 << r.randint(1, 200)), lambda r: 0, True),
    "real": Case(sr.RealSemiring(), dyadic, small, True),
    "log": Case(sr.LogSemiring(), lambda r: r.uniform(-50, 50), lambda r: -r.expovariate(1)),
    "tropical": Case(sr.TropicalSemiring(), dyadic, lambda r: abs(dyadic(r)), True),
    "scaled": Case(sr.ScaledSemiring(), dyadic, small, True),
    "viterbi": Case(
        sr.ViterbiSemiring(),
        lambda r: (float(r.randint(-3, 2)), edges(r)),
        lambda r: (-float(r.randint(1, 3)), edges(r)),
        True,
        commutes=False,
    ),
    "kbest": Case(sr.KBestSemiring(3), ranked, lambda r: ranked(r, high=-1), True, commutes=False),
    "expectation": Case(sr.ExpectationSemiring(3), first(dyadic), first(small), True),
    "second order": Case(sr.SecondOrderSemiring(2, 3), second(dyadic), second(small), True),
    "lifted": Case(sr.LiftedSemiring(2, 3), lifted(dyadic), lifted(small), True),
}


def assert_equal(case: Case, a: Any, b: Any, rounding: bool = False) -> None:
    if case.exact and not rounding:
        assert a == b
        return
    for x, y in zip(flat(a), flat(b), strict=True):
        assert x == y or float(x) == pytest.approx(float(y), rel=1e-12, abs=1e-12)


def canonical(case: Case, value: Any) -> Any:
    return case.semiring.plus(case.semiring.zero, value)


@pytest.mark.parametrize("name", CASES)
def test_axioms(name: str) -> None:
    case, rng = CASES[name], random.Random(name)
    s = case.semiring
    for _ in range(200):
        a, b, c = (canonical(case, case.draw(rng)) for _ in range(3))
        assert_equal(case, s.plus(a, s.plus(b, c)), s.plus(s.plus(a, b), c))
        assert_equal(case, s.plus(a, b), s.plus(b, a))
        assert_equal(case, s.times(a, s.times(b, c)), s.times(s.times(a, b), c))
        assert_equal(case, s.times(a, s.plus(b, c)), s.plus(s.times(a, b), s.times(a, c)))
        assert_equal(case, s.times(s.plus(b, c), a), s.plus(s.times(b, a), s.times(c, a)))
        assert_equal(case, s.plus(a, s.zero), a)
        assert_equal(case, s.times(a, s.one), a)
        assert_equal(case, s.times(s.one, a), a)
        assert s.times(a, s.zero) == s.zero == s.times(s.zero, a)
        if case.commutes:
            assert_equal(case, s.times(a, b), s.times(b, a))
        assert case.closed is not None
        d = canonical(case, case.closed(rng))
        star = s.star(d)
        assert_equal(case, star, s.plus(s.one, s.times(d, star)), rounding=True)
        assert_equal(case, star, s.plus(s.one, s.times(star, d)), rounding=True)


def test_axioms_would_fail_for_what_is_no_semiring() -> None:
    wrong = Case(sr.RealSemiring(), dyadic, small, True)

    class Wrong(sr.RealSemiring):
        def plus(self, a: Any, b: Any) -> Any:
            return a - b

    wrong.semiring = Wrong()
    CASES["wrong"] = wrong
    try:
        with pytest.raises(AssertionError):
            test_axioms("wrong")
    finally:
        del CASES["wrong"]


@pytest.mark.parametrize(
    ("semiring", "value"),
    [
        (sr.CountingSemiring(), 1),
        (sr.RealSemiring(), 1.0),
        (sr.RealSemiring(), -1.5),
        (sr.LogSemiring(), 0.0),
        (sr.TropicalSemiring(), -1.0),
        (sr.ScaledSemiring(), 2.0),
        (sr.ViterbiSemiring(), (0.5, (1,))),
        (sr.KBestSemiring(2), [(0.5, (1,))]),
        (sr.ExpectationSemiring(1), (1.0, (0.0,))),
        (sr.SecondOrderSemiring(1, 1), (-1.0, (0.0,), (0.0,), (0.0,))),
    ],
)
def test_no_star(semiring: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="the sum of all powers does not exist"):
        semiring.star(value)


def test_long_derivations() -> None:
    edges = tuple(range(1_000_000))
    assert sr.ViterbiSemiring().times((1.0, edges), (0.5, (7,))) == (1.5, (*edges, 7))


def test_values_that_do_not_fit() -> None:
    for semiring, value in [
        (sr.ExpectationSemiring(2), (1.0, (1.0,))),
        (sr.SecondOrderSemiring(1, 2), (1.0, (1.0,), (1.0, 1.0), (1.0,))),
        (sr.LiftedSemiring(1, 1), ((1.0, (1.0, 1.0)), ((1.0,), (1.0,)))),
        (sr.CountingSemiring(), -1),
        (sr.ScaledSemiring(), math.nan),
        (sr.ViterbiSemiring(), (math.nan, (1,))),
        (sr.KBestSemiring(2), [(0.0, (1,)), (math.inf, (2,))]),
    ]:
        with pytest.raises(ValueError):
            semiring.plus(value, value)
    for semiring, value in [
        (sr.RealSemiring(), "a"),
        (sr.ViterbiSemiring(), 1.0),
        (sr.ExpectationSemiring(1), (1.0, ("a",))),
    ]:
        with pytest.raises(TypeError, match="no value of the semiring: "):
            semiring.plus(semiring.one, value)
    forest = Forest.from_arrays(edge_offsets=[0, 1], tail_offsets=[0, 0], tails=[])
    with pytest.raises(ValueError, match="a value per edge, 1, got 2"):
        sr.inside(forest, sr.RealSemiring(), [1.0, 2.0])
    with pytest.raises(ValueError, match="a value per node"):
        sr.outside(forest, sr.RealSemiring(), [1.0], [])


def test_table_1() -> None:
    s = sr.ExpectationSemiring(1)
    (p1, r1), (p2, r2) = (3.0, 5.0), (7.0, -2.0)
    assert s.times((p1, (r1,)), (p2, (r2,))) == (p1 * p2, (p1 * r2 + p2 * r1,))
    assert s.plus((p1, (r1,)), (p2, (r2,))) == (p1 + p2, (r1 + r2,))
    assert s.zero == (0.0, (0.0,)) and s.one == (1.0, (0.0,))
    assert s.star((0.5, (3.0,))) == (2.0, (2.0 * 2.0 * 3.0,))


def test_table_2() -> None:
    s = sr.SecondOrderSemiring(1, 1)
    p1, r1, s1, t1 = 3.0, 5.0, -1.0, 11.0
    p2, r2, s2, t2 = 7.0, -2.0, 4.0, 0.5
    a, b = ((p, (r,), (s_,), (t,)) for p, r, s_, t in ((p1, r1, s1, t1), (p2, r2, s2, t2)))
    t = p1 * t2 + p2 * t1 + r1 * s2 + r2 * s1
    assert s.times(a, b) == (p1 * p2, (p1 * r2 + p2 * r1,), (p1 * s2 + p2 * s1,), (t,))
    assert s.plus(a, b) == (p1 + p2, (r1 + r2,), (s1 + s2,), (t1 + t2,))
    assert s.one == (1.0, (0.0,), (0.0,), (0.0,))
    q, star = 0.5, 2.0
    closed = s.star((q, (r1,), (s1,), (t1,)))
    t = star * star * (star * r1 * s1 + star * r1 * s1 + t1)
    assert closed == (star, (star * star * r1,), (star * star * s1,), (t,))


def test_table_4() -> None:
    # The lifted semiring has the same elements in another structure.
    rng = random.Random(4)
    plain, lift = sr.SecondOrderSemiring(2, 3), sr.LiftedSemiring(2, 3)
    for _ in range(100):
        a, b = (second(dyadic)(rng) for _ in range(2))
        assert nested(plain.times(a, b)) == lift.times(nested(a), nested(b))
        assert nested(plain.plus(a, b)) == lift.plus(nested(a), nested(b))
    assert (nested(plain.zero), nested(plain.one)) == (lift.zero, lift.one)


def test_scaled_numbers() -> None:
    rng = random.Random(6)
    for _ in range(3000):
        x, y = (rng.uniform(-5000, 5000) for _ in range(2))
        if rng.random() < 0.5:
            y = x + rng.uniform(-200, 200)
        a, b = Scaled.exp(x), Scaled.exp(y) * rng.choice([-1, 1])
        exact_a = mpmath.exp(mpmath.mpf(x))
        exact_b = mpmath.exp(mpmath.mpf(y)) * b.sign
        assert a.log_abs == pytest.approx(x, rel=1e-15, abs=1e-15)
        for actual, expected, size in [
            (a * b, exact_a * exact_b, abs(exact_a * exact_b)),
            (a / b, exact_a / exact_b, abs(exact_a / exact_b)),
            (a + b, exact_a + exact_b, exact_a + abs(exact_b)),
            (a - b, exact_a - exact_b, exact_a + abs(exact_b)),
        ]:
            # log_abs is a double near 5000, so the accuracy is 1e-12 at best.
            assert abs(to_mpmath(actual) - expected) <= 1e-11 * size
    for value in (0.0, 1.0, -1.5, 1e308, 5e-324, -1e-300):
        assert float(Scaled(value)) == value and Scaled(value) == value
    assert float(Scaled.exp(-math.inf)) == 0.0 == Scaled(0) * Scaled.exp(5000)
    assert float(Scaled.exp(5000)) == math.inf and float(Scaled.exp(-5000)) == 0.0
    assert float(Scaled.exp(4999) / Scaled.exp(5000)) == pytest.approx(math.exp(-1), rel=1e-15)
    assert Scaled(1) - Scaled(1) == Scaled(0)
    with pytest.raises(ZeroDivisionError):
        Scaled(1) / 0
    assert Scaled(2) != None and Scaled(2) != "2" and Scaled(2) != math.nan  # noqa: E711
    assert {Scaled(2), 2.0, Scaled.exp(5000), Scaled.exp(5000)} == {2.0, Scaled.exp(5000)}


@each_seed(range(40))
def test_range_and_signs(seed: int) -> None:
    """Second-order values of derivations with weights from e^-5000 to e^5000, against exact enumeration."""
    rng = random.Random(seed)
    forest = small_random_forest(rng, most=150)
    all_of_them = derivations(forest)
    longest = max(map(len, all_of_them))
    logs = [rng.uniform(-5000, 5000) / longest for _ in range(forest.edge_count)]
    if seed % 2:
        logs = [rng.choice([-1, 1]) * 5000 / longest + rng.gauss(0, 1) for _ in logs]
    r, s = ([rng.gauss(0, 1) for _ in logs] for _ in range(2))
    weights = []
    for log, r_e, s_e in zip(logs, r, s, strict=True):
        p = Scaled.exp(log)
        weights.append((p, (p * r_e,), (p * s_e,), (p * r_e * s_e,)))
    actual = sr.inside(forest, sr.SecondOrderSemiring(1, 1), weights)[forest.root]
    again = sr.inside(forest, sr.LiftedSemiring(1, 1), [nested(w) for w in weights])[forest.root]
    assert nested(actual) == again or all(
        float(x / y) == pytest.approx(1, rel=1e-9)
        for x, y in zip(flat(nested(actual)), flat(again), strict=True)
    )
    sums = [mpmath.mpf(0)] * 4
    sizes = [mpmath.mpf(0)] * 4
    for d in all_of_them:
        p = mpmath.exp(sum(mpmath.mpf(logs[e]) for e in d))
        r_d = sum(mpmath.mpf(r[e]) for e in d)
        s_d = sum(mpmath.mpf(s[e]) for e in d)
        # Each term, and the sum of the absolute values that it consists of.
        size_r, size_s = sum(abs(r[e]) for e in d), sum(abs(s[e]) for e in d)
        for i, (term, size) in enumerate(
            [(p, p), (p * r_d, p * size_r), (p * s_d, p * size_s), (p * r_d * s_d, p * size_r * size_s)]
        ):
            sums[i] += term
            sizes[i] += size
    for value, expected, size in zip(flat(actual), sums, sizes, strict=True):
        assert abs(to_mpmath(value) - expected) <= 1e-9 * size


def product(semiring: Any, weights: Sequence[Any], derivation: Sequence[int]) -> Any:
    total = semiring.one
    for edge in derivation:
        total = semiring.times(total, weights[edge])
    return total


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(12))
def test_inside_and_outside_by_enumeration(name: str, seed: int) -> None:
    case, rng = CASES[name], random.Random(seed)
    semiring = case.semiring
    forest = small_random_forest(rng, most=60)
    weights = [case.draw(rng) for _ in range(forest.edge_count)]
    if name == "viterbi":
        weights = [(score, (edge,)) for edge, (score, _) in enumerate(weights)]
    elif name == "kbest":
        weights = [[(float(rng.randint(-3, 2)), (edge,))] for edge in range(forest.edge_count)]
    elif name == "log":
        weights = [w / 20 for w in weights]
    inside = sr.inside(forest, semiring, weights)
    for node in range(forest.node_count):
        expected = semiring.zero
        for derivation in derivations(forest, node):
            expected = semiring.plus(expected, product(semiring, weights, derivation))
        assert_equal(case, inside[node], expected, rounding=name not in ("viterbi", "kbest"))
    # A semiring of Python methods gives the same.
    assert sr.inside(forest, InPython(semiring), weights) == inside
    if not case.commutes:
        return
    outside = sr.outside(forest, semiring, weights, inside)
    assert sr.outside(forest, InPython(semiring), weights, inside) == outside
    assert_equal(case, outside[forest.root], semiring.one)
    for node in range(forest.node_count):
        # Sum over every use of the node in a derivation, without the part below the node.
        expected = semiring.zero
        for context in enumerate_contexts(forest, node):
            expected = semiring.plus(expected, product(semiring, weights, context))
        assert_equal(case, outside[node], expected, rounding=True)


class InPython:
    """A semiring with the same operations as a Python object that the core does not know."""

    def __init__(self, semiring: Any) -> None:
        self.zero, self.one = semiring.zero, semiring.one
        self.plus, self.times = semiring.plus, semiring.times


def enumerate_contexts(forest: Forest, node: int) -> list[list[int]]:
    """Enumerates the derivations of the root without the part below one use of the node, as lists of
    edges."""
    if node == forest.root:
        return [[]]
    out = []
    for head in range(forest.node_count):
        for edge in incoming_edges(forest, head):
            mine = tails(forest, edge)
            for place in (i for i, tail in enumerate(mine) if tail == node):
                others = [derivations(forest, tail) for i, tail in enumerate(mine) if i != place]
                for above in enumerate_contexts(forest, head):
                    for parts in itertools.product(*others):
                        out.append([*above, edge, *itertools.chain.from_iterable(parts)])
    return out


def test_repeated_tails_are_told_apart_by_place() -> None:
    # An edge has a node twice as a tail. An algorithm that skips siblings by node would return 1 instead of
    # 0.5.
    forest = Forest.from_arrays(edge_offsets=[0, 1, 2], tail_offsets=[0, 0, 2], tails=[0, 0])
    inside = sr.inside(forest, sr.RealSemiring(), [0.25, 1.0])
    assert inside == [0.25, 0.0625]
    assert sr.outside(forest, sr.RealSemiring(), [0.25, 1.0], inside) == [0.5, 1.0]
    assert derivation_counts(forest) == [1, 1]
