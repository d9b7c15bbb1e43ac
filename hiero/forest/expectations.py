"""Expectations over the derivations of a forest, and their gradients (Li and Eisner 2009).

``forest.distribution(scores)`` is p(d) = exp(score(d)) / Z, the score of a derivation being the sum over its
edges; everything here is of additive quantities, r(d) = sum of r_e. ``LogLinear`` is the distribution with
scores gamma theta . h(d), whose parameters gradients are taken in.

First order costs one sparse sum over edges with posteriors; second order, per column of one factor, two
passes in E_{P,R} and one sparse sum. ``method="inside"`` computes the same by the inside algorithm in an
expectation semiring with a dense vector per node, slowly, to check by.

>>> from hiero import Forest
>>> lattice = Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> p = lattice.distribution([0.0, 0.0, 0.0])
>>> float(expectation(p, [0.0, 1.0, 2.0])), float(variance(p, [0.0, 1.0, 2.0]))
(1.5, 0.25)
>>> round(entropy(p), 6)
0.693147
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hiero._core import (
    Distribution,
    ExpectationSemiring,
    Forest,
    Scaled,
    SecondOrderSemiring,
    bleu,
    bleu_counts,
    inside,
)

Array = npt.NDArray[np.float64]
# An array, or a sparse matrix of scipy, which has no types.
Values = Any
Method = Literal["inside-outside", "inside"]


@dataclass(frozen=True)
class LogLinear:
    """The distribution p(d) = exp(gamma theta . h(d)) / Z of a forest's features h (Li and Eisner 2009, 7.1).

    ``weights`` are theta: float64 (features) in the order of ``forest.feature_names``, or by name, 0 for
    features without one.
    """

    forest: Forest
    weights: Mapping[str, float] | npt.ArrayLike
    gamma: float = 1.0

    @functools.cached_property
    def theta(self) -> Array:
        """The weights as float64 (features). Raises FormatError for a weight that names no feature."""
        if isinstance(self.weights, Mapping):
            return self.forest.feature_names.vector(self.weights)
        return np.asarray(self.weights, dtype=np.float64)

    @functools.cached_property
    def scores(self) -> Array:
        """theta . h of every edge, float64 (edges)."""
        return self.forest.scores(self.theta)

    @functools.cached_property
    def p(self) -> Distribution:
        """The distribution over the forest's derivations."""
        return self.forest.distribution(self.gamma * self.scores)


@dataclass(frozen=True)
class Gradient:
    """A value with its derivatives in theta, float64 (features), and gamma."""

    value: float
    theta: Array
    gamma: float


def expectation(p: Distribution, r: Values, method: Method = "inside-outside") -> Array:
    """E[r(d)] = sum over d of p(d) r(d), of r_e given as (edges) or (edges, n), dense or sparse; () or (n).

    Li and Eisner (2009), sections 3.1 and 4.2: sum over edges of their posterior times r_e.
    """
    if method == "inside":
        z, total = _first_order(p, _columns(p, r))
        return np.array([float(x / z) for x in total]).reshape(_shape(r))
    return _weighted_sum(_checked(p, r), p.edges)


def variance(p: Distribution, r: Values, method: Method = "inside-outside") -> Array:
    """Var[r(d)] of r_e given as (edges) or (edges, n); () or (n). Li and Eisner (2009), 3.1, example 4."""
    if method == "inside" or len(_shape(r)) == 0:
        matrix = covariance(p, r, r, method)
        return matrix if matrix.ndim == 0 else np.diagonal(matrix).copy()
    values = _checked(p, r)
    columns = values.tocsc() if _is_sparse(values) else values
    every = (_column(columns, j) for j in range(values.shape[1]))
    return np.array([float(_covariance(p, column, column)) if column.any() else 0.0 for column in every])


