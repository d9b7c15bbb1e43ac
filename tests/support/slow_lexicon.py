"""Log odds of sentence pairs in plain Python: a slow twin of ``LinkLexicon``."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

Links = Sequence[tuple[int, int]]


class _Side:
    """Counts of the words of one side: how often each occurs, and how many links it has."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.links: Counter[str] = Counter()
        self.total = 0

    def add(self, words: Sequence[str], linked: Iterable[str]) -> None:
        self.words.update(words)
        self.links.update(linked)
        self.total += len(words)


class SlowLexicon:
    """Counts of the words of sentence pairs and of their links."""

    def __init__(self) -> None:
        self._source, self._target = _Side(), _Side()
        self._counts: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def add(self, source: Sequence[str], target: Sequence[str], links: Links) -> None:
        """Adds a sentence pair with the links between positions of its words."""
        self._source.add(source, (source[i] for i, _ in links))
        self._target.add(target, (target[j] for _, j in links))
        for i, j in links:
            counts = self._counts[source[i]]
            counts[target[j]] = counts.get(target[j], 0) + 1

    def log_odds(self, source: Sequence[str], target: Sequence[str], links: Links) -> float:
        """Returns the log odds of a sentence pair, which was added, by the counts of all other pairs."""
        own_source, own_target = _Side(), _Side()
        own_source.add(source, (source[i] for i, _ in links))
        own_target.add(target, (target[j] for _, j in links))
        own_links = Counter((source[i], target[j]) for i, j in links)
        # For each word, the sum of c(f, e) / (c(f) + 1) over the words of the other side.
        source_sums: defaultdict[str, float] = defaultdict(float)
        target_sums: defaultdict[str, float] = defaultdict(float)
        source_rates = {f: 1 / (self._source.links[f] - own_source.links[f] + 1) for f in own_source.words}
        target_rates = {e: 1 / (self._target.links[e] - own_target.links[e] + 1) for e in own_target.words}
        for f, times in own_source.words.items():
            counts = self._counts.get(f, {})
            # In one order, so that sums are the same in every run.
            for e, times_e in own_target.words.items():
                if e in counts:
                    count = counts[e] - own_links[f, e]
                    target_sums[e] += times * count * source_rates[f]
                    source_sums[f] += times_e * count * target_rates[e]
        forward = _log_odds(self._target, own_target, target_sums, source, source_rates)
        backward = _log_odds(self._source, own_source, source_sums, target, target_rates)
        return (forward + backward) / 2


def _log_odds(
    side: _Side, own: _Side, sums: dict[str, float], others: Sequence[str], rates: dict[str, float]
) -> float:
    """Returns the sum of log p(e | F) / p(e) over the words of a side. ``others`` are the words F, ``rates``
    has 1 / (c(f) + 1) for each, and ``sums`` the sum of c(f, e) / (c(f) + 1) for each word e."""
    unseen = 1 + math.fsum(rates[f] for f in others)
    total = side.total - own.total
    odds = []
    for e, times in own.words.items():
        if count := side.words[e] - times:
            odds.append(times * math.log((unseen + sums[e] * total / count) / (len(others) + 1)))
    return math.fsum(odds)
