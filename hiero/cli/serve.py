"""`hiero serve`: a server of models for browsers and programs."""

from __future__ import annotations

import re
import resource
import socket
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from hiero import Error
from hiero.base.parallel import processors
from hiero.cli.options.common import AllThreads

_WAITING_CONNECTIONS = 2048  # that the system keeps until they are accepted
_MOST_FILES = 4096  # that are open at a time
_OTHER_FILES = 400  # of these, for models and contexts; the others are connections


def serve(
    *,
    models: Annotated[
        list[str], typer.Argument(help="Model directories, each as PATH or NAME=PATH.", metavar="MODEL...")
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0: all of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: a free one.")] = 8080,
    threads: AllThreads = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Seconds after which a search ends with what it has.")
    ] = 10.0,
    waiting: Annotated[
        int, typer.Option(min=1, help="Requests that may wait or run; others are refused.")
    ] = 100,
    api_keys: Annotated[
        Path | None, typer.Option(help="File with a key on each line, one of which requests must have.")
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(help="Site whose pages may use the server, such as https://example.org; repeatable."),
    ] = None,
) -> None:
    """Serves models to browsers and programs: translations, charts, explanations, learning from corrections.

    Programs written for LibreTranslate, Google Translate (version 2) and Moses' XML-RPC server can use it.

        hiero serve my-model
        hiero serve de-en=models/german ja-en=models/japanese --port 5000 --threads 4
    """
    try:
        import uvicorn

        from hiero.serve.app import make_app
        from hiero.serve.catalogue import Catalogue
        from hiero.serve.connections import TimedProtocol
        from hiero.serve.work import Work
    except ModuleNotFoundError as error:
        raise Error(f"{error.name} is missing: install hiero-mt[serve]") from None

    def report(line: str) -> None:
        print(f"hiero: {line}", file=sys.stderr)

    catalogue = Catalogue(_named(models), report)
    sites = list(map(_site, cors or []))
    hosts = _hosts(host, sites)
    work = Work(threads or processors(), waiting, seconds)
    app = make_app(catalogue, work, _keys(api_keys), sites, hosts)
    config = uvicorn.Config(
        app,
        log_level="warning",
        http=TimedProtocol,
        limit_concurrency=_open_files(),
        timeout_graceful_shutdown=int(seconds) + 5,
    )
    listener = _listener(host, port)  # whoever connects from now on is served
    report(f"{_address(host, listener)} serves {', '.join(model.name for model in catalogue)}")
    uvicorn.Server(config).run([listener])


def _hosts(host: str, sites: list[str]) -> list[str]:
    """Returns the names that requests may be to; none: any."""
    if host in ("0.0.0.0", "::"):
        return []
    return [host, "localhost", "127.0.0.1", "::1", *(urlsplit(site).hostname or "" for site in sites)]


def _listener(host: str, port: int) -> socket.socket:
    """Returns a socket that listens. Raises Error, as for a port that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_WAITING_CONNECTIONS)
    except OSError as error:
        raise Error(f"{host}, port {port}: {error.strerror}") from None
    # Connections inherit it. Otherwise the system may keep the last part of an answer back for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _address(host: str, listener: socket.socket) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def _site(site: str) -> str:
    """Returns a site as browsers name it. Raises BadParameter for what is none, such as "*"."""
    if not re.fullmatch(r"https?://[\w.-]+(:\d+)?/?", site):
        raise typer.BadParameter(f"--cors: {site} is no site such as https://example.org")
    return site.rstrip("/").lower()


def _open_files() -> int:
    """Allows this process more open files, and returns how many connections leave room for other files."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    return max(1, allowed - _OTHER_FILES)


def _keys(path: Path | None) -> list[str]:
    """Reads the keys of a file. Raises Error for one without keys, OSError."""
    keys = path.read_text(encoding="utf-8").split() if path else []
    if path is not None and not keys:
        raise Error(f"{path}: no keys, which would let everyone in")
    return keys


def _named(models: list[str]) -> dict[str, Path]:
    """Returns the directories by name. Raises BadParameter for a name that is given twice, or is none."""
    named: dict[str, Path] = {}
    for model in models:
        name, equals, path = model.partition("=")
        if not equals:
            name, path = Path(model).absolute().name, model
        if not re.fullmatch(r"[\w.-]{1,64}", name):
            raise typer.BadParameter(f"{name}: expected a name of letters, digits, '-', '_' and '.'")
        if name in named:
            raise typer.BadParameter(f"two models are called {name}: name them, as in de-en={path}")
        for other, known in named.items():
            if known.resolve() == Path(path).resolve():
                raise typer.BadParameter(f"{other} and {name} are one model, whose contexts one name has")
        named[name] = Path(path)
    return named