def covariance(
    p: Distribution, r: Values, s: Values | None = None, method: Method = "inside-outside"
) -> Array:
    """Cov[r(d), s(d)] = t/Z - (r/Z)(s/Z)^T, (n, m) of (edges, n) and (edges, m); s is r by default.

    Li and Eisner (2009), sections 3.1 and 4.4: inside-outside in E_{P,R} for each column of the narrower
    factor, then one sparse sum over edges with the other one. Columns are centred before, so that nothing
    cancels.
    """
    other = r if s is None else s
    shape = _shape(r) + _shape(other)
    if method == "inside":
        z, rs, ss, ts = _second_order(p, _columns(p, r), _columns(p, other))
        n, m = len(rs), len(ss)
        t = np.array([float(x / z) for x in ts]).reshape(n, m)
        outer = np.outer([float(x / z) for x in rs], [float(x / z) for x in ss])
        return np.asarray(t - outer).reshape(shape)
    left, right = _checked(p, r), _checked(p, other)
    if left.ndim == 2 and (right.ndim == 1 or left.shape[1] > right.shape[1]):
        return np.asarray(_covariance(p, right, left).T)
    return _covariance(p, left, right)


def _covariance(p: Distribution, left: Values, right: Values) -> Array:
    if left.ndim == 1:
        return _weighted_sum(right, _centred(p, left))
    columns = left.tocsc() if _is_sparse(left) else left
    out = np.zeros((left.shape[1], *right.shape[1:]))
    for j in range(left.shape[1]):
        column = _column(columns, j)
        if column.any():
            out[j] = _weighted_sum(right, _centred(p, column))
    return out


def _centred(p: Distribution, r: Array) -> Array:
    """By edge, p(e) (E[r | e] - E[r]): the derivative of E[r] in the log weight of the edge."""
    return p.edge_expectations(_less_mean(p, r))


def _less_mean(p: Distribution, r: Array) -> Array:
    """Less the mean on the edges into the root, of which every derivation has one."""
    shifted = r.copy()
    shifted[p.forest.edge_offsets[p.forest.root] :] -= float(_weighted_sum(r, p.edges))
    return shifted


def entropy(p: Distribution, method: Method = "inside-outside") -> float:
    """H(p) = log Z - E[log p~(d)], in nats, of derivations, not strings. Li and Eisner (2009), equation 5."""
    return cross_entropy(p, p, method)


def cross_entropy(p: Distribution, q: Distribution, method: Method = "inside-outside") -> float:
    """H(p, q) = log Z_q - E_p[log q~(d)] of two weightings of one forest. Li and Eisner (2009), equation 6.

    Infinite where q gives no weight to an edge that p uses. Raises ValueError for different forests.
    """
    if p.forest is not q.forest:
        raise ValueError("the distributions are over different forests")
    used = p.edges > 0
    if np.isneginf(q.scores[used]).any():
        return float("inf")
    return q.log_z - float(expectation(p, np.where(used, q.scores, 0.0), method))


def kl_divergence(p: Distribution, q: Distribution, method: Method = "inside-outside") -> float:
    """KL(p || q) = H(p, q) - H(p), computed as E_p[log p(d) - log q(d)]. Li and Eisner (2009), 6.1."""
    if method == "inside":
        return cross_entropy(p, q, method) - entropy(p, method)
    if p.forest is not q.forest:
        raise ValueError("the distributions are over different forests")
    used = p.edges > 0
    shares = _log_shares(q)
    if np.isneginf(shares[used]).any():
        return float("inf")
    # p(d) is the product of its edges' shares.
    ratio = np.log(p.shares, where=used, out=np.zeros_like(p.edges))
    ratio[used] -= shares[used]
    return float(_weighted_sum(ratio, p.edges))


def _log_shares(p: Distribution) -> Array:
    """Natural logs of an edge's probability given its head; also of those that no float can hold."""
    small = p.shares < 1e-290  # from where on floats are less exact
    logs = np.log(p.shares, where=~small, out=np.full_like(p.shares, -np.inf))
    if not small.any():
        return logs
    heads = np.repeat(np.arange(p.forest.node_count), np.diff(p.forest.edge_offsets))
    places = np.repeat(np.arange(p.forest.edge_count), np.diff(p.forest.tail_offsets))
    below = np.bincount(places, p.inside[p.forest.tails], p.forest.edge_count)
    small &= np.isfinite(p.scores) & np.isfinite(below)
    logs[small] = p.scores[small] + below[small] - p.inside[heads[small]]
    return logs


