"""Objects in Python: what they say of themselves, pickling, rules by id, strings in place of tokens."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import FormatError, Rule, RuleTable
from hiero.base import tables
from hiero.evaluate import Bleu
from support.local_features import SpanAndGapSize
from support.paths import FRENCH

SENTENCE = "je ne vois pas le chat dans la maison"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> hiero.Model:
    """A model in a directory, with local features."""
    french = FRENCH
    made = hiero.Model.assemble(
        [french / "grammar.txt"],
        [french / "lm.arpa"],
        french / "weights.txt",
        local_features=[SpanAndGapSize()],
    )
    folder = tmp_path_factory.mktemp("objects") / "model"
    made.with_weights({**made.weights, "GapSize_1": -0.125}).save(folder)
    return hiero.Model.load(folder, local_features=[SpanAndGapSize()])


@pytest.fixture(scope="module")
def translation(model: hiero.Model) -> hiero.Translation:
    return hiero.Decoder(model).translate(SENTENCE, keep="forest")


def forest_of(translation: hiero.Translation) -> hiero.Forest:
    assert translation.forest is not None
    return translation.forest


def same(one: hiero.Forest, other: hiero.Forest) -> bool:
    names = [name for name in dir(hiero.Forest) if isinstance(getattr(hiero.Forest, name), property)]
    assert {"edge_origins", "node_boundaries", "ngram_order", "root", "words"} <= set(names)
    for name in set(names) - {"features", "covered_shares"}:
        if not np.array_equal(getattr(one, name), getattr(other, name)):
            return False
    return (one.features != other.features).nnz == 0


def test_what_they_say(model: hiero.Model, translation: hiero.Translation) -> None:
    text, score = "i do not see the cat in the house", repr(translation.score)
    assert repr(translation) == f"Translation(text={text!r}, score={score})"
    assert repr(translation.derivation) == f"Derivation(text={text!r}, score={score})"
    forest = forest_of(translation)
    assert repr(forest) == f"Forest(nodes={forest.node_count}, edges={forest.edge_count})"
    table, lm = model.tables[0], model.lms[0]
    assert repr(table) == f"RuleTable(path={table.path!r}, rules={table.rule_count})"
    assert repr(lm) == f"LanguageModel(path={lm.path!r}, order={lm.order})"
    assert repr(model) == f"Model(rules={table.rule_count}, lms=1, features={len(model.feature_names)})"
    assert repr(hiero.Decoder(model)) == f"Decoder({model!r})"
    assert repr(hiero.Decoder(model, pop_limit=7)) == f"Decoder({model!r}, pop_limit=7)"
    rule = table.rule(3)
    assert eval(repr(rule)) == rule
    assert repr(translation.stats).startswith("DecodeStats(applications=")


def test_forests_and_derivations_pickle(translation: hiero.Translation) -> None:
    forest = forest_of(translation)
    made = [forest, forest.constrain([["no", "such"]]), forest.annotate_ngrams(2), forest.constrain([["i"]])]
    made.append(forest.prune(translation.weights, margin=0.5))
    for each in made:
        assert same(each, pickle.loads(pickle.dumps(each))) and same(each, copy.deepcopy(each))
    chart = hiero.Decoder(hiero.Model([], [], {})).translate("a b", keep="chart").chart
    assert chart is not None and same(chart.forest, pickle.loads(pickle.dumps(chart.forest)))
    # Cells of a sentence that nothing derives as a whole.
    rules = hiero.RuleTable.from_rules([Rule("[X] ||| a ||| b ||| F=0.1")])
    chart = (
        hiero.Decoder(hiero.Model([rules], [], {}), pass_through="none").translate("a c", keep="chart").chart
    )
    assert chart is not None and chart.forest.root == -1 < chart.forest.node_count
    assert same(chart.forest, pickle.loads(pickle.dumps(chart.forest)))
    below = [forest.viterbi(translation.weights, node) for node in range(forest.node_count)]
    for derivation in [*translation.kbest(20), *below]:
        assert derivation is not None
        again = pickle.loads(pickle.dumps(derivation))
        assert (again.text, again.score) == (derivation.text, derivation.score)
        assert again.edges.tolist() == derivation.edges.tolist() and same(again.forest, forest)
    empty = pickle.loads(pickle.dumps(hiero.Decoder(hiero.Model([], [], {})).translate("").derivation))
    assert (empty.text, len(empty.edges)) == ("", 0)


def test_damaged_state(translation: hiero.Translation) -> None:
    forest = forest_of(translation)
    record, names = forest.__getstate__()  # type: ignore[attr-defined, misc]
    assert same(forest, restored((record, names)))
    for state in ((record[:-1], names), (b"", names), (record,), (record, list(names)[:1])):
        with pytest.raises(hiero.ForestError):
            restored(state)


def restored(state: tuple[Any, ...]) -> hiero.Forest:
    forest = hiero.Forest.__new__(hiero.Forest)
    forest.__setstate__(state)  # type: ignore[attr-defined]
    return forest


def test_models_and_decoders_pickle(
    model: hiero.Model, translation: hiero.Translation, tmp_path: Path
) -> None:
    decoder = hiero.Decoder(model, pop_limit=50).with_weights({**model.weights, "Glue": -2.0})
    again = pickle.loads(pickle.dumps(decoder))
    assert again.settings == decoder.settings and again.weights == decoder.weights
    assert again.translate(SENTENCE).score == decoder.translate(SENTENCE).score
    assert again.model.made_from == model.made_from and again.model.weights == model.weights
    # Tables that are in no file come along.
    rules = [Rule("[X] ||| a ||| b c ||| F=0.1"), Rule("[X] ||| a [X,1] ||| [X,1] b ||| F=0.2 ||| 0-1")]
    own = hiero.Model([RuleTable.from_rules(rules, "mine", 5)], [], {"F": 1.0})
    copied = pickle.loads(pickle.dumps(own))
    assert copied.core.owners == own.core.owners and copied.tables[0].span_limit == 5
    assert hiero.Decoder(copied).translate("a a").text == hiero.Decoder(own).translate("a a").text
    # A file that has become another one is none of what was pickled.
    path = tmp_path / "rules.hrt"
    RuleTable.from_rules(rules).save(str(path))
    kept = pickle.dumps(RuleTable.open(str(path)))
    assert pickle.loads(kept).rule_count == 2
    path.unlink()
    RuleTable.from_rules(rules[:1]).save(str(path))
    with pytest.raises(FormatError, match=f"{path}: is another rule table"):
        pickle.loads(kept)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(kept)
    arpa = tmp_path / "lm.arpa"
    text = (FRENCH / "lm.arpa").read_text()
    arpa.write_text(text)
    kept = pickle.dumps(hiero.LanguageModel.load(str(arpa)))
    assert pickle.loads(kept).order == hiero.LanguageModel.load(str(arpa)).order
    arpa.write_text(text.replace("-1", "-2", 1))
    with pytest.raises(FormatError, match=f"{arpa}: is another language model"):
        pickle.loads(kept)


def known_of(translation: hiero.Translation) -> list[Any]:
    """All that a translation says of itself, but its forest."""
    stats = [
        getattr(translation.stats, name) for name in ("applications", "cells", "hypotheses", "lm_queries")
    ]
    derivation = translation.derivation
    return [
        translation.text,
        translation.tokens,
        translation.has_parse,
        translation.score,
        translation.features,
        translation.weights,
        translation.alignment,
        translation.source,
        translation.unknown,
        (derivation.score, derivation.edges.tolist()),
        (*stats, translation.stats.completed),
        translation._repr_html_(),
    ]


@pytest.mark.parametrize("keep", ["none", "forest"])
@pytest.mark.parametrize("source", [SENTENCE, SENTENCE.split(), "", "nosuch"])
def test_translations_pickle(model: hiero.Model, source: Any, keep: Any) -> None:
    decoder = hiero.Decoder(model, pass_through="none" if source == "nosuch" else "unknown")
    translation = decoder.translate(source, keep=keep)
    assert translation.has_parse == (len(source) > 6)
    translation.text = "Some text ."
    for again in (pickle.loads(pickle.dumps(translation)), copy.deepcopy(translation)):
        assert known_of(again) == known_of(translation)
        assert repr(again) == repr(translation)
        if keep == "forest":
            assert same(forest_of(again), forest_of(translation))
            lists = [[(d.text, d.score) for d in each.kbest(9)] for each in (again, translation)]
            assert lists[0] == lists[1] and len(lists[0]) == (9 if translation.has_parse else 0)
        else:
            with pytest.raises(ValueError, match="kbest needs a forest"):
                again.kbest(1)


def test_translations_by_rules_of_their_own_pickle(model: hiero.Model) -> None:
    rules = (Rule("[X] ||| zzz ||| sleeps ||| Brought=2"),)
    source = hiero.Sentence(tokens=["zzz"], rules=rules)
    translation = hiero.Decoder(model).translate(
        source, keep="forest", weights={**model.weights, "Brought": 1.5}
    )
    again = pickle.loads(pickle.dumps(translation))
    assert known_of(again) == known_of(translation) and again.weights["Brought"] == 1.5
    assert again.features["Brought"] == 2 and again.kbest(1)[0].score == translation.score


@pytest.mark.parametrize("keep", ["chart", "splits"])
def test_charts_do_not_pickle(model: hiero.Model, keep: Any) -> None:
    translation = hiero.Decoder(model).translate(SENTENCE, keep=keep)
    with pytest.raises(TypeError, match=r"a chart needs its model .* pickle its \.chart\.forest"):
        pickle.dumps(translation)
    chart = translation.chart
    assert chart is not None and same(chart.forest, pickle.loads(pickle.dumps(chart.forest)))


def test_damaged_state_of_translations(translation: hiero.Translation) -> None:
    weights, best, forest, *rest = translation.__getstate__()  # type: ignore[attr-defined, misc]
    fewer = forest_of(translation).with_features(np.zeros((forest.edge_count, 1)), ["F"])
    for state in (
        (weights, best, forest),
        (weights[:-1], best, forest, *rest),
        (weights, best, fewer, *rest),
        (weights, None, forest, *rest),
    ):
        made = hiero.Translation.__new__(hiero.Translation)
        with pytest.raises(hiero.ForestError):
            made.__setstate__(state)  # type: ignore[attr-defined]


NAMES = [
    *("tables", "lms", "weights", "settings", "text", "distortion", "local_features", "generators", "goal"),
    *("copy_labels", "glue_labels", "log_base", "log_features", "core", "feature_names", "made_from", "new"),
]


@pytest.mark.parametrize("name", NAMES)
def test_models_do_not_change(model: hiero.Model, name: str) -> None:
    kinds = (model, model.with_weights({}), model.with_features(), pickle.loads(pickle.dumps(model)))
    for each in kinds:
        before = getattr(each, name, None)
        with pytest.raises(AttributeError, match=f"{name}: a model is immutable; use with_weights"):
            setattr(each, name, before)
        with pytest.raises(AttributeError):
            delattr(each, name)
        assert repr(getattr(each, name, None)) == repr(before)


def test_weights_and_origins_of_models_do_not_change(model: hiero.Model) -> None:
    given, origin = dict(model.weights), {"sizes": {"pairs": 3}, "list": [1]}
    made = hiero.Model(model.tables, model.lms, given, local_features=model.local_features, made_from=origin)
    given["LM0"], origin["list"] = 99.0, [2]
    origin["sizes"]["pairs"] = 4  # type: ignore[call-overload, index]
    assert made.weights == model.weights
    for each in (
        made,
        made.with_features(),
        made.with_weights({"LM0": 1.0}),
        pickle.loads(pickle.dumps(made)),
    ):
        for mapping in (each.weights, each.made_from):
            with pytest.raises(TypeError):
                mapping["LM0"] = 7.0  # type: ignore[index]
        each.made_from["sizes"]["pairs"] = 5
        assert each.made_from == {"sizes": {"pairs": 3}, "list": [1]}
    other = model.with_weights({"LM0": 2.0}, {"file": "some.txt"})
    assert other.made_from["weights"] == {"file": "some.txt"} and "weights" not in model.made_from
    assert other.core is model.core and other.tables is model.tables  # nothing is made anew


def random_rules(rng: random.Random) -> Iterator[Rule]:
    """Many of which share beginnings of their source sides."""
    for _ in range(400):
        side = [rng.choice("abcd") for _ in range(rng.randint(1, 5))]
        if len(side) > 1 and rng.random() < 0.5:
            side[rng.randrange(len(side))] = "[X,1]"
        target = [token for token in side if token == "[X,1]"] + [rng.choice("xyz")]
        yield Rule(
            f"[{rng.choice('XY')}] ||| {' '.join(side)} ||| {' '.join(target)} ||| F={rng.random():.3f}"
        )


@pytest.mark.parametrize("seed", range(3))
def test_rules_by_id(seed: int) -> None:
    table = RuleTable.from_rules(list(random_rules(random.Random(seed))))
    lines: list[bytes] = []
    tables.unpack(table, lines.append)
    in_order = b"".join(lines).decode().splitlines()
    assert [str(table.rule(number)) for number in range(table.rule_count)] == in_order
    for rule in map(Rule, in_order):
        assert pickle.loads(pickle.dumps(rule)) == rule
    for number in (table.rule_count, 2**32 - 1):
        with pytest.raises(IndexError, match=f"no rule {number}, there are {table.rule_count}"):
            table.rule(number)


def test_rules_of_forests_and_batches(model: hiero.Model, translation: hiero.Translation) -> None:
    forest = forest_of(translation)
    known = [owner in model.core.owners for owner in forest.tables]
    edges = [e for e, table in enumerate(forest.edge_tables.tolist()) if table >= 0 and known[table]]
    assert len(edges) > 20
    for edge in edges:
        rule = model.rule(forest.tables[forest.edge_tables[edge]], int(forest.edge_rules[edge]))
        symbols = forest.target_symbols[slice(*forest.target_offsets[forest.edge_targets[edge] :][:2])]
        words = [forest.words[symbol] if symbol >= 0 else "" for symbol in symbols.tolist()]
        assert [token if "," not in token else "" for token in rule.target] == words

    rows: list[tuple[int, int, list[int]]] = []

    class Noted:
        names = ("Nothing",)

        def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> np.ndarray:
            tables, spans = batch.applications.tables, batch.applications.spans
            for at, number in zip(batch.application, batch.rules, strict=True):
                rows.append((int(tables[at]), int(number), spans[at].tolist()))
            return np.zeros((len(batch), 1))

    noted = hiero.Model(model.tables, model.lms, {}, local_features=[Noted()])
    source = hiero.Decoder(noted).translate(SENTENCE).source
    assert len(rows) > 20
    for table, number, (begin, end) in rows:
        if table >= len(noted.core.owners):  # of words that are copied
            continue
        side = noted.rule(table, number).source
        covered = source[begin:end]
        assert (side == covered) if not any("," in token for token in side) else len(side) <= len(covered)
    with pytest.raises(IndexError, match="no table 99"):
        model.rule(99, 0)
    with pytest.raises(KeyError, match="no table 'other': expected one of pt"):
        model.rule("other", 0)


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda t, m: t.forest.constrain(["a b"]), "a list of tokens, not the string 'a b'"),
        (lambda t, m: t.forest.constrain("a b"), "a list of tokens, not the string 'a b'"),
        (
            lambda t, m: t.forest.annotate_ngrams(2).ngram_matches(["a"]),
            "a list of tokens, not the string 'a'",
        ),
        (lambda t, m: m.lms[0].score("a b"), "a list of tokens, not the string 'a b'"),
        (lambda t, m: m.tables[0].lookup("a b"), "a list of tokens, not the string 'a b'"),
        (lambda t, m: hiero._core.bleu_counts("a b", [["a"]]), "a list of tokens, not the string 'a b'"),
        (lambda t, m: hiero._core.bleu_counts(["a"], ["a b"]), "a list of tokens, not the string 'a b'"),
        (lambda t, m: hiero.Decoder(m).translate_batch("a b"), "expected lines, not the string 'a b'"),
        (
            lambda t, m: Bleu(["a b", "c"]),
            "segment 0: expected a list of references, each a line of text, not the string 'a b'",
        ),
    ],
)
def test_strings_in_place_of_tokens(
    translation: hiero.Translation, model: hiero.Model, misuse: Callable[..., object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        misuse(translation, model)
