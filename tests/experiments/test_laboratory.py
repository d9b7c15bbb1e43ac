"""The parts that experiments share: seeds and folders of runs, files of their results, tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero.base.weights import write_weights
from hiero.evaluate import Bleu, approximate_randomization, paired_bootstrap
from hiero.experiments import laboratory, li2009, zhai2015
from hiero.experiments.li2009 import LARGE, Li2009, Li2009Options
from hiero.experiments.li2009 import MERT as LI_MERT
from hiero.experiments.report import Column, Table, columns, compare, score_table, scores_csv
from hiero.experiments.systems import LabelledSet, Outcome, Results, System
from hiero.experiments.zhai2015 import GUIDED, MERT, Zhai2015, Zhai2015Options, systems
from hiero.features.sentence import Sentence
from hiero.tune.analysis import Analysis
from hiero.tune.run.results import Iteration, TuneResult
from support.paths import FRENCH


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


@pytest.fixture(scope="module")
def test_set(model: hiero.Model) -> LabelledSet:
    """Returns a set whose references are translations by other weights."""
    lines = [line.split() for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "WordPenalty": 0.5})
    texts = [[" ".join(result.tokens)] for result in other.translate_batch(lines)]
    return LabelledSet("test", [Sentence(tokens=line) for line in lines], texts)


def zhai(model: hiero.Model, test_set: LabelledSet, folder: Path, **options: Any) -> Zhai2015:
    return Zhai2015(
        model=model, tuning=test_set, tests=[test_set], folder=folder, options=Zhai2015Options(**options)
    )


def li(model: hiero.Model, test_set: LabelledSet, folder: Path, options: Li2009Options) -> Li2009:
    return Li2009(model=model, tuning=test_set, tests=[], folder=folder, options=options)


def test_every_run_has_a_seed_and_a_folder(
    model: hiero.Model, test_set: LabelledSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def tuned(
        decoder: Any, metric: Any, start: Mapping[str, float], folder: Path, options: Any, **more: Any
    ) -> TuneResult:
        calls.append((folder, options.seed, options.settings.k, options.settings.restarts, more["threads"]))
        number = len(calls)
        iterations = [
            Iteration(
                {**start, "Glue": number + i}, 10.0 * number + i, None, 1, 1, choosing=0.5, decoding=2.0
            )
            for i in range(number + 1)
        ]
        return TuneResult(iterations, number - 1, "enough")

    monkeypatch.setattr(laboratory, "tune", tuned)
    zhai_laboratory = zhai(model, test_set, tmp_path, runs=3, seed=5, k=7, mert={"restarts": 2})
    zhai_laboratory.threads = 2
    outcome = zhai_laboratory.outcome(MERT)
    assert calls == [(tmp_path / "mert" / f"run-{k}", 4 + k, 7, 2, 2) for k in (1, 2, 3)]
    # Weights and scores are those of the best iteration.
    assert [weights["Glue"] for weights in outcome.weights] == [1, 3, 5]
    assert outcome.tuning == [10.0, 21.0, 32.0] and outcome.iterations == [1, 2, 3]
    assert outcome.statistics["test"].shape == (3, len(test_set.sentences), 10)


def test_a_system_is_tuned_on_its_sentences_with_its_decoder(
    model: hiero.Model, test_set: LabelledSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MERT-S is tuned with the larger beam, and rows of Figure 5 on short sentences; all translate alike."""
    calls = []

    def tuned(
        decoder: Any, metric: Any, start: Mapping[str, float], folder: Path, options: Any, **more: Any
    ) -> TuneResult:
        calls.append((decoder._decoder.settings.pop_limit, len(decoder._sentences), metric.segments))
        return TuneResult([Iteration(start, 1.0, None, 1, 1)], 0, "enough")

    monkeypatch.setattr(laboratory, "tune", tuned)
    options = {"runs": 1, "pop_limit": 7, "larger": 40, "spans": {"short_sentence": 6}}
    experiment = zhai(model, test_set, tmp_path, **options)
    systems = MERT, zhai2015.TABLE_1[1], zhai2015.figure_5(experiment.options)[0]
    statistics = [experiment.outcome(system).statistics["test"] for system in systems]
    every, short = len(test_set.sentences), sum(len(one.tokens) < 6 for one in test_set.sentences)
    assert calls == [(7, every, every), (40, every, every), (7, short, short)] and 0 < short < every
    assert all(np.array_equal(one, statistics[0]) for one in statistics)


def test_seeds_of_second_stages(model: hiero.Model, test_set: LabelledSet, tmp_path: Path) -> None:
    """Seeds draw the weights that runs start from, if the method draws nothing at random."""
    starts = []
    for seed in (3, 4):
        options = Li2009Options(seed=seed, second={"folds": 4})
        li_laboratory = li(model, test_set, tmp_path, options)
        assert [li_laboratory.second_options(run).seed for run in range(3)] == [seed, seed + 1, seed + 2]
        assert {li_laboratory.second_options(run).folds for run in range(3)} == {4}
        trial = li_laboratory.trial(LI_MERT)
        starts += [tuple(li_laboratory.start(trial, run).values()) for run in (1, 2)]
    assert len(set(starts)) == 4
    options = Li2009Options(seed=3, second={"seed": 9})
    assert li(model, test_set, tmp_path, options).second_options(1).seed == 9


