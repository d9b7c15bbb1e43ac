"""A second stage: what chooses a forest's translation by the first stage's score and n-grams together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from hiero._core import Derivation, Forest
from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.settings import OneLineErrors
from hiero.forest.decisions import best_derivation, best_part
from hiero.rerank.features import NgramFeatures

# Words that a forest can be annotated for.
_LONGEST = 100


class Reranker(BaseModel, metaclass=OneLineErrors):
    """Weights of the first stage's features, which its score is made of; of that score, and of n-grams, whose
    words are separated by blanks. An n-gram that is not there weighs 0.

    >>> Reranker(weights={"LM0": 1.0}, score=0.5, ngrams={"the house": 0.25}).save("r.json")  # doctest: +SKIP
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: Literal["hiero reranker"] = "hiero reranker"
    weights: Mapping[str, float]
    score: float
    ngrams: Mapping[str, float] = Field(repr=False)
    edges: int = Field(3000, ge=1)

    @field_validator("ngrams")
    @classmethod
    def _of_words(cls, ngrams: Mapping[str, float]) -> Mapping[str, float]:
        for ngram in ngrams:
            words = ngram.split(" ")
            if not all(words) or len(words) > _LONGEST:
                raise ValueError(f"n-gram {ngram!r}: expected up to {_LONGEST} words separated by blanks")
        return ngrams

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Reranker:
        """Raises FormatError for what is none, OSError."""
        return read_json(Path(path), Reranker)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a JSON file, weights exact to the last bit; n-grams that weigh 0 are left out."""
        content: dict[str, Any] = self.model_dump()
        content["ngrams"] = {ngram: weight for ngram, weight in self.ngrams.items() if weight != 0}
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=0) + "\n")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Reranker:
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("_features", None)  # of other weights, it may be
        return copied

    @cached_property
    def _features(self) -> tuple[NgramFeatures, Any]:
        """Those that have weights, and the weights."""
        used = {ngram: weight for ngram, weight in self.ngrams.items() if weight != 0}
        features = NgramFeatures([tuple(ngram.split(" ")) for ngram in used])
        return features, np.array([self.score, *used.values()])

    def check(self, weights: Mapping[str, float]) -> None:
        """Raises ValueError where search by these weights is not that of the first stage."""
        for name in sorted(self.weights.keys() | weights.keys()):
            own, other = self.weights.get(name, 0.0), weights.get(name, 0.0)
            if own != other:
                raise ValueError(
                    f"the second stage was trained on weights of which {name} is {own:g}, not {other:g}"
                )

    def of(self, forest: Forest, weights: Mapping[str, float] | None = None) -> Derivation | None:
        """Returns the best derivation by the first stage, with its score, of the string that is best by both
        stages, of those that the best edges by the first yield; None where there is none.

        ``weights`` are of features that the first stage does not know, as rules of the sentence's own may
        have. Raises FormatError for a first stage with other features, ForestError where the best derivations
        are too many to tell their n-grams."""
        scores = forest.scores({**(weights or {}), **self.weights})
        if forest.root < 0:
            return None
        features, weights = self._features
        split, origins = best_part(forest, scores, self.edges, features.order)
        best = split.viterbi(features.rows(split, scores[origins]) @ weights)
        assert best is not None
        return best_derivation(forest, best.tokens, scores)
