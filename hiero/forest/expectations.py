"""Expectations over the derivations of a forest, and their gradients (Li and Eisner 2009).

``forest.distribution(scores)`` is p(d) = exp(score(d)) / Z, where the score of a derivation is the sum over
its edges. All quantities here are additive, too: r(d) = sum of r_e. ``LogLinear`` is the distribution with
scores gamma theta . h(d); gradients are with respect to theta and gamma.

First-order quantities cost one sparse sum over edges with posteriors. Second-order quantities cost, for each
column of one factor, two passes in E_{P,R} and one sparse sum. ``method="inside"`` computes the same by the
inside algorithm in an expectation semiring with a dense vector for each node. It is slow and meant for
checking.

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
# An array or a sparse matrix of scipy, which has no types.
Values = Any
Method = Literal["inside-outside", "inside"]


@dataclass(frozen=True)
class LogLinear:
    """The log-linear distribution p(d) = exp(gamma theta . h(d)) / Z of a forest with features h.

    See Li and Eisner (2009), 7.1. ``weights`` are theta, either float64 (features) in the order of
    ``forest.feature_names``, or by name, with 0 for features that are not named.
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
        """The scores theta . h of all edges, float64 (edges)."""
        return self.forest.scores(self.theta)

    @functools.cached_property
    def p(self) -> Distribution:
        """The distribution over the derivations of the forest."""
        return self.forest.distribution(self.gamma * self.scores)


@dataclass(frozen=True)
class Gradient:
    """A value with its derivatives with respect to theta, float64 (features), and gamma."""

    value: float
    theta: Array
    gamma: float


def expectation(p: Distribution, r: Values, method: Method = "inside-outside") -> Array:
    """Returns E[r(d)] = sum over d of p(d) r(d).

    ``r`` has the values r_e with the shape (edges) or (edges, n), dense or sparse; the result has the shape
    () or (n). It is the sum over edges of the posterior times r_e (Li and Eisner 2009, sections 3.1 and 4.2).
    """
    if method == "inside":
        z, total = _first_order(p, _rows_as_lists(p, r))
        return np.array([float(x / z) for x in total]).reshape(_shape(r))
    return _weighted_sum(_checked(p, r), p.edges)


def variance(p: Distribution, r: Values, method: Method = "inside-outside") -> Array:
    """Returns Var[r(d)], with the shape () or (n), for r_e with the shape (edges) or (edges, n).

    See Li and Eisner (2009), 3.1, example 4.
    """
    if method == "inside" or len(_shape(r)) == 0:
        matrix = covariance(p, r, r, method)
        return matrix if matrix.ndim == 0 else np.diagonal(matrix).copy()
    values = _checked(p, r)
    columns = values.tocsc() if _is_sparse(values) else values
    all_columns = (_column(columns, j) for j in range(values.shape[1]))
    return np.array([float(_covariance(p, c, c)) if c.any() else 0.0 for c in all_columns])


def covariance(
    p: Distribution, r: Values, s: Values | None = None, method: Method = "inside-outside"
) -> Array:
    """Returns Cov[r(d), s(d)] = t/Z - (r/Z)(s/Z)^T, with the shape (n, m) for (edges, n) and (edges, m).

    ``s`` is ``r`` by default. The algorithm is inside-outside in E_{P,R} for each column of the narrower
    factor, then one sparse sum over edges with the other factor (Li and Eisner 2009, sections 3.1 and 4.4).
    The mean of each column is subtracted first, to avoid cancellation.
    """
    second = r if s is None else s
    shape = _shape(r) + _shape(second)
    if method == "inside":
        z, rs, ss, ts = _second_order(p, _rows_as_lists(p, r), _rows_as_lists(p, second))
        n, m = len(rs), len(ss)
        t = np.array([float(x / z) for x in ts]).reshape(n, m)
        outer = np.outer([float(x / z) for x in rs], [float(x / z) for x in ss])
        return np.asarray(t - outer).reshape(shape)
    left, right = _checked(p, r), _checked(p, second)
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
    """Returns p(e) (E[r | e] - E[r]) for every edge: the derivative of E[r] in the log weight of the edge."""
    return p.edge_expectations(_subtract_mean(p, r))


def _subtract_mean(p: Distribution, r: Array) -> Array:
    """Subtracts the mean from the edges into the root. Every derivation has exactly one of these edges."""
    shifted = r.copy()
    shifted[p.forest.edge_offsets[p.forest.root] :] -= float(_weighted_sum(r, p.edges))
    return shifted


def entropy(p: Distribution, method: Method = "inside-outside") -> float:
    """Returns the entropy of derivations, H(p) = log Z - E[log p~(d)], in nats.

    See Li and Eisner (2009), equation 5. The entropy of strings is different.
    """
    return cross_entropy(p, p, method)


