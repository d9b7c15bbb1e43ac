"""The interfaces of other servers: LibreTranslate's, Google's (version 2), and Moses' XML-RPC."""

from __future__ import annotations

import html
import xmlrpc.client
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hiero._core import Deadline
from hiero.serve import messages as m
from hiero.serve.answers import Answers


class LibreRequest(BaseModel):
    """A request to LibreTranslate's `/translate`; fields that it does not know are ignored."""

    model_config = ConfigDict(extra="ignore")

    q: m.Line | list[m.Line] = Field(description="text, or several")
    source: str = Field("auto", max_length=16)
    target: str = Field(max_length=16)
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(0, ge=0, le=100)
    api_key: str | None = None


class GoogleRequest(BaseModel):
    """A request to `/language/translate/v2`; fields that it does not know are ignored."""

    model_config = ConfigDict(extra="ignore")

    q: m.Line | list[m.Line]
    target: str = Field(max_length=16)
    source: str = Field("auto", max_length=16)
    format: Literal["text", "html"] = "html"
    key: str | None = None


def libre(answers: Answers, request: LibreRequest, deadline: Deadline) -> dict[str, Any]:
    """Answers as LibreTranslate does: a text for a text, a list for a list."""
    texts = request.q if isinstance(request.q, list) else [request.q]
    name = answers.catalogue.pair(request.source, request.target).name
    found = []
    for text in texts:
        one = m.TranslateRequest(model=name, text=text, alternatives=request.alternatives)
        found.append(answers.translate(one, deadline))
    answer: dict[str, Any] = {"translatedText": [one["text"] for one in found]}
    if request.alternatives:
        # Those of a text of one sentence; of several, the sentences would have to be combined.
        answer["alternatives"] = [
            [other["text"] for other in one["sentences"][0]["alternatives"]]
            if len(one["sentences"]) == 1
            else []
            for one in found
        ]
    return answer if isinstance(request.q, list) else {name: value[0] for name, value in answer.items()}


def languages(answers: Answers) -> list[dict[str, Any]]:
    """Returns the source languages with their targets, as LibreTranslate does."""
    targets: dict[str, list[str]] = {}
    for model in answers.models():
        targets.setdefault(model["source"], []).append(model["target"])
    return [{"code": code, "name": code, "targets": found} for code, found in targets.items()]


def google(answers: Answers, request: GoogleRequest, deadline: Deadline) -> dict[str, Any]:
    """Answers as Google's interface does. Text in HTML has its entities read and written."""
    model = answers.catalogue.pair(request.source, request.target)
    translations = []
    for text in request.q if isinstance(request.q, list) else [request.q]:
        found = answers.translate(m.TranslateRequest(model=model.name, text=text), deadline)["text"]
        translation = {
            "translatedText": html.escape(found, quote=True) if request.format == "html" else found
        }
        if request.source in ("auto", ""):
            translation["detectedSourceLanguage"] = model.source
        translations.append(translation)
    return {"data": {"translations": translations}}


def moses(answers: Answers, body: bytes, deadline: Deadline) -> bytes:
    """Answers a call of Moses' `translate`: a struct with `text`, and with `align` also links of phrases."""
    try:
        text = body.decode("utf-8")  # of other encodings, declarations could not be found
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ValueError("a document type")
        (values, *_), method = xmlrpc.client.loads(text)
        if (
            method != "translate"
            or not isinstance(values, Mapping)
            or not isinstance(values.get("text"), str)
        ):
            raise ValueError("no call of translate with a text")
        answer = _moses_answer(answers, values, deadline)
    except LookupError as error:
        return _fault(3, str(error))
    except Exception as error:  # malformed XML raises errors of many kinds
        return _fault(
            2, f"expected a call of translate with a struct that has a text: {type(error).__name__}"
        )
    return xmlrpc.client.dumps((answer,), methodresponse=True, allow_none=True).encode()


def _moses_answer(answers: Answers, values: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
    model = values.get("system")
    request = m.TranslateRequest(model=model or None, text=values["text"], split=False)
    found = answers.translate(request, deadline)
    answer: dict[str, Any] = {"text": found["text"]}
    if str(values.get("align", "")).lower() in ("1", "true") and found["sentences"]:
        sentence = found["sentences"][0]
        answer["align"] = [
            {"tgt-start": target, "src-start": source, "src-end": source}
            for source, target in sorted(sentence["alignment"], key=lambda link: link[::-1])
        ]
    return answer


def _fault(code: int, text: str) -> bytes:
    return xmlrpc.client.dumps(xmlrpc.client.Fault(code, text), methodresponse=True).encode()
