"""Records of an experiment: the sets that it uses, the systems that it compares, and their results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hiero.evaluate import Bleu
from hiero.features.sentence import Sentence
from hiero.tune import TuneOptions
from hiero.tune.pool.span_references import Links
from hiero.tune.run.protocol import Array


@dataclass(frozen=True)
class LabelledSet:
    """Source sentences with their references, under a name.

    ``references`` has lines of tokens for each sentence, ``genres`` the indices of the sentences of each
    genre, and ``links`` word links for each reference of each sentence, where there are some.
    """

    name: str
    sentences: Sequence[Sentence]
    references: Sequence[Sequence[str]]
    genres: Mapping[str, Sequence[int]] = field(default_factory=dict)
    links: Sequence[Sequence[Links]] | None = None

    @property
    def is_parsed(self) -> bool:
        """Whether all sentences but blank ones have a parse."""
        return all(sentence.parse is not None or sentence.is_blank for sentence in self.sentences)

    @property
    def has_parses(self) -> bool:
        """Whether any sentence has a parse."""
        return any(sentence.parse is not None for sentence in self.sentences)

    def shorter_than(self, words: int) -> LabelledSet:
        """Returns the sentences of fewer words; all must be in tokens. Raises ValueError if there is none."""
        short = [i for i, sentence in enumerate(self.sentences) if len(sentence.tokens) < words]
        if not short:
            raise ValueError("no sentence of the tuning set is short enough to tune on")
        return LabelledSet(
            self.name,
            [self.sentences[i] for i in short],
            [self.references[i] for i in short],
            links=None if self.links is None else [self.links[i] for i in short],
        )


@dataclass(frozen=True)
class System:
    """A row of a table: a tuning method with its settings, on some features or sentences.

    ``slug`` names its folder. ``method`` names the option of the experiment that holds the settings of the
    method; ``settings`` are added to these. ``variant`` says what else differs, in words that the experiment
    defines. ``options`` are the options of the experiment on which this system's results depend, besides
    those on which the results of all systems do.
    """

    name: str
    slug: str
    method: str
    settings: tuple[tuple[str, Any], ...] = ()
    variant: str = ""
    options: tuple[str, ...] = ()


# Methods whose patience is their own; the experiments gave others as many iterations without a rise.
_OWN_PATIENCE = ("mira", "pro", "simplex")
_PATIENCE = 5


def published_options(method: str, settings: Mapping[str, Any], fixed: Sequence[str] = ()) -> TuneOptions:
    """Returns options of tuning as the papers have it: every rise of the metric counts, and search-aware
    tuning adds all derivations that it recovers. ``settings`` come before these. Raises the errors of
    ``TuneOptions``."""
    published: dict[str, Any] = {"chance": 1.0}
    if method not in _OWN_PATIENCE:
        published["patience"] = _PATIENCE
    if settings.get("search_aware") is not None:
        published["margin"] = math.inf
    return TuneOptions(method, fixed=fixed, **{**published, **settings})


@dataclass(frozen=True)
class Outcome:
    """The runs of a system.

    ``weights`` are those of the features that were tuned, ``tuning`` BLEU of the tuning set with them,
    ``iterations`` how often weights were chosen until the run stopped; each has one entry for a run.
    ``statistics`` has BLEU's statistics by the names of the sets, float64 (runs, segments, 10).
    """

    weights: Sequence[Mapping[str, float]]
    tuning: Sequence[float]
    iterations: Sequence[int]
    statistics: Mapping[str, Array]


@dataclass(frozen=True)
class Results:
    """The runs of all systems, and the sets that these translated with their metrics."""

    outcomes: Mapping[System, Outcome]
    sets: Sequence[LabelledSet]
    metrics: Mapping[str, Bleu]