def cross_entropy(p: Distribution, q: Distribution, method: Method = "inside-outside") -> float:
    """Returns H(p, q) = log Z_q - E_p[log q~(d)] of two distributions over one forest, in nats.

    It is infinite if q gives no weight to an edge that p uses (Li and Eisner 2009, equation 6).
    Raises ValueError for different forests.
    """
    if p.forest is not q.forest:
        raise ValueError("the distributions are over different forests")
    used = p.edges > 0
    if np.isneginf(q.scores[used]).any():
        return float("inf")
    return q.log_z - float(expectation(p, np.where(used, q.scores, 0.0), method))


def kl_divergence(p: Distribution, q: Distribution, method: Method = "inside-outside") -> float:
    """Returns KL(p || q) = H(p, q) - H(p), in nats, computed as E_p[log p(d) - log q(d)].

    See Li and Eisner (2009), 6.1. Raises ValueError for different forests.
    """
    if method == "inside":
        return cross_entropy(p, q, method) - entropy(p, method)
    if p.forest is not q.forest:
        raise ValueError("the distributions are over different forests")
    used = p.edges > 0
    shares = _log_shares(q)
    if np.isneginf(shares[used]).any():
        return float("inf")
    # p(d) is the product of the shares of its edges.
    ratio = np.log(p.shares, where=used, out=np.zeros_like(p.edges))
    ratio[used] -= shares[used]
    return float(_weighted_sum(ratio, p.edges))


def _log_shares(p: Distribution) -> Array:
    """Returns the natural log of each edge's probability given its head, however small it is."""
    small = p.shares < 1e-290  # smaller floats are less precise
    logs = np.log(p.shares, where=~small, out=np.full_like(p.shares, -np.inf))
    if not small.any():
        return logs
    heads = np.repeat(np.arange(p.forest.node_count), np.diff(p.forest.edge_offsets))
    edges = np.repeat(np.arange(p.forest.edge_count), np.diff(p.forest.tail_offsets))
    tails = np.bincount(edges, p.inside[p.forest.tails], p.forest.edge_count)
    small &= np.isfinite(p.scores) & np.isfinite(tails)
    logs[small] = p.scores[small] + tails[small] - p.inside[heads[small]]
    return logs


def risk(p: Distribution, loss: npt.ArrayLike, method: Method = "inside-outside") -> float:
    """Returns the expected loss E[L(d)] for the losses L_e of edges, (edges).

    See Li and Eisner (2009), equation 9.
    """
    return float(expectation(p, loss, method))


def log_z_gradient(model: LogLinear, method: Method = "inside-outside") -> Gradient:
    """Returns log Z and its gradient: gamma E[h(d)] in theta, theta . E[h(d)] in gamma.

    See Li and Eisner (2009), 5.1.
    """
    p = model.p
    if method == "inside":
        return _gradient(model, p.log_z, expectation(p, p.forest.features, method))
    return _sparse_gradient(model, p.log_z, p.edges)


def log_z_hessian(model: LogLinear, method: Method = "inside-outside") -> Array:
    """Returns the second derivatives of log Z in theta, gamma^2 Cov[h(d)], (features, features).

    See Li and Eisner (2009), section 5, case 2, and Hess log Z = Hess Z / Z - grad Z grad Z^T / Z^2.
    """
    features = model.forest.features
    return np.asarray(model.gamma**2 * covariance(model.p, features, features, method))


def risk_gradient(model: LogLinear, loss: npt.ArrayLike, method: Method = "inside-outside") -> Gradient:
    """Returns the risk E[L(d)] and its gradient gamma Cov[h(d), L(d)] in theta.

    See Li and Eisner (2009), equation 11: (Z grad r - r grad Z) / Z^2 in E_{P,R,R^m,R^m} with the weights
    <p_e, p_e L_e, grad p_e, L_e grad p_e>.
    """
    return _covariance_gradient(
        model, risk(model.p, loss, method), np.asarray(loss, dtype=np.float64), method
    )


def entropy_gradient(model: LogLinear, method: Method = "inside-outside") -> Gradient:
    """Returns the entropy H(p) and its gradient -gamma Cov[h(d), log p~(d)] in theta.

    See Li and Eisner (2009), equation 10; the derivative of log p~ itself cancels with grad Z / Z.
    """
    p = model.p
    return _covariance_gradient(model, entropy(p, method), np.where(p.edges > 0, -p.scores, 0.0), method)


