"""`hiero experiment chiang2008`: its systems and their features, and a small run
that is interrupted."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero.cli.experiment import read_chiang2008
from hiero.evaluate import Bleu, Runs
from hiero.experiments.chiang2008 import (
    ALL,
    BASELINE,
    FULL,
    TABLE_1,
    TABLE_2,
    Chiang2008,
    Chiang2008Options,
    local_features,
    systems,
)
from hiero.experiments.systems import LabelledSet
from hiero.features import DistortionStatistics
from hiero.tune import TuneOptions
from support.commands import call, one_error_line
from support.experiments import check_refused, check_relevant_options
from support.paths import FRENCH

STATISTICS = DistortionStatistics(range(1, 11), range(11, 21))


def assembled(**more: Any) -> hiero.Model:
    parts = [FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt"
    return hiero.Model.assemble(*parts, **more)


def test_the_features_of_the_paper() -> None:
    """The baseline has the 12 features of section 5.1, and sets of features the sizes of Table 1."""
    assert len(BASELINE) == 12
    model = assembled(distortion=STATISTICS)
    options = Chiang2008Options()
    rows = systems(model, parsed=True)
    assert rows == [*TABLE_1, *TABLE_2]
    sizes = [
        12 + sum(len(each.names) for each in local_features(system.variant, model, True, options))
        for system in rows
    ]
    assert sizes == [12, 14, 34, 13, 34, 12, 34, 34, 56, 56, 56, 56, 56]
    assert [system.method for system in TABLE_1] == ["mert"] * 5 + ["mira"] * 4


def test_defaults_are_those_of_the_documentation() -> None:
    """Defaults are those of docs/experiments.md, and labels the paper's."""
    options = Chiang2008Options()
    assert (options.runs, options.seed, options.log_base, options.sentence) == (3, 1, 100.0, 0)
    assert options.effective_length == "shortest" and options.baseline is None
    assert options.baseline_of(["Glue", "Other", "LM0"]) == ("LM0", "Glue")
    assert options.coarse_labels == ("NP", "PP", "S", "VP", "SBAR", "ADJP", "ADVP", "QP")
    assert len(options.fine_labels) == 11
    assert options.mert == options.mira == options.decoding == {}


def test_what_cannot_be_had_is_left_out() -> None:
    without = [(s.method, s.variant) for s in systems(assembled(), parsed=False)]
    assert without == [
        ("mert", "baseline"),
        ("mert", "fine distortion"),
        ("mira", "baseline"),
        *[("mira", ALL)] * 5,
    ]
    both = local_features(ALL, assembled(), False, Chiang2008Options())
    assert sum(len(each.names) for each in both) == 22
    assert ("mert", "coarse distortion") in [
        (s.method, s.variant) for s in systems(assembled(distortion=STATISTICS), parsed=False)
    ]


def test_a_blank_sentence_needs_no_parse() -> None:
    tree = hiero.Tree.read("(S (X a))")
    for other, parsed in ((hiero.Sentence(" "), True), (hiero.Sentence("b"), False)):
        one = LabelledSet("", [hiero.Sentence("a", parse=tree), other], [["a"], ["b"]], {})
        assert one.is_parsed == parsed
    assert hiero.Sentence(tokens=[]).is_blank and not hiero.Sentence(tokens=["b"]).is_blank


