"""Tables of `hiero experiment chiang2008`, from invented results."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np

import hiero
from hiero.evaluate import Bleu, Runs, paired_bootstrap
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.experiments.chiang2008 import (
    FULL,
    TABLE_1,
    TABLE_2,
    Chiang2008,
    Chiang2008Options,
    weight_tables,
)
from hiero.experiments.report import columns, compare, length_ratios
from hiero.experiments.systems import LabelledSet, Outcome, Results
from support.paths import DEMO, FRENCH


def invented() -> Results:
    """A set of four segments in two genres, on which MIRA is right and MERT is not."""
    references = [["a b c d e"], ["f g h i j"], ["k l m n o"], ["p q r s t"]]
    test = LabelledSet("test", [hiero.Sentence("x")] * 4, references, {"news": [0, 1], "web": [2, 3]})
    metric = Bleu(references)
    right = [lines[0] for lines in references]
    wrong = ["a b c d x y", *right[1:2], "k l m n x y", "p q r s x y"]
    outcomes = {}
    for system, lines in ((TABLE_1[0], wrong), (FULL, right), (TABLE_2[3], wrong)):
        runs = [
            {
                "LM0": 0.5,
                "Syntax_NP_Match": 1.0,
                "Syntax_NP_Cross": -1.0,
                "Distortion_Reordered_10+": 0.25,
                "Distortion_Monotone_10+": 0.5,
            },
            {
                "LM0": 0.7,
                "Syntax_NP_Match": 3.0,
                "Syntax_NP_Cross": -1.0,
                "Distortion_Reordered_10+": 0.25,
                "Distortion_Monotone_10+": 0.5,
            },
        ]
        statistics = {"test": np.array([metric.statistics(lines), metric.statistics(right)])}
        outcomes[system] = Outcome(runs, [30.0, 31.0], [4, 6], statistics)
    return Results(outcomes, [test], {"test": metric})


def write_tables(results: Results, folder: Path) -> None:
    one = LabelledSet("tuning", [hiero.Sentence("x")], [["x"]])
    laboratory = Chiang2008(
        model=hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt"),
        tuning=one,
        tests=results.sets,
        folder=folder,
        options=Chiang2008Options(),
    )
    with mock.patch("hiero.experiments.report.can_draw", lambda: False):
        laboratory.write(results)


def test_tables_of_invented_results(tmp_path: Path) -> None:
    result = invented()
    assert [column.name for column in columns(result)] == ["test", "test news", "test web"]
    comparison = compare(result, FULL, columns(result)[2], TABLE_1[0])
    metric = result.metrics["test"]
    runs = {
        system: Runs.of(metric, outcome.statistics["test"][:, [2, 3]])
        for system, outcome in result.outcomes.items()
    }
    assert comparison.runs.mean == 100 and comparison.difference == 100 - runs[TABLE_1[0]].mean > 0
    assert comparison.bootstrap == paired_bootstrap(metric, runs[TABLE_1[0]], runs[FULL])
    assert comparison.bootstrap < 0.01
    assert str(comparison) == "100.00 ±0.00 ++"
    # Words for words: 23 for 20, and 20 for 20.
    assert length_ratios(result, result.outcomes[TABLE_1[0]]) == [23 / 20, 1.0]
    write_tables(result, tmp_path)
    text = (tmp_path / "tables.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    first = next(row for row in rows if row[0] == "| MERT, baseline")
    assert first[1:3] == ["5", "30.50 ±0.71"] and first[-2:] == ["1.075 ±0.106", "5.0 |"]
    assert not any(mark in first[3] for mark in "+-")
    worse = next(row for row in rows if row[0] == "| no sharing")
    assert worse[5].endswith(" --")
    assert any(row[0] == "| full system" for row in rows) and any(row[0] == "| MIRA, all" for row in rows)
    assert ["| NP", "2.000 ±1.414", "-1.000 ±0.000 |"] in rows
    assert ["| 10+", "0.500 ±0.000", "0.250 ±0.000 |"] in rows
    assert ["| LM0", "0.600 ±0.141 |"] in rows


def test_marks() -> None:
    """Marks are + and - below 0.05, twice below 0.01, by the bootstrap."""
    column = columns(invented())[0]
    comparison = compare(invented(), FULL, column, TABLE_1[0])
    for p, better, mark in (
        (0.06, 1, ""),
        (0.05, 1, ""),
        (0.04, -1, " -"),
        (0.01, 1, " +"),
        (0.009, -1, " --"),
    ):
        again = type(comparison)(comparison.runs, better, p, 0.0)
        assert str(again) == f"100.00 ±0.00{mark}"


def test_weights_in_pairs() -> None:
    assert weight_tables(invented().outcomes[FULL]) == [
        (("Match", "Cross"), {"NP": [[1.0, 3.0], [-1.0, -1.0]]}),
        (("Monotone", "Reordered"), {"10+": [[0.5, 0.5], [0.25, 0.25]]}),
        (("weight",), {"LM0": [[0.5, 0.7]]}),
    ]


def test_genres() -> None:
    demo = DEMO
    genres = EvaluationSet.read([demo / "test-ref.xml"]).genres()
    assert genres == {"demo": list(range(200))}
    assert EvaluationSet.read([demo / "test.en.0"]).genres() == {}
