"""`hiero experiment zhai2015`: its systems and their settings, and a small run, whole and resumed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero.base.text import format_links
from hiero.evaluate import Bleu, Runs
from hiero.experiments.systems import LabelledSet, System
from hiero.experiments.zhai2015 import (
    GUIDED,
    MERT,
    TABLE_1,
    TABLE_4,
    TABLE_5,
    Zhai2015,
    Zhai2015Options,
    figure_5,
    is_search_aware,
    method_settings,
    systems,
)
from hiero.features.sentence import Sentence
from hiero.tune import ModelDecoder, TuneOptions
from support.commands import call, one_error_line
from support.experiments import check_refused, check_relevant_options
from support.paths import FRENCH


def test_the_systems_of_the_paper() -> None:
    options = Zhai2015Options(spans={"span_words": 9}, mert={"restarts": 3})
    every = [*TABLE_1, *TABLE_4, *TABLE_5, *figure_5(options)]
    assert len({system.slug for system in every}) == len(every) == len({system.name for system in every})
    settings_of = {}
    for system in every:
        method, settings = method_settings(system, options)
        settings_of[system.name] = method, TuneOptions(method, **settings).settings.model_dump()
    measures = ["partial-full", "partial-span", "concatenation", "top-down", "guided"]
    assert [settings_of[s.name][1].get("search_aware") for s in TABLE_1] == [None, None, None, *measures]
    for table, method in ((TABLE_1, "mert"), (TABLE_4, "mira-batch"), (TABLE_5, "pro")):
        assert {settings_of[s.name][0] for s in table} - {"hypergraph-mert"} == {method}
        assert all(settings_of[s.name][1]["span_words"] == 9 for s in table if is_search_aware(s))
    assert [settings_of[s.name][1].get("k") for s in TABLE_1] == [50, 200, None, 50, 50, 50, 50, 50]
    assert all(settings_of[s.name][1]["restarts"] == 3 for s in TABLE_1 if s.method == "mert")
    shares = [settings_of[s.name][1]["span_share"] for s in figure_5(options) if is_search_aware(s)]
    assert shares == [0.25, 0.5, 0.75]
    assert (MERT.settings, GUIDED.settings) == ((), (("search_aware", "guided"),))


def test_defaults_are_the_paper_s() -> None:
    """Defaults are those of sections 4 and 4.2, and of docs/experiments.md."""
    options = Zhai2015Options()
    assert (options.runs, options.seed, options.k, options.pop_limit, options.larger) == (3, 1, 50, 30, 200)
    assert (options.pro_words, options.effective_length) == (10, "average")
    assert options.beams == (2, 4, 8, 16, 30) and options.shares == (0.25, 0.5, 0.75)
    assert options.mert == options.mira == options.pro == options.spans == options.decoding == {}
    assert options.only == ()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zhai")
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(folder / "model")
    lines = [line for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "WordPenalty": 0.5})
    for name, part in (("tuning", lines[:6]), ("test", lines[3:9]), ("other", lines[6:9])):
        texts = [" ".join(result.tokens) for result in other.translate_batch(line.split() for line in part)]
        (folder / f"{name}.fr").write_text("".join(f"{line}\n" for line in part))
        (folder / f"{name}.en").write_text("".join(f"{line}\n" for line in texts))
        links = [
            format_links((i, i) for i in range(min(len(a.split()), len(b.split()))))
            for a, b in zip(part, texts, strict=True)
        ]
        (folder / f"{name}.align").write_text("".join(f"{line}\n" for line in links))
    (folder / "experiment.toml").write_text(
        'model = "model"\ntokens = true\nruns = 2\nk = 5\nbeams = [1, 30]\nshares = [0.5]\nlarger = 40\n'
        "[mert]\niterations = 2\nrestarts = 1\n[hypergraph_mert]\niterations = 2\nrestarts = 0\n"
        "[mira]\niterations = 2\npasses = 3\n[pro]\niterations = 2\n[spans]\nspan_share = 0.3\n"
        '[tuning]\nsource = "tuning.fr"\nreferences = ["tuning.en"]\nalignments = ["tuning.align"]\n'
        '[[test]]\nsource = "test.fr"\nreferences = ["test.en"]\n'
        '[[test]]\nsource = "other.fr"\nreferences = ["other.en"]\n'
    )
    return folder


@pytest.mark.slow
def test_the_experiment(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("hiero", "experiment", "zhai2015", folder / "experiment.toml", "-o", out)
    done = call(*command)
    assert (done.returncode, done.stderr) == (0, b""), done
    tables = (out / "tables.md").read_text()
    assert done.stdout.decode().endswith(tables)
    titles = [line for line in tables.splitlines() if line.startswith("## ")]
    assert [title.split(":")[0] for title in titles] == [
        *("## Table 1", "## Table 4", "## Table 5", "## Tables 2 and 3"),
        *("## Figure 4", "## Figure 5"),
    ]
    searches = tables.split("## Tables 2 and 3")[1].split("## ")[0]
    sets = [line.strip("| ").split(" | ")[:2] for line in searches.splitlines() if line.startswith("| ")]
    assert sets[2:] == [[name, one] for name in ("MERT", "guided backtrace") for one in ("tuning", "test")]
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (8 + 4 + 4) * 2
    # Scores are those of the translations with the weights that were chosen.
    metric = Bleu([[line] for line in (folder / "test.en").read_text().splitlines()], None, "average")
    model = hiero.Model.load(folder / "model")
    sentences = [line.split() for line in (folder / "test.fr").read_text().splitlines()]
    statistics = []
    for run in (1, 2):
        weights = hiero.read_weights(out / GUIDED.slug / f"run-{run}" / "weights.txt")
        results = hiero.Decoder(model, pop_limit=30).with_weights(weights).translate_batch(sentences)
        statistics.append(metric.statistics([" ".join(result.tokens) for result in results]))
    row = next(row for row in rows if row["system"] == GUIDED.name and row["set"] == "test")
    assert float(row["BLEU"]) == Runs.of(metric, statistics).mean
    # Spans are tuned on where they should be, and PRO's on short sentences.
    first_iterations = {path.parts[-3]: path for path in out.glob("*/run-1/iteration-000")}
    instances = {}
    for slug, path in first_iterations.items():
        if (path / "new.npz").exists():
            with np.load(path / "new.npz") as arrays:
                instances[slug] = arrays["instances"]
    for slug, arrays in instances.items():
        aware = any(word in slug for word in ("guided", "top-down", "concatenation", "partial"))
        assert arrays[:, 2].any() == aware, slug
    assert json.loads((out / "mert-larger" / "run-1" / "run.json").read_text())["options"]["k"] == 40
    for name in ("figure-4.png", "figure-5.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")

    # Interrupted and started again it comes to the same.
    before = (out / "scores.csv").read_bytes()
    (out / "mert" / "run-1" / "weights.txt").unlink()
    (out / "mert" / "run-1.test.json").unlink()
    (out / "mert-guided" / "run-1.test.analysis.json").unlink()
    (out / "mert-guided" / "run-2.test.pop-limit-1.json").unlink()
    again = call(*command, "--quiet", "--threads", 2)
    assert (again.returncode, again.stdout.decode()) == (0, (out / "tables.md").read_text())
    assert (out / "scores.csv").read_bytes() == before
    assert (out / "tables.md").read_text() == tables


def test_what_systems_are_tuned_on(folder: Path, tmp_path: Path) -> None:
    """Search-aware PRO is tuned on sentences of fewer than ten words (section 4.5), rows of Figure 5 on short
    sentences; only MERT-S has the larger beam."""
    model = hiero.Model.load(folder / "model")
    sizes = (3, 9, 10, 19, 20)
    sentences = [Sentence(tokens=[["le", "chat", "chien"][i % 3] for i in range(size)]) for size in sizes]
    tuning = LabelledSet("tuning", sentences, [["a"]] * len(sizes))
    options = Zhai2015Options(pop_limit=2, larger=40)
    laboratory = Zhai2015(model=model, tuning=tuning, tests=[tuning], folder=tmp_path, options=options)

    def taken(system: System) -> int:
        return len((laboratory.trial(system).tuning or tuning).sentences)

    assert {taken(system) for system in (*TABLE_1, *TABLE_4, TABLE_5[0])} == {5}
    assert {taken(system) for system in TABLE_5[1:]} == {2}
    assert {taken(system) for system in figure_5(options)} == {4}

    def generated(decoder: Any) -> int:
        list(decoder.kbest(model.weight_vector(model.weights), 2))
        return int(decoder.generated)

    expected = {
        limit: generated(ModelDecoder(hiero.Decoder(model, pop_limit=limit), sentences)) for limit in (2, 40)
    }
    assert expected[2] < expected[40]
    for system in TABLE_1:
        trial = laboratory.trial(system)
        tuning_decoder = ModelDecoder(trial.tuning_decoder or trial.decoder, sentences)
        assert generated(tuning_decoder) == expected[40 if system.name == "MERT-S" else 2]
        assert generated(ModelDecoder(trial.decoder, sentences)) == expected[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runs = 2", "runs = 0"), "experiment.toml: runs"),
        (("runs = 2", 'only = ["MIRA"]'), "experiment.toml: only: there is no row 'MIRA'"),
        (("runs = 2", "rans = 2"), "experiment.toml: rans"),
        (("restarts = 1", "restarts = -1"), "experiment.toml: mert: restarts"),
        (("span_share = 0.3", "span_share = 1.5"), "experiment.toml: spans: span_share"),
        (("runs = 2", "decoding = { beam = 1 }"), "experiment.toml: decoding: beam"),
        (("tuning.align", "test.fr"), "test.fr:1: expected links"),
        (('alignments = ["tuning.align"]', 'alignments = ["a", "b"]'), "2 files of word links for 1"),
        (('"other.fr"', '"other.fr"\nname = "test"'), "two sets have one name"),
        (('"tuning.fr"', '"tuning.fr"\nname = "test"'), "two sets have one name"),
        (("shares = [0.5]", "shares = [0.5, 1.5]"), "experiment.toml: shares.1: "),
        (
            ("shares = [0.5]", "shares = [0.5, 0.50000001]"),
            "experiment.toml: shares: two shares are the same",
        ),
        (("beams = [1, 30]", "beams = [1, 0]"), "experiment.toml: beams.1: "),
        (("beams = [1, 30]", "beams = []"), "experiment.toml: beams: "),
        (("[spans]", "[spans]\nshort_sentence = 1"), "no sentence of the tuning set is short enough"),
    ],
)
def test_bad_configurations(folder: Path, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    check_refused("zhai2015", folder, tmp_path, change, message)


def test_options_of_rows(folder: Path, tmp_path: Path) -> None:
    """Options on which a row does not depend may change when it has begun, and no others."""
    model = hiero.Model.load(folder / "model")
    sentences = [Sentence(tokens=["le"] * size) for size in (3, 9, 10, 19, 20)]
    tuning = LabelledSet("tuning", sentences, [["a"]] * 5, links=[[[(0, 0)]]] * 5)

    def laboratory(options: Zhai2015Options) -> Zhai2015:
        return Zhai2015(model=model, tuning=tuning, tests=[tuning], folder=tmp_path, options=options)

    changes = {
        **{"mert": {"restarts": 2}, "hypergraph_mert": {"restarts": 2}, "mira": {"passes": 2}},
        **{"pro": {"samples": 7}, "spans": {"beam": 2, "short_sentence": 11}, "larger": 2},
        **{"pro_words": 11, "beams": (3,), "shares": (0.1,), "only": ("PRO",), "pop_limit": 2},
        **{"decoding": {"span_limit": 3}, "effective_length": "shortest"},
    }
    options = Zhai2015Options()
    systems_there = [*TABLE_1, *TABLE_4, *TABLE_5, *figure_5(options)]
    check_relevant_options(laboratory, options, changes, systems_there)


def test_only_some_rows(folder: Path, tmp_path: Path) -> None:
    """Rows that are asked for come with the first rows of their tables and those of the figures; other rows
    can be added later, also with other options than they would have had."""
    some = Zhai2015Options(only=("PRO, guided", "guided backtrace, spans over 0.5"))
    names = [system.name for system in systems(some, True)]
    assert names == [
        *("MERT", "guided backtrace", "PRO", "PRO, guided"),
        *("MERT, short sentences", "guided backtrace, spans over 0.5"),
    ]
    text = (folder / "experiment.toml").read_text()
    configuration = tmp_path / "own.toml"
    out = tmp_path / "out"
    command = ("hiero", "experiment", "zhai2015", configuration, "-o", out, "--quiet")
    absolute = (
        text.replace('= "', f'= "{folder}/').replace('["t', f'["{folder}/t').replace('["o', f'["{folder}/o')
    )
    for only, change, titles in (
        (["MERT-S"], ("", ""), ["Table 1"]),
        (["PRO, guided"], ("[pro]", "[pro]\npatience = 1"), ["Table 1", "Table 5"]),
        (["guided backtrace, spans over 0.4"], ("[0.5]", "[0.4, 0.3]"), ["Table 1", "Figure 5"]),
    ):
        configuration.write_text(f"only = {json.dumps(only)}\n{absolute.replace(*change, 1)}")
        done = call(*command)
        assert done.returncode == 0, done
        headings = [line for line in (out / "tables.md").read_text().splitlines() if line.startswith("## ")]
        fixed = ["Tables 2 and 3", "Figure 4"]
        names = [title[3:].split(":")[0] for title in headings]
        assert [name for name in names if name not in fixed] == titles
    assert (out / "mert-larger").exists() and (out / "figure-5.png").exists()
    assert (out / "mert-guided-short-0.4").exists() and not (out / "mert-guided-short-0.3").exists()
    row_options = json.loads((out / "pro" / "row.json").read_text())["options"]
    assert row_options["pro"] == {"iterations": 2, "patience": 1} and "mert" not in row_options

    # A row that has begun keeps its options, whichever rows are asked for.
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for change, row, where in (
        (("restarts = 1", "restarts = 2"), "mert", "row.json, mert.restarts; choose another directory"),
        (("span_share = 0.3", "span_share = 0.2"), "mert-guided", "row.json, spans.span_share; "),
        (("runs = 2", "runs = 2\nseed = 2"), "mert", "row.json, seed; "),
    ):
        configuration.write_text(f'only = ["MERT"]\n{absolute.replace(*change, 1)}')
        message = one_error_line(call(*command), 1)
        assert message.startswith(f"hiero: {out / row}: ") and where in message
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    configuration.write_text(f'only = ["MERT"]\n{absolute[: absolute.rindex("[[test]]")]}')
    assert "experiment.json" in one_error_line(call(*command), 1)


def test_what_cannot_be_had_is_left_out() -> None:
    with_links, without = (systems(Zhai2015Options(), aligned) for aligned in (True, False))
    assert with_links == [*TABLE_1, *TABLE_4, *TABLE_5, *figure_5(Zhai2015Options())]
    assert [system.name for system in with_links if system not in without] == ["span partial BLEU"]
