"""The public name of ``hiero.forest.losses``."""

from hiero.forest.losses import BleuDocument, LinearBleu, bleu, bleu_counts

__all__ = ["BleuDocument", "LinearBleu", "bleu", "bleu_counts"]