def test_translations_are_those_of_their_weights(
    model: hiero.Model, test_set: LabelledSet, tmp_path: Path
) -> None:
    """Sets are translated once with the same weights, and again with others, by another decoder, or another
    set."""
    zhai_laboratory = zhai(model, test_set, tmp_path)
    translated: list[str] = []

    def lines(name: str, weights: Mapping[str, float]) -> list[str]:
        def translate() -> list[str]:
            translated.append(f"{name}{len(translated)}")
            return [translated[-1]]

        return zhai_laboratory.lines(tmp_path / "run-1", name, weights, translate)

    assert lines("a", {"LM0": 1.0}) == ["a0"] == lines("a", {"LM0": 1.0})
    assert lines("b", {"LM0": 1.0}) == ["b1"]
    assert lines("a", {"LM0": 2.0}) == ["a2"] == lines("a", {"LM0": 2.0})
    assert lines("a", {"LM0": 1.0}) == ["a3"] and lines("b", {"LM0": 1.0}) == ["b1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-1.a.json", "run-1.b.json"]
    # The same holds for decoders that are not the trial's.
    decoder = zhai_laboratory.decoder(30)
    whole = zhai_laboratory.translated(decoder, test_set, model.weights, tmp_path / "run-1")
    assert whole == [
        " ".join(result.tokens)
        for result in hiero.Decoder(model, pop_limit=30).translate_batch(test_set.sentences)
    ]
    nothing = {name: 0.0 for name in model.weights} | {"WordPenalty": -1.0}
    other = zhai_laboratory.translated(decoder, test_set, nothing, tmp_path / "run-1", ".other")
    assert other != whole and (tmp_path / "run-1.test.other.json").exists()
    assert zhai_laboratory.translated(decoder, test_set, model.weights, tmp_path / "run-1") == whole


def runs_of(folder: Path, system: System, weights: list[Mapping[str, float]]) -> None:
    for number, each in enumerate(weights, start=1):
        run = folder / system.slug / f"run-{number}"
        run.mkdir(parents=True)
        write_weights(run / "weights.txt", each)


def test_figure_4_is_of_its_pop_limits(model: hiero.Model, test_set: LabelledSet, tmp_path: Path) -> None:
    """Figure 4 has the mean of all runs at its pop limits, whatever tuning's is."""
    weights = [model.weights, {**model.weights, "WordPenalty": 0.5, "LM0": 2.0}]
    runs_of(tmp_path, MERT, weights)
    curve = zhai(model, test_set, tmp_path, runs=2, pop_limit=7, beams=(1, 50)).by_beam(MERT, test_set)
    metric = Bleu(test_set.references, effective_length="average")
    expected = {}
    for limit in (1, 50):
        scores = []
        for each in weights:
            decoder = hiero.Decoder(model, pop_limit=limit).with_weights(each)
            lines = [" ".join(result.tokens) for result in decoder.translate_batch(test_set.sentences)]
            scores.append(float(metric.score(metric.statistics(lines).sum(axis=0))))
        expected[limit] = sum(scores) / 2
    assert curve == pytest.approx(expected) and list(curve) == [1, 50]
    assert expected[1] != pytest.approx(expected[50]), "a case that tells pop limits apart"


