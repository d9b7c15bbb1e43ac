"""The web application: routes, limits, keys, and errors that say what to do."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hiero._core import Deadline, Error
from hiero.base.json_files import validation_message
from hiero.serve import compat
from hiero.serve import messages as m
from hiero.serve.answers import Answers, TooLongError
from hiero.serve.catalogue import Catalogue, UnknownNameError
from hiero.serve.openapi import description
from hiero.serve.work import BusyError, GoneError, Metrics, Work

MOST_BYTES = 1_000_000  # of a request
_SLOWEST_BODY = 20.0  # seconds in which the body of a request must arrive
_log = logging.getLogger("hiero.serve")
# Status and text of errors; None: the error's own text. Errors of other types are errors of the server.
_ERRORS: tuple[tuple[type[Exception], int, str | None], ...] = (
    (BusyError, 429, "too many requests wait: try again in a moment"),
    (TimeoutError, 503, "no processor was free in time: try again, or send less text"),
    (GoneError, 499, "the connection was closed"),
    (ClientDisconnect, 499, "the connection was closed"),
    (TooLongError, 413, None),
    (UnknownNameError, 404, None),
    (ValidationError, 400, None),
    (ValueError, 409, None),
    (Error, 422, None),
)
# Files of the page: the package, the name, and the type.
_PAGE = {
    "": ("hiero.serve.page", "index.html", "text/html"),
    "page.js": ("hiero.serve.page", "page.js", "text/javascript"),
    "views.js": ("hiero.pages", "views.js", "text/javascript"),
    "page.css": ("hiero.serve.page", "page.css", "text/css"),
}
_SAFE = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

Endpoint = Callable[[Request], Awaitable[Response]]


class Server:
    """The endpoints, and what they share."""

    def __init__(
        self, catalogue: Catalogue, work: Work, keys: Collection[str], hosts: Collection[str]
    ) -> None:
        self.answers = Answers(catalogue)
        self.catalogue = catalogue
        self.work = work
        self.metrics = Metrics()
        self._keys = [key.encode() for key in keys]
        self._hosts = hosts

    def routes(self) -> list[Route]:
        """Returns all routes. The page, the interface's description, health and languages need no key."""
        answers = self.answers
        public = {f"/{path}": _file(*file) for path, file in _PAGE.items()}
        public |= {"/openapi.json": _plain(description), "/health": _plain(lambda: {"status": "ok"})}
        public["/languages"] = _plain(lambda: compat.languages(answers))  # as LibreTranslate has them
        private = {
            "/metrics": self._metrics,
            "/api/models": _plain(answers.models),
            "/api/contexts/{context}": self._context,
        }
        posted: dict[str, tuple[type[BaseModel], Callable[[Any, Deadline], Any]]] = {
            "/api/translate": (m.TranslateRequest, answers.translate),
            "/api/chart": (m.ChartRequest, answers.chart),
            "/api/forest": (m.SentenceRequest, answers.forest),
            "/api/why-not": (m.WhyNotRequest, answers.why_not),
            "/api/correct": (m.CorrectRequest, answers.correct),
            "/api/undo": (m.UndoRequest, answers.undo),
            "/translate": (compat.LibreRequest, lambda r, d: compat.libre(answers, r, d)),
            "/language/translate/v2": (compat.GoogleRequest, lambda r, d: compat.google(answers, r, d)),
        }
        routes = [self._route(path, endpoint, is_public=True) for path, endpoint in public.items()]
        routes += [self._route(path, endpoint) for path, endpoint in private.items()]
        routes += [
            self._route(path, self._posted(path, *one), "POST", is_public=True)
            for path, one in posted.items()
        ]
        return [*routes, self._route("/RPC2", self._moses, "POST")]

    def _route(self, path: str, endpoint: Endpoint, method: str = "GET", is_public: bool = False) -> Route:
        """Returns a route that counts requests and turns errors into JSON. Those that are not public need a
        key, if keys are set."""

        async def guarded(request: Request) -> Response:
            started = time.perf_counter()
            try:
                self._check_host(request)
                if not is_public:
                    self._check_key(request, {})
                response = await endpoint(request)
            except Exception as error:
                response = self._error(path, error)
            self.metrics.add(path, response.status_code, started)
            return response

        return Route(path, guarded, methods=[method])

    def _posted(self, path: str, kind: type[BaseModel], answer: Callable[[Any, Deadline], Any]) -> Endpoint:
        """Returns the endpoint of requests of a kind: JSON, or for the interfaces of others also forms. Their
        fields may have the key."""

        async def endpoint(request: Request) -> Response:
            fields = await _fields(request, takes_forms=not path.startswith("/api/"))
            self._check_key(request, fields)
            asked = kind.model_validate(fields)
            return JSONResponse(await self.work.run(request, lambda deadline: answer(asked, deadline)))

        return endpoint

    def _error(self, path: str, error: Exception) -> Response:
        """Returns the answer to an error, which names no path of the server."""
        known = next((one for one in _ERRORS if isinstance(error, one[0])), None)
        status, said = (500, "the server made an error, which its log has") if known is None else known[1:]
        text = said or self.catalogue.without_paths(str(error))
        if isinstance(error, HTTPException):
            status, text = error.status_code, error.detail
        if isinstance(error, ValidationError):
            text = validation_message(error)
        if status == 500:
            _log.error("%s: %s", path, error, exc_info=error)
        body: Any = {"error": text}
        if path.startswith("/language/"):
            body = {"error": {"code": status, "message": text}}
        return JSONResponse(body, status, {"Retry-After": "1"} if status in (429, 503) else None)

    def _check_host(self, request: Request) -> None:
        """Raises HTTPException for a request to a name that the server does not have: a page of another site
        may have got the address of this machine for its own name."""
        if self._hosts and request.url.hostname not in self._hosts:
            raise HTTPException(400, f"the server is not called {request.url.hostname}: see --host")

    def _check_key(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Raises HTTPException if keys are set and the request has none of them."""
        given = [request.headers.get("authorization", "").removeprefix("Bearer ")]
        given += [request.headers.get("x-api-key", "")]
        given += [request.query_params.get(name, "") for name in ("api_key", "key")]
        given += [str(fields.get(name) or "") for name in ("api_key", "key")]
        if self._keys and not any(
            hmac.compare_digest(one.encode(), key) for one in given for key in self._keys
        ):
            raise HTTPException(401, "a key is needed: send it as the header X-API-Key")

    async def _context(self, request: Request) -> Response:
        fields = {**request.query_params, **request.path_params}
        for name in ("api_key", "key"):
            fields.pop(name, None)
        asked = m.ContextRequest.model_validate(fields)
        found = await self.work.run(request, lambda deadline: self.answers.context(asked, deadline))
        return JSONResponse(found)

    async def _moses(self, request: Request) -> Response:
        body = await _body(request)
        found = await self.work.run(request, lambda deadline: compat.moses(self.answers, body, deadline))
        return Response(found, media_type="text/xml")

    async def _metrics(self, request: Request) -> Response:
        text = "\n".join([*self.metrics.lines(self.work.pending), ""])
        return Response(text, media_type="text/plain; version=0.0.4")


def _plain(value: Callable[[], Any]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return JSONResponse(value())

    return endpoint


def _file(package: str, name: str, kind: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return Response((files(package) / name).read_bytes(), headers=_SAFE, media_type=kind)

    return endpoint


async def _body(request: Request) -> bytes:
    """Returns the body. Raises HTTPException for one that is too long or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(_SLOWEST_BODY):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise HTTPException(413, f"send at most {MOST_BYTES:,} bytes in a request")
    except TimeoutError:
        raise HTTPException(408, f"the request did not arrive within {_SLOWEST_BODY:.0f} s") from None
    return bytes(body)


async def _fields(request: Request, takes_forms: bool) -> dict[str, Any]:
    """Returns the fields of a request. Pages of other sites, which cannot send JSON without being asked, can
    correct nothing."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _body(request)
    try:
        if takes_forms and kind == "application/x-www-form-urlencoded":
            form: dict[str, Any] = {}
            for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=1000):
                form[name] = [*form.get("q", []), value] if name == "q" else value
            texts = form.get("q", [])
            return {**form, "q": texts[0]} if len(texts) == 1 else form
        if kind != "application/json":
            raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:  # of UTF-8, of forms and of JSON
        raise HTTPException(400, f"malformed request: {error}") from None
    if not isinstance(fields, dict):
        raise HTTPException(400, "expected a JSON object")
    return fields


def make_app(
    catalogue: Catalogue,
    work: Work,
    keys: Collection[str] = (),
    origins: Collection[str] = (),
    hosts: Collection[str] = (),
) -> Starlette:
    """Returns the application. Requests need one of the ``keys``, if there are any, and must be to one of the
    ``hosts``, if there are any; ``origins`` are other sites whose pages may use the server."""

    @asynccontextmanager
    async def closing(app: Starlette) -> AsyncIterator[None]:
        yield
        work.close()
        catalogue.close()

    async def as_json(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    cors = Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["*"], allow_headers=["*"])
    return Starlette(
        routes=Server(catalogue, work, keys, hosts).routes(),
        middleware=[cors] if origins else [],
        exception_handlers={HTTPException: as_json},
        lifespan=closing,
    )