def variance_gradient(model: LogLinear, r: npt.ArrayLike) -> Gradient:
    """Returns the variance Var[r(d)] and its gradient gamma Cov[h(d), (r(d) - E[r])^2] in theta.

    ``r`` has the shape (edges). The algorithm is one inside-outside pass in a semiring of second moments,
    then one sparse sum.
    """
    p = model.p
    values = np.asarray(_checked(p, np.asarray(r, dtype=np.float64)))
    shifted = _subtract_mean(p, values)
    value = float(_weighted_sum(values, _centred(p, values)))
    return _sparse_gradient(model, value, p.edge_second_moments(shifted) - value * p.edges)


def expected_bleu_gradient(
    model: LogLinear, references: Sequence[Sequence[str]], effective_length: str = "closest"
) -> Gradient:
    """Returns the BLEU of expected counts, from 0 to 1, and its gradient.

    The forest must be annotated with 4-grams (``annotate_ngrams(4)``). Matches are not clipped. BLEU is
    replaced by its linear approximation at the expected counts, whose risk has the same gradient.
    Raises ValueError for a forest that is not annotated, and if all references are empty.
    """
    p = model.p
    totals, matches = p.forest.ngram_matches(references)
    if totals.shape[1] != 4:
        raise ValueError("BLEU counts 4-grams: annotate the forest with n = 4")
    columns = np.column_stack([p.forest.target_words, totals, matches]).astype(np.float64)
    expected = expectation(p, columns)
    lengths = [len(tokens) for tokens in references if tokens]
    # A string of the expected length, to choose the effective reference length.
    words = [""] * round(float(expected[0]))
    length = float(bleu_counts(words, [[""] * n for n in lengths], effective_length)[1])
    value = float(bleu([expected[0], length, *expected[1:]]))
    if value == 0:
        return _gradient(model, 0.0, np.zeros(len(model.theta)))
    brevity = length / expected[0] ** 2 if expected[0] < length else 0.0
    slopes = np.concatenate([[brevity], -1 / (4 * expected[1:5]), 1 / (4 * expected[5:])])
    return _covariance_gradient(model, value, columns @ (value * slopes), "inside-outside")


def _covariance_gradient(model: LogLinear, value: float, r: Array, method: Method) -> Gradient:
    """Returns the gradient of a value whose derivative in theta is gamma Cov[h(d), r(d)]."""
    if method == "inside":
        return _gradient(model, value, covariance(model.p, model.forest.features, r, method))
    return _sparse_gradient(model, value, _centred(model.p, np.asarray(_checked(model.p, r))))


def _sparse_gradient(model: LogLinear, value: float, factors: Array) -> Gradient:
    """Returns the gradient of a value whose derivatives in the log weights of edges are ``factors``.

    The sum over edges is sparse: features that no edge has cost nothing.
    """
    theta = model.forest.weighted_features(model.gamma * factors)
    return Gradient(value, theta, float(_weighted_sum(model.scores, factors)))


def _gradient(model: LogLinear, value: float, slope: Array) -> Gradient:
    """Returns the gradient of a value whose derivative in gamma theta is ``slope``."""
    return Gradient(value, model.gamma * slope, float(model.theta @ slope))


def _weighted_sum(values: Values, factors: Array) -> Array:
    """Returns the sum over edges of factors times rows of values.

    It does not depend on the number of threads. A product of long vectors by BLAS would depend on it.
    """
    if _is_sparse(values):
        return np.asarray(values.T @ factors)
    return np.asarray(np.einsum("e...,e->...", values, factors))


def _is_sparse(values: Values) -> bool:
    return hasattr(values, "tocsr")


def _checked(p: Distribution, values: Values) -> Values:
    if _is_sparse(values):
        import scipy.sparse  # imported late, as it is slow

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


def _rows_as_lists(p: Distribution, values: Values) -> list[list[float]]:
    """Returns values as a list for each edge, for the semirings."""
    matrix = _checked(p, values)
    dense = matrix.toarray() if _is_sparse(matrix) else np.asarray(matrix)
    return [[float(x) for x in row] for row in dense.reshape(dense.shape[0], -1)]


def _first_order(p: Distribution, r: list[list[float]]) -> tuple[Scaled, tuple[Scaled, ...]]:
    """Returns Z and the sum of p~(d) r(d) by the inside algorithm in E_{R,R^n}."""
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
    """Returns Z and the sums of p~ r, p~ s and p~ r s^T by the inside algorithm, second-order semiring."""
    weights = []
    for score, left, right in zip(p.scores.tolist(), r, s, strict=True):
        w = Scaled.exp(score)
        outer = tuple(w * (x * y) for x in left for y in right)
        weights.append((w, tuple(w * x for x in left), tuple(w * y for y in right), outer))
    total: tuple[Scaled, tuple[Scaled, ...], tuple[Scaled, ...], tuple[Scaled, ...]]
    total = inside(p.forest, SecondOrderSemiring(len(r[0]), len(s[0])), weights)[p.forest.root]
    return total