def test_systems_have_different_folders_and_known_settings() -> None:
    every = [*TABLE_1, *TABLE_2]
    assert len({system.slug for system in every}) == len(every)
    for system in every:
        TuneOptions(system.method, **dict(system.settings))
    table_2 = [dict(system.settings) for system in TABLE_2]
    assert table_2 == [
        {"oracle": "local", "no_loss_augmented": True},
        {"oracle": "local"},
        {"no_loss_augmented": True},
        {"no_sharing": True},
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that counts distortion, parsed sets with two genres, and a configuration."""
    folder = tmp_path_factory.mktemp("chiang")
    model = assembled(distortion=STATISTICS)
    model.save(folder / "model")
    lines = [line for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "WordPenalty": 0.5})
    for name, part in (("tuning", lines[:6]), ("held-out", lines[6:9]), ("test", lines[3:9])):
        texts = [" ".join(result.tokens) for result in other.translate_batch(part)]
        (folder / f"{name}.fr").write_text("".join(f"{line}\n" for line in part))
        (folder / f"{name}.en").write_text("".join(f"{line}\n" for line in texts))
        trees = (f"(S {' '.join(f'(NP (X {word}))' for word in line.split())})\n" for line in part)
        (folder / f"{name}.parse").write_text("".join(trees))
    holes = (folder / "test.parse").read_text().splitlines()
    (folder / "holes.parse").write_text("".join(f"{line}\n" for line in [holes[0], "", *holes[2:]]))
    sets = {
        key: f'source = "{name}.fr"\nreferences = ["{name}.en"]\nparses = "{name}.parse"\n'
        for key, name in (("[tuning]", "tuning"), ("[held_out]", "held-out"), ("[[test]]", "test"))
    }
    (folder / "experiment.toml").write_text(
        'model = "model"\ntokens = true\nruns = 2\nbaseline = ["LM0", "WordPenalty", "Glue"]\n'
        "fine_labels = ['NP', 'S']\n"
        "[mert]\niterations = 2\nk = 10\nrestarts = 1\n[mira]\niterations = 2\nworkers = 2\n"
        "[decoding]\npop_limit = 20\n" + "".join(f"{head}\n{text}" for head, text in sets.items())
    )
    return folder


@pytest.mark.slow
def test_the_experiment(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("hiero", "experiment", "chiang2008", folder / "experiment.toml", "-o", out)
    done = call(*command)
    assert (done.returncode, done.stderr) == (0, b""), done
    tables = (out / "tables.md").read_text()
    assert done.stdout.decode().endswith(tables)
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (9 + 5)
    sizes = [int(row["features"]) for row in rows if row["table"] == "Table 1" and row["set"] == "test"]
    assert sizes == [3, 5, 7, 4, 25, 3, 7, 25, 29]
    # Scores are those of the translations with the weights that were chosen.
    references = [[line] for line in (folder / "test.en").read_text().splitlines()]
    metric = Bleu(references, effective_length="shortest")
    run = out / FULL.slug / "run-2"
    options = Chiang2008Options(fine_labels=("NP", "S"))
    features = local_features(ALL, assembled(distortion=STATISTICS), True, options)
    model = hiero.Model.load(folder / "model").with_features(features, log_base=100)
    weights = hiero.read_weights(run / "weights.txt")
    sentences = [
        hiero.Sentence(tokens=line.split(), parse=hiero.Tree.read(tree))
        for line, tree in zip(
            (folder / "test.fr").read_text().splitlines(),
            (folder / "test.parse").read_text().splitlines(),
            strict=True,
        )
    ]
    results = hiero.Decoder(model, pop_limit=20).with_weights(weights).translate_batch(sentences)
    lines = [" ".join(result.tokens) for result in results]
    assert json.loads((out / FULL.slug / "run-2.test.json").read_text())["lines"] == lines
    others = json.loads((out / FULL.slug / "run-1.test.json").read_text())["lines"]
    expected = Runs.of(metric, [metric.statistics(each) for each in (others, lines)])
    row = next(row for row in rows if row["system"] == FULL.name and row["set"] == "test")
    assert float(row["BLEU"]) == expected.mean and float(row["deviation"]) == expected.deviation
    # What is not among the baseline stays 0, and the baseline begins with the model's weights.
    assert {name for name, weight in weights.items() if weight} <= {
        "LM0",
        "WordPenalty",
        "Glue",
        *(name for each in features for name in each.names),
    }
    first = hiero.read_weights(run / "iteration-000" / "weights.txt")
    initial = model.weights
    assert {n: w for n, w in first.items() if w} == {
        n: initial[n] for n in ("LM0", "WordPenalty", "Glue") if initial[n]
    }
    # MIRA alone is judged by the held-out set.
    judged_by = {
        path.parts[-4]: json.loads(path.read_text())["held_out"] is not None
        for path in out.glob("*/run-1/iteration-000/scores.json")
    }
    assert judged_by == {name: name.startswith("mira") for name in judged_by} and len(judged_by) == 13
    for name in ("weights.png", "figure-1.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    with (out / "weights.csv").open() as file:
        lm_rows = [
            row for row in csv.DictReader(file) if row["system"] == FULL.name and row["feature"] == "LM0"
        ]
    runs = [hiero.read_weights(out / FULL.slug / f"run-{k}" / "weights.txt")["LM0"] for k in (1, 2)]
    assert float(lm_rows[0]["mean"]) == np.mean(runs) and float(lm_rows[0]["deviation"]) == np.std(
        runs, ddof=1
    )

    # Interrupted and started again it comes to the same.
    before = {name: (out / name).read_bytes() for name in ("scores.csv", "weights.csv")}
    (out / "mert-baseline" / "run-1" / "weights.txt").unlink()
    (out / "mert-baseline" / "run-1.test.json").unlink()
    stale = out / FULL.slug / "run-2.test.json"
    stored = json.loads(stale.read_text())
    others = {"weights": {**stored["weights"], "LM0": 10.0}, "lines": ["of other weights"] * len(lines)}
    stale.write_text(json.dumps(others))
    again = call(*command, "--quiet", "--threads", 2)
    assert (again.returncode, again.stdout.decode()) == (0, (out / "tables.md").read_text())
    assert {name: (out / name).read_bytes() for name in before} == before
    other = tmp_path / "other.toml"
    other.write_text((folder / "experiment.toml").read_text().replace("runs = 2", "runs = 2\nseed = 9"))
    for name in ("model", *(path.name for path in folder.glob("*.*"))):
        if not (tmp_path / name).exists():
            (tmp_path / name).symlink_to(folder / name)
    refused = call("hiero", "experiment", "chiang2008", other, "-o", out)
    assert "mert-baseline: MERT, baseline has begun with other settings, see row.json, seed" in (
        one_error_line(refused, 1)
    )


def test_options_of_rows(folder: Path, tmp_path: Path) -> None:
    """Options on which a row does not depend may change when it has begun, and no others."""
    configured = read_chiang2008(folder / "experiment.toml", folder=tmp_path)

    def laboratory(options: Chiang2008Options) -> Chiang2008:
        return replace(configured, options=options)

    changes = {
        **{"mert": {"restarts": 2}, "mira": {"workers": 3}, "coarse_labels": ("A",), "fine_labels": ("B",)},
        **{"sentence": 2, "baseline": ("LM0",), "decoding": {"pop_limit": 3}},
        **{"log_base": 10.0, "effective_length": "average"},
    }
    check_relevant_options(laboratory, configured.options, changes, [*TABLE_1, *TABLE_2])


def test_systems_keep_the_model_s_generators_and_logarithms(folder: Path, tmp_path: Path) -> None:
    """Features of systems replace the model's; rules for numbers and the list of logarithms stay."""
    configured = read_chiang2008(folder / "experiment.toml", folder=tmp_path)
    numbers = hiero.generators.NumberRules(source="fr", target="en")
    model = configured.model.with_features(generators=[numbers], log_base=10, log_features=["PhraseFE"])
    tuned = replace(configured, model=model).trial(FULL).decoder.model
    assert (list(tuned.generators), list(tuned.log_features)) == ([numbers], ["PhraseFE"])
    assert tuned.log_base == 100 and model.log_base == 10


class WordCount:
    names = ("WordsBelow",)

    def by_span(self, sentence: hiero.Sentence, spans: np.ndarray) -> np.ndarray:
        return np.diff(spans, axis=1)


def test_a_laboratory_tunes_added_features(folder: Path, tmp_path: Path) -> None:
    plain = read_chiang2008(folder / "experiment.toml", folder=tmp_path / "plain")
    added = replace(plain, folder=tmp_path / "further", added_features=[WordCount()])
    for laboratory in (plain, added):
        laboratory.folder.mkdir()
    mira = TABLE_1[5]
    without, with_added = plain.outcome(mira).weights, added.outcome(mira).weights
    assert [set(run) for run in with_added] == [{*run, "WordsBelow"} for run in without]
    # After a pass, whatever the held-out set says of it.
    passed = added.folder / mira.slug / "run-1" / "iteration-001" / "weights.txt"
    assert hiero.read_weights(passed)["WordsBelow"] != 0


def test_the_paper_s_numbers_of_weights(folder: Path, tmp_path: Path) -> None:
    """The numbers of tuned weights are the paper's, with two language models and all features of rules."""
    rules = [hiero.Rule("[X] ||| le ||| the ||| PhraseFE=-1 PhraseEF=-1 LexFE=-1 LexEF=-1 ||| 0-0")]
    lm = hiero.LanguageModel.load(str(FRENCH / "lm.arpa"))
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm, lm], {"LM0": 1.0}, distortion=STATISTICS)
    configured = read_chiang2008(folder / "experiment.toml", folder=tmp_path)
    options = Chiang2008Options(runs=1, mert={"iterations": 1}, mira={"iterations": 1})
    laboratory = replace(configured, model=model, held_out=None, options=options)
    sizes = [len(laboratory.outcome(system).weights[0]) for system in TABLE_1]
    assert sizes == [12, 14, 34, 13, 34, 12, 34, 34, 56]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runs = 2", "runs = 0"), "runs: "),
        (("runs = 2", "rans = 2"), "rans: "),
        (("runs = 2", "sentence = 6"), "no sentence 6, the tuning set has 6, from 0"),
        (("runs = 2", "sentence = -1"), "sentence: "),
        (('source = "test.fr"', 'name = "a/b"\nsource = "test.fr"'), "test.0.name"),
        (("runs = 2", "runs = "), "experiment.toml: "),
        (("iterations = 2", "itarations = 2"), "itarations"),
        (('parses = "test.parse"', 'parses = "holes.parse"'), "holes.parse:2: no tree"),
        (("workers = 2", "seed = 2"), "mira: seed"),
        (("workers = 2", 'fixed = ["LM0"]'), "mira: fixed"),
        (("pop_limit = 20", "pop_limit = -1"), "experiment.toml: decoding: pop_limit"),
        (("pop_limit = 20", "nonsense = 20"), "experiment.toml: decoding: nonsense"),
        (("runs = 2", "log_base = inf"), "experiment.toml: log_base"),
        (('"WordPenalty", "Glue"', '"Typo"'), "baseline: the model has no feature Typo"),
        (('baseline = ["LM0", "WordPenalty", "Glue"]', "baseline = []"), "experiment.toml: baseline"),
        (('references = ["test.en"]', "references = []"), "experiment.toml: test.0.references"),
        (('parses = "test.parse"', ""), "sets with sentences without parses, where others have some: test"),
        (('source = "test.fr"', 'source = "none.fr"'), "none.fr"),
        (('source = "test.fr"', 'name = "held-out"\nsource = "test.fr"'), "two sets have one name"),
    ],
)
def test_bad_configurations(folder: Path, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    check_refused("chiang2008", folder, tmp_path, change, message)
