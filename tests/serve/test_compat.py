"""Tests of the interfaces of other servers, as their clients use them."""

from __future__ import annotations

import xmlrpc.client
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import hiero

LINE = "她 的 老师 很 忙 。"


@pytest.fixture
def text(model: Path) -> str:
    return hiero.Decoder(hiero.Model.load(model)).translate(LINE).text


def test_libretranslate(client: TestClient, text: str) -> None:
    fields = {"q": LINE, "source": "zh", "target": "en", "format": "text", "api_key": ""}
    assert client.post("/translate", json=fields).json() == {"translatedText": text}
    assert client.post("/translate", data=fields).json() == {"translatedText": text}
    assert client.post("/translate", json={**fields, "source": "auto"}).json() == {"translatedText": text}
    several = client.post("/translate", json={**fields, "q": [LINE, "小狗"]}).json()["translatedText"]
    assert several[0] == text and len(several) == 2
    assert (
        client.post("/translate", data={**fields, "q": [LINE, LINE]}).json()["translatedText"] == [text] * 2
    )
    found = client.post("/translate", json={**fields, "alternatives": 2}).json()
    assert found["translatedText"] == text and len(found["alternatives"]) == 2
    assert text not in found["alternatives"]
    lists = client.post("/translate", json={**fields, "q": [LINE, "小狗 。\n小狗"], "alternatives": 2}).json()
    assert lists["alternatives"][0] == found["alternatives"] and lists["alternatives"][1] == []
    wrong = client.post("/translate", json={**fields, "target": "fr"})
    assert wrong.status_code == 404
    assert wrong.json() == {"error": "no model translates zh to fr: expected one of zh-en"}


def test_google(client: TestClient, text: str) -> None:
    path = "/language/translate/v2"
    fields = {"q": [LINE], "target": "en", "source": "zh", "format": "text"}
    assert client.post(path, json=fields).json() == {"data": {"translations": [{"translatedText": text}]}}
    detected = client.post(path, json={"q": LINE, "target": "en"}).json()["data"]["translations"]
    assert detected == [{"translatedText": text, "detectedSourceLanguage": "zh"}]
    markup = client.post(path, json={**fields, "q": "x < y & z", "format": "html"}).json()["data"]
    assert "&lt;" in markup["translations"][0]["translatedText"]
    wrong = client.post(path, json={**fields, "target": "fr"})
    assert wrong.status_code == 404 and wrong.json()["error"]["code"] == 404


def call(client: TestClient, *values: object, method: str = "translate") -> dict[str, object]:
    body = xmlrpc.client.dumps(values, method)  # type: ignore[arg-type]
    answer = client.post("/RPC2", content=body.encode(), headers={"Content-Type": "text/xml"})
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/xml")
    ((found,), _) = xmlrpc.client.loads(answer.content)
    assert isinstance(found, dict)
    return found


def test_moses(client: TestClient, model: Path) -> None:
    result = hiero.Decoder(hiero.Model.load(model)).translate(LINE)
    assert call(client, {"text": LINE}) == {"text": result.text}
    found = call(client, {"text": LINE, "align": "true", "report-all-factors": "true", "system": "zh-en"})
    links = {(one["src-start"], one["tgt-start"]) for one in found["align"]}  # type: ignore[attr-defined]
    assert links == set(result.alignment)
    assert all(one["src-start"] == one["src-end"] for one in found["align"])  # type: ignore[attr-defined]
    assert call(client, {"text": ""}) == {"text": ""}
    assert call(client, {"text": LINE, "align": "false"}) == {"text": result.text}


@pytest.mark.parametrize(
    "values", [({"text": 1},), ("text",), (), ({"text": "a", "system": "other"},), ({"text": "x " * 400},)]
)
def test_faults(client: TestClient, values: tuple[object, ...]) -> None:
    with pytest.raises(xmlrpc.client.Fault):
        call(client, *values)


def test_broken_xml(client: TestClient) -> None:
    declared = "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE x [<!ENTITY y 'z'>]><methodCall/>"
    for body in (b"", b"<", b"<methodCall>", b"\xff\xfe", declared.encode(), declared.encode("utf-16")):
        answer = client.post("/RPC2", content=body)
        with pytest.raises(xmlrpc.client.Fault):
            xmlrpc.client.loads(answer.content)
    with pytest.raises(xmlrpc.client.Fault):
        call(client, {"text": LINE}, method="system.exit")