def risk(p: Distribution, loss: npt.ArrayLike, method: Method = "inside-outside") -> float:
    """The expected loss E[L(d)], of additive losses L_e, (edges). Li and Eisner (2009), equation 9."""
    return float(expectation(p, loss, method))


def log_z_gradient(model: LogLinear, method: Method = "inside-outside") -> Gradient:
    """log Z and its gradient: gamma E[h(d)] in theta, theta . E[h(d)] in gamma. Li and Eisner (2009), 5.1."""
    p = model.p
    if method == "inside":
        return _gradient(model, p.log_z, expectation(p, p.forest.features, method))
    return _sparse_gradient(model, p.log_z, p.edges)


def log_z_hessian(model: LogLinear, method: Method = "inside-outside") -> Array:
    """The second derivatives of log Z in theta, (features, features): gamma^2 Cov[h(d)].

    Li and Eisner (2009), section 5, case 2, and the Hessian of log Z = Hess Z / Z - grad Z grad Z^T / Z^2.
    """
    features = model.forest.features
    return np.asarray(model.gamma**2 * covariance(model.p, features, features, method))


def risk_gradient(model: LogLinear, loss: npt.ArrayLike, method: Method = "inside-outside") -> Gradient:
    """The risk E[L(d)] and its gradient gamma Cov[h(d), L(d)] in theta. Li and Eisner (2009), equation 11:
    (Z grad r - r grad Z) / Z^2 in E_{P,R,R^m,R^m} with weights <p_e, p_e L_e, grad p_e, L_e grad p_e>."""
    return _covariance_gradient(
        model, risk(model.p, loss, method), np.asarray(loss, dtype=np.float64), method
    )


def entropy_gradient(model: LogLinear, method: Method = "inside-outside") -> Gradient:
    """The entropy H(p) and its gradient -gamma Cov[h(d), log p~(d)] in theta. Li and Eisner (2009), equation
    10; what the derivative of log p~ itself adds cancels with grad Z / Z."""
    p = model.p
    return _covariance_gradient(model, entropy(p, method), np.where(p.edges > 0, -p.scores, 0.0), method)


def variance_gradient(model: LogLinear, r: npt.ArrayLike) -> Gradient:
    """The variance Var[r(d)] of r_e, (edges), and its gradient gamma Cov[h(d), (r(d) - E[r])^2] in theta: an
    inside-outside pass in a semiring of second moments, then one sparse sum."""
    p = model.p
    values = np.asarray(_checked(p, np.asarray(r, dtype=np.float64)))
    shifted = _less_mean(p, values)
    spread = float(_weighted_sum(values, _centred(p, values)))
    return _sparse_gradient(model, spread, p.edge_second_moments(shifted) - spread * p.edges)


def expected_bleu_gradient(
    model: LogLinear, references: Sequence[Sequence[str]], effective_length: str = "closest"
) -> Gradient:
    """BLEU, from 0 to 1, of the expected counts of a forest annotated with 4-grams (``annotate_ngrams(4)``),
    matches unclipped, and its gradient: that of the risk of the linear loss that is like it there. Raises
    ValueError for a forest that is not annotated, and for references that are all empty."""
    p = model.p
    totals, matches = p.forest.ngram_matches(references)
    if totals.shape[1] != 4:
        raise ValueError("BLEU counts 4-grams: annotate the forest with n = 4")
    columns = np.column_stack([p.forest.target_words, totals, matches]).astype(np.float64)
    expected = expectation(p, columns)
    lengths = [len(tokens) for tokens in references if tokens]
    # What stands for a string of so many words tells which length counts.
    words = [""] * round(float(expected[0]))
    length = float(bleu_counts(words, [[""] * n for n in lengths], effective_length)[1])
    value = float(bleu([expected[0], length, *expected[1:]]))
    if value == 0:
        return _gradient(model, 0.0, np.zeros(len(model.theta)))
    brevity = length / expected[0] ** 2 if expected[0] < length else 0.0
    slopes = np.concatenate([[brevity], -1 / (4 * expected[1:5]), 1 / (4 * expected[5:])])
    return _covariance_gradient(model, value, columns @ (value * slopes), "inside-outside")


