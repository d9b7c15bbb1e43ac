"""Gain of tuning on the sentences it sees, and on others: a model, and halves of two sets.

    python benchmarks/overfitting.py ../shared/data/ja-en MODEL [--halves 20]

decodes ``dev.ja`` and ``test.ja`` as one set, three times, with the model's weights and with what MERT makes
of them, into one pool of 100-best lists. Then, for random halves of the set, MERT, PRO (30 rounds) and batch
MIRA choose weights from the lists of one half; printed is how much BLEU of the best hypotheses in the pool
rises against the model's weights, in that half and in the other, mean and standard error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import scipy.sparse
from machine import argument_parser, machine

import hiero
from hiero.evaluate import Bleu
from hiero.tune import ModelDecoder
from hiero.tune.methods.mert import MertOptions, mert
from hiero.tune.methods.mira.batch import MiraOptions, mira_batch
from hiero.tune.methods.pro import pro
from hiero.tune.pool.candidates import PoolArrays, kbest_candidates
from hiero.tune.pool.pool import Pool
from hiero.tune.run.limits import Limits
from hiero.tune.run.protocol import Array

Chooser = Callable[[PoolArrays, Bleu, Array, int], Array]


def by_mert(options: MertOptions) -> Chooser:
    return lambda pool, metric, start, seed: (
        mert(pool, metric, start, seed=seed, options=options, limits=Limits.unlimited(len(start))).weights
    )


def by_pro(pool: PoolArrays, metric: Bleu, start: Array, seed: int) -> Array:
    weights = start
    for number in range(30):
        weights = pro(pool, weights, seed=30 * seed + number, limits=Limits.unlimited(len(start)))
    return weights


def by_mira(options: MiraOptions) -> Chooser:
    return lambda pool, metric, start, seed: (
        mira_batch(
            pool, metric, start, seed=seed, options=options, limits=Limits.unlimited(len(start))
        ).weights
    )


VARIANTS: dict[str, Chooser] = {
    "MERT, exact, one climb": by_mert(MertOptions(restarts=0, smoothing=0)),
    "MERT, exact, mean of 10": by_mert(MertOptions(smoothing=0)),
    "MERT, smoothed, one climb": by_mert(MertOptions(restarts=0)),
    "MERT, smoothed, mean of 5": by_mert(MertOptions(restarts=4)),
    "MERT, smoothed, mean of 10": by_mert(MertOptions()),
    "PRO": by_pro,
    "batch MIRA": by_mira(MiraOptions()),
    # The features of Chiang et al. (2008), whose C is the default, are logarithms to base 100.
    "batch MIRA, C of 0.00047": by_mira(MiraOptions(c=0.01 / math.log(100) ** 2)),
}


def part(pool: PoolArrays, sentences: Array) -> PoolArrays:
    bounds = list(itertools.pairwise(pool.offsets.tolist()))
    rows = [np.arange(*bounds[sentence]) for sentence in sentences.astype(int).tolist()]
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    order = np.concatenate(rows)
    return PoolArrays(offsets, scipy.sparse.csr_array(pool.features[order]), pool.statistics[order])


def main() -> None:
    parser = argument_parser(__doc__, "data", "model")
    parser.add_argument("--halves", type=int, default=20)
    arguments = parser.parse_args()
    print(machine())

    def lines(language: str) -> list[str]:
        parts = [arguments.data / f"{name}.{language}" for name in ("dev", "test")]
        return [line for path in parts for line in path.read_text(encoding="utf-8").splitlines()]

    source, references = lines("ja"), [[line] for line in lines("en")]
    model = hiero.Model.load(arguments.model)
    decoder = ModelDecoder(hiero.Decoder(model), source)
    metric = Bleu(references)
    start = np.array([model.weights.get(name, 0.0) for name in model.feature_names])
    pool, weights = Pool(len(source), len(start), metric), start
    for seed in range(3):
        lists = enumerate(decoder.kbest(weights, 100))
        candidates = (kbest_candidates(metric, sentence, kbest).instances for sentence, kbest in lists)
        pool.restore(pool.unseen(candidates))
        weights = by_mert(MertOptions())(pool.arrays(), metric, start, seed)
    everything = pool.arrays()
    print(f"{len(source)} sentences, {len(everything):,} hypotheses, {arguments.halves} halves")

    def bleu(half: PoolArrays, weights: Array) -> float:
        return float(metric.score(half.total(half.winners(weights))))

    for name, tuned in VARIANTS.items():
        gains = []
        for seed in range(arguments.halves):
            order = np.random.default_rng(seed).permutation(len(source))
            halves = [part(everything, sentences) for sentences in np.array_split(order, 2)]
            weights = tuned(halves[0], metric, start, seed)
            gains.append([bleu(half, weights) - bleu(half, start) for half in halves])
        (seen, other), (_, error) = np.mean(gains, axis=0), np.std(gains, axis=0, ddof=1)
        print(
            f"{name:26} {seen:+.2f} in its half, {other:+.2f} ±{error / len(gains) ** 0.5:.2f} in the other"
        )


if __name__ == "__main__":
    main()
