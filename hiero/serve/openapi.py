"""The OpenAPI description of the server, made from the types of its requests and answers."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from hiero import __version__
from hiero.serve import compat
from hiero.serve import messages as m

# Method and path, what it does, the type of the request, and of the answer.
_OPERATIONS: tuple[tuple[str, str, str, Any, Any], ...] = (
    ("post", "/api/translate", "Translate a text.", m.TranslateRequest, m.TranslateAnswer),
    ("post", "/api/split", "Split a text into sentences.", m.SplitRequest, m.SplitAnswer),
    ("post", "/api/chart", "Show the chart of a sentence.", m.ChartRequest, m.ChartAnswer),
    ("post", "/api/forest", "Return the forest of a sentence.", m.SentenceRequest, m.ForestAnswer),
    ("post", "/api/why-not", "Say why a translation was not chosen.", m.WhyNotRequest, m.WhyNotAnswer),
    ("post", "/api/correct", "Learn from a correction.", m.CorrectRequest, m.CorrectionAnswer),
    ("post", "/api/undo", "Forget a correction.", m.UndoRequest, m.CorrectionAnswer),
    ("get", "/api/contexts/{context}", "Show what a context has learned.", None, m.ContextAnswer),
    ("get", "/api/models", "List the models.", None, list[m.ModelAnswer]),
    ("post", "/translate", "Translate as LibreTranslate.", compat.LibreRequest, dict[str, Any]),
    ("get", "/languages", "List languages as LibreTranslate.", None, list[dict[str, Any]]),
    ("post", "/language/translate/v2", "Translate as Google.", compat.GoogleRequest, dict[str, Any]),
    ("get", "/language/translate/v2/languages", "List languages as Google.", None, dict[str, Any]),
)
_ERRORS = {
    400: "The request is malformed.",
    401: "A key is needed.",
    403: "The request is of the page of another site.",
    404: "There is no such model.",
    408: "The request came too slowly.",
    409: "The request does not fit the model or the sentence, or another program uses the context.",
    413: "The request or a sentence is too long.",
    415: "The request is not JSON.",
    422: "The model cannot do that.",
    429: "Too many requests wait.",
    500: "The server made an error.",
    503: "No processor was free in time.",
    507: "The disk of the server is full.",
}


# Operations whose requests may be forms, too.
_FORMS = ("/translate", "/language/translate/v2")
_PUBLIC = ("/languages",)
_MODEL = {"type": "string", "pattern": r"^[\w.-]{1,64}$"}
_CONTEXT = [
    {"name": "context", "in": "path", "required": True, "schema": _MODEL},
    {"name": "model", "in": "query", "schema": _MODEL, "description": "name of a model (default: the first)"},
]


def description() -> dict[str, Any]:
    """Returns the description as a JSON object."""
    kinds: list[tuple[int, Any, TypeAdapter[Any]]] = []
    for number, (*_, request, answer) in enumerate(_OPERATIONS):
        kinds.append((number, "serialization", TypeAdapter(answer)))
        kinds += [(number, "validation", TypeAdapter(request))] if request is not None else []
    schemas, shared = TypeAdapter.json_schemas(kinds, ref_template="#/components/schemas/{model}")
    paths: dict[str, Any] = {}
    for number, (method, path, text, request, _) in enumerate(_OPERATIONS):
        ok = {"description": text, "content": _json(schemas[number, "serialization"])}
        error = {"type": "object", "required": ["error"], "properties": {"error": {}}}
        responses: dict[str, Any] = {
            str(code): {"description": meaning, "content": _json(error)} for code, meaning in _ERRORS.items()
        }
        operation: dict[str, Any] = {"summary": text, "responses": {"200": ok, **responses}}
        if request is not None:
            content = _json(schemas[number, "validation"])
            if path in _FORMS:
                content["application/x-www-form-urlencoded"] = content["application/json"]
            operation["requestBody"] = {"required": True, "content": content}
        if "{" in path:
            operation["parameters"] = _CONTEXT
        if path in _PUBLIC:
            operation["security"] = []
        paths[path] = {method: operation}
    about = {"title": "hiero", "version": __version__}
    keys = {
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "query": {"type": "apiKey", "in": "query", "name": "api_key"},
        "bearer": {"type": "http", "scheme": "bearer"},
    }
    return {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "security": [{}, *({name: []} for name in keys)],  # none, if no keys are set
        "components": {"schemas": shared["$defs"], "securitySchemes": keys},
    }


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
