"""Files of commands: which are read and which are written, and standard streams by the name ``-``."""

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
from hiero.base.lines import decompressed, open_source

STREAM = Path("-")
_STDIN = Path("/dev/stdin")
_STREAMS = (("/", "dev"), ("/", "proc"))


@dataclass(frozen=True)
class Writes:
    """A mark of an option whose file the command writes; paths without this mark are read.

    With ``stream``, the file may be ``-``, standard output. Of an option with several paths, the last of
    ``every`` so many is written, and the others are read. With ``over``, the file may take the place of one
    that is read, as a model with other weights does.
    """

    stream: bool = False
    every: int = 1
    over: bool = False


OUTPUT_HELP = (
    "Output file, compressed for .gz and .xz; written in full or not at all (default: standard output)."
)
Output = Annotated[Path | None, Writes(stream=True), typer.Option("-o", "--output", help=OUTPUT_HELP)]


class InterruptError(Exception):
    """An interrupt, with a message that says what is left. It replaces KeyboardInterrupt, which typer handles
    in its own way."""


def checking_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a command that checks its files, and that reads standard input for ``-``.

    It refuses, as wrong usage, an output that is also an input or another output, an output ``-`` that cannot
    be a stream, and standard input that would be read twice.
    """
    signature = inspect.signature(command, eval_str=True)
    outputs = {
        name: mark
        for name, parameter in signature.parameters.items()
        for mark in getattr(parameter.annotation, "__metadata__", ())
        if isinstance(mark, Writes)
    }

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        checked = _checked(values, outputs)
        try:
            return command(**checked)
        except KeyboardInterrupt as interrupt:
            paths = [path for name in outputs for path in _paths(values[name]) if path != STREAM]
            notes = getattr(interrupt, "__notes__", None) or [
                f"{path} {'is as it was' if path.exists() else 'was not written'}" for path in paths
            ]
            raise InterruptError("; ".join(["interrupted", *notes])) from None

    # Annotations as objects: typer would evaluate strings in another module.
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return run


def joined_files(names: str) -> list[str]:
    """Returns the files whose names are joined by commas; the name of one file may have commas."""
    return [names] if Path(names).exists() else names.split(",")


@contextlib.contextmanager
def on_interrupt(note: str) -> Iterator[None]:
    """Prints a note if the block is interrupted."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(note)
        raise


def _checked(values: Mapping[str, Any], marks: Mapping[str, Writes]) -> dict[str, Any]:
    """Returns the values of options with standard input and links resolved. Raises BadParameter for files
    that do not go together."""
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
    """Raises BadParameter for an output that is one of the inputs, or that lies in one, such as a model."""
    if output != STREAM and any(_same(output, other) or _within(output, other) for other in inputs):
        raise typer.BadParameter(f"{output}: is read, and would be written over")


@contextlib.contextmanager
def reading(path: Path | None) -> Iterator[IO[bytes]]:
    """Opens a file (plain, gzip, xz) to read bytes from, or standard input for None."""
    if path is not None and path != _STDIN:
        with open_source(path) as file:
            yield file
        return
    # Not sys.stdin.buffer: a thread that waits for a line holds its lock, and Python cannot end without it.
    with decompressed(open(sys.stdin.fileno(), "rb", closefd=False)) as file:
        yield file


@contextlib.contextmanager
def writing(path: Path | None) -> Iterator[IO[bytes]]:
    """Opens a file to write bytes to, or standard output for None and ``-``.

    The file is compressed if its name ends in .gz or .xz, and it appears when the block ends without an
    error. A device or a pipe gets the bytes at once.
    """
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
    """Returns the paths among the value or values of an option."""
    if isinstance(value, Path):
        return [value]
    return [path for path in value if isinstance(path, Path)] if isinstance(value, list | tuple) else []


def _with_stdin(value: Any) -> Any:
    """Returns the value or values of an option with /dev/stdin in place of ``-``."""
    if isinstance(value, list | tuple):
        return type(value)(map(_with_stdin, value))
    return _STDIN if isinstance(value, Path) and value == STREAM else value


def _within(path: Path, folder: Path) -> bool:
    return folder.is_dir() and Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _followed(value: Any, stream: bool) -> Any:
    """Returns outputs with the file that a symbolic link leads to in its place: this file is replaced, and
    the link stays. With ``stream``, also if there is no such file yet."""
    if isinstance(value, list | tuple):
        return type(value)(_followed(part, stream) for part in value)
    is_link = (
        isinstance(value, Path)
        and value.is_symlink()
        and (value.is_file() or (stream and not value.exists()))
    )
    # Links in /dev and /proc are known by their own names.
    return Path(os.path.realpath(value)) if is_link and value.parts[:2] not in _STREAMS else value


def _same(path: Path, other: Path) -> bool:
    if path.exists() and not path.is_file() and not path.is_dir():
        return False  # a terminal may be read and written
    # By name: a file with two names is replaced under one of them, and keeps its content under the other.
    return os.path.realpath(path) == os.path.realpath(other)
