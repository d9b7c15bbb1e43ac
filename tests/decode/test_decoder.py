"""The decoder from Python: forests, per-call weights, sentence rules, pass-through, threads."""

from __future__ import annotations

import pickle
import random
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import _core
from hiero.tune import ModelDecoder
from support.brute_force import BackoffModel, write_arpa
from support.decoding import input_lines, used_rules
from support.paths import FRENCH
from support.synthetic_decoder import whole_forest


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    french = FRENCH
    return hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")


def test_every_edge_scores_weights_times_features(model: hiero.Model, french: Path) -> None:
    decoder = hiero.Decoder(model)
    weights = model.weight_vector(model.weights)
    for line in input_lines(french):
        result = decoder.translate(line, keep="forest")
        forest = result.forest
        scores = forest.scores(weights)
        assert scores == pytest.approx(forest.features @ weights)
        best, *_ = result.kbest(1)
        assert best.score == pytest.approx(result.score, abs=1e-6)
        assert best.score == pytest.approx(scores[best.edges].sum())
        named = sum(model.weights.get(name, 0.0) * value for name, value in best.features.items())
        assert named == pytest.approx(best.score)


def test_forest_arrays_are_views_in_topological_order(model: hiero.Model) -> None:
    forest = hiero.Decoder(model).translate("le chat noir dort .", keep="forest").forest
    assert np.shares_memory(forest.tails, forest.tails)
    assert np.shares_memory(forest.features.data, forest.features.data)
    assert not forest.tails.flags.writeable
    heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_offsets))
    tails_per_edge = np.diff(forest.tail_offsets)
    assert (forest.tails < np.repeat(heads, tails_per_edge)).all()
    assert forest.root == forest.node_count - 1
    assert forest.edge_offsets[-1] == forest.edge_count == len(forest.edge_rules)
    assert (np.diff(forest.edge_offsets) > 0).all()
    spans = forest.node_spans
    assert tuple(spans[forest.root]) == (0, 5)
    # Tails lie inside their head's span, in source order.
    for edge in range(forest.edge_count):
        tails = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]]
        at = spans[heads[edge]][0]
        for tail in tails:
            assert at <= spans[tail][0] < spans[tail][1] <= spans[heads[edge]][1]
            at = spans[tail][1]


def test_arrays_outlive_the_result(model: hiero.Model) -> None:
    features = hiero.Decoder(model).translate("le chat noir dort .", keep="forest").forest.features
    before = features.sum()
    for _ in range(50):
        hiero.Decoder(model).translate("elle voit le chien .", keep="forest")
    assert features.sum() == before


def test_kbest_is_sorted_and_unique(model: hiero.Model) -> None:
    result = hiero.Decoder(model).translate("elle voit un chien noir .", keep="forest")
    derivations = result.kbest(50)
    assert [d.score for d in derivations] == sorted((d.score for d in derivations), reverse=True)
    assert len({tuple(d.edges) for d in derivations}) == len(derivations)
    unique = result.kbest(50, unique=True)
    texts = [d.text for d in derivations]
    assert [d.text for d in unique][: len(set(texts))] == list(dict.fromkeys(texts))
    with pytest.raises(ValueError, match="keep"):
        hiero.Decoder(model).translate("le chat").kbest(1)


def test_weights_per_call_and_with_weights(model: hiero.Model) -> None:
    decoder = hiero.Decoder(model)
    other = {**model.weights, "PhraseEF": -3.0}
    changed = decoder.translate("le livre", weights=other).text
    assert changed == decoder.with_weights(other).translate("le livre").text
    assert changed != decoder.translate("le livre").text
    with pytest.raises(hiero.FormatError, match="no such feature: Nonsense"):
        decoder.with_weights({"Nonsense": 1.0})


def test_scaled_weights_give_the_same_search(model: hiero.Model, french: Path) -> None:
    decoder = hiero.Decoder(model, pop_limit=3)
    scaled = decoder.with_weights({name: 8 * value for name, value in model.weights.items()})
    for line in input_lines(french):
        one, eight = decoder.translate(line), scaled.translate(line)
        assert one.text == eight.text
        assert one.stats.hypotheses == eight.stats.hypotheses


