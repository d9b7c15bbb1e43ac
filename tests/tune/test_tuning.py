"""The loop of tuning and its methods: sets with known best weights, resumed runs, and impossible weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import FormatError, read_weights
from hiero.base.files import temporary_name
from hiero.base.json_files import read_json
from hiero.evaluate import Bleu, Nist, Ter
from hiero.tune import HeldOut, TuneOptions, TuneResult, tune
from hiero.tune.methods.kinds import ForestMethod
from hiero.tune.methods.mert import Mert
from hiero.tune.methods.pro import ProOptions
from hiero.tune.methods.risk import Risk
from hiero.tune.methods.simplex import Simplex
from hiero.tune.pool.instances import SearchAware
from hiero.tune.pool.lists import AccumulatedLists
from hiero.tune.run.iterations import _Scores
from hiero.tune.run.limits import weight_problem
from hiero.tune.run.method import METHODS, TuningState
from hiero.tune.run.protocol import Array
from support.slow import with_slow
from support.synthetic_decoder import TableDecoder, solvable
from support.tuning import BEST, SMALL, START, run, takes_k, without_times


def best_score(directory_seed: int = 1) -> float:
    decoder, references = solvable(directory_seed, BEST)
    metric = Bleu(references)
    firsts = [found.hypotheses.texts()[0] for found in decoder.kbest(np.array(BEST), 1)]
    return float(metric.score(metric.statistics(firsts).sum(axis=0)))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_known_weights_are_found(method: str, tmp_path: Path) -> None:
    assert best_score() == pytest.approx(100)
    result = run(tmp_path, method, iterations=30, patience=10)
    scores = [iteration.score for iteration in result.iterations]
    assert scores[0] < 70 < 85 < scores[result.best] == max(scores)
    found = np.array(list(result.weights.values()))
    cosine = found @ np.array(BEST) / np.linalg.norm(found) / np.linalg.norm(BEST)
    assert cosine > 0.95
    assert read_weights(tmp_path / "weights.txt") == result.weights
    # It also translates other sentences better.
    other, references = solvable(2, BEST)
    metric = Bleu(references)

    def score(weights: Array) -> float:
        lines = [found.hypotheses.texts()[0] for found in other.kbest(weights, 1)]
        return float(metric.score(metric.statistics(lines).sum(axis=0)))

    assert score(found) > score(np.ones(4)) + 20


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(METHODS))
def test_resuming_gives_the_same(method: str, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", method, True, iterations=4)
    assert len(whole.iterations) > 1
    for kept in range(len(whole.iterations)):
        shutil.copytree(tmp_path / "whole", tmp_path / "part")
        for number in range(kept, len(whole.iterations)):
            shutil.rmtree(tmp_path / "part" / f"iteration-{number:03}")
        (tmp_path / "part" / "weights.txt").unlink()
        half = temporary_name(tmp_path / "part" / f"iteration-{kept:03}")
        half.mkdir()
        (half / "new.npz").write_text("half")
        assert run(tmp_path / "part", method, True, iterations=4) == whole
        assert not half.exists()
        assert files(tmp_path / "part") == files(tmp_path / "whole")
        shutil.rmtree(tmp_path / "part")


def files(directory: Path) -> dict[str, bytes]:
    """Reads the files of a run, without times, and without arrays, whose files say when they were written."""
    found = [path for path in directory.rglob("*") if path.is_file() and path.suffix != ".npz"]
    return {str(p.relative_to(directory)): without_times(p) for p in found if p.name != "times.json"}


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_run_that_has_ended_can_go_on(method: str, tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST, **SMALL)

    def run(name: str, iterations: int, patience: int = 9) -> TuneResult:
        k = 5 if takes_k(method) else None
        options = TuneOptions(method, k=k, iterations=iterations, patience=patience)
        return tune(decoder, Bleu(references), START, tmp_path / name, options)

    whole = run("whole", 4)
    assert len(whole.iterations) > 2
    part = run("part", 2)
    assert part.iterations == whole.iterations[:2] and part.reason == "2 iterations are done"
    decoder.decoded.clear()
    assert run("part", 4) == whole and files(tmp_path / "part") == files(tmp_path / "whole")
    forests = isinstance(METHODS[method], ForestMethod | Risk)
    assert len(decoder.decoded) == (0 if forests else len(whole.iterations) - 2)
    # Fewer iterations undo nothing and decode nothing.
    fewer, before = run("part", 1), decoder.generated
    assert fewer.iterations == whole.iterations and fewer.best == whole.best
    assert run("part", 3, 1).iterations == whole.iterations
    assert decoder.generated == before and files(tmp_path / "part") == files(tmp_path / "whole")


def test_a_run_out_of_patience_can_go_on(tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST, **SMALL)
    best = dict(zip(START, BEST, strict=True))

    def run(name: str, patience: int, iterations: int = 6) -> TuneResult:
        options = TuneOptions("mira-batch", k=5, patience=patience, iterations=iterations)
        return tune(decoder, Bleu(references), best, tmp_path / name, options)

    whole, part = run("whole", 3), run("part", 1)
    assert part.reason == "the metric has not risen by more than chance for 1 iteration"
    assert len(part.iterations) < len(whole.iterations)
    assert run("part", 3) == whole and files(tmp_path / "part") == files(tmp_path / "whole")
    assert run("part", 1).iterations == whole.iterations


def test_done_runs_decode_nothing(tmp_path: Path) -> None:
    run(tmp_path)
    decoder, references = solvable(1, BEST)
    tune(decoder, Bleu(references), START, tmp_path, TuneOptions(k=15, iterations=8))
    assert decoder.decoded == []


def test_weights_are_not_chosen_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path, iterations=4)
    asked: list[int] = []

    class Counted(Mert):
        def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
            asked.append(len(state.history))
            return super().choose(accumulated, state)

    shutil.rmtree(tmp_path / "iteration-003")
    monkeypatch.setitem(METHODS, "mert", Counted())
    assert run(tmp_path, iterations=4) == whole and asked == [3]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_seeds_and_threads(method: str, tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST, **SMALL)
    found = []
    for number, (seed, threads) in enumerate([(1, 1), (1, 2), (2, 1)]):
        k = 10 if takes_k(method) else None
        options = TuneOptions(method=method, seed=seed, k=k, iterations=4)
        result = tune(decoder, Bleu(references), START, tmp_path / str(number), options, threads=threads)
        found.append([list(iteration.weights.values()) for iteration in result.iterations])
    assert found[0] == found[1]
    # Minimum risk has no random choices.
    assert (found[1] == found[2]) == (method == "risk")


def test_other_runs_are_not_continued(tmp_path: Path) -> None:
    run(tmp_path)
    for change in ({"seed": 2}, {"k": 16}, {"method": "pro"}):
        with pytest.raises(FormatError, match="holds another run"):
            run(tmp_path, **change)  # type: ignore[arg-type]
    # A directory that is no run stays as it is, with its hidden files.
    (tmp_path / "other" / ".git").mkdir(parents=True)
    (tmp_path / "other" / ".git" / "config").write_text("mine")
    with pytest.raises(FileExistsError, match=r"exists and has no run\.json"):
        run(tmp_path / "other")
    assert (tmp_path / "other" / ".git" / "config").read_text() == "mine"
    # A directory with leftovers of other files than the run's record is no new run.
    foreign = temporary_name(tmp_path / "half" / "weights.txt")
    foreign.parent.mkdir()
    for name in (foreign, foreign.with_name(".run.json.hiero-mine")):
        name.write_text("mine")
        with pytest.raises(FileExistsError, match=r"exists and has no run\.json"):
            run(tmp_path / "half")
        assert name.read_text() == "mine"
        name.unlink()
    own = temporary_name(tmp_path / "half" / "run.json")
    own.write_text("{")
    assert run(tmp_path / "half", iterations=1).iterations and not own.exists()
    # Hidden files in a run's directory stay, except those that a killed process left.
    mine = [tmp_path / ".git" / "config", tmp_path / ".env", tmp_path / ".notes.2025-02_03"]
    mine.append(tmp_path / ".backup.2024-01" / "weights.txt")
    left = temporary_name(tmp_path / "weights.txt")
    for path in (*mine, left):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    run(tmp_path)
    assert all(path.read_text() == "mine" for path in mine) and not left.exists()
    # Other references are another run, whatever the decoder is.
    decoder, references = solvable(1, BEST)
    references[7] = ["other words"]
    with pytest.raises(FormatError, match="holds another run"):
        tune(decoder, Bleu(references), START, tmp_path, TuneOptions(k=15, iterations=8))
    kept = (tmp_path / "iteration-001" / "weights.txt").read_text()
    for text in ("", "f0 1\n", kept + "f4 1\n"):
        (tmp_path / "iteration-001" / "weights.txt").write_text(text)
        with pytest.raises(FormatError, match=r"weights\.txt: damaged: expected a weight of every feature"):
            run(tmp_path)
    (tmp_path / "iteration-001" / "weights.txt").write_text(kept)
    (tmp_path / "iteration-000" / "new.npz").write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(FormatError, match=r"new\.npz: damaged"):
        run(tmp_path)
    (tmp_path / "iteration-000" / "new.npz").unlink()
    for bad in ("", "{}", "[]", "null", '{"score": NaN, "held_out": null, "new": 1, "generated": 1}'):
        (tmp_path / "iteration-000" / "scores.json").write_text(bad)
        with pytest.raises(FormatError, match=r"scores\.json: damaged"):
            read_json(tmp_path / "iteration-000" / "scores.json", _Scores)
    (tmp_path / "run.json").write_bytes(b"\xff")
    with pytest.raises(FormatError, match="holds another run"):
        run(tmp_path)


@pytest.mark.parametrize("kind", [Bleu, Nist, Ter])
@pytest.mark.parametrize("method", ["mert", "hypergraph-mert", "simplex"])
def test_metrics(kind: type[Bleu], method: str, tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST, sentences=10)
    metric = kind(references)
    result = tune(decoder, metric, START, tmp_path, TuneOptions(method, iterations=20))
    assert result.iterations[result.best].score > result.iterations[0].score
    lines = [
        found.hypotheses.texts()[0] for found in decoder.kbest(np.array(list(result.weights.values())), 1)
    ]
    score = float(metric.score(metric.statistics(lines).sum(axis=0)))
    assert result.iterations[result.best].score == pytest.approx(100 - score if kind is Ter else score)


def test_held_out_sets_choose(tmp_path: Path) -> None:
    decoder, references = solvable(1, BEST, sentences=5)
    other, other_references = solvable(3, BEST)
    held_out = HeldOut(other, Bleu(other_references))
    result = tune(
        decoder, Bleu(references), START, tmp_path, TuneOptions(k=10, iterations=6), held_out=held_out
    )
    scores = [iteration.held_out for iteration in result.iterations]
    assert scores[result.best] == max(s for s in scores if s is not None)
    table = (tmp_path / "iterations.tsv").read_text().splitlines()
    assert len(table) == 1 + len(result.iterations)
    # Each iteration generates 5 times 60 hypotheses; those of the held-out set are not counted.
    generated = [60 * 5 * (number + 1) for number in range(len(result.iterations))]
    assert [iteration.generated for iteration in result.iterations] == generated
    assert [int(row.split("\t")[4]) for row in table[1:]] == generated
    for column, name in ((5, "choosing"), (6, "decoding")):
        assert table[0].split("\t")[column] == name
        seconds = [float(row.split("\t")[column]) for row in table[1:]]
        assert seconds == [round(getattr(iteration, name), 1) for iteration in result.iterations]
    assert all(0 < iteration.decoding < 60 for iteration in result.iterations)
    assert all(0 < iteration.choosing < 60 for iteration in result.iterations[1:])
    assert [float(row.split("\t")[2]) for row in table[1:]] == scores


def test_held_out_sentences_without_translations_count_as_empty() -> None:
    table, references = solvable(3, BEST, sentences=3, size=6)
    first, _, last = table.hypotheses
    features = [table.features[0], np.zeros((0, 4)), table.features[2]]
    held_out = HeldOut(TableDecoder([first, [], last], features), Bleu(references))
    weights = np.array(BEST)
    best = [first[int((features[0] @ weights).argmax())], [], last[int((features[2] @ weights).argmax())]]
    statistics = held_out.metric.statistics([" ".join(tokens) for tokens in best])
    assert (held_out.statistics(weights) == statistics).all()
    with pytest.raises(ValueError, match="3 lists for 4 sentences"):
        HeldOut(table, Bleu([*references, ["more"]])).statistics(weights)


@pytest.mark.slow
@pytest.mark.parametrize("method", with_slow(sorted(METHODS), "risk", "hypergraph-mert"))
def test_weights_stay_near_what_is_given(method: str, tmp_path: Path) -> None:
    # If a weight is fixed or bound, nothing but bounds keeps the others from growing.
    options = [{"fixed": ("f0",)}, {"bounds": {"f1": (-0.75, -0.5)}}, {"bounds": {"f1": (-np.inf, 0.0)}}]
    for number, option in enumerate(options):
        result = run(tmp_path / str(number), method, **option)  # type: ignore[arg-type]
        for iteration in result.iterations:
            assert max(map(abs, iteration.weights.values())) <= 10
        assert result.iterations[result.best].score > result.iterations[0].score
    # A start outside its bounds begins at them.
    assert result.iterations[0].weights["f1"] == 0.0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.0] * 4, "all weights are zero"),
        ([np.nan] * 4, "not finite"),
        ([1e9, 1, 1, 1], "has grown to 1e+09"),
    ],
)
def test_weights_gone_wrong(
    bad: list[float], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class GoesWrong(Mert):
        def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
            chosen = super().choose(accumulated, state)
            return np.array(bad) if len(state.history) == 2 else chosen

    monkeypatch.setitem(METHODS, "mert", GoesWrong())
    result = run(tmp_path)
    assert len(result.iterations) == 2 and message in result.reason
    assert read_weights(tmp_path / "weights.txt") == result.iterations[result.best].weights
    assert weight_problem(np.ones(3)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mert", "hypergraph-mert", "pro", "mira-batch"])
def test_whole_lists_are_no_reason_to_stop(method: str, tmp_path: Path) -> None:
    """A run goes on while weights improve, even if the first lists have all hypotheses."""
    k = {"k": 60} if takes_k(method) else {}
    result = run(tmp_path, method, iterations=30, **k)
    assert result.iterations[1].new == 0 and len(result.iterations) > 2
    assert result.iterations[result.best].score > 97
    assert result.iterations[result.best].score > result.iterations[1].score


def test_it_stops(tmp_path: Path) -> None:
    ended = run(tmp_path / "a", k=60, iterations=30)
    assert ended.reason == "decoding finds nothing new, and nothing better"
    assert ended.iterations[-1].new == 0 and ended.best == len(ended.iterations) - 2
    few = run(tmp_path / "b", "pro", iterations=2)
    assert few.reason == "2 iterations are done" and len(few.iterations) == 2
    # The first iteration judges the weights to start from.
    one = run(tmp_path / "d", iterations=1)
    assert one.reason.startswith(
        "1 iteration is done, which judged the weights to start from: to tune takes 2"
    )
    assert one.weights == run(tmp_path / "b", "pro", iterations=2).iterations[0].weights

    decoder, references = solvable(1, BEST)
    best = dict(zip(START, BEST, strict=True))
    stale = tune(decoder, Bleu(references), best, tmp_path / "c", TuneOptions("mira-batch", k=5, patience=2))
    assert stale.reason == "the metric has not risen by more than chance for 2 iterations" and stale.best == 0


def test_every_iteration_has_a_seed_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    class Noted(Mert):
        settles = False

        def choose(self, accumulated: AccumulatedLists, state: TuningState) -> Array:
            seeds.append(state.seed)
            return state.weights + 0.1

    monkeypatch.setitem(METHODS, "mert", Noted())
    for seed in (1, 2, 1):
        run(tmp_path / str(len(seeds)), seed=seed, iterations=5, patience=9)
    assert len(set(seeds[:8])) == 8 and seeds[8:] == seeds[:4]


def test_run_files(tmp_path: Path) -> None:
    result = run(tmp_path, seed=np.int64(1))
    settings = json.loads((tmp_path / "run.json").read_text())
    features = hiero.FeatureNames(list(START))
    assert settings["features"] == {"number": 4, "fingerprint": features.fingerprint}
    assert settings["options"]["seed"] == 1
    assert str(tmp_path) not in (tmp_path / "run.json").read_text()
    for number, iteration in enumerate(result.iterations):
        assert read_weights(tmp_path / f"iteration-{number:03}" / "weights.txt") == iteration.weights


def test_options_are_those_of_the_method() -> None:
    assert TuneOptions().settings == Mert() == METHODS["mert"]
    assert TuneOptions("simplex", restarts=2, free_scale=True, k=None).settings == Simplex(
        restarts=2, free_scale=True
    )
    identity = TuneOptions("pro", k=7, iterations=3, seed=5, fixed=("a",), bounds={"b": (0, 1)}).identity()
    known = {"method": "pro", "seed": 5, "fixed": ("a",), "bounds": {"b": (0, 1)}, "k": 7}
    assert identity == known | {
        **ProOptions().model_dump(),
        **SearchAware().model_dump(),
        "length_search": False,
    }
    for wrong, message in (
        ({"method": "pro", "restarts": 1}, "pro takes no restarts"),
        ({"free_scale": True}, "mert takes no free_scale, which is an option of simplex"),
        ({"patience": 0}, "patience must be at least 1, not 0"),
        ({"k": "many"}, "k: Input should be a valid integer"),
        ({"seed": -1}, "seed must be at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            TuneOptions(**wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no method has an option 'itterations'"):
        TuneOptions(itterations=None)
    assert TuneOptions(free_scale=False) == TuneOptions() != TuneOptions(seed=2) == TuneOptions().with_seed(2)
    simplex = TuneOptions("simplex", restarts=3, free_scale=True, fixed=["a"], bounds={"b": (0, 1)})
    assert simplex.with_seed(1) == simplex and "restarts=3" in repr(simplex)
    with pytest.raises(AttributeError):
        simplex.method = "mert"  # type: ignore[misc]
