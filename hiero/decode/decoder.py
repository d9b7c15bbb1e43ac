"""The decoder in Python: it translates one sentence, a batch on several threads, or a stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from hiero import _core
from hiero._core import Deadline, SourceLattice, Translation
from hiero.base.arguments import describe
from hiero.base.parallel import portable, spread_map
from hiero.decode.model import Model
from hiero.decode.settings import DecodingArguments, DecodingSettings
from hiero.features.sentence import Sentence, sentence_features
from hiero.generators.protocol import add_generated_rules

Keep = Literal["none", "forest", "chart", "splits"]
# A mapping from feature names, or a vector in the order of the model's features.
Weights = Mapping[str, float] | npt.ArrayLike
# Lines that go to a place of a cluster together.
_TOGETHER = 8
_STRING = SourceLattice([], [])  # a sentence that is no lattice
_NO_WEIGHTS = (str, bytes, os.PathLike, type(None))
# A sentence, its raw text, or its tokens.
Source = str | Sequence[str] | Sentence


@dataclass(frozen=True)
class Failure:
    """The result for a sentence that could not be decoded."""

    source: Source
    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return Failure, (self.source, portable(self.error).error)


class Decoder:
    """A decoder for one model. It can be used from any number of threads at once.

    >>> decoder = Decoder(model, pop_limit=200)
    >>> decoder.translate("je ne comprends pas").text
    'i do not understand'
    """

    def __init__(self, model: Model, **settings: Unpack[DecodingArguments]) -> None:
        """``settings`` override those of the model; see ``DecodingSettings``.

        Raises ValueError for invalid settings, TypeError for values of a wrong type and for an argument that
        is not a model, such as the path of one.
        """
        if not isinstance(model, Model):
            message = "expected a hiero.Model, as hiero.Model.load(path) returns one"
            raise TypeError(f"{message}, not {describe(model)}")
        self.model = model
        self.settings = DecodingSettings(**{**model.settings.model_dump(), **settings})
        self._weights: Mapping[str, float] | npt.NDArray[np.float64] = dict(model.weights)
        self._core = _core.Decoder(model.core, model.weight_vector(model.weights), self.settings.options())

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the decoder by feature name."""
        if isinstance(self._weights, np.ndarray):
            return dict(zip(self.model.feature_names, self._weights.tolist(), strict=True))
        return dict(self._weights)

    def __repr__(self) -> str:
        defaults = DecodingSettings()
        changed = [f", {name}={value!r}" for name, value in self.settings if value != getattr(defaults, name)]
        return f"Decoder({self.model!r}{''.join(changed)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_decoder, (self.model, self.settings.model_dump(), self._weights)

    def with_weights(self, weights: Weights) -> Decoder:
        """Returns a decoder with other weights and everything else shared.

        A mapping is merged over the weights of this decoder: features that it does not name keep theirs. A
        vector has the weights of all features, in the order of the model's ``feature_names``. It is copied,
        and setting it is faster, as no names are looked up.
        Raises FormatError for a weight that names no feature, ValueError for a vector of a wrong length and
        for weights that are not finite, TypeError for other types, such as the name of a file.
        """
        if isinstance(weights, _NO_WEIGHTS):
            raise TypeError(f"weights: expected a mapping by names or a vector, not {describe(weights)}")
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
        prefix: str | Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        deadline: Deadline | None = None,
    ) -> Translation:
        """Translates one sentence. A string is raw text, a list is tokens.

        The model's ``text`` says how raw text is tokenised, and how the result's ``.text`` is detokenised. By
        default, tokens are separated by white space.
        A sentence that no derivation covers has no tokens and ``has_parse`` is False; that is not an error.

        - ``source``: the sentence. Its rules may span any number of words. They may have features that the
          model does not have, if ``weights`` names them. So may the rules of marked phrases, whose features
          are ``Markup``, 1, with weight 0 unless it has another, and ``MarkupProbability``, with weight 1.
        - ``keep``: what the result contains besides the best derivation. With "forest" it has ``.forest`` and
          ``.kbest``, with "chart" a ``.chart`` of everything that the search found in every cell, with
          "splits" also the best derivation of every split point.
        - ``weights``: weights for this call only, merged as by ``with_weights``.
        - ``prefix``, ``references``: how the translation begins, or what it may be in all, as the fields of a
          ``Sentence``. The best derivation of a reference is found whatever the pop limit. If there is none,
          ``has_parse`` is False, and ``.uncovered_source`` and ``.uncovered_target`` say which words no rule
          accounts for.
        - ``deadline``: a moment at which the search ends with what it has, which is a translation all the
          same; ``was_late`` says so. Words are matched with rules before that, and features computed.

        Raises FormatError for rules that do not fit the model: for labels that it does not have, the goal on
        a right-hand side, unary rules that form a cycle, and features that are neither in the model nor in
        ``weights``; also for a parse of other words. Raises Error, naming the local features or the rule
        generator, if they raise an exception, for example because the sentence has no parse.
        """
        core, extra_weights = self._core, {}
        text = self.model.text
        said = {"prefix": prefix, "references": references}
        source = Sentence.from_source(
            source, **{name: value for name, value in said.items() if value is not None}
        )
        sentence = source.with_tokens(text.source)
        sentence = add_generated_rules(sentence, self.model.generators)
        rules = list(sentence.rules)
        if weights is not None:
            if isinstance(weights, Mapping):
                names = sentence_features(sentence).difference(self.model.feature_names)
                extra_weights = {name: float(weight) for name, weight in weights.items() if name in names}
                weights = {name: weight for name, weight in weights.items() if name not in extra_weights}
            core = self.with_weights(weights)._core
        constraint = sentence.constraint(text.target)
        markup = sentence.source_markup(text.source, text.target)
        lattice = _STRING if sentence.lattice is None else sentence.lattice.to_core()
        result = core.translate(
            sentence.tokens,
            rules,
            list(extra_weights.items()),
            sentence,
            constraint,
            markup,
            lattice,
            list(sentence.hidden),
            sentence.rule_span_limit,
            deadline,
            keep,
        )
        if source.is_raw:
            result.text = text.target.text(result.tokens, sentence.given_places(result, text.target))
        return result

    def translate_batch(
        self, lines: Iterable[Source], *, threads: int = 1, keep: Keep = "none"
    ) -> list[Translation]:
        """Translates all lines. The results are in order and do not depend on the number of threads.

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
        """Yields the translations of lines in order, as they arrive. A few per thread are in memory at once.

        A sentence that fails yields a ``Failure``, and the others are still translated. Raises TypeError for
        a single sentence instead of several.
        """
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise TypeError(f"expected lines, not {describe(lines)}: translate() takes one sentence")
        return spread_map(_Attempt(self, keep), lines, threads, _TOGETHER)

    def attempt(
        self,
        line: Source,
        *,
        keep: Keep = "none",
        weights: Weights | None = None,
    ) -> Translation | Failure:
        """Translates one sentence like ``translate``, but returns a ``Failure`` if that raises an error."""
        try:
            return self.translate(line, keep=keep, weights=weights)
        except Exception as error:  # local features may raise anything
            return Failure(line, error)


@dataclass(frozen=True)
class _Attempt:
    """Translates a line, on any thread or any place of a cluster."""

    decoder: Decoder
    keep: Keep

    def __call__(self, line: Source) -> Translation | Failure:
        return self.decoder.attempt(line, keep=self.keep)


def _make_decoder(model: Model, settings: Mapping[str, Any], weights: Weights) -> Decoder:
    return Decoder(model, **settings).with_weights(weights)
