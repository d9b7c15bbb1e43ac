"""The files of commands: which are read and which are written, and standard streams by the name ``-``."""

from __future__ import annotations

import contextlib
import functools
import gzip
import inspect
import lzma
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer

from hiero.base.files import replacing
from hiero.base.lines import open_source, unpacked

STREAM = Path("-")
_STDIN = Path("/dev/stdin")
_STREAMS = (("/", "dev"), ("/", "proc"))


@dataclass(frozen=True)
class Writes:
    """Marks a parameter of a command for what it writes: of several paths the last of ``every`` so many. It
    may be a ``stream``: ``-`` is standard output then. It may take the place of what is read (``over``), such
    as a model of its own. All other paths are read."""

    stream: bool = False
    every: int = 1
    over: bool = False


Output = Annotated[
    Path | None,
    Writes(stream=True),
    typer.Option("-o", "--output", help="There when it is whole; .gz and .xz compress (stdout)."),
]


class InterruptError(Exception):
    """In place of KeyboardInterrupt, which typer makes an end of its own; says what is left."""


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that gets standard input in place of ``-`` where it reads.

    Refuses, as wrong usage, an output that is also an input or another output, an output that cannot be a
    stream, and standard input that is to be read twice.
    """
    marks: dict[str, Writes] = {}
    signature = inspect.signature(command, eval_str=True)
    for name, parameter in signature.parameters.items():
        for mark in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(mark, Writes):
                marks[name] = mark

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        checked = _checked(values, marks)
        try:
            return command(**checked)
        except KeyboardInterrupt as interrupt:
            outputs = [path for name in marks for path in _paths(values[name]) if path != STREAM]
            notes = getattr(interrupt, "__notes__", None) or [
                f"{path} {'is as it was' if path.exists() else 'was not written'}" for path in outputs
            ]
            raise InterruptError("; ".join(["interrupted", *notes])) from None

    # As they are now: strings would be evaluated anew by everyone who looks.
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return run


@contextlib.contextmanager
def on_interrupt(note: str) -> Iterator[None]:
    """Prints a note if the block is interrupted."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(note)
        raise


def _checked(values: Mapping[str, Any], marks: Mapping[str, Writes]) -> dict[str, Any]:
    inputs: list[Path] = []
    outputs: list[Path] = []
    for name, value in values.items():
        paths, mark = _paths(value), marks.get(name)
        written = paths[mark.every - 1 :: mark.every] if mark else []
        inputs += [path for place, path in enumerate(paths) if mark is None or (place + 1) % mark.every]
        if mark is not None and not mark.over:
            outputs += written
        if mark is not None and not mark.stream and STREAM in written:
            raise typer.BadParameter(f"--{name.replace('_', '-')} cannot be standard output")
    if inputs.count(STREAM) + inputs.count(_STDIN) > 1:
        raise typer.BadParameter("standard input can be read once")
    for number, path in enumerate(outputs):
        check_not_read(path, inputs)
        for other in outputs[:number]:
            if _same(path, other):
                raise typer.BadParameter(f"{path}: two outputs of one name")
    return {
        name: _followed(value, marks[name].stream) if name in marks else _with_stdin(value)
        for name, value in values.items()
    }


def check_not_read(output: Path, inputs: Iterable[Path]) -> None:
    """Refuses, as wrong usage, an output that is one of the inputs, or within one, such as a model."""
    if output != STREAM and any(_same(output, other) or _within(output, other) for other in inputs):
        raise typer.BadParameter(f"{output}: is read, and would be written over")


@contextlib.contextmanager
def reading(path: Path | None) -> Iterator[IO[bytes]]:
    """A file (plain, gzip, xz) to read bytes from; standard input without one."""
    if path is not None and path != _STDIN:
        with open_source(path) as file:
            yield file
        return
    # A thread may wait for a line when this ends early: it would hold the lock of sys.stdin's own buffer,
    # without which Python cannot end, or of one that is to be closed.
    with unpacked(open(sys.stdin.fileno(), "rb", closefd=False)) as file:
        yield file


@contextlib.contextmanager
def writing(path: Path | None) -> Iterator[IO[bytes]]:
    """A file to write, whole or not at all, compressed if its name ends in .gz or .xz; standard output
    without one, and for ``-``. A device or pipe is written to as it comes."""
    if path is None or path in (STREAM, Path("/dev/stdout")):
        with naming_stdout():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():
        try:
            with path.open("wb") as file:
                yield file
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
    else:
        with replacing(path) as temporary, _compressed(temporary, path.suffix) as file:
            yield file


@contextlib.contextmanager
def naming_stdout() -> Iterator[None]:
    """Names standard output in an OSError of the block that names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, "standard output") from None


@contextlib.contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        if suffix == ".gz":
            # Without a time and a name, so that the same content gives the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped:
                yield cast(IO[bytes], zipped)
        elif suffix == ".xz":
            with lzma.open(file, "wb") as packed:
                yield packed
        else:
            yield file


def _paths(value: Any) -> list[Path]:
    if isinstance(value, Path):
        return [value]
    return [path for path in value if isinstance(path, Path)] if isinstance(value, list | tuple) else []


def _with_stdin(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_with_stdin, value))
    return _STDIN if isinstance(value, Path) and value == STREAM else value


def _within(path: Path, folder: Path) -> bool:
    return folder.is_dir() and Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _followed(value: Any, text: bool) -> Any:
    """Outputs whose names are links as the files that these lead to, which are to be replaced instead; those
    of ``text`` also where there is no file yet."""
    if isinstance(value, list | tuple):
        return type(value)(_followed(part, text) for part in value)
    link = (
        isinstance(value, Path) and value.is_symlink() and (value.is_file() or (text and not value.exists()))
    )
    # Of streams the names are what they are known by.
    return Path(os.path.realpath(value)) if link and value.parts[:2] not in _STREAMS else value


def _same(path: Path, other: Path) -> bool:
    if path.exists() and not path.is_file() and not path.is_dir():
        return False  # a terminal may be read and written
    # By name: what has two is replaced under one of them, which leaves the other as it is.
    return os.path.realpath(path) == os.path.realpath(other)
