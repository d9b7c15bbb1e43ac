"""The kinds of methods by the hypotheses that they learn from: k-best lists, forests, or one translation of
each sentence. A new method is a subclass of one of them."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from hiero.evaluate.bleu import Bleu
from hiero.evaluate.metric import Metric
from hiero.tune.pool.forests import AccumulatedForests
from hiero.tune.pool.instances import SearchAware
from hiero.tune.pool.lists import AccumulatedInstances, AccumulatedLists
from hiero.tune.run.method import Method

ListLength = Annotated[int, Field(ge=1, description="distinct translations of each sentence")]


class ListMethod(SearchAware, Method[AccumulatedLists]):
    """A method that learns from k-best lists. It has ``k``, and the options of search-aware tuning, which
    need no code of its own: the pool then has spans of sentences as further instances."""

    k: ListLength = 100

    @property
    def steps_back(self) -> bool:
        """Derivations that search has pruned may teach weights with which search finds nothing good. With an
        infinite margin the method is as published, which does not step back."""
        return self.search_aware is not None and math.isfinite(self.margin)

    def empty(self, metric: Metric, features: int) -> AccumulatedLists:
        if self.search_aware is None:
            return AccumulatedLists(metric, features, self.k)
        if not isinstance(metric, Bleu):
            raise ValueError(f"search-aware tuning learns from {Bleu.name} alone")
        return AccumulatedInstances(metric, features, self.k, self)


class ForestMethod(Method[AccumulatedForests]):
    """A method that learns from forests."""

    def empty(self, metric: Metric, features: int) -> AccumulatedForests:
        return AccumulatedForests(metric)


class DirectMethod(Method[AccumulatedLists]):
    """A method that learns from the metric alone, for which one translation of each sentence is enough."""

    def empty(self, metric: Metric, features: int) -> AccumulatedLists:
        return AccumulatedLists(metric, features, 1)