def _covariance_gradient(model: LogLinear, value: float, r: Array, method: Method) -> Gradient:
    """Computes the gradient of a value whose derivative in theta is gamma Cov[h(d), r(d)]."""
    if method == "inside":
        return _gradient(model, value, covariance(model.p, model.forest.features, r, method))
    return _sparse_gradient(model, value, _centred(model.p, np.asarray(_checked(model.p, r))))


def _sparse_gradient(model: LogLinear, value: float, factors: Array) -> Gradient:
    """Computes the gradient of a value whose derivatives in the log weights of edges are `factors`, by one
    sparse sum, in which features that no edge has cost nothing."""
    theta = model.forest.weighted_features(model.gamma * factors)
    return Gradient(value, theta, float(_weighted_sum(model.scores, factors)))


def _gradient(model: LogLinear, value: float, slope: Array) -> Gradient:
    """Computes the gradient of a value whose derivative in gamma theta is `slope`."""
    return Gradient(value, model.gamma * slope, float(model.theta @ slope))


def _weighted_sum(values: Values, factors: Array) -> Array:
    """The sum over edges of factor times row of values; the same whatever the number of threads, which a
    product of long vectors by BLAS is not."""
    if _is_sparse(values):
        return np.asarray(values.T @ factors)
    return np.asarray(np.einsum("e...,e->...", values, factors))


def _is_sparse(values: Values) -> bool:
    return hasattr(values, "tocsr")


def _checked(p: Distribution, values: Values) -> Values:
    if _is_sparse(values):
        import scipy.sparse  # here, as it takes long to start

        matrix = scipy.sparse.csr_array(values)
        _check(p, matrix.shape, matrix.data)
        return matrix
    array = np.asarray(values, dtype=np.float64)
    _check(p, array.shape, array)
    return array


def _check(p: Distribution, shape: tuple[int, ...], numbers: Array) -> None:
    if len(shape) not in (1, 2) or shape[0] != p.forest.edge_count:
        edges = p.forest.edge_count
        raise ValueError(f"values: expected shape ({edges},) or ({edges}, n), got {shape}")
    if not np.isfinite(numbers).all():
        raise ValueError("values: expected finite numbers")


def _shape(values: Values) -> tuple[int, ...]:
    shape: tuple[int, ...] = values.shape if _is_sparse(values) else np.shape(values)
    return tuple(shape[1:])


def _column(matrix: Values, j: int) -> Array:
    column = matrix[:, [j]]
    return np.asarray(column.toarray() if _is_sparse(column) else column).ravel()


def _columns(p: Distribution, values: Values) -> list[list[float]]:
    """Values as one list per edge, for the semirings."""
    checked = _checked(p, values)
    dense = checked.toarray() if _is_sparse(checked) else np.asarray(checked)
    return [[float(x) for x in row] for row in dense.reshape(dense.shape[0], -1)]


def _first_order(p: Distribution, r: list[list[float]]) -> tuple[Scaled, tuple[Scaled, ...]]:
    """Z and the sum of p~(d) r(d) by the inside algorithm in E_{R,R^n}."""
    weights = []
    for score, row in zip(p.scores.tolist(), r, strict=True):
        weight = Scaled.exp(score)
        weights.append((weight, tuple(weight * x for x in row)))
    total: tuple[Scaled, tuple[Scaled, ...]]
    total = inside(p.forest, ExpectationSemiring(len(r[0])), weights)[p.forest.root]
    return total


def _second_order(
    p: Distribution, r: list[list[float]], s: list[list[float]]
) -> tuple[Scaled, tuple[Scaled, ...], tuple[Scaled, ...], tuple[Scaled, ...]]:
    """Z and the sums of p~ r, p~ s and p~ r s^T by the inside algorithm in the second-order semiring."""
    weights = []
    for score, left, right in zip(p.scores.tolist(), r, s, strict=True):
        w = Scaled.exp(score)
        outer = tuple(w * (x * y) for x in left for y in right)
        weights.append((w, tuple(w * x for x in left), tuple(w * y for y in right), outer))
    total: tuple[Scaled, tuple[Scaled, ...], tuple[Scaled, ...], tuple[Scaled, ...]]
    total = inside(p.forest, SecondOrderSemiring(len(r[0]), len(s[0])), weights)[p.forest.root]
    return total
