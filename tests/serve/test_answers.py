"""Tests of the server's own interface: it answers what the library does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import hiero
from hiero.adapt import Session
from hiero.decode.why_not import why_not
from support.served import make_client

Ask = Callable[..., Any]
Document = list[tuple[str, str]]
LINE = "那 部 便宜 的 手机 已经 被 陈静 偷走 了 。"


@pytest.fixture
def decoder(model: Path) -> hiero.Decoder:
    return hiero.Decoder(hiero.Model.load(model))


def test_a_sentence(ask: Ask, decoder: hiero.Decoder) -> None:
    result = decoder.translate(LINE, keep="forest")
    answer = ask("translate", text=LINE, details=True, alternatives=3)
    (sentence,) = answer["sentences"]
    assert answer["text"] == sentence["text"] == result.text
    assert (sentence["source"], sentence["tokens"]) == (result.source, result.tokens)
    assert sentence["score"] == pytest.approx(result.score)
    assert sentence["alignment"] == [list(link) for link in result.alignment]
    assert sentence["confidence"] == pytest.approx(result.confidence())
    assert sentence["features"] == pytest.approx(result.features)
    assert (sentence["unknown"], sentence["late"]) == (result.unknown, False)
    others = [one.text for one in result.kbest(4, unique=True)[1:]]
    assert [one["text"] for one in sentence["alternatives"]] == others
    assert answer["weights"] == pytest.approx(decoder.weights) and answer["milliseconds"] > 0


def test_a_derivation_sums_to_the_score(ask: Ask, decoder: hiero.Decoder) -> None:
    derivation = ask("translate", text=LINE, details=True)["sentences"][0]["derivation"]

    def total(rule: dict[str, Any]) -> float:
        assert rule["score"] == pytest.approx(
            sum(decoder.weights.get(name, 0) * value for name, value in rule["features"].items())
        )
        return rule["score"] + sum(map(total, rule["children"]))

    assert total(derivation) == pytest.approx(decoder.translate(LINE).score, abs=1e-4)
    assert derivation["span"] == [0, 11] and derivation["children"][0]["label"] == "S"


def test_without_details(ask: Ask) -> None:
    (sentence,) = ask("translate", text=LINE)["sentences"]
    assert (sentence["derivation"], sentence["confidence"], sentence["features"]) == (None, [], {})
    assert sentence["alternatives"] == []


def test_text_keeps_its_lines(ask: Ask, decoder: hiero.Decoder) -> None:
    lines = ["她 的 老师 很 忙 。", "小狗"]
    first, second = (decoder.translate(line).text for line in lines)
    answer = ask("translate", text=f"\n {lines[0]}\n\n{lines[1]}  \n")
    assert answer["text"] == f"\n {first}\n\n{second}  \n" and len(answer["sentences"]) == 2
    assert ask("translate", text=" \n") == {
        "text": " \n",
        "sentences": [],
        "weights": dict(decoder.weights),
        "milliseconds": pytest.approx(0, abs=1000),
    }


def test_what_a_request_says(ask: Ask, decoder: hiero.Decoder) -> None:
    rule, hidden = "[X] ||| 小狗 ||| hound ||| Own=1", "[X] ||| 老师 ||| teacher"
    sentence = hiero.Sentence("小狗", rules=[hiero.Rule(rule)])
    expected = decoder.translate(sentence, weights={"Own": 9.0})
    answer = ask("translate", text="小狗", rules=[rule], weights={"Own": 9.0})
    assert answer["text"] == expected.text == "hound" and answer["weights"]["Own"] == 9
    line = "她 的 老师 很 忙 。"
    without = decoder.translate(hiero.Sentence(line, hidden=[hiero.Rule(hidden)])).text
    assert ask("translate", text=line, hidden=[hidden])["text"] == without
    prefix = "her teacher is very bu"
    assert ask("translate", text=line, prefix=prefix)["text"] == decoder.translate(line, prefix=prefix).text
    assert ask("translate", text=line, terms=[["老师", "Lehrerin"]])["text"].split()[1:2] == ["Lehrerin"]
    assert "Lehrerin" in ask("translate", text=line, phrases=[[2, 3, "Lehrerin"]])["text"]
    both = ask("translate", text=line, phrases=[[2, 3, "Lehrerin"]], terms=[["老师", "x"], ["忙", "y"]])
    words = both["text"].split()
    assert "Lehrerin" in words and "y" in words and "x" not in words
    wider = ask(
        "translate", text=line, phrases=[[2, 3, "Lehrerin"]], terms=[["的 老师 很", "x"], ["忙", "y"]]
    )
    words = wider["text"].split()
    assert "Lehrerin" in words and "y" in words and "x" not in words
    brackets = "[X] ||| [ [a [b [c ||| brackets ||| PhraseEF=9"  # words, not nonterminals
    assert ask("translate", text="[ [a [b [c", rules=[brackets])["text"] == "brackets"
    low = ask("translate", text=line, weights={"LM0": 0.0})
    assert low["text"] == decoder.translate(line, weights={"LM0": 0.0}).text and low["weights"]["LM0"] == 0


def test_rules_span_at_most_forty_words(ask: Ask) -> None:
    rule = "[X] ||| 狗 [X,1] 猫 ||| from [X,1] to ||| PhraseEF=99"
    filler = "[X] ||| 一 ||| one", "[X] ||| [X,1] 一 ||| [X,1] one ||| PhraseEF=1"
    for words, is_used in ((38, True), (39, False)):
        text = f"狗 {'一 ' * words}猫"
        answer = ask("translate", text=text, split=False, rules=[rule, *filler])
        assert ("from" in answer["text"].split()) == is_used


def test_a_chart(ask: Ask, decoder: hiero.Decoder) -> None:
    chart = decoder.translate(LINE, keep="chart").chart
    answer = ask("chart", text=LINE, span=[2, 5], items=4)
    assert [cell["span"] for cell in answer["cells"]] == [list(span) for span in chart.spans]
    for cell in answer["cells"]:
        nodes = chart.nodes(*cell["span"])
        assert cell["items"] + cell["pruned"] == len(nodes)
        assert cell["items"] == int(chart.survived[nodes].sum())
        assert cell["best"].split() == chart.derivation(int(nodes[0])).tokens
        assert cell["score"] == pytest.approx(float(chart.scores[nodes[0]]), abs=1e-4)
    nodes = chart.nodes(2, 5)[:4]
    assert [item["text"].split() for item in answer["items"]] == [
        chart.derivation(int(n)).tokens for n in nodes
    ]
    assert [item["survived"] for item in answer["items"]] == [bool(chart.survived[n]) for n in nodes]
    assert all(item["rule"]["span"] == [2, 5] and item["label"] == "X" for item in answer["items"][:1])
    assert ask("chart", text=LINE)["items"] == [] == ask("chart", text=LINE, span=[5, 99])["items"]


def test_a_forest_is_made_again(ask: Ask, decoder: hiero.Decoder) -> None:
    forest = decoder.translate("她 的 老师", keep="forest").forest
    answer = ask("forest", text="她 的 老师")
    names = sorted({name for row in answer["features"] for name in row})
    matrix = [[row.get(name, 0.0) for name in names] for row in answer["features"]]
    assert answer.pop("root") == forest.root and answer.pop("features")
    again = hiero.Forest.from_arrays(**answer, features=matrix, feature_names=names)
    weights = {name: decoder.weights.get(name, 0.0) for name in names}
    one, other = (one.kbest(20, one.scores(weights)) for one in (forest, again))
    assert [(d.text, round(d.score, 5)) for d in one] == [(d.text, round(d.score, 5)) for d in other]


def test_why_not(ask: Ask, decoder: hiero.Decoder) -> None:
    result = decoder.translate(LINE, keep="forest")
    strings = [result.text, result.kbest(3, unique=True)[2].text, "something quite different"]
    reasons = []
    for wanted in strings:
        expected = why_not(decoder, LINE, wanted)
        answer = ask("why-not", text=LINE, wanted=wanted)
        reasons.append(answer["reason"])
        assert answer["reason"] == expected.reason and answer["tokens"] == list(expected.tokens)
        assert answer["source_words"] == list(expected.source_words)
        assert answer["target_words"] == list(expected.target_words)
        assert answer["differences"] == pytest.approx(expected.feature_differences())
        assert answer["best"]["text"] == result.text
        assert (answer["wanted"] is None) == (expected.wanted is None)
    assert reasons == ["chosen", "scored lower", "no rule"]


def test_why_not_shows_what_was_pruned(model: Path) -> None:
    loaded = hiero.Model.load(model)
    loaded.with_settings(pop_limit=1).save(model)
    narrow, wide = hiero.Decoder(hiero.Model.load(model)), hiero.Decoder(loaded)
    for derivation in wide.translate(LINE, keep="forest").kbest(400, unique=True):
        expected = why_not(narrow, LINE, derivation.text)
        if expected.reason == "pruned":
            break
    assert expected.pruned is not None
    with make_client(model) as client:
        fields = {"text": LINE, "wanted": derivation.text}
        answer = client.post("/api/why-not", json=fields).json()["pruned"]
    assert (answer["span"], answer["label"]) == (list(expected.pruned.span), expected.pruned.label)
    assert (answer["rank"], answer["made"]) == (expected.pruned.rank, expected.pruned.made)
    assert answer["text"].split() == expected.pruned.derivation.tokens
    assert [one["text"].split() for one in answer["winners"]] == [
        winner.tokens for winner in expected.pruned.winners[:10]
    ]
    assert answer["rule"]["span"] == answer["span"]


def test_one_splitter(ask: Ask) -> None:
    text = "\n 小狗 。她 很 忙 。 \n\n老师\n"
    parts = ask("split", text=text)["sentences"]
    assert parts == [
        {"text": "小狗 。", "line": 1},
        {"text": "她 很 忙 。", "line": 1},
        {"text": "老师", "line": 3},
    ]
    assert len(ask("translate", text=text)["sentences"]) == 3
    assert ask("split", text=" ")["sentences"] == []


def test_sentences_without_blanks_between_them(ask: Ask) -> None:
    answer = ask("translate", text="老师 很 忙 。小狗")
    first, second = (sentence["text"] for sentence in answer["sentences"])
    assert answer["text"] == f"{first} {second}"
    wide = ask("translate", text="老师 很 忙 。小狗", phrases=[], rules=["[X] ||| 。 ||| 。 ||| PhraseEF=99"])
    assert wide["text"] == "".join(sentence["text"] for sentence in wide["sentences"])


def test_what_is_said_of_one_sentence(client: TestClient) -> None:
    for fields in ({"prefix": "the"}, {"phrases": [[0, 1, "dog"]]}):
        request = {"text": "小狗 。\n小狗 。", **fields}
        answer = client.post("/api/translate", json=request)
        assert answer.status_code == 409 and "is of one sentence" in answer.json()["error"]
        assert client.post("/api/translate", json={**request, "split": False}).status_code == 200
        assert client.post("/api/translate", json={**request, "text": "小狗 。\n"}).status_code == 200


def test_rules_that_take_the_place_of_hidden_ones(ask: Ask) -> None:
    ask("correct", context="anna", source="机器人 很 忙 。", target="the robot is very busy .")
    hidden = "[X] ||| 机器人 ||| robot"
    assert "robot" in ask("translate", text="机器人", context="anna")["text"]
    assert "robot" not in ask("translate", text="机器人", context="anna", hidden=[hidden])["text"]
    own = f"{hidden} ||| PhraseEF=0"
    assert ask("translate", text="机器人", context="anna", hidden=[hidden], rules=[own])["text"] == "robot"


def test_corrections(ask: Ask, client: TestClient, model: Path, document: Document) -> None:
    session = Session(hiero.Model.load(model))
    for number, (source, target) in enumerate(document[:4], start=1):
        expected = session.correct(source, target)
        answer = ask("correct", context="anna", source=source, target=target)
        assert answer["id"] == number and answer["translation"] == expected.translation
        assert answer["links"] == [list(link) for link in expected.links]
        assert answer["weights"] == pytest.approx(dict(expected.weights))
    line = document[5][0]
    assert ask("translate", text=line, context="anna")["text"] == session.translate(line).text
    assert ask("translate", text=line, context="anna")["weights"]["Corrected"] == session.weights["Corrected"]
    assert ask("translate", text=line)["text"] == hiero.Decoder(session.model).translate(line).text
    for path in ("chart", "forest"):
        assert ask(path, text=line, context="anna") != ask(path, text=line)
    wanted = session.translate(line).text
    assert ask("why-not", text=line, context="anna", wanted=wanted)["reason"] == "chosen"
    learned = client.get("/api/contexts/anna").json()
    assert [one["source"] for one in learned["corrections"]] == [source for source, _ in document[:4]]
    assert learned["rules"] == session.rule_count and learned["weights"] == pytest.approx(session.weights)
    assert ask("undo", context="anna", id=2)["source"] == document[1][0]
    assert ask("undo", context="anna")["id"] == 4
    left = client.get("/api/contexts/anna", params={"model": "zh-en"}).json()["corrections"]
    assert [one["id"] for one in left] == [1, 3]
    assert client.get("/api/contexts/ben").json()["corrections"] == []


def test_models(client: TestClient, decoder: hiero.Decoder) -> None:
    (answer,) = client.get("/api/models").json()
    assert (answer["name"], answer["source"], answer["target"]) == ("zh-en", "zh", "en")
    assert answer["learns"] is True
    assert answer["rule_features"] == sorted(decoder.model.tables[0].feature_names)
    assert answer["weights"] == {name: decoder.weights.get(name, 0) for name in decoder.model.feature_names}
    assert client.get("/languages").json() == [{"code": "zh", "name": "zh", "targets": ["en"]}]
