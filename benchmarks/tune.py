"""Speed of what tuning does between two decodings, on one core.

    python benchmarks/tune.py

on synthetic hypotheses, 500 sentences x 200 x 12 features: one line search, MERT with 20 restarts, one round
of PRO, 60 passes of batch MIRA; and how many hypotheses BLEU and NIST are counted of in a second. Prints the
machine first. Times are CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse
from machine import disturbance_check, machine

from hiero.evaluate import Bleu, Hypotheses, Nist
from hiero.forest.losses import BleuColumns
from hiero.tune.methods.mert import MertOptions, mert
from hiero.tune.methods.mert.line_search import search
from hiero.tune.methods.mira.batch import mira_batch
from hiero.tune.methods.pro import pro
from hiero.tune.pool.candidates import PoolArrays
from hiero.tune.run.limits import Limits

SENTENCES, K, FEATURES = 500, 200, 12


def synthetic_pool(rng: np.random.Generator) -> PoolArrays:
    """Returns hypotheses whose n-gram matches depend on a hidden direction, with noise."""
    count = SENTENCES * K
    features = rng.normal(size=(count, FEATURES)) * rng.uniform(0.3, 3, FEATURES)
    quality = 1 / (1 + np.exp(-features @ rng.normal(size=FEATURES) / 8 - rng.normal(size=count)))
    lengths = rng.integers(8, 25, count)
    statistics = np.zeros((count, BleuColumns.WIDTH))
    statistics[:, BleuColumns.LENGTH] = lengths
    statistics[:, BleuColumns.REFERENCE_LENGTH] = np.repeat(rng.integers(8, 25, SENTENCES), K)
    for n in range(4):
        statistics[:, BleuColumns.TOTALS][:, n] = lengths - n
        statistics[:, BleuColumns.MATCHES][:, n] = rng.binomial(lengths - n, quality ** (n + 1))
    offsets = np.arange(SENTENCES + 1, dtype=np.int32) * K
    return PoolArrays(offsets, scipy.sparse.csr_array(features), statistics)


def seconds(work: Callable[[], object], times: int = 1) -> float:
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def timings() -> None:
    rng = np.random.default_rng(1)
    pool = synthetic_pool(rng)
    metric = Bleu([["a"]])  # only its score is used
    start = np.ones(FEATURES)
    settings = {"limits": Limits.unlimited(FEATURES), "seed": 1}
    lines = pool.features @ start, pool.features @ rng.normal(size=FEATURES)
    print(f"line search              {1e3 * seconds(lambda: search(pool, metric, *lines), 50):8.2f} ms")
    begin = time.process_time()
    result = mert(pool, metric, start, options=MertOptions(restarts=20), **settings)  # type: ignore[arg-type]
    lasted = time.process_time() - begin
    print(f"MERT, 20 restarts        {lasted:8.2f} s, {result.searches} line searches")
    print(f"PRO, one round           {seconds(lambda: pro(pool, start, **settings)):8.2f} s")  # type: ignore[arg-type]
    mira = seconds(lambda: mira_batch(pool, metric, start, **settings))  # type: ignore[arg-type]
    print(f"batch MIRA, 60 passes    {mira:8.2f} s")

    words = [f"w{i}" for i in range(2000)]
    references = [[" ".join(rng.choice(words, 20)) for _ in range(4)] for _ in range(SENTENCES)]
    lists = [
        rng.permutation(rng.choice(references[i // K]).split())[:18].tolist() for i in range(SENTENCES * K)
    ]
    hypotheses = Hypotheses.from_tokens(lists)
    segments = np.repeat(np.arange(SENTENCES, dtype=np.int32), K)
    for kind in (Bleu, Nist):
        counted = kind(references)
        spent = seconds(lambda counted=counted: counted.token_statistics(segments, hypotheses))  # type: ignore[misc]
        print(f"{kind.name}, 4 references       {len(lists) / spent:8,.0f} hypotheses of 18 words a second")


def main() -> None:
    print(machine())
    with disturbance_check():
        timings()


if __name__ == "__main__":
    main()
