"""The interfaces of other servers: LibreTranslate's, Google's (version 2), and Moses' XML-RPC."""

from __future__ import annotations

import html
import re
import xmlrpc.client
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hiero._core import Deadline
from hiero.serve import messages as m
from hiero.serve.answers import Answers, TooLongError

_Texts = m.Line | Annotated[list[m.Line], Field(min_length=1, max_length=1000)]
_AUTO = ("auto", "")
_MOST_ALTERNATIVES = 2000  # of all texts of a request
# A comment or a tag. Only comments have "<" inside, so that the time grows with the text alone.
_MARKUP = re.compile(
    r"""<!--(?:[^-]|-(?!->))*+(?:-->|\Z)|<(?:(?P<name>[A-Za-z][^\s<>/]*+)|[/!?])(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>"""
)
_KEPT = ("script", "style", "code", "pre", "textarea")  # elements whose text stays as it is


class _ForeignRequest(BaseModel):
    """A request of another server's client. Fields that are not known are ignored, and so are null ones."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, fields: Any) -> Any:
        return {name: value for name, value in fields.items() if value is not None}


class LibreRequest(_ForeignRequest):
    """A request to LibreTranslate's `/translate`."""

    q: _Texts = Field(description="text, or several")
    source: str = Field("auto", max_length=16)
    target: str = Field(max_length=16)
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(0, ge=0, le=100)
    api_key: str | None = None


class GoogleRequest(_ForeignRequest):
    """A request to `/language/translate/v2`."""

    q: _Texts = Field(description="text, or several")
    target: str = Field(max_length=16)
    source: str = Field("auto", max_length=16)
    format: Literal["text", "html"] = "html"
    key: str | None = None


def libre(answers: Answers, request: LibreRequest, deadline: Deadline) -> dict[str, Any]:
    """Answers as LibreTranslate does: a text for a text, a list for a list.

    Alternatives are those of plain texts of one sentence; of several, sentences would have to be combined.
    """
    model = answers.catalogue.pair(request.source, request.target)
    texts = request.q if isinstance(request.q, list) else [request.q]
    if request.alternatives * len(texts) > _MOST_ALTERNATIVES:
        raise TooLongError(f"ask for at most {_MOST_ALTERNATIVES:,} alternatives in all")
    translated: list[str] = []
    alternatives: list[list[str]] = []
    for text in texts:
        if request.format == "html":
            translated.append(_translated_html(answers, model.name, text, deadline))
            alternatives.append([])
            continue
        count = len(answers.split(m.SplitRequest(model=model.name, text=text), deadline)["sentences"])
        wanted = request.alternatives if count == 1 else 0
        answer = answers.translate(
            m.TranslateRequest(model=model.name, text=text, alternatives=wanted), deadline
        )
        translated.append(answer["text"])
        alternatives.append([other["text"] for one in answer["sentences"] for other in one["alternatives"]])
    fields: dict[str, list[Any]] = {"translatedText": translated}
    if request.alternatives:
        fields["alternatives"] = alternatives
    if request.source in _AUTO:  # the language is that of the model, which nobody recognised in the text
        fields["detectedLanguage"] = [{"language": model.source, "confidence": 0.0} for _ in texts]
    return fields if isinstance(request.q, list) else {name: value[0] for name, value in fields.items()}


def languages(answers: Answers) -> list[dict[str, Any]]:
    """Returns the source languages with their targets, as LibreTranslate does."""
    targets: dict[str, list[str]] = {}
    for model in answers.catalogue:
        targets.setdefault(model.source, []).append(model.target)
    return [{"code": code, "name": code, "targets": codes} for code, codes in targets.items()]


def google(answers: Answers, request: GoogleRequest, deadline: Deadline) -> dict[str, Any]:
    """Answers as Google's interface does, whose texts are HTML by default."""
    model = answers.catalogue.pair(request.source, request.target)
    translations: list[dict[str, str]] = []
    for text in request.q if isinstance(request.q, list) else [request.q]:
        if request.format == "html":
            translated = _translated_html(answers, model.name, text, deadline)
        else:
            translated = answers.translate(m.TranslateRequest(model=model.name, text=text), deadline)["text"]
        translations.append({"translatedText": translated})
        if request.source in _AUTO:
            translations[-1]["detectedSourceLanguage"] = model.source
    return {"data": {"translations": translations}}


def google_languages(answers: Answers) -> dict[str, Any]:
    """Returns the languages of all models, as Google's interface does."""
    codes = sorted({code for model in answers.catalogue for code in (model.source, model.target)})
    return {"data": {"languages": [{"language": code, "name": code} for code in codes]}}


def _translated_html(answers: Answers, model: str, text: str, deadline: Deadline) -> str:
    """Translates the text between tags, each piece by itself; the rest stays as it is."""
    parts: list[str] = []
    for part, is_text in _html_parts(text):
        if is_text:
            before, after = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
            line = " ".join(html.unescape(part).split())  # line breaks of HTML end no sentence
            message = m.TranslateRequest(model=model, text=line)
            parts += [
                before,
                html.escape(answers.translate(message, deadline)["text"]),
                after if line else "",
            ]
        else:
            parts.append(part)
    return "".join(parts)


def _html_parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the parts of HTML: tags, comments and elements that are not translated, and the text between."""
    begin = 0
    while markup := _MARKUP.search(text, begin):
        yield text[begin : markup.start()], True
        begin = markup.end()
        if (name := (markup["name"] or "").lower()) in _KEPT:
            closing = re.compile(f"</{name}(?![a-z])", re.IGNORECASE).search(text, begin)
            begin = closing.start() if closing else len(text)
        yield text[markup.start() : begin], False
    yield text[begin:], True


def moses(answers: Answers, call: bytes, deadline: Deadline) -> bytes:
    """Answers a call of Moses' `translate`: a struct with `text`, and with `align` also links of words.

    Raises ValueError for other calls, and what ``Answers.translate`` raises.
    """
    values = _moses_values(call)
    model = values.get("system")
    request = m.TranslateRequest(model=model or None, text=values["text"], split=False)
    translated = answers.translate(request, deadline)
    answer: dict[str, Any] = {"text": translated["text"]}
    if str(values.get("align", "")).lower() in ("1", "true") and translated["sentences"]:
        answer["align"] = [
            {"tgt-start": target, "src-start": source, "src-end": source}
            for source, target in sorted(translated["sentences"][0]["alignment"], key=lambda link: link[::-1])
        ]
    return xmlrpc.client.dumps((answer,), methodresponse=True, allow_none=True).encode()


def _moses_values(call: bytes) -> Mapping[str, Any]:
    """Reads a call of `translate`. Raises ValueError."""
    try:
        text = call.decode("utf-8")  # of other encodings, declarations could not be found
        is_plain = "<!DOCTYPE" not in text and "<!ENTITY" not in text
        (values, *_), method = xmlrpc.client.loads(text if is_plain else "")
    except Exception as error:  # malformed XML raises errors of many kinds
        raise ValueError(f"malformed call: {type(error).__name__}") from None
    if method != "translate" or not isinstance(values, Mapping) or not isinstance(values.get("text"), str):
        raise ValueError("expected a call of translate with a struct that has a text")
    return values


def moses_fault(code: int, text: str) -> bytes:
    """Returns the answer to a call that failed."""
    return xmlrpc.client.dumps(xmlrpc.client.Fault(code, text), methodresponse=True).encode()
