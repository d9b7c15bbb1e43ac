"""The second stage: it chooses a translation from a forest with many more features than decoding can afford,
n-grams of the target side, and is trained by minimum risk on forests of the bitext."""

from hiero.rerank.checks import check_second_stage
from hiero.rerank.features import NgramFeatures, frequent_ngrams
from hiero.rerank.learning import SecondStageOptions
from hiero.rerank.pipeline import train_second_stage
from hiero.rerank.reranker import Reranker
from hiero.rerank.training import RerankerOptions

__all__ = [
    "NgramFeatures",
    "Reranker",
    "RerankerOptions",
    "SecondStageOptions",
    "check_second_stage",
    "frequent_ngrams",
    "train_second_stage",
]
