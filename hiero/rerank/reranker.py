"""The trained second stage, which chooses a forest's translation by the first stage's score and n-grams."""

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

# Most words of an n-gram that a forest can be annotated with.
_LONGEST = 100


class Reranker(BaseModel, metaclass=OneLineErrors):
    """A second stage: the weights of the first stage's features, from which its score is computed, the weight
    of that score, and those of n-grams, whose words are separated by blanks. Other n-grams have weight 0.
    ``share`` says by what the trained weights of n-grams were multiplied to give ``ngrams``.

    >>> Reranker(weights={"LM0": 1.0}, score=0.5, ngrams={"the house": 0.25}).save("r.json")  # doctest: +SKIP
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: Literal["hiero reranker"] = "hiero reranker"
    weights: Mapping[str, float]
    score: float
    ngrams: Mapping[str, float] = Field(repr=False)
    edges: int = Field(3000, ge=1)
    share: float = Field(1.0, ge=0)

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
        """Reads a file that ``save`` wrote. Raises FormatError for another file, OSError."""
        return read_json(Path(path), Reranker)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a JSON file with weights that are exact to the last bit; n-grams with weight 0 are left
        out."""
        content: dict[str, Any] = self.model_dump()
        content["ngrams"] = {ngram: weight for ngram, weight in self.ngrams.items() if weight != 0}
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=0) + "\n")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Reranker:
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("_features", None)  # computed from weights that the copy may not have
        return copied

    def with_share(self, share: float) -> Reranker:
        """Returns a second stage whose weights of n-grams are multiplied by a share, at least 0."""
        ngrams = {ngram: share * weight for ngram, weight in self.ngrams.items()}
        return self.model_copy(update={"ngrams": ngrams, "share": share * self.share})

    @cached_property
    def _features(self) -> tuple[NgramFeatures, Any]:
        """Features with a weight other than 0, and their weights, float64 (features)."""
        used = {ngram: weight for ngram, weight in self.ngrams.items() if weight != 0}
        features = NgramFeatures([tuple(ngram.split(" ")) for ngram in used])
        return features, np.array([self.score, *used.values()])

    def check(self, weights: Mapping[str, float]) -> None:
        """Raises ValueError if these weights of a decoder are not those of the first stage."""
        for name in sorted(self.weights.keys() | weights.keys()):
            expected, other = self.weights.get(name, 0.0), weights.get(name, 0.0)
            if expected != other:
                raise ValueError(
                    f"the second stage was trained on weights of which {name} is {expected:g}, not {other:g}"
                )

    def choose(self, forest: Forest, weights: Mapping[str, float] | None = None) -> Derivation | None:
        """Chooses the string that is best by both stages among those of the best edges by the first stage,
        and returns its best derivation by the first stage, with the score. Returns None if there is no
        derivation.

        ``weights`` are those of features that the first stage does not have, such as features of sentence
        rules. Raises FormatError for a first stage with other features, ForestError if the best derivations
        are too many to annotate with n-grams."""
        scores = forest.scores({**(weights or {}), **self.weights})
        if forest.root < 0:
            return None
        features, values = self._features
        split, origins = best_part(forest, scores, self.edges, features.order)
        best = split.viterbi(features.rows(split, scores[origins]) @ values)
        assert best is not None
        return best_derivation(forest, best.tokens, scores)
