"""Training of a second stage by minimum risk, with a Gaussian prior on weights (Li and Eisner 2009, section
7.3).

Forests are annotated with 4-grams once, and written to files with the features and counts of their edges. The
files are mapped into memory, so that only the forests that threads work on need to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from hiero._core import Forest, FormatError
from hiero.base.files import replacing
from hiero.base.parallel import ordered_map
from hiero.base.settings import Settings
from hiero.evaluate.bleu import Bleu
from hiero.forest.files import ForestFile, ForestWriter, PackedForest, pack_forest
from hiero.forest.losses import COLUMNS, ORDER, BleuColumns
from hiero.rerank.features import NgramFeatures
from hiero.rerank.reranker import Reranker
from hiero.tune.methods.risk import RiskOptions
from hiero.tune.methods.risk.annealing import Minimum, minimise
from hiero.tune.methods.risk.losses import Loss, loss_for
from hiero.tune.methods.risk.objective import AnnotatedForest, annotate
from hiero.tune.methods.risk.spaces import ForestRisk
from hiero.tune.run.limits import Limits

Array = npt.NDArray[np.float64]


class RerankerOptions(Settings):
    """Settings of training a second stage."""

    model_config = ConfigDict(allow_inf_nan=False)

    order: int = Field(2, ge=1, le=ORDER, description="words of the longest n-grams")
    least_count: int = Field(
        2, ge=1, description="least count in the references of an n-gram that is a feature"
    )
    variance: float = Field(
        0.03, ge=1e-9, description="variance of the prior on the weights of n-grams, whose mean is 0"
    )
    edges: int = Field(500, ge=1, description="edges kept of a forest, those of the best derivations")
    steps: int = Field(50, ge=1, description="most steps of L-BFGS")


@dataclass(frozen=True)
class Examples:
    """Annotated forests to train on.

    ``forests`` is the file of forests with their features, ``counts`` that of n-grams and matches of each
    edge. Edges of sentence i are ``offsets[i]`` to ``offsets[i + 1]``, int64 (sentences + 1). ``statistics``
    are the sum of BLEU statistics of the best derivations, float64 (10), and ``variances`` the sum over
    sentences of each feature's variance within the best derivations, float64 (features).
    """

    forests: Path
    counts: Path
    features: NgramFeatures
    offsets: npt.NDArray[np.int64]
    statistics: Array
    variances: Array


def prepare(
    forests: Iterable[Forest],
    weights: Mapping[str, float],
    references: Sequence[Sequence[str]],
    features: NgramFeatures,
    folder: Path,
    *,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Examples:
    """Annotates forests and writes the files of examples into a folder. ``references`` has lines of tokens
    for each sentence.

    A forest without derivations counts as an empty translation. Raises ForestError for a forest with too many
    best derivations to annotate, ValueError for another number of references, OSError.
    """
    metric = Bleu(references)

    def packed(item: tuple[int, Forest]) -> tuple[PackedForest, AnnotatedForest]:
        sentence, forest = item
        if sentence >= len(references):
            raise ValueError(f"more forests than the {len(references)} references")
        scores = forest.scores(weights) if forest.root >= 0 else np.zeros(0)
        annotated = annotate(forest, scores, metric, sentence, features.on)
        return pack_forest(annotated.forest), annotated

    paths = folder / "examples.forests", folder / "examples.counts"
    offsets, total, variances = [0], np.zeros(BleuColumns.WIDTH), np.zeros(len(features))
    with (
        ForestWriter(paths[0]) as writer,
        replacing(paths[1]) as temporary,
        temporary.open("wb") as file,
    ):
        for forest, annotated in ordered_map(packed, enumerate(forests), threads):
            writer.add(forest)
            file.write(annotated.counts.tobytes())
            offsets.append(offsets[-1] + len(annotated.counts))
            total += annotated.statistics
            if len(annotated.counts):
                variances += annotated.variances
            if progress is not None:
                progress(len(offsets) - 1)
        if len(offsets) - 1 != len(references):
            raise ValueError(f"{len(offsets) - 1} forests for {len(references)} references")
    return Examples(*paths, features, np.array(offsets), total, variances)


def objective_of(examples: Examples, penalties: Array, threads: int = 1) -> tuple[ForestRisk, Loss]:
    """Returns the derivations of the examples and the loss, which is BLEU. ``penalties``, float64 (features),
    are those of the prior. Raises ValueError if no sentence has a derivation, FormatError and ForestError for
    damaged files, OSError."""
    if examples.offsets[-1] == 0:
        raise ValueError("no sentence has a derivation to learn from")
    sentences = len(examples.offsets) - 1
    # In the objective the prior adds to the curvature of a feature as its variance does.
    spread = np.sqrt((examples.variances + penalties) / sentences)
    spread[0] = spread[0] or 1.0
    shape = int(examples.offsets[-1]), COLUMNS
    if examples.counts.stat().st_size != 4 * shape[0] * shape[1]:
        raise FormatError(f"{examples.counts}: not the counts of {shape[0]:,} edges")
    counts = np.memmap(examples.counts, dtype=np.float32, mode="r", shape=shape)
    source = ForestFile(examples.forests).source()
    space = ForestRisk(source, counts, examples.offsets, spread, threads)
    return space, loss_for(RiskOptions(), examples.statistics, sentences)


def penalties_of(features: NgramFeatures, options: RerankerOptions) -> Array:
    """Returns the penalties of the prior on the weights of n-grams, float64 (features)."""
    return np.append(0.0, np.full(len(features.ngrams), 1 / options.variance))


def train_reranker(
    examples: Examples,
    weights: Mapping[str, float],
    options: RerankerOptions,
    *,
    threads: int = 1,
    report: Callable[[Minimum], object] = lambda _: None,
) -> Reranker:
    """Minimises the risk on examples, and returns the second stage for a first stage with these weights.
    Raises what ``objective_of`` raises."""
    features = examples.features
    penalties = penalties_of(features, options)
    space, loss = objective_of(examples, penalties, threads)
    start = np.zeros(len(features))
    start[0] = 1.0
    tuned = minimise(
        space,
        loss,
        start,
        limits=Limits.unlimited(len(start)),
        options=RiskOptions(steps=options.steps),
        penalties=penalties,
        report=report,
    )
    by_name = dict(zip(map(" ".join, features.ngrams), tuned[1:].tolist(), strict=True))
    return Reranker(weights=dict(weights), score=float(tuned[0]), ngrams=by_name)
