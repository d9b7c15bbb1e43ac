"""The web application: routes, limits, keys, and errors that say what to do."""

from __future__ import annotations

import asyncio
import errno
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
from pydantic_core import from_json
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
from hiero.serve.work import BusyError, GoneError, Metrics, NotYetError, Work

MOST_BYTES = 1_000_000  # of a request
_MOST_BYTES_AT_ONCE = 50 * MOST_BYTES  # of all requests that are being read
_SLOWEST_BODY = 20.0  # seconds in which the body of a request must arrive
_log = logging.getLogger("hiero.serve")
# Status and text of errors; None: the error's own text. Errors of other types are errors of the server.
_ERRORS: tuple[tuple[type[Exception], int, str | None], ...] = (
    (BusyError, 429, "too many requests wait: try again in a moment"),
    (NotYetError, 503, None),
    (TimeoutError, 422, None),
    (GoneError, 499, "the connection was closed"),
    (ClientDisconnect, 499, "the connection was closed"),
    (BlockingIOError, 409, "the context is used by another program, such as hiero adapt: try again later"),
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
    "views.css": ("hiero.pages", "views.css", "text/css"),
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
        self,
        catalogue: Catalogue,
        work: Work,
        keys: Collection[str],
        origins: Collection[str],
        hosts: Collection[str],
    ) -> None:
        self.answers = Answers(catalogue)
        self.catalogue = catalogue
        self.work = work
        self.metrics = Metrics()
        self._keys = [key.encode() for key in keys]
        self._origins = origins
        self._hosts = hosts
        self._bytes = 0  # of requests that are being read

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
            "/language/translate/v2/languages": _plain(lambda: compat.google_languages(answers)),
        }
        posted: dict[str, tuple[type[BaseModel], Callable[[Any, Deadline], Any]]] = {
            "/api/translate": (m.TranslateRequest, answers.translate),
            "/api/split": (m.SplitRequest, answers.split),
            "/api/chart": (m.ChartRequest, answers.chart),
            "/api/forest": (m.SentenceRequest, answers.forest),
            "/api/why-not": (m.WhyNotRequest, answers.why_not),
            "/api/correct": (m.CorrectRequest, answers.correct),
            "/api/undo": (m.UndoRequest, answers.undo),
        }
        google = self._asked(compat.GoogleRequest, lambda r, d: compat.google(answers, r, d))
        libre = self._asked(compat.LibreRequest, lambda r, d: compat.libre(answers, r, d))
        routes = [self._route(path, endpoint, is_public=True) for path, endpoint in public.items()]
        routes += [self._route(path, endpoint) for path, endpoint in private.items()]
        routes += [self._route(path, self._asked(*kind), "POST") for path, kind in posted.items()]
        # The fields of these may have the key.
        routes.append(self._route("/translate", libre, "POST", is_public=True))
        for method in ("GET", "POST"):
            routes.append(self._route("/language/translate/v2", google, method, is_public=True))
        return [*routes, self._route("/RPC2", self._moses, "POST")]

    def _route(self, path: str, endpoint: Endpoint, method: str = "GET", is_public: bool = False) -> Route:
        """Returns a route that counts requests and turns errors into JSON. Those that are not public need a
        key, if keys are set."""

        async def guarded(request: Request) -> Response:
            started = time.perf_counter()
            try:
                self._check_site(request)
                if not is_public:
                    self._check_key(request, {})
                response = await endpoint(request)
            except Exception as error:
                response = self._error(path, error)
            self.metrics.add(path, response.status_code, started)
            return response

        return Route(path, guarded, methods=[method])

    def _asked(self, kind: type[BaseModel], answer: Callable[[Any, Deadline], Any]) -> Endpoint:
        """Returns the endpoint of requests of a kind, whose answers are made on a thread of the server."""
        is_own = issubclass(kind, m.Request)

        async def endpoint(request: Request) -> Response:
            self.work.check()  # before the request is read
            fields = await self._fields(request, is_own)
            if not is_own:
                self._check_key(request, fields)
            message = kind.model_validate(fields)
            body = await self.work.run(request, lambda deadline: _json(answer(message, deadline)))
            return Response(body, media_type="application/json")

        return endpoint

    async def _context(self, request: Request) -> Response:
        fields = {**request.query_params, **request.path_params}
        for name in ("api_key", "key"):
            fields.pop(name, None)
        message = m.ContextRequest.model_validate(fields)
        body = await self.work.run(request, lambda deadline: _json(self.answers.context(message, deadline)))
        return Response(body, media_type="application/json")

    async def _moses(self, request: Request) -> Response:
        self.work.check()
        call = await self._body(request)

        def answer(deadline: Deadline) -> bytes:
            try:
                return compat.moses(self.answers, call, deadline)
            except Exception as error:
                return compat.moses_fault(*self._explained("/RPC2", error))

        return Response(await self.work.run(request, answer), media_type="text/xml")

    async def _metrics(self, request: Request) -> Response:
        text = "\n".join([*self.metrics.lines(self.work.pending), ""])
        return Response(text, media_type="text/plain; version=0.0.4")

    def _explained(self, path: str, error: Exception) -> tuple[int, str]:
        """Returns the status of an error and what to say of it, which names no path of the server."""
        if isinstance(error, HTTPException):
            return error.status_code, error.detail
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return 507, "the disk of the server is full: nothing was learned"
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return 507, "the server may not write contexts beside the model: nothing was learned"
        for kind, status, text in _ERRORS:
            if isinstance(error, kind):
                own_text = validation_message(error) if isinstance(error, ValidationError) else str(error)
                return status, text or self.catalogue.without_paths(own_text)
        _log.error("%s: %s", path, error, exc_info=error)
        return 500, "the server made an error, which its log has"

    def _error(self, path: str, error: Exception) -> Response:
        """Returns the answer to an error."""
        status, text = self._explained(path, error)
        body: Any = {"error": text}
        if path.startswith("/language/"):
            body = {"error": {"code": status, "message": text}}
        return JSONResponse(body, status, {"Retry-After": "1"} if status in (429, 503) else None)

    def _check_site(self, request: Request) -> None:
        """Raises HTTPException for a request to a name that the server does not have, as the page of another
        site sends that got the address of this machine for its own name, and for what such a page posts."""
        if self._hosts and request.url.hostname not in self._hosts:
            raise HTTPException(400, f"the server is not called {request.url.hostname}: see --host")
        origin = request.headers.get("origin")
        if request.method != "POST" or origin is None or origin in self._origins:
            return
        if origin.partition("://")[2] != request.headers.get("host"):
            raise HTTPException(403, f"pages of {origin} may not use the server: see --cors")

    def _check_key(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Raises HTTPException if keys are set and the request has none of them."""
        given = [request.headers.get("authorization", "").removeprefix("Bearer ")]
        given += [request.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key")]
        given += [request.query_params.get(name, "") for name in ("api_key", "key")]
        given += [str(fields.get(name) or "") for name in ("api_key", "key")]
        if self._keys and not any(
            hmac.compare_digest(one.encode(), key) for one in given for key in self._keys
        ):
            raise HTTPException(401, "a key is needed: send it as the header X-API-Key")

    async def _body(self, request: Request) -> bytes:
        """Returns the body. Raises HTTPException for one that is too long or too slow, BusyError for too many
        at once."""
        body = bytearray()
        try:
            async with asyncio.timeout(_SLOWEST_BODY):
                async for part in request.stream():
                    body += part
                    self._bytes += len(part)
                    if len(body) > MOST_BYTES:
                        raise HTTPException(413, f"send at most {MOST_BYTES:,} bytes in a request")
                    if self._bytes > _MOST_BYTES_AT_ONCE:
                        raise BusyError
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {_SLOWEST_BODY:.0f} s") from None
        finally:
            self._bytes -= len(body)
        return bytes(body)

    async def _fields(self, request: Request, is_own: bool) -> dict[str, Any]:
        """Returns the fields of a request: JSON, and in the interfaces of others also forms and queries."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await self._body(request)
        try:
            if not is_own and (request.method == "GET" or not body):
                return _form_fields(request.url.query)
            if not is_own and kind == "application/x-www-form-urlencoded":
                return _form_fields(body.decode())
            if kind != "application/json":
                raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
            fields = from_json(body, allow_inf_nan=False)
        except ValueError as error:  # of UTF-8, of forms and of JSON
            raise HTTPException(400, f"malformed request: {error}") from None
        if not isinstance(fields, dict):
            raise HTTPException(400, "expected a JSON object")
        return fields


def _form_fields(text: str) -> dict[str, Any]:
    """Returns the fields of a form, in which q may be there several times."""
    form = parse_qsl(text, keep_blank_values=True, max_num_fields=1000, errors="strict")
    texts = [value for name, value in form if name == "q"]
    fields: dict[str, Any] = {name: value for name, value in form if name != "q"}
    return {**fields, "q": texts[0] if len(texts) == 1 else texts} if texts else fields


def _plain(value: Callable[[], Any]) -> Endpoint:
    """Returns the endpoint of what takes no time."""

    async def endpoint(request: Request) -> Response:
        return JSONResponse(value())

    return endpoint


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _file(package: str, name: str, kind: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return Response((files(package) / name).read_bytes(), headers=_SAFE, media_type=kind)

    return endpoint


def make_app(
    catalogue: Catalogue,
    work: Work,
    keys: Collection[str] = (),
    origins: Collection[str] = (),
    hosts: Collection[str] = (),
) -> Starlette:
    """Returns the application. Requests need one of the ``keys``, if there are any, and must be to one of the
    ``hosts``, if there are any; ``origins`` are other sites whose pages may use the server, such as
    ``https://example.org``."""

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
        routes=Server(catalogue, work, keys, origins, hosts).routes(),
        middleware=[cors] if origins else [],
        exception_handlers={HTTPException: as_json},
        lifespan=closing,
    )