def test_chart_keeps_every_item(model: hiero.Model) -> None:
    decoder = hiero.Decoder(model, beam_size=2)
    result = decoder.translate("le chat noir dort .", keep="chart")
    assert result.chart is not None
    chart, survived = result.chart.forest, result.chart.survived
    assert len(survived) == chart.node_count
    cells: dict[tuple[int, ...], list[int]] = {}
    for node in range(chart.node_count - 1):
        key = (*chart.node_spans[node].tolist(), int(chart.node_labels[node]))
        cells.setdefault(key, []).append(int(survived[node]))
    assert max(sum(kept) for kept in cells.values()) == 2
    assert any(sum(kept) < len(kept) for kept in cells.values())


def test_sentence_rules_hold_for_one_sentence(model: hiero.Model) -> None:
    decoder = hiero.Decoder(model)
    rule = hiero.Rule("[X] ||| madame dubois ||| mrs dubois ||| NameRule=1")
    result = decoder.translate(hiero.Sentence.from_source("madame dubois dort .", rules=[rule]))
    assert result.text == "mrs dubois sleeps ."
    assert result.features["NameRule"] == 1
    assert decoder.translate("madame dubois dort .").text == "madame dubois sleeps ."
    with pytest.raises(hiero.FormatError, match="no feature"):
        decoder.translate(
            hiero.Sentence.from_source("x", rules=[hiero.Rule("[X] ||| x ||| y ||| Unheard=1")])
        )
    with pytest.raises(hiero.FormatError, match=r"no nonterminal \[Z\]"):
        decoder.translate(
            hiero.Sentence.from_source("x", rules=[hiero.Rule("[Z] ||| x ||| y ||| NameRule=1")])
        )


def test_pass_through(model: hiero.Model) -> None:
    unknown = hiero.Decoder(model).translate("le xyz dort")
    assert unknown.text == "the xyz sleeps"
    assert unknown.unknown == [1]
    assert (unknown.features["OOV"], unknown.features["Identity"]) == (1, 1)
    nothing = hiero.Decoder(model, pass_through="none").translate("le xyz dort")
    assert (nothing.has_parse, nothing.tokens) == (False, [])
    copying = model.weight_vector({"Identity": 1.0})
    everything = hiero.Decoder(model, pass_through="all").with_weights(copying)
    assert everything.translate("le chat").text == "le chat"


