"""Scores of parts of a test set: against counting one sentence or one word at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hiero.evaluate import Bleu
from hiero.evaluate.breakdown import Bins, f1, scores_by_bin, word_matches

WORDS = ["the", "a", "cat", "dog", "sleeps", "sees", "on", "mat"]


def sentence(rng: random.Random) -> list[str]:
    return [rng.choice(WORDS) for _ in range(rng.randrange(1, 9))]


def slow_bin(starts: tuple[int, ...], value: int) -> int:
    return max(place for place, start in enumerate(starts) if start <= value)


def test_bins() -> None:
    bins = Bins(0, 1, 2, 5, 1000)
    assert bins.names == ["0", "1", "2 to 4", "5 to 999", "1,000 or more"] and len(bins) == 5
    values = [*range(12), 999, 1000, 10**9]
    assert bins.of(values).tolist() == [slow_bin(bins.starts, value) for value in values]
    assert Bins(3).names == ["3 or more"] and Bins(3).of([]).tolist() == []
    with pytest.raises(ValueError, match="below 3"):
        Bins(3).of([5, 2])
    for starts in ((), (1, 1), (2, 1)):
        with pytest.raises(ValueError, match="starts that increase"):
            Bins(*starts)


def test_scores_by_bin() -> None:
    """The score of a bin is that of a metric of its sentences alone."""
    rng = random.Random(1)
    references = [[" ".join(sentence(rng)) for _ in range(2)] for _ in range(40)]
    lines = [" ".join(sentence(rng)) for _ in references]
    bins = [rng.randrange(3) + (rng.random() < 0.3) for _ in lines]
    metric = Bleu(references)
    scores = scores_by_bin(metric, metric.statistics(lines), bins, 6)
    for number, score in enumerate(scores):
        places = [place for place, one in enumerate(bins) if one == number]
        if not places:
            assert score is None
            continue
        alone = Bleu([references[place] for place in places])
        expected = float(alone.score(alone.statistics([lines[place] for place in places]).sum(axis=0)))
        assert score == pytest.approx(expected)
    assert [score is None for score in scores] == [False] * 4 + [True] * 2
    assert len({round(score, 3) for score in scores if score is not None}) == 4


def slow_matches(reference: list[str], words: list[str]) -> list[str]:
    """The words that both have, found by crossing them out one at a time."""
    left, found = list(reference), []
    for word in words:
        if word in left:
            left.remove(word)
            found.append(word)
    return found


def test_word_matches() -> None:
    rng = random.Random(2)
    bin_of = {word: place % 3 for place, word in enumerate(WORDS)}
    references = [[sentence(rng) for _ in range(rng.randrange(1, 4))] for _ in range(60)]
    hypotheses = [sentence(rng) for _ in references]
    expected = np.zeros((4, 3), dtype=int)
    for segment, words in zip(references, hypotheses, strict=True):
        for reference in segment:
            for column, part in enumerate((slow_matches(reference, words), words, reference)):
                for word in part:
                    expected[bin_of[word], column] += 1
    matches = word_matches(references, hypotheses, bin_of.__getitem__, 4)
    assert matches.tolist() == expected.tolist()
    assert (matches[:3, 0] < matches[:3, 1]).all() and (matches[:3, 1] != matches[:3, 2]).any()
    with pytest.raises(ValueError, match="zip"):
        word_matches(references, hypotheses[1:], bin_of.__getitem__, 4)


def test_f1() -> None:
    """F1 is the harmonic mean of precision and recall."""
    rows = [[3, 4, 6], [0, 2, 5], [0, 0, 0], [2, 2, 2], [0, 0, 4]]
    assert f1(rows) == [pytest.approx(2 / (4 / 3 + 6 / 3)), 0.0, None, 1.0, 0.0]