def test_analyses_are_of_their_weights(
    model: hiero.Model, test_set: LabelledSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def analysed(decoder: Any, metric: Any, weights: Any, **options: int) -> Analysis:
        calls.append((weights.tolist(), options))
        return Analysis(float(len(calls)), 0.0, 0.0, 0.0, 0.0, 0.0)

    monkeypatch.setattr(zhai2015, "analyse", analysed)
    runs_of(tmp_path, GUIDED, [model.weights, {}])
    zhai_laboratory = zhai(model, test_set, tmp_path, k=9, spans={"beam": 11})
    other = LabelledSet("other", test_set.sentences, test_set.references)
    assert [zhai_laboratory.analysis(GUIDED, one).best for one in (test_set, other, test_set, other)] == [
        1,
        2,
        1,
        2,
    ]
    write_weights(tmp_path / GUIDED.slug / "run-1" / "weights.txt", {**model.weights, "LM0": 3.0})
    assert [zhai_laboratory.analysis(GUIDED, test_set).best for _ in range(2)] == [3, 3]
    vectors = [model.weight_vector({**model.weights, **more}).tolist() for more in ({}, {}, {"LM0": 3.0})]
    assert calls == [(vector, {"k": 9, "beam": 11}) for vector in vectors]


def invented(genres: Mapping[str, list[int]], systems: list[System], flip: System | None = None) -> Results:
    """Returns results of two runs of each system on four segments; one run of ``flip`` is worse."""
    references = [["a b c d e"], ["f g h i j"], ["k l m n o"], ["p q r s t"]]
    one = LabelledSet("test", [Sentence(tokens=["x"])] * 4, references, genres)
    metric = Bleu(references)
    right = metric.statistics([lines[0] for lines in references])
    wrong = metric.statistics(["a b c d x", "f g h x y", "k l m n o", "p q r s x y"])
    outcomes = {
        system: Outcome(
            [{"A": 1.0, "B": 0.0}] * 2,
            [30.0, 31.0],
            [4, 7],
            {"test": np.array([wrong if system == flip else right, right])},
        )
        for system in systems
    }
    return Results(outcomes, [one], {"test": metric})


def test_genres_have_columns_where_there_are_two() -> None:
    def names(genres: Mapping[str, list[int]]) -> list[tuple[str, list[int]]]:
        return [(column.name, list(column.segments)) for column in columns(invented(genres, [MERT]))]

    whole = ("test", [0, 1, 2, 3])
    assert names({}) == names({"news": [0, 1, 2, 3]}) == names({"": [0, 1, 2, 3]}) == [whole]
    assert names({"news": [0, 2], "": [1, 3]}) == [whole, ("test news", [0, 2]), ("test other", [1, 3])]


def test_scores_as_csv() -> None:
    """Rows are by system and column, and each p is in the column of its test."""
    results = invented({"news": [0, 1], "web": [2, 3]}, [MERT, GUIDED], flip=GUIDED)
    rows = list(
        csv.DictReader(io.StringIO(scores_csv(results, [Table("Table 1", "x", {"MERT": MERT, "x": GUIDED})])))
    )
    assert [(row["table"], row["system"], row["set"], row["genre"]) for row in rows] == [
        ("Table 1", system.name, "test", genre) for system in (MERT, GUIDED) for genre in ("", "news", "web")
    ]
    assert {row["features"] for row in rows} == {"2"} and {row["runs"] for row in rows} == {"2"}
    assert {(row["p bootstrap"], row["p randomisation"]) for row in rows[:3]} == {("", "")}
    column = Column("test", "", range(4))
    metric = results.metrics["test"]
    theirs, ours = (compare(results, system, column, MERT).runs for system in (MERT, GUIDED))
    expected = paired_bootstrap(metric, theirs, ours), approximate_randomization(metric, theirs, ours)
    assert (float(rows[3]["p bootstrap"]), float(rows[3]["p randomisation"])) == expected
    assert expected[0] != expected[1]
    assert float(rows[3]["BLEU"]) == ours.mean and float(rows[3]["deviation"]) == ours.deviation
    assert float(rows[3]["difference"]) == ours.mean - theirs.mean < 0


def cells(text: str, start: str) -> dict[str, str]:
    """Returns a row of a table in Markdown by the headings of its columns."""
    lines = text.splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith(f"| {start} |"))
    head = max(i for i in range(number) if lines[i].startswith("| system |"))
    split = [[cell.strip() for cell in lines[i].strip("|").split("|")] for i in (head, number)]
    return dict(zip(*split, strict=True))


def test_columns_of_li2009() -> None:
    results = invented({}, [LI_MERT, LARGE])
    outcome = results.outcomes[LARGE]
    one_run = replace(outcome, weights=outcome.weights[:1], tuning=[30.0])
    results = replace(results, outcomes={**results.outcomes, LARGE: one_run})
    text = score_table(results, li2009.table_of(results))
    assert cells(text, LI_MERT.name) == {
        **{"system": LI_MERT.name, "features": "1", "tuning set": "30.50 ±0.71"},
        **{"test": "100.00 ±0.00", "iterations": "5.5"},
    }
    large = cells(text, LARGE.name)
    assert (large["iterations"], large["tuning set"]) == ("", "30.00 ±0.00")
    assert "deviation of 2 runs, of MR (forest, large) of 1. " in text
    assert "better than MERT (n-best) with p" in text


def test_columns_of_zhai2015() -> None:
    options = Zhai2015Options()
    rows = systems(options, True)
    results = invented({"news": [0, 1], "web": [2, 3]}, rows, flip=GUIDED)
    searches = {("MERT", "test"): Analysis(1.0, 2.0, 3.0, 0.4, 0.5, 0.625)}
    short = zhai2015.short_sentence_table(results, options)
    text = "\n".join(zhai2015.sections_of(results, searches, {"MERT": {3: 10.0, 30: 20.0}}, short))
    plain = cells(text, MERT.name)
    assert plain == {
        **{"system": "MERT", "tuning set": "30.50 ±0.71", "test": "100.00 ±0.00", "mean": "100.00"},
        **{"test news": "100.00 ±0.00", "test web": "100.00 ±0.00", "iterations": "5.5"},
    }
    guided = cells(text, GUIDED.name)
    # The mean is of whole sets.
    assert guided["mean"] == guided["test"].split()[0] != guided["test news"].split()[0]
    _, rest = text.split("## Tables 2 and 3")
    assert cells(rest, "MERT") == {
        **{"system": "MERT", "set": "test", "best": "1.00", "k-best oracle": "2.00"},
        **{"guided oracle": "3.00", "diversity": "0.4000", "top-down": "50.0%", "guided": "62.5%"},
    }
    _, rest = rest.split("## Figure 4")
    assert cells(rest, "MERT") == {"system": "MERT", "3": "10.00", "30": "20.00"}