def test_lm_knows_a_word_that_no_table_knows(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", [["the", "zebra", "runs"]] * 3, 2)
    table = hiero.RuleTable.from_rules([hiero.Rule("[X] ||| le ||| the ||| A=0")])
    lm = hiero.LanguageModel.load(str(tmp_path / "lm.arpa"))
    model = hiero.Model([table], [lm], {"LM0": 1.0, "LM0_OOV": -1.0})
    result = hiero.Decoder(model).translate("le zebra")
    twin = BackoffModel(tmp_path / "lm.arpa")
    assert result.features["LM0"] == pytest.approx(twin.sentence_score(["the", "zebra"]), abs=1e-4)
    assert "LM0_OOV" not in result.features
    assert hiero.Decoder(model).translate("le gnu").features["LM0_OOV"] == 1


def test_lm_scores_equal_the_kenlm_module(model: hiero.Model, french: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    reference = kenlm.Model(str(french / "lm.arpa"))
    for line in input_lines(french):
        result = hiero.Decoder(model).translate(line)
        expected = reference.score(result.text) * np.log(10)
        assert result.features["LM0"] == pytest.approx(expected, abs=1e-4)
        assert model.lms[0].score(result.tokens) == pytest.approx(expected, abs=1e-4)


def test_threads_give_the_same_results(model: hiero.Model, french: Path) -> None:
    decoder = hiero.Decoder(model)
    text = input_lines(french) * 5
    expected = [(t.text, t.score) for t in decoder.translate_batch(text)]
    for threads in (2, 8):
        assert [(t.text, t.score) for t in decoder.translate_batch(text, threads=threads)] == expected
    found: dict[int, list[tuple[str, float]]] = {}

    def work(number: int) -> None:
        found[number] = [(t.text, t.score) for t in map(decoder.translate, text)]

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(found[n] == expected for n in range(8))


def test_two_models_in_one_process(model: hiero.Model) -> None:
    other = hiero.Model([hiero.RuleTable.from_rules([hiero.Rule("[X] ||| le ||| IL ||| A=1")])], [], {})
    first, second = hiero.Decoder(model), hiero.Decoder(other)
    assert [first.translate("le chat").text, second.translate("le chat").text] == ["the cat", "IL chat"]


def test_a_failing_line_does_not_stop_a_stream(model: hiero.Model) -> None:
    other_label = hiero.Sentence(tokens=["le"], rules=[hiero.Rule("[N] ||| le ||| the ||| A=1")])
    stream = ["le chat", other_label, "le chien"]
    results = list(hiero.Decoder(model).translate_iter(stream, threads=2))
    assert isinstance(results[1], hiero.Failure)
    assert [r.text for r in (results[0], results[2])] == ["the cat", "the dog"]
    with pytest.raises(hiero.FormatError):
        hiero.Decoder(model).translate_batch(stream)


def length_at_rest(seen: Sequence[object], expected: int) -> int:
    """Returns the length of a list that threads add to, after they had time to go too far."""
    deadline = time.monotonic() + 20
    while len(seen) < expected and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    return len(seen)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_read_a_few_lines_ahead(model: hiero.Model, threads: int) -> None:
    read: list[int] = []

    def stream() -> Iterator[str]:
        for number in range(1000):  # all of which are read where nothing holds them back
            read.append(number)
            yield "le chat"

    results = hiero.Decoder(model).translate_iter(stream(), threads=threads)
    for taken in range(1, 4):
        next(results)
        # One more waits for a place.
        expected = taken + 4 * threads + 1
        assert length_at_rest(read, expected) == expected
    rest = sum(1 for _ in results)
    assert taken + rest == len(read) == 1000


@pytest.mark.parametrize("threads", [1, 3])
def test_tuning_decodes_a_few_sentences_ahead(
    model: hiero.Model, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []
    translate = hiero.Decoder.translate

    def counted(*arguments: Any, **options: Any) -> hiero.Translation:
        decoded.append(None)
        return translate(*arguments, **options)

    monkeypatch.setattr(hiero.Decoder, "translate", counted)
    decoder = ModelDecoder(hiero.Decoder(model), ["le chat"] * 100, threads)
    forests = decoder.forests(model.weight_vector(model.weights), whole_forest)
    for taken in range(1, 4):
        next(forests)
        expected = taken + 4 * threads
        assert length_at_rest(decoded, expected) == expected
    assert taken + sum(1 for _ in forests) == len(decoded) == 100


def test_more_hypotheses_never_hurt_on_average(shared: Path, tmp_path: Path) -> None:
    system = shared / "ja-en" / "system"
    model = hiero.Model.assemble([system / "grammar.gz"], [system / "lm.arpa.gz"], system / "weights.txt")
    text = (shared / "ja-en" / "dev.ja").read_text().splitlines()[:40]
    means = []
    for limit in (10, 30, 100, 300):
        decoder = hiero.Decoder(model, pop_limit=limit, span_limit=15)
        means.append(np.mean([decoder.translate(line).score for line in text]))
    assert means == sorted(means)
    short = [line for line in text if len(line.split()) <= 5][:3]
    for line in short:
        exact = hiero.Decoder(model, pop_limit=0, span_limit=15).translate(line).score
        wide = hiero.Decoder(model, pop_limit=3000, span_limit=15).translate(line).score
        assert wide <= exact + 1e-6
        assert wide == pytest.approx(exact, abs=0.05)


def test_names_of_features_and_bad_settings(model: hiero.Model, tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| le ||| the ||| a\u00a0b=1 c=2\n")
    named = hiero.Model.assemble([tmp_path / "grammar"], [], {"a\u00a0b": 0.5, "c": -1.0})
    named.save(tmp_path / "model")
    assert hiero.Model.load(tmp_path / "model").weights == named.weights
    (tmp_path / "grammar").write_text("[X] ||| le ||| the ||| #h=1\n")
    with pytest.raises(hiero.FormatError, match="feature '#h': a name has no white space"):
        hiero.Model.assemble([tmp_path / "grammar"])
    with pytest.raises(ValueError, match=r"^pop_limit: Input should be less than or equal to 4294967295$"):
        hiero.Decoder(model, pop_limit=10**11)


def test_nothing_in_place_of_parts(model: hiero.Model) -> None:
    for tables, lms in (([None], []), ([*model.tables, None], []), (model.tables, [None])):
        with pytest.raises(TypeError, match=r"hiero\.(RuleTable|LanguageModel), not one with None"):
            hiero.Model(tables, lms, {})  # type: ignore[list-item]
    with pytest.raises(TypeError):
        _core.Decoder(None, np.zeros(0), hiero.DecodingSettings().options())  # type: ignore[arg-type]


def test_ties_at_the_limit_of_targets_go_by_rule() -> None:
    """Whatever stands before and behind the equal ones."""
    rng = random.Random(4)
    for _ in range(20):
        values = [rng.choice([0, 0, 1, 2]) for _ in range(8)]
        rules = [hiero.Rule(f"[X] ||| a ||| w{i} ||| V={v}") for i, v in enumerate(values)]
        model = hiero.Model([hiero.RuleTable.from_rules(rules, owner="pt")], [], {"V": 1.0})
        # The table may order targets in its own way.
        values = [rule.features["V"] for rule in model.tables[0].lookup(["a"])]
        order = sorted(range(8), key=lambda rule: (-values[rule], rule))
        for limit in (1, 2, 3, 5, 8):
            assert used_rules(model, "a", ttable_limit=limit) == {0: set(order[:limit])}


def test_equal_translations_come_in_the_order_found(tmp_path: Path) -> None:
    # Two words that are alike to the language model, and different states of it.
    unigrams = "-1\t<unk>\n-99\t<s>\t-0.3\n-1\t</s>\n-1\tx\t-0.5\n-1\ty\t-0.5\n"
    (tmp_path / "arpa").write_text(
        f"\\data\\\nngram 1=5\nngram 2=2\n\n\\1-grams:\n{unigrams}\n"
        "\\2-grams:\n-0.7\tx y\n-0.7\ty x\n\n\\end\\\n"
    )
    for words in ("xy", "yx"):
        (tmp_path / "rules").write_text("".join(f"[X] ||| a ||| {word} ||| A=1\n" for word in words))
        model = hiero.Model.assemble([tmp_path / "rules"], [tmp_path / "arpa"], {"LM0": 1.0, "A": 1.0})
        forest = hiero.Decoder(model).translate("a", keep="forest").forest
        assert forest is not None
        best, second = forest.kbest(2, model.weights)
        assert best.score == second.score and best.tokens != second.tokens
        # Items are nodes in the order found, and goals the root's edges in theirs.
        goals = forest.tails[forest.tail_offsets[forest.edge_offsets[forest.root]] :]
        assert list(goals) == sorted(goals) and len(goals) == 2


def test_limits(model: hiero.Model) -> None:
    def decode(**settings: float) -> hiero.Translation:
        return hiero.Decoder(model, **settings).translate("le livre noir", keep="forest")

    everything = decode(pop_limit=0)
    one_target = decode(pop_limit=0, ttable_limit=1)
    # One target for each word and one for "le [X] noir": the noun may come last or in the middle.
    assert len({d.text for d in one_target.kbest(100)}) == 2
    assert len({d.text for d in everything.kbest(1000)}) > 4
    items = np.diff(decode(pop_limit=0, beam_size=1).forest.edge_offsets)
    assert len(items) < everything.forest.node_count
    narrow = decode(pop_limit=0, beam_threshold=0.01)
    assert narrow.stats.hypotheses < everything.stats.hypotheses
    assert decode(pop_limit=0, beam_threshold=1e6).score == everything.score
    for bad in ({"span_limit": 0}, {"beam_threshold": -1}, {"pop_limit": -1}, {"no_such": 1}):
        with pytest.raises(ValueError):
            hiero.Decoder(model, **bad)


def test_weights_as_a_vector(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    decoder = hiero.Decoder(model)
    rng = random.Random(4)
    named = {name: rng.uniform(-1, 1) for name in model.feature_names}
    vector = np.array(list(named.values()))
    other = decoder.with_weights(vector)
    kept = vector.copy()
    for line in input_lines(french):
        twin = decoder.with_weights(named).translate(line)
        for found in (other.translate(line), decoder.translate(line, weights=kept)):
            assert (found.text, found.score, found.weights) == (twin.text, twin.score, named)
        vector *= 0  # a copy was taken
    assert other.weights == named and pickle.loads(pickle.dumps(other)).weights == named
    for bad, message in ((kept[1:], "expected"), (kept * np.nan, "not finite"), (kept[None], "vector")):
        with pytest.raises(ValueError, match=message):
            decoder.with_weights(bad)
        with pytest.raises(ValueError, match=message):
            decoder.translate("le chat", weights=bad)
