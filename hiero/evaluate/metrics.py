"""The metrics by name. To add one, write a subclass of ``Metric`` in a file of its own, and add its name
below."""

from __future__ import annotations

from collections.abc import Sequence

from hiero.evaluate.bleu import Bleu, EffectiveLength
from hiero.evaluate.metric import Metric
from hiero.evaluate.nist import Nist
from hiero.evaluate.sacrebleu_metrics import Chrf, ChrfPlusPlus, Ter
from hiero.evaluate.tokens import Text

# Metrics by the names that commands use.
METRICS: dict[str, type[Metric]] = {
    "bleu": Bleu,
    "nist": Nist,
    "ter": Ter,
    "chrf": Chrf,
    "chrf++": ChrfPlusPlus,
}


def metric_named(
    name: str,
    references: Sequence[Sequence[str]],
    text: Text | None = None,
    effective_length: EffectiveLength = "closest",
) -> Metric:
    """Makes a metric by its name in ``METRICS``. The effective length is for BLEU alone."""
    if name == "bleu":
        return Bleu(references, text, effective_length)
    return METRICS[name](references, text)
