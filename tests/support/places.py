"""Places of a cluster within this process: work, items and results go there and back as pickles."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hiero.base.parallel import in_blocks


def _sent(content: Any) -> Any:
    return pickle.loads(pickle.dumps(content))


@dataclass
class PickledPlaces:
    """Several places. ``jobs`` has the items of each job that was sent to them, ``divisions`` the numbers of
    items of each division into parts, ``received`` the bytes of results, ``wide_items`` the numbers of items
    of each work that has threads of its own, here three."""

    places: int
    jobs: list[list[Any]] = field(default_factory=list)
    divisions: list[list[int]] = field(default_factory=list)
    received: int = 0
    wide_items: list[int] = field(default_factory=list)

    def job(self, work: Callable[[Any], Any]) -> _Job:
        self.jobs.append([])
        return _Job(self, _sent(work), self.jobs[-1])

    @property
    def machines(self) -> int:
        return self.places

    def wide(self, work: Callable[[Any, int], Any], items: Iterable[Any]) -> Iterator[Any]:
        sent = [_sent(item) for item in items]
        self.wide_items.append(len(sent))
        return (self.back(_sent(work)(item, 3)) for item in sent)

    def parts(self, make: Callable[..., Any], items: Sequence[Any], block: int) -> _Parts:
        blocks = -(-len(items) // block)
        count = max(1, min(self.places, blocks))
        bounds = [min(len(items), blocks * k // count * block) for k in range(count + 1)]
        self.divisions.append([end - begin for begin, end in pairwise(bounds)])
        return _Parts(self, [_sent(make)(a, _sent(items[a:b]), 1) for a, b in pairwise(bounds)])

    def back(self, result: Any) -> Any:
        """Returns a result as it comes back."""
        data = pickle.dumps(result)
        self.received += len(data)
        return pickle.loads(data)


@dataclass
class _Job:
    places: PickledPlaces
    work: Callable[[Any], Any]
    items: list[Any]

    def __call__(self, item: Any) -> Any:
        return next(self.map([item], 1))

    def map(self, items: Iterable[Any], together: int) -> Iterator[Any]:
        for block in in_blocks(items, together):
            self.items += block
            yield from self.places.back([self.work(item) for item in _sent(block)])


@dataclass
class _Parts:
    places: PickledPlaces
    states: list[Any]

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [self.places.back(_sent(function)(state, *_sent(arguments))) for state in self.states]
