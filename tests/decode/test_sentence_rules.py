"""Rules of one sentence: what they may say, what they reach, and that they are gone afterwards."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import FormatError, Rule

TABLE = [
    Rule("[X] ||| [NP,1] v ||| sees [NP,1] ||| P=-0.5"),
    Rule("[X] ||| [NP,1] ||| [NP,1] ||| P=-0.75"),
    Rule("[NP] ||| n ||| noun ||| P=-0.25"),
    Rule("[NUM] ||| 2 ||| two ||| P=-0.125"),
]
UNARY = Rule("[NP] ||| [NUM,1] ||| [NUM,1] ||| P=-1.5")


def decoder_of(rules: Sequence[Rule], **settings: object) -> hiero.Decoder:
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {"P": 1.0, "OOV": -100.0, "Glue": -1.0})
    return hiero.Decoder(model, **settings)


def derivations(result: hiero.Translation) -> list[tuple[str, float]]:
    return [(d.text, round(d.score, 5)) for d in result.kbest(100)]


@pytest.mark.parametrize("sentence", ["2 v", "2", "n v 2 v", "n v"])
def test_a_unary_rule_is_as_good_as_in_the_table(sentence: str) -> None:
    own = decoder_of(TABLE, pop_limit=0).translate(
        hiero.Sentence.from_source(sentence, rules=[UNARY]), keep="forest"
    )
    table = decoder_of([*TABLE, UNARY], pop_limit=0).translate(sentence, keep="forest")
    assert own.text == table.text
    assert own.score == pytest.approx(table.score)
    assert derivations(own) == derivations(table)
    uses_it = "2 v" in sentence
    assert (own.features["P"] < -1.5) == uses_it


@pytest.mark.parametrize("seed", range(6))
def test_unary_rules_between_many_labels(seed: int) -> None:
    """Every label may have any label before it below it, and some have a word."""
    rng = random.Random(seed)
    labels = [f"L{n}" for n in range(12)]
    rng.shuffle(labels)
    has_word = [k == 0 or rng.random() < 0.3 for k in range(len(labels))]
    words = [
        Rule(f"[{label}] ||| a ||| {label} ||| P=-1")
        for label, has in zip(labels, has_word, strict=True)
        if has
    ]
    unary = [
        Rule(f"[{above}] ||| [{below},1] ||| {above} [{below},1] ||| P=-1")
        for k, above in enumerate(labels)
        for below in labels[:k]
    ]
    rules = [*words, *unary]
    rng.shuffle(rules)
    own = [rule for rule in rules if rule in unary and rng.random() < 0.3]
    table = hiero.RuleTable.from_rules([rule for rule in rules if rule not in own])
    model = hiero.Model([table], [], {"P": 1.0}, goal=labels[-1])
    forest = (
        hiero.Decoder(model, pop_limit=0)
        .translate(hiero.Sentence.from_source("a", rules=own), keep="forest")
        .forest
    )
    assert forest is not None
    below_all = 0
    for has in has_word:
        count = has + below_all
        below_all += count
    assert forest.derivation_count == count


@pytest.mark.parametrize("rule", ["[X] ||| [S,1] ||| [S,1]", "[X] ||| [S,1] c ||| [S,1] books"])
def test_the_goal_is_on_no_right_hand_side(rule: str) -> None:
    with pytest.raises(FormatError, match=r"the goal \[S\] on a right-hand side"):
        decoder_of(TABLE).translate(hiero.Sentence.from_source("n c", rules=[Rule(rule + " ||| P=0")]))


def test_a_cycle_with_the_table_is_named() -> None:
    back = Rule("[NUM] ||| [X,1] ||| [X,1] ||| P=0")
    with pytest.raises(FormatError, match="cycle") as raised:
        decoder_of(TABLE).translate(hiero.Sentence.from_source("n", rules=[UNARY, back]))
    for arc in ("[NP] ||| [NUM,1] (table sentence)", "[NUM] ||| [X,1] (table sentence)", "[X] ||| [NP,1]"):
        assert arc in str(raised.value)
    with pytest.raises(FormatError, match=r"cycle: \[NP\] \|\|\| \[NP,1\]"):
        decoder_of(TABLE).translate(
            hiero.Sentence.from_source("n", rules=[Rule("[NP] ||| [NP,1] ||| [NP,1] ||| P=0")])
        )
    assert decoder_of(TABLE).translate(hiero.Sentence.from_source("n", rules=[UNARY])).text == "noun"


def test_no_rule_but_those_of_the_cycle_is_named() -> None:
    rules = [Rule("[A] ||| [B,1] ||| [B,1] ||| P=0"), Rule("[C] ||| [A,1] ||| [A,1] ||| P=0")]
    back = Rule("[B] ||| [A,1] ||| [A,1] ||| P=0")
    with pytest.raises(FormatError) as raised:
        decoder_of([*rules, Rule("[B] ||| b ||| B ||| P=0")]).translate(
            hiero.Sentence.from_source("b", rules=[back])
        )
    arcs = "[A] ||| [B,1] (table pt), [B] ||| [A,1] (table sentence)"
    assert sorted(str(raised.value).split(": ")[1].split(", ")) == arcs.split(", ")


@pytest.mark.parametrize("source", ["q [X,1]", "n [X,1] v"])
def test_a_very_long_sentence(source: str) -> None:
    """A rule with a nonterminal may span all of it, at no cost where nothing is spanned."""
    rule = Rule(f"[X] ||| {source} ||| over [X,1] ||| P=9")
    result = decoder_of(TABLE, pop_limit=1).translate(
        hiero.Sentence.from_source(["n"] * 200_000 + ["v"], rules=[rule])
    )
    assert len(result.tokens) == (200_001 if source.startswith("q") else 200_000)


def test_rules_from_an_iterator() -> None:
    rules = iter([Rule("[X] ||| q ||| Q ||| P=2")])
    assert (
        decoder_of(TABLE).translate(hiero.Sentence.from_source("q", rules=rules), weights={"P": 1.0}).text
        == "Q"
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["a b c d e", "a [NP,1] b c", "a [NP,1] c [NP,2]"])
def test_longer_than_the_span_limit(source: str) -> None:
    target = " ".join(token for token in source.split(" ") if token.startswith("[")) + " long"
    rule = Rule(f"[X] ||| {source} ||| {target.strip()} ||| P=3")
    sentence = source.replace("[NP,1]", "n").replace("[NP,2]", "n")
    result = decoder_of(TABLE, span_limit=2).translate(hiero.Sentence.from_source(sentence, rules=[rule]))
    assert result.text == target.strip().replace("[NP,1]", "noun").replace("[NP,2]", "noun")
    assert result.features["RulePenalty" if "NP" in source else "P"] > 0
    in_table = decoder_of([*TABLE, rule], span_limit=2).translate(sentence)
    assert "long" not in in_table.tokens


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 9])
def test_a_span_limit_for_rules_with_nonterminals(limit: int) -> None:
    """Rules of a sentence with a limit are used as those of a table with it; phrases have none."""
    phrase = Rule("[X] ||| a b c d e ||| phrase ||| P=3")
    gap = Rule("[X] ||| a [X,1] e ||| from [X,1] to ||| P=2")
    sentence = "a b c d e"
    words = [Rule(f"[X] ||| {text} ||| {text.upper()} ||| P=0") for text in ("b c d", *sentence.split())]
    limited = hiero.Sentence(sentence, rules=[gap], rule_span_limit=limit)
    own = decoder_of([*TABLE, *words], pop_limit=0).translate(limited, keep="forest").kbest(1000)
    in_table = decoder_of([*TABLE, *words, gap], pop_limit=0, span_limit=limit)
    expected = in_table.translate(sentence, keep="forest").kbest(1000)
    assert {d.text for d in own} == {d.text for d in expected}
    assert any("from" in d.tokens for d in own) == (limit >= 5)
    with_phrase = hiero.Sentence(sentence, rules=[gap, phrase], rule_span_limit=limit)
    assert decoder_of([*TABLE, *words]).translate(with_phrase).text == "phrase"


def test_a_span_limit_in_json_and_out_of_range() -> None:
    sentence = hiero.Sentence("a", rule_span_limit=7)
    assert hiero.Sentence.from_json(sentence.to_json()) == sentence
    assert "rule_span_limit" not in hiero.Sentence("a").to_json()
    for limit in (-1, 2**32):
        with pytest.raises(ValueError, match="rule_span_limit: expected 0 or more"):
            hiero.Sentence("a", rule_span_limit=limit)
        with pytest.raises(FormatError, match="rule_span_limit"):
            hiero.Sentence.from_json(f'{{"text": "a", "rule_span_limit": {limit}}}')


@pytest.mark.slow
def test_rules_that_span_too_much_of_a_sentence_are_an_error() -> None:
    rule = Rule("[X] ||| [X,1] [X,2] [X,3] ||| [X,1] [X,2] [X,3] ||| P=0")
    sentence = hiero.Sentence(tokens=["q"] * 250, rules=[rule])
    with pytest.raises(hiero.Error, match="over 10,000,000 rule applications"):
        decoder_of([Rule("[X] ||| q ||| q ||| P=0")]).translate(sentence)


def test_unknown_words_that_a_rule_covers() -> None:
    decoder = decoder_of(TABLE)
    name = Rule("[X] ||| ann lee ||| Ann Lee ||| NameRule=1")
    assert decoder.translate("ann lee v").unknown == [0, 1, 2]
    assert decoder.translate(hiero.Sentence.from_source("ann lee q ann", rules=[name])).unknown == [2, 3]
    around = Rule("[X] ||| ann [NP,1] lee ||| Ann [NP,1] Lee ||| NameRule=1")
    assert decoder.translate(hiero.Sentence.from_source("ann n lee", rules=[around])).unknown == []
    # What stands in the gap is not covered by the words around it.
    gap = Rule("[X] ||| ann [X,1] lee ||| Ann [X,1] Lee ||| NameRule=1")
    assert decoder.translate(hiero.Sentence.from_source("ann q lee lee", rules=[gap])).unknown == [1, 3]
    assert decoder.translate(hiero.Sentence.from_source("lee ann q lee", rules=[gap])).unknown == [0, 2]
    word = Rule("[X] ||| ann ||| Ann ||| NameRule=1")
    assert decoder.translate(hiero.Sentence.from_source("ann lee ann", rules=[word])).unknown == [1]


def test_features_of_their_own() -> None:
    decoder = decoder_of(TABLE)
    weights = {"P": 1.0, "Glue": -1.0, "Second": 2.0, "First": -0.5}
    rules = [
        Rule("[X] ||| a ||| A ||| First=1 Second=0.25 P=-1"),
        Rule("[X] ||| b [NP,1] ||| [NP,1] B ||| Second=4"),
    ]
    result = decoder.translate(
        hiero.Sentence.from_source("a b n", rules=rules), weights=weights, keep="forest"
    )
    assert result.text == "A noun B"
    assert result.features["First"] == 1
    assert result.features["Second"] == 4.25
    assert result.score == pytest.approx(
        sum(weights.get(name, 0.0) * value for name, value in result.features.items())
    )
    names = result.forest.feature_names
    known = len(decoder.model.feature_names)
    assert list(names[:known]) == list(decoder.model.feature_names)
    assert sorted(names[known:]) == ["First", "Second"]
    vector = np.array([weights.get(name, 0.0) for name in names])
    best, *_ = result.kbest(1)
    assert result.forest.scores(vector)[best.edges].sum() == pytest.approx(result.score)
    # Other sentences know nothing of it.
    after = decoder.translate("a b n", keep="forest")
    assert after.unknown == [0, 1]
    assert list(after.forest.feature_names) == list(decoder.model.feature_names)


@pytest.mark.parametrize("name", ["LM0", "LM0_OOV", "WordPenalty"])
def test_features_that_the_decoder_computes(french: Path, name: str) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], {"LM0": 1.0})
    with pytest.raises(FormatError, match=f"feature {name} is one that the decoder computes itself"):
        hiero.Decoder(model).translate(
            hiero.Sentence.from_source("x", rules=[Rule(f"[X] ||| x ||| y ||| {name}=1")])
        )


def test_a_feature_without_a_weight() -> None:
    rule = Rule("[X] ||| x ||| y ||| Unheard=1")
    for weights in (None, {"P": 1.0}):
        with pytest.raises(FormatError, match='no feature "Unheard", and no weight is given'):
            decoder_of(TABLE).translate(hiero.Sentence.from_source("x", rules=[rule]), weights=weights)
    # A weight for a feature that no rule brings is one too many.
    with pytest.raises(FormatError, match="no such feature: Other"):
        decoder_of(TABLE).translate(
            hiero.Sentence.from_source("x", rules=[rule]), weights={"Unheard": 1.0, "Other": 1.0}
        )


@pytest.mark.parametrize(("setting", "text"), [("copy", "q noun"), ("mark", "q_OOV noun"), ("drop", "noun")])
def test_unknown_words(setting: str, text: str) -> None:
    decoder = decoder_of(TABLE, unknown_words=setting)
    result = decoder.translate("q n")
    assert (result.text, result.unknown, result.features["OOV"]) == (text, [0], 1)
    assert result.features.get("Identity", 0) == (setting == "copy")
    named = decoder.translate(
        hiero.Sentence.from_source("q n", rules=[Rule("[X] ||| q ||| Q ||| NameRule=1")])
    )
    assert (named.text, named.unknown) == ("Q noun", [])


class OwnError(Exception):
    """An error that hiero has not heard of."""


class FailsAt:
    """Local features that raise where a sentence has the word."""

    names: Sequence[str] = ["Local"]

    def __init__(self, word: str, error: Exception) -> None:
        self.word, self.error = word, error

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> object:
        if self.word in (sentence.tokens or ()):
            raise self.error
        return np.ones((len(batch), 1))


@pytest.mark.parametrize("error", [KeyError("k"), OwnError("mine"), ZeroDivisionError(), StopIteration()])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_local_features_ends_its_sentence_alone(error: Exception, threads: int) -> None:
    table = hiero.RuleTable.from_rules(TABLE)
    model = hiero.Model([table], [], {"P": 1.0}, local_features=[FailsAt("bad", error)])
    lines = ["n", "bad n", "2 v", "bad", "n n"]
    results = list(hiero.Decoder(model).translate_iter(lines, threads=threads))
    failed = [i for i, result in enumerate(results) if isinstance(result, hiero.Failure)]
    assert failed == [1, 3]
    for i in failed:
        result = results[i]
        assert isinstance(result, hiero.Failure) and isinstance(result.error.__cause__, type(error))
        assert str(result.error) == f"local features Local: {type(error).__name__}: {error}"
    assert results[0].text == "noun"
    assert results[4].text == "noun noun"
