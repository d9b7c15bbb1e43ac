"""Decoding from Python: one sentence, a batch on several threads, or an endless stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from hiero import _core
from hiero._core import Translation
from hiero.base.arguments import described
from hiero.base.parallel import ordered_map
from hiero.decode.model import Model
from hiero.decode.settings import DecodingArguments, DecodingSettings
from hiero.features.sentence import Sentence
from hiero.generators.protocol import with_generated

Keep = Literal["none", "forest", "chart", "splits"]
# By name, or in the order of a model's features.
Weights = Mapping[str, float] | npt.ArrayLike
_NO_WEIGHTS = (str, bytes, os.PathLike, type(None))
# A sentence, or one that has nothing but raw text or tokens.
Source = str | Sequence[str] | Sentence


@dataclass(frozen=True)
class Failure:
    """Stands in a batch's results for a sentence that could not be decoded."""

    source: Source
    error: Exception


class Decoder:
    """Translates with one model. Safe to call from any number of threads at once.

    >>> decoder = Decoder(model, pop_limit=200)
    >>> decoder.translate("je ne comprends pas").text
    'i do not understand'
    """

    def __init__(self, model: Model, **settings: Unpack[DecodingArguments]) -> None:
        """``settings`` override the model's: see ``DecodingSettings``. Raises ValueError for bad ones,
        TypeError for values of other types and for what is no model, such as its path."""
        if not isinstance(model, Model):
            given = described(model)
            raise TypeError(f"expected a hiero.Model, as hiero.Model.load(path) gives one, not {given}")
        self.model = model
        self.settings = DecodingSettings(**{**model.settings.model_dump(), **settings})
        self._weights: Mapping[str, float] | npt.NDArray[np.float64] = dict(model.weights)
        self._core = _core.Decoder(model.core, model.weight_vector(model.weights), self.settings.options())

    @property
    def weights(self) -> dict[str, float]:
        """By feature, those that it was given."""
        if isinstance(self._weights, np.ndarray):
            return dict(zip(self.model.feature_names, self._weights.tolist(), strict=True))
        return dict(self._weights)

    def __repr__(self) -> str:
        own = DecodingSettings()
        changed = [f", {name}={value!r}" for name, value in self.settings if value != getattr(own, name)]
        return f"Decoder({self.model!r}{''.join(changed)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _decoder_of, (self.model, self.settings.model_dump(), self._weights)

    def with_weights(self, weights: Weights) -> Decoder:
        """The same decoder with other weights, by name or as a vector in the order of the model's
        ``feature_names``, which is copied: no name is looked up then.

        Weights by name are merged over the decoder's own: features that they do not name keep theirs. A
        vector has the weights of all features.
        Raises FormatError for a weight that names no feature, ValueError for a vector of another length and
        for weights that are not finite, TypeError for what are no weights, such as a file's name.
        """
        if isinstance(weights, _NO_WEIGHTS):
            raise TypeError(f"weights: expected a mapping by names or a vector, not {described(weights)}")
        other = object.__new__(Decoder)
        other.model = self.model
        other.settings = self.settings
        if isinstance(weights, Mapping):
            other._weights = {**self.weights, **weights}
            vector = self.model.weight_vector(other._weights)
        else:
            other._weights = vector = np.array(weights, dtype=np.float64)
        other._core = self._core.with_weights(vector)
        return other

    def translate(
        self,
        source: Source,
        *,
        keep: Keep = "none",
        weights: Weights | None = None,
    ) -> Translation:
        """Translates one sentence, which may be raw text or tokens alone.

        Text becomes tokens as the model's ``text`` says, and the result's ``.text`` is detokenised; for a
        model that says nothing of it, tokens are what stands between white space.

        ``weights`` hold for this call only, merged as by ``with_weights``. Rules of the sentence may span
        any number of words and have features that the model has not, if ``weights`` names them. With
        ``keep="forest"`` the result has ``.forest`` and ``.kbest``, with ``keep="chart"`` a ``.chart`` of all
        that search found in every cell, with ``keep="splits"`` also the best derivation of every split point.
        A sentence that no derivation covers has no tokens and ``has_parse`` False; that is no error.
        Raises FormatError for rules that do not fit the model: labels that it lacks, the goal on a right-hand
        side, unary rules that form a cycle with others, features of neither model nor ``weights``; and for a
        parse of other words. Raises Error naming local features that raise, as for a sentence without what
        they need, or a rule generator.
        """
        core, own = self._core, {}
        text = self.model.text
        sentence = with_generated(Sentence.of(source).in_tokens(text.source), self.model.generators)
        rules = list(sentence.rules)
        if weights is not None:
            if rules and isinstance(weights, Mapping):
                names = {name for rule in rules for name in rule.features}
                brought = {name for name in names if name not in self.model.feature_names}
                own = {name: float(weight) for name, weight in weights.items() if name in brought}
                weights = {name: weight for name, weight in weights.items() if name not in own}
            core = self.with_weights(weights)._core
        result = core.translate(sentence.tokens, rules, list(own.items()), sentence, keep)
        if Sentence.of(source).text is not None:
            result.text = text.target.text(result.tokens)
        return result

    def translate_batch(
        self, lines: Iterable[Source], *, threads: int = 1, keep: Keep = "none"
    ) -> list[Translation]:
        """Translates all lines; results in order, the same for any number of threads.

        Raises the error of the first sentence that fails.
        """
        results = []
        for result in self.translate_iter(lines, threads=threads, keep=keep):
            if isinstance(result, Failure):
                raise result.error
            results.append(result)
        return results

    def translate_iter(
        self, lines: Iterable[Source], *, threads: int = 1, keep: Keep = "none"
    ) -> Iterator[Translation | Failure]:
        """Translates lines as they come, in order, a few per thread in memory at once.

        A sentence that fails gives a ``Failure``; the others go on. Raises TypeError for a single sentence in
        place of several.
        """
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise TypeError(f"expected lines, not {described(lines)}: translate() takes one sentence")
        return ordered_map(lambda line: self.attempt(line, keep=keep), lines, threads)

    def attempt(
        self,
        line: Source,
        *,
        keep: Keep = "none",
        weights: Weights | None = None,
    ) -> Translation | Failure:
        """``translate`` of one sentence; one that fails gives a ``Failure``."""
        try:
            return self.translate(line, keep=keep, weights=weights)
        except Exception as error:  # local features may raise anything
            return Failure(line, error)


def _decoder_of(model: Model, settings: Mapping[str, Any], weights: Weights) -> Decoder:
    return Decoder(model, **settings).with_weights(weights)
