"""Hypotheses of a forest that are good by model score or by BLEU (Chiang et al. 2008, section 2.4)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy.typing as npt

from hiero._core import RESCORE_BEAM, RESCORE_K, Forest, OracleHypothesis
from hiero.base.files import replacing
from hiero.forest.losses import BleuDocument

# Weights of the model score against BLEU: from only BLEU to hypotheses with a high score and low BLEU.
MUS = (0.0, 0.5, 1.0, math.inf)


def oracle_lists(
    forest: Forest,
    scores: npt.ArrayLike,
    references: Sequence[Sequence[str]],
    document: BleuDocument,
    mus: Iterable[float] = MUS,
    beam: int = RESCORE_BEAM,
    k: int = RESCORE_K,
    effective_length: str = "shortest",
) -> dict[float, list[OracleHypothesis]]:
    """Returns for every mu the k best unique hypotheses by (1 - mu) B + mu score; see ``Forest.rescore``."""
    return {
        mu: forest.rescore(
            scores,
            mu,
            references,
            document=document.counts,
            document_source=document.source,
            k=k,
            beam=beam,
            effective_length=effective_length,
        )
        for mu in mus
    }


def plot_oracles(
    lists: Mapping[float, Sequence[OracleHypothesis]],
    document: BleuDocument,
    source: int,
    path: str | os.PathLike[str],
) -> None:
    """Plots model score against B(e) for the lists of one sentence, like Figure 1 of Chiang et al. (2008).

    ``source`` is the number of source words. The suffix of ``path`` determines the image format. Needs
    matplotlib, and raises ModuleNotFoundError without it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for mu, marker in zip(sorted(lists), "so^vD*xP+<>" * len(lists), strict=False):
        points = [(h.derivation.score, document.b(h.counts, source)) for h in lists[mu]]
        name = "\N{INFINITY}" if math.isinf(mu) else f"{mu:g}"
        label = f"\N{GREEK SMALL LETTER MU} = {name}"
        axes.scatter(*zip(*points, strict=True), marker=marker, label=label, alpha=0.7)
    axes.set_xlabel("model score")
    axes.set_ylabel("B(e), in source words")
    axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, format=os.path.splitext(path)[1][1:] or "png", dpi=150)
