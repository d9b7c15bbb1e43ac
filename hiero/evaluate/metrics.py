"""The metrics by name. To add one, write a subclass of ``Metric`` in a file of its own, add its line below,
and export it from ``hiero.evaluate``."""

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


def word_metrics() -> str:
    """Names the metrics that count the words of a tokeniser, for messages, such as "BLEU and NIST"."""
    names = [metric.name for metric in METRICS.values() if metric.uses_tokenizer]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def metric_named(
    name: str,
    references: Sequence[Sequence[str]],
    text: Text | None = None,
    effective_length: EffectiveLength = "closest",
) -> Metric:
    """Makes a metric by its name in ``METRICS``. All are made with references and ``text``; the effective
    length is for BLEU alone."""
    if name == "bleu":
        return Bleu(references, text, effective_length)
    return METRICS[name](references, text)
