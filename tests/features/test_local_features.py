"""Tests of local features: against a walk over derivations, in exact search, and with invalid answers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hiero
from hiero.features import CoarseDistortion, CoarseSyntax, FineDistortion, FineSyntax
from support.brute_force import Enumerator, random_rules, write_arpa
from support.commands import call, one_error_line
from support.decoding import input_lines, used_rules
from support.local_features import SpanAndGapSize


class WalkedFeatures:
    """The features of SpanAndGapSize, computed from a derivation one rule application at a time."""

    @staticmethod
    def walk_features(derivation: hiero.Derivation) -> dict[str, float]:
        forest = derivation.forest
        heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
        sums = dict.fromkeys(SpanAndGapSize.names, 0.0)
        for edge in derivation.edges:
            if forest.edge_tables[edge] < 0:
                continue
            begin, end = forest.node_spans[heads[edge]]
            sums["LogSpan"] += np.log(end - begin)
            tails = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]]
            for number, tail in enumerate(tails, start=1):
                sums[f"GapSize_{number}"] += forest.node_spans[tail][1] - forest.node_spans[tail][0]
        return sums


def test_local_features_equal_a_derivation_walk(french: Path) -> None:
    model = hiero.Model.assemble(
        [french / "grammar.txt"],
        [french / "lm.arpa"],
        {"LM0": 0.5, "PhraseEF": 0.3, "LogSpan": -0.4, "GapSize_1": 0.3, "GapSize_2": -0.2},
        local_features=[SpanAndGapSize()],
    )
    decoder = hiero.Decoder(model)
    for line in input_lines(french):
        for derivation in decoder.translate(line, keep="forest").kbest(20):
            walked = WalkedFeatures.walk_features(derivation)
            for name, value in walked.items():
                assert derivation.features.get(name, 0.0) == pytest.approx(value)


def test_search_with_local_features_is_exact(tmp_path: Path) -> None:
    rng = random.Random(3)
    write_arpa(tmp_path / "lm.arpa", [rng.choices("uvw", k=4) for _ in range(10)], 3)
    lm = hiero.LanguageModel.load(str(tmp_path / "lm.arpa"))
    for _ in range(60):
        rules = random_rules(rng, ["X", "Y"], "abc", "uvw")
        local = [SpanAndGapSize()]
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {}, local_features=local)
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        sentence = rng.choices("abc", k=4)
        result = hiero.Decoder(model, pop_limit=0).with_weights(weights).translate(sentence, keep="forest")
        assert result.forest.derivation_count == len(Enumerator(rules, sentence, 10).derivations())
        every = result.kbest(10**6)
        walked = [
            sum(weights[n] * v for n, v in {**d.features, **WalkedFeatures.walk_features(d)}.items())
            for d in every
        ]
        assert result.score == pytest.approx(max(walked), abs=1e-4)


class Recorder:
    """A local feature that keeps the batches that it is called with."""

    names: Sequence[str] = ["Nothing"]

    def __init__(self) -> None:
        self.seen: list[hiero.ApplicationBatch] = []

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        self.seen.append(batch)
        return np.zeros((len(batch), 1))


def test_what_rules_share_stands_there_once() -> None:
    """A batch has a row for every rule of an application, and stores once what these rules share. No rule
    occurs twice."""
    rng = random.Random(5)
    rules = random_rules(rng, ["X", "Y"], "abc", "uvw")
    parts = [str(rule).split(" ||| ") for rule in rules]
    rules += [
        hiero.Rule(" ||| ".join([*part[:2], f"{part[2]} more", *part[3:]])) for part in parts if part[3:]
    ]
    recorder = Recorder()
    table = hiero.RuleTable.from_rules(rules)
    model = hiero.Model([table], [], {}, local_features=[recorder])
    hiero.Decoder(model, pop_limit=0).translate(rng.choices("abc", k=6))
    (batch,) = recorder.seen
    recorder.seen.clear()
    shared = batch.applications
    assert 0 < len(shared) < len(batch)
    assert shared.tables.shape == shared.labels.shape == (len(shared),)
    assert shared.spans.shape == (len(shared), 2) and shared.gaps.shape == (len(shared), 2, 2)
    assert batch.rules.shape == batch.reordered.shape == batch.application.shape == (len(batch),)
    steps = np.diff(batch.application.astype(np.int64), prepend=-1)
    assert set(steps.tolist()) == {0, 1} and batch.application[-1] == len(shared) - 1
    for at in range(len(shared)):
        mine = batch.application == at
        numbers = batch.rules[mine].tolist()
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        if shared.tables[at] == 0:
            sources = {tuple(table.rule(number).source) for number in numbers}
            labels = {table.rule(number).lhs for number in numbers}
            assert len(sources) == len(labels) == 1
            assert labels == {model.core.labels[shared.labels[at]]}
            gaps = [gap for gap in shared.gaps[at].tolist() if gap != [-1, -1]]
            assert len(gaps) == sum("," in symbol for symbol in sources.pop())
    spans = shared.spans
    del batch, shared  # arrays hold what they are views of
    assert spans.min() == 0 and spans.max() == 6


class BadFeatures:
    names: Sequence[str] = ["Bad"]

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if self.answer is not None else np.full((len(batch), 1), np.nan)


@pytest.mark.parametrize("answer", [None, np.zeros((1, 3)), RuntimeError("mine")])
def test_bad_local_features(french: Path, answer: object) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [], {}, local_features=[BadFeatures(answer)])
    named = "local features? Bad: "
    message = named + ("RuntimeError: mine" if isinstance(answer, Exception) else "expected")
    with pytest.raises((ValueError, hiero.Error), match=message) as raised:
        hiero.Decoder(model).translate("le chat")
    # The exception of the feature is the cause.
    assert raised.value.__cause__ is (answer if isinstance(answer, Exception) else None)


def test_local_features_beyond_all_numbers(french: Path) -> None:
    features = OneEntry(0, 1e300)
    model = hiero.Model.assemble([french / "grammar.txt"], [], {"Bad": 1e300}, local_features=[features])
    with pytest.raises(hiero.Error, match="the score of a rule with its local features is not finite"):
        hiero.Decoder(model).translate("le chat")


class OneEntry:
    """A feature that answers with a matrix of one entry, whose column may be outside the shape."""

    names: Sequence[str] = ["Bad"]

    def __init__(self, column: int, value: complex = 1.0) -> None:
        self.column, self.value = column, value

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        rows = scipy.sparse.csr_array(np.array([[self.value]] + [[0]] * (len(batch) - 1)))
        rows.indices = np.array([self.column], dtype=np.int64)
        return rows


class Answering:
    names: Sequence[str] = ["Bad"]

    def __init__(self, answer: Callable[[hiero.Sentence, hiero.ApplicationBatch], object]) -> None:
        self.by_rule = answer


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (OneEntry(1), "column 1 of 1"),
        (OneEntry(-1), "column -1 of 1"),
        (OneEntry(2**32), "4294967296 is out of range"),  # not cut to 0
        (
            OneEntry(0, 1j),
            r"features Bad: expected a matrix of numbers of shape \(\d+, 1\),.* got one of complex",
        ),
        (OneEntry(0, np.inf), "local feature Bad: expected finite values, got inf"),
        (
            Answering(lambda sentence, batch: np.zeros((len(batch), 2))),
            r"features Bad: expected .* got one of shape \(\d+, 2\)",
        ),
        (
            Answering(lambda sentence, batch: "zero"),
            "features Bad: expected .* got what scipy makes no matrix of: str",
        ),
    ],
)
def test_bad_entries_of_local_features(french: Path, features: Any, message: str) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [], {}, local_features=[features])
    with pytest.raises(ValueError, match=message):
        hiero.Decoder(model).translate("le chat")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (3, "expected an object with names and one of by_rule, by_span and by_gap, not int"),
        (print, "expected an object with names and .* not builtin"),
        (type("Named", (), {"names": ["a"]})(), "expected an object with names and .* not Named"),
        (
            type("Named", (), {"names": "abc", "by_rule": print})(),
            "Named.names: expected a list of names, not 'abc'",
        ),
        (type("Named", (), {"names": [1], "by_span": print})(), "Named.names: expected a list of names"),
    ],
)
def test_what_is_no_local_feature(features: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        hiero.Model([], [], {}, local_features=[features])


class RuleNumbers:
    """A feature that prefers rules with high numbers at the first word, and rules with low numbers
    elsewhere."""

    names: Sequence[str] = ["Number"]

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        first = batch.applications.spans[batch.application, :1] == 0
        return np.where(first, 1.0, -1.0) * batch.rules[:, None]


@pytest.mark.parametrize("weight", [1.0, -1.0, 0.0])
def test_the_limit_of_targets_sees_local_features(weight: float) -> None:
    rules = [hiero.Rule(f"[X] ||| a ||| w{i} ||| V=1") for i in range(9)]
    table = hiero.RuleTable.from_rules(rules, owner="pt")
    model = hiero.Model([table], [], {"Number": weight}, local_features=[RuleNumbers()])
    low, high = {0, 1, 2}, {6, 7, 8}
    expected = {1.0: {0: high, 1: low}, -1.0: {0: low, 1: high}, 0.0: {0: low, 1: low}}[weight]
    assert used_rules(model, "a a", ttable_limit=3) == expected
    assert used_rules(model, "a a") == {0: set(range(9)), 1: set(range(9))}


class WordCount:
    """A local feature that is defined in a test, not in a package."""

    names = ["WordsBelow"]  # noqa: RUF012

    def by_span(self, sentence: hiero.Sentence, spans: np.ndarray) -> np.ndarray:
        return np.diff(spans, axis=1)


def save_model(french: Path, path: Path, *features: hiero.LocalFeatures) -> Path:
    weights = dict.fromkeys([name for feature in features for name in feature.names], -0.1) | {"LM0": 0.5}
    grammar, lm = french / "grammar.txt", french / "lm.arpa"
    hiero.Model.assemble([grammar], [lm], weights, local_features=features).save(path)
    return path


TREE = "(S (NP (DT le) (NN chat)))"


def test_a_model_has_its_local_features(french: Path, tmp_path: Path) -> None:
    syntax = FineSyntax(labels=("NP", "PRP$"), glue=True)
    local_features = [syntax, FineDistortion(), CoarseDistortion(monotone=range(10), reordered=range(10, 20))]
    path = save_model(french, tmp_path / "m", *local_features)
    loaded = hiero.Model.load(path)
    assert list(loaded.local_features) == local_features
    again = hiero.Model.load(path, local_features=[syntax])
    assert list(again.local_features) == local_features and again.local_features[0] is syntax
    assert call("hiero", "check", path).returncode == 0
    described = call("hiero", "info", path).stdout.decode()
    assert (
        'local features   fine-syntax {"labels": ["NP", "PRP$"], "glue": true}, fine-distortion, '
        "coarse-distortion\n" in described
    )
    (tmp_path / "parse").write_text(TREE + "\n")
    options = ("--parses", tmp_path / "parse", "--quiet", "--output-format", "jsonl")
    done = call("hiero-decode", "--model", path, *options, stdin="le chat\n")
    result = json.loads(done.stdout)
    twin = hiero.Decoder(loaded).translate(hiero.Sentence("le chat", parse=hiero.Tree.read(TREE)))
    assert (result["text"], result["features"]) == (twin.text, twin.features)
    assert result["features"]["Syntax_NP_Match"] >= 1
    loaded.save(tmp_path / "again")
    assert hiero.Model.load(tmp_path / "again").local_features == loaded.local_features


def test_local_features_that_only_python_can_give(french: Path, tmp_path: Path) -> None:
    path = save_model(french, tmp_path / "m", CoarseSyntax(), WordCount())
    message = f"{path}: needs local features in Python for WordsBelow: pass them to hiero.Model.load"
    with pytest.raises(hiero.FormatError, match=message):
        hiero.Model.load(path)
    for command in (("hiero", "check"), ("hiero-decode", "--quiet", "--model")):
        assert message in one_error_line(call(*command, path), 1)
    assert hiero.Model.load(path, local_features=[WordCount()]).weights["WordsBelow"] == -0.1
    described = call("hiero", "info", path)
    line = b"local features   coarse-syntax, (given from Python: WordsBelow)\n"
    assert described.returncode == 0 and line in described.stdout
    config = path / "model.toml"
    saved_config = config.read_bytes()
    config.write_bytes(saved_config + b"\xff")
    with pytest.raises(hiero.FormatError, match=r"m/model\.toml: 'utf-8' codec can't decode"):
        hiero.Model.load(path, local_features=[WordCount()])
    config.write_bytes(saved_config)
    config.write_text(config.read_text().replace('"coarse-syntax"', '"other"'))
    with pytest.raises(hiero.FormatError, match=r"local_features\.0: .*'other'.*'fine-syntax'"):
        hiero.Model.load(path, local_features=[WordCount()])


class LargeGaps:
    """A feature of gaps with three words or more."""

    names = ("Large",)

    def by_gap(self) -> np.ndarray:
        return np.array([0, 0, 1])[:, None, None].repeat(2, axis=1)


def test_a_loaded_model_has_the_order_of_features_that_it_had(french: Path, tmp_path: Path) -> None:
    """The order of features is that of weight vectors, and does not depend on the order of the arguments."""
    local_features = [WordCount(), FineSyntax(labels=("NP",)), LargeGaps(), FineDistortion()]
    path = save_model(french, tmp_path / "m", *local_features)
    names = hiero.Model.load(path, local_features=local_features).feature_names
    assert list(names)[-len(LargeGaps.names) - 22 :][:1] == ["Large"]
    again = hiero.Model.load(path, local_features=[LargeGaps(), Many(2), WordCount()])
    assert list(again.feature_names)[: len(names)] != list(names)  # there is one more, of rules
    assert [type(feature).__name__ for feature in again.local_features] == [
        *(type(feature).__name__ for feature in local_features),
        "Many",
    ]
    assert hiero.Model.load(path, local_features=[LargeGaps(), WordCount()]).feature_names == names


class Many:
    """Many features that never fire."""

    def __init__(self, count: int) -> None:
        self.names = [f"F{i}" for i in range(count)]

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        return "nothing"


def test_messages_name_ten_features_at_most(french: Path, tmp_path: Path) -> None:
    ten = ", ".join(f"F{i}" for i in range(10))
    for count, listed in ((10, ten), (11, f"{ten}, ... (11)"), (1234, f"{ten}, ... (1,234)")):
        path = save_model(french, tmp_path / str(count), Many(count))
        with pytest.raises(hiero.FormatError, match=re.escape(f"in Python for {listed}: pass")):
            hiero.Model.load(path)
        described = call("hiero", "info", path).stdout.decode()
        assert f"local features   (given from Python: {listed})\n" in described
        model = hiero.Model.load(path, local_features=[Many(count)])
        with pytest.raises(
            ValueError, match=re.escape(f"features {listed.replace(',234', '234')}: expected")
        ):
            hiero.Decoder(model).translate("le chat")
