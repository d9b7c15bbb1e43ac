"""Tests of when a run of tuning stops: without a rise of the metric that is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from hiero import FormatError
from hiero.evaluate import Bleu, Metric, Runs, Ter, paired_bootstrap
from hiero.tune import DirectMethod, HeldOut, TuneOptions, TuneResult, tune
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.method import METHODS, TuningState
from hiero.tune.run.protocol import Array
from hiero.tune.run.stopping import Course
from support.seeds import each_seed
from support.synthetic_decoder import TableDecoder

SENTENCES = 30
REFERENCES = [[f"a{k} b c d e f"] for k in range(SENTENCES)]


def lines(good: Sequence[int]) -> list[str]:
    """Returns translations, of which those of some sentences are right."""
    return [f"a{k} b c d e {'f' if k in set(good) else 'x'}" for k in range(SENTENCES)]


def since(metric: Metric, chance: float, translations: Sequence[list[str]]) -> list[int]:
    """Returns the number of iterations since the last rise after each of these translations of the set."""
    return [rises for rises, _ in course_of(metric, chance, translations)]


def course_of(metric: Metric, chance: float, translations: Sequence[list[str]]) -> list[tuple[int, int]]:
    """Returns the same, with the number of falls up to now."""
    course, found = Course(metric, chance), []
    for each in translations:
        course.add(metric.statistics(each))
        found.append((course.since_rise, course.falls))
    return found


@each_seed(range(50))
def test_rises_and_falls_are_more_than_chance(seed: int) -> None:
    """Compares with the definition: an iteration against that of the last rise and against the best, with a
    random share."""
    rng = np.random.default_rng(seed)
    metric: Metric = Ter(REFERENCES) if seed % 2 else Bleu(REFERENCES)
    chance = float(rng.choice([0, 0.01, 0.05, 0.3, 1]))
    sets = [np.flatnonzero(rng.random(SENTENCES) < rng.uniform(0.2, 0.9)).tolist() for _ in range(8)]
    last, best, falls, expected = 0, 0, 0, [(0, 0)]
    runs = [Runs.of(metric, metric.statistics(lines(good))[None]) for good in sets]
    for number in range(1, len(sets)):
        is_higher = len(sets[number]) > len(sets[last])
        if is_higher and paired_bootstrap(metric, runs[last], runs[number]) <= chance:
            last = number
        if len(sets[number]) >= len(sets[best]):
            best = number
        is_fall = len(sets[number]) < len(sets[best])
        is_fall = is_fall and paired_bootstrap(metric, runs[number], runs[best]) <= chance
        falls = falls + 1 if is_fall else 0
        expected.append((number - last, falls))
    assert course_of(metric, chance, [lines(good) for good in sets]) == expected


def test_small_steps_add_up() -> None:
    """Each step is chance, but the third is far above the first."""
    steps = [lines(range(10 + 2 * k)) for k in range(7)]
    found = since(Bleu(REFERENCES), 0.01, steps)
    assert found[1] == 1 and 0 in found[2:]
    assert since(Bleu(REFERENCES), 1, steps) == [0] * 7
    assert since(Bleu(REFERENCES), 1, [steps[1], steps[1], steps[0], steps[2]]) == [0, 1, 2, 0]


class OneStep(DirectMethod):
    """A method that moves by one from the first hypothesis of a table to the next."""

    def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
        return state.weights + np.array([1.0, 0.0])


def stepped(
    folder: Path,
    good: Sequence[int],
    held_out: Sequence[int] | None = None,
    **options: object,
) -> TuneResult:
    """Runs ``OneStep`` on a set of which so many sentences are right in each iteration."""

    def decoder_of(counts: Sequence[int]) -> TableDecoder:
        # Hypothesis k is the best by the weight k + 1: its score is the distance from there.
        texts = [lines(range(count)) for count in counts]
        hypotheses = [[texts[k][s].split() for k in range(len(counts))] for s in range(SENTENCES)]
        steps = np.arange(1, len(counts) + 1)
        features = np.stack([2 * steps, -(steps**2)], axis=1).astype(float)
        return TableDecoder(hypotheses, [features] * SENTENCES)

    other = None if held_out is None else HeldOut(decoder_of(held_out), Bleu(REFERENCES))
    start = {"f0": 1.0, "f1": 1.0}
    settings = TuneOptions("steps", fixed=["f1"], iterations=len(good), **options)  # type: ignore[arg-type]
    return tune(decoder_of(good), Bleu(REFERENCES), start, folder, settings, held_out=other)


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "steps", OneStep())


def test_a_run_stops_and_goes_on(tmp_path: Path) -> None:
    good = [5, 15, 16, 17, 16, 28, 29, 30]
    run = stepped(tmp_path / "a", good)
    assert len(run.iterations) == 5 and run.best == 3
    assert run.reason == "the metric has not risen by more than chance for 3 iterations"
    # More patience finds the next rise, as it would have from the start.
    whole = stepped(tmp_path / "b", good, patience=4)
    assert stepped(tmp_path / "a", good, patience=4) == whole and len(whole.iterations) == 8
    # And so does taking every rise for one.
    assert len(stepped(tmp_path / "c", good, chance=1).iterations) == 8
    every = stepped(tmp_path / "d", [5, 4, 4, 4], chance=1)
    assert every.reason == "the metric has not risen for 3 iterations"


def test_rises_are_those_of_the_held_out_set(tmp_path: Path) -> None:
    rising, flat = [5, 10, 15, 20, 25, 30], [5, 5, 5, 5, 5, 5]
    assert len(stepped(tmp_path / "a", rising, flat).iterations) == 4
    assert len(stepped(tmp_path / "b", flat, rising, patience=1).iterations) == 6


def test_a_method_may_step_back_from_a_fall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Falls make the method start from the best weights, and go a half, then a quarter of its way."""
    starts: list[float] = []

    class Searching(DirectMethod):
        @property
        def steps_back(self) -> bool:
            return True

        def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
            starts.append(float(state.weights[0]))
            return state.weights + np.array([8.0, 0.0])

    # The first hypotheses win while the weight is small: those of a weight of 9 and 5 are bad, of 3 good.
    good = {1: 15, 9: 5, 5: 5, 3: 28, 11: 29}
    texts = [lines(range(count)) for count in good.values()]
    hypotheses = [[texts[k][s].split() for k in range(len(good))] for s in range(SENTENCES)]
    places = np.array(list(good), dtype=float)
    features = [np.stack([2 * places, -(places**2)], axis=1)] * SENTENCES
    monkeypatch.setitem(METHODS, "steps", Searching())
    options = TuneOptions("steps", fixed=["f1"], iterations=5)
    decoder = TableDecoder(hypotheses, features)
    result = tune(decoder, Bleu(REFERENCES), {"f0": 1.0, "f1": 1.0}, tmp_path, options)
    assert [iteration.weights["f0"] for iteration in result.iterations] == [1, 9, 5, 3, 11]
    assert starts == [1, 1, 1, 3] and result.best == 4


def test_search_aware_methods_step_back() -> None:
    for method in ("mert", "pro", "mira-batch"):
        assert not METHODS[method].steps_back
        assert TuneOptions(method, search_aware="guided").settings.steps_back
        assert not TuneOptions(method, search_aware="guided", margin=np.inf).settings.steps_back
    assert not any(method.steps_back for method in METHODS.values())


def test_damaged_statistics_are_named(tmp_path: Path) -> None:
    good = [5, 15, 16]
    stepped(tmp_path, good)
    path = tmp_path / "iteration-001" / "judged.npz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FormatError, match=r"iteration-001/judged\.npz: damaged.*delete .*iteration-001, and"):
        stepped(tmp_path, good)
