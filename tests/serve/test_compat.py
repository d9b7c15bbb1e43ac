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
    unknown = {"language": "zh", "confidence": 0.0}
    for source in ("auto", ""):
        answer = client.post("/translate", json={**fields, "source": source}).json()
        assert answer == {"translatedText": text, "detectedLanguage": unknown}
    answer = client.post("/translate", json={**fields, "source": "auto", "q": [LINE, LINE]}).json()
    assert answer == {"translatedText": [text] * 2, "detectedLanguage": [unknown] * 2}
    regions = {**fields, "source": "zh-CN", "target": "en_US"}
    assert client.post("/translate", json=regions).json() == {"translatedText": text}
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
    many = client.post("/translate", json={**fields, "q": "小狗\n" * 101, "alternatives": 2})
    assert many.status_code == 200 and many.json()["alternatives"] == []
    wrong = client.post("/translate", json={**fields, "target": "fr"})
    assert wrong.status_code == 404
    assert wrong.json() == {"error": "no model translates zh to fr: expected one of zh-en"}


def test_google(client: TestClient, text: str) -> None:
    path = "/language/translate/v2"
    fields = {"q": [LINE], "target": "en", "source": "zh", "format": "text"}
    assert client.post(path, json=fields).json() == {"data": {"translations": [{"translatedText": text}]}}
    detected = client.post(path, json={"q": LINE, "target": "en"}).json()["data"]["translations"]
    assert detected == [{"translatedText": text, "detectedSourceLanguage": "zh"}]
    both = client.post(f"{path}?target=en&source=zh", params={"q": LINE, "target": "en", "source": "zh"})
    assert both.json()["data"]["translations"] == [{"translatedText": text}]
    query = {"q": [LINE, LINE], "target": "en", "source": "zh"}
    assert client.get(path, params=query).json()["data"]["translations"] == [{"translatedText": text}] * 2
    assert client.get(f"{path}/languages").json() == {
        "data": {"languages": [{"language": "en", "name": "en"}, {"language": "zh", "name": "zh"}]}
    }
    wrong = client.post(path, json={**fields, "target": "fr"})
    assert wrong.status_code == 404 and wrong.json()["error"]["code"] == 404


@pytest.mark.parametrize("path", ["/translate", "/language/translate/v2"])
def test_html(client: TestClient, text: str, path: str) -> None:
    def translated(markup: str) -> str:
        fields = {"q": markup, "source": "zh", "target": "en", "format": "html"}
        answer = client.post(path, json=fields).json()
        return str(
            answer["translatedText"]
            if path == "/translate"
            else answer["data"]["translations"][0]["translatedText"]
        )

    assert translated(LINE) == text
    assert (
        translated(f"<p class='a'>{LINE}</p>\n<hr/><b>{LINE}") == f"<p class='a'>{text}</p>\n<hr/><b>{text}"
    )
    wrapped = LINE.replace(" ", "\n ", 2)
    assert translated(f"<p> {wrapped}\n</p> <p>") == f"<p> {text}\n</p> <p>"
    assert translated("x &lt; y &amp; &quot;z") == "x &lt; y &amp; &quot;z"
    kept = "<!DOCTYPE html><!-- 小狗 --><script>if (a < b) 小狗</script><style>a > b</style>"
    kept += "<code>小狗 &lt; 1</code>"
    assert translated(f"{kept}{LINE}<pre>x</pre>") == f"{kept}{text}<pre>x</pre>"
    assert "<" not in translated("<a href='x")


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
    ("values", "code", "message"),
    [
        (({"text": 1},), 409, "a struct that has a text"),
        (("text",), 409, "a struct that has a text"),
        ((), 409, "malformed call"),
        (({"text": "a", "system": "other"},), 404, "expected one of zh-en"),
        (({"text": "x " * 400},), 413, "400 words: send at most"),
        (({"text": "x" * 100_001},), 400, "text: String should have at most"),
    ],
)
def test_faults(client: TestClient, values: tuple[object, ...], code: int, message: str) -> None:
    with pytest.raises(xmlrpc.client.Fault, match=message) as fault:
        call(client, *values)
    assert fault.value.faultCode == code


def test_broken_xml(client: TestClient) -> None:
    declared = "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE x [<!ENTITY y 'z'>]><methodCall/>"
    for body in (b"", b"<", b"<methodCall>", b"\xff\xfe", declared.encode(), declared.encode("utf-16")):
        answer = client.post("/RPC2", content=body)
        with pytest.raises(xmlrpc.client.Fault):
            xmlrpc.client.loads(answer.content)
    with pytest.raises(xmlrpc.client.Fault):
        call(client, {"text": LINE}, method="system.exit")
