"""Constraints on translations: their beginning, all of it, phrases that they have or lack."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pytest

import hiero
from hiero import Rule, Sentence
from hiero.text import TextSide
from support.brute_force import BackoffModel, Enumerator, lm_features, write_arpa
from support.constraints import obeys, random_constraint
from support.search_cases import Case, plain_case

RULES = [
    "[X] ||| la ||| the ||| P=-1",
    "[X] ||| maison ||| house ||| P=-1",
    "[X] ||| maison ||| household ||| P=-2",
    "[X] ||| maison ||| home ||| P=-3",
    "[X] ||| bleue ||| blue ||| P=-1",
    "[X] ||| [X,1] bleue ||| blue [X,1] ||| P=-0.5",
]


@pytest.fixture(scope="module")
def decoder() -> hiero.Decoder:
    table = hiero.RuleTable.from_rules([Rule(rule) for rule in RULES])
    return hiero.Decoder(hiero.Model([table], [], {"P": 1.0}))


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("", "the blue house"),
        ("the ", "the blue house"),
        ("the h", "the house blue"),
        ("the househ", "the household blue"),
        ("the house", "the house blue"),
        ("the household", "the household blue"),
        ("the house ", "the house blue"),
        (["the", "home"], "the home blue"),
        # No rule brings these words, or brings them in this place.
        (["blue"], "blue blue house"),
        ("green", "green blue house"),
        ("the green h", "the green house blue"),
        ("a very long prefix of words", "a very long prefix of words"),
    ],
)
def test_prefix(decoder: hiero.Decoder, prefix: str | list[str], words: str) -> None:
    result = decoder.translate("la maison bleue", prefix=prefix, keep="forest")
    assert result.text == words
    lists = result.kbest(100)
    assert [one.score for one in lists[:1]] == [result.score] * result.has_parse
    assert all(obeys(one.tokens, {"prefix": prefix}) for one in lists)


def test_words_that_no_rule_accounts_for(decoder: hiero.Decoder) -> None:
    reference = decoder.translate("la maison bleue", references=["the blue home"])
    assert reference.has_parse and reference.tokens == ["the", "blue", "home"]
    assert (reference.uncovered_source, reference.uncovered_target) == ([], [])
    wrong = decoder.translate("la maison bleue", references=["the green house"])
    assert not wrong.has_parse and wrong.tokens == []
    assert (wrong.uncovered_source, wrong.uncovered_target) == ([2], [1])
    # All words can be translated so, but not in this order.
    turned = decoder.translate("la maison bleue", references=["house the blue"])
    assert not turned.has_parse and (turned.uncovered_source, turned.uncovered_target) == ([], [])
    begun = decoder.translate("la maison bleue", prefix="the green h")
    assert begun.has_parse and begun.uncovered_target == [1]
    assert begun.features["ForcedWords"] == 1 and begun.weights["ForcedWords"] == -10
    assert begun.alignment == [(1, 1)]  # the rules of the table have no links
    again = pickle.loads(pickle.dumps(wrong))
    assert (again.uncovered_source, again.uncovered_target) == ([2], [1])


def test_phrases(decoder: hiero.Decoder) -> None:
    def words(**said: object) -> str:
        return decoder.translate(Sentence("la maison bleue", **said)).text  # type: ignore[arg-type]

    assert words(required=["home"]) == "the blue home"
    assert words(required=["home", ["the", "blue"]]) == "the blue home"
    assert words(required=["house blue"]) == "the house blue"
    assert words(forbidden=["house"]) == "the blue household"
    assert words(forbidden=["house", "the blue"], required=["blue"]) == "the household blue"
    assert words(required=["house", "home"]) == ""
    for empty in ("", " ", []):
        with pytest.raises(ValueError, match="an empty phrase is required or forbidden"):
            words(forbidden=[empty])
    with pytest.raises(ValueError, match="more than 32 phrases are required"):
        words(required=[f"w{k}" for k in range(33)])
    with pytest.raises(ValueError, match="they need more than 4096 states"):
        words(required=[f"w{k}" for k in range(13)])
    with pytest.raises(TypeError, match="required: expected a list of texts, not the string 'home'"):
        words(required="home")
    with pytest.raises(hiero.FormatError, match="prefix: 'a b' is empty or contains white space"):
        words(prefix=["a b"])


def test_words_are_cased_as_in_a_sentence_and_phrases_are_not(tmp_path: Path) -> None:
    (tmp_path / "case").write_text("the (2/3) The (1)\nHouse (3/4) house (1)\n")
    said = Sentence(
        "x", prefix="Th", required=["The House", "house"], forbidden=[["The"]], references=["The House"]
    )
    constraint = said.constraint(TextSide("moses", "en", truecaser=str(tmp_path / "case")))
    assert (constraint.prefix, constraint.unfinished) == ([], ["th", "Th"])
    assert constraint.references == [["the", "House"]]
    assert constraint.required == [["The", "House"], ["house"]] and constraint.forbidden == [["The"]]
    begun = Sentence("x", prefix="The Ho").constraint(
        TextSide("moses", "en", truecaser=str(tmp_path / "case"))
    )
    assert (begun.prefix, begun.unfinished) == (["the"], ["Ho"])
    lower = said.constraint(TextSide("moses", "en", lowercase=True))
    assert lower.unfinished == ["th"] and lower.required == [["the", "house"], ["house"]]
    assert Sentence("x", prefix="The. ").constraint(TextSide("moses", "en")).unfinished == []


def test_json() -> None:
    said = {
        "prefix": "the ",
        "references": ["the home", ["the", "house"]],
        "required": ["house", ["a", "b"]],
        "forbidden": ["x"],
    }
    sentence = Sentence.from_json(json.dumps({"text": "la maison", **said}))
    assert sentence == Sentence(
        "la maison",
        prefix="the ",
        references=["the home", ["the", "house"]],
        required=["house", ["a", "b"]],
        forbidden=["x"],
    )
    assert json.loads(sentence.to_json()) == {"text": "la maison", **said}
    assert json.loads(Sentence("la", references=[""]).to_json()) == {"text": "la", "references": [""]}
    assert json.loads(Sentence("la").to_json()) == {"text": "la"}


def best_score(case: Case, weights: dict[str, float], said: dict[str, object]) -> float | None:
    """Returns the score of the best derivation that obeys, by enumeration."""
    models = [BackoffModel(path) for path in case.lms]
    scores = []
    for derivation in Enumerator(case.rules, case.sentence, case.span_limit).derivations():
        if obeys(derivation.words, said):
            features = {**derivation.features, **lm_features(derivation.words, models)}
            scores.append(sum(weights.get(name, 0.0) * value for name, value in features.items()))
    return max(scores, default=None)


def test_references_whatever_the_limit_and_certificates(tmp_path: Path) -> None:
    rng = random.Random(3)
    write_arpa(tmp_path / "lm.arpa", [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], 3)
    found = optimal = 0
    for seed in range(400):
        rng = random.Random(seed)
        case = plain_case(rng, [tmp_path / "lm.arpa"] * 2)
        try:
            model = case.model()
        except hiero.FormatError:
            continue
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        weights |= {f"LM{k}": rng.uniform(0, 1) for k in range(len(case.lms))}
        every = Enumerator(case.rules, case.sentence, case.span_limit).derivations()
        said = random_constraint(rng, [derivation.words for derivation in every], "uvwb")
        best = best_score(case, weights, said)
        decoder = hiero.Decoder(model, pop_limit=1, span_limit=case.span_limit, exact=100_000)
        result = decoder.with_weights(weights).translate(Sentence(tokens=case.sentence, **said))
        if "references" in said:
            assert result.has_parse == (best is not None)
        if best is not None and ("references" in said or result.optimal):
            assert result.score == pytest.approx(best, abs=1e-4)
            found += "references" in said
            optimal += "references" not in said
    assert found > 30 and optimal > 60
