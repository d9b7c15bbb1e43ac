"""An append-only file of records. What was appended survives the end of the process and of the power.

Each line is a record: the CRC-32 of its JSON as 8 hexadecimal digits, a space, and the JSON object. A process
that is killed while it appends leaves a part of a line, which was not acknowledged; it is cut off when the
journal is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from hiero._core import FormatError
from hiero.base.files import sync

Record = dict[str, Any]


class Journal:
    """A journal that this process alone appends to.

    ``records`` are those that it had when it was opened. Raises OSError if another process has it open,
    FormatError naming file and line if a record is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            sync(path.parent.parent)
        is_new = not path.exists()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._lock()
            self.records, end = _read(path)
            os.ftruncate(self._file, end)
            self._end = end
            if is_new:
                sync(path.parent)
        except BaseException:
            self.close()
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OSError(error.errno, "another process is using this context", str(self.path)) from None

    def append(self, record: Mapping[str, Any]) -> None:
        """Appends a record, and returns when it is on the disk.

        Raises OSError, and leaves the journal as it was, if it cannot be written.
        """
        line = _line(record)
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(self._file, line[written:], self._end + written)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._end += len(line)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_records(path: Path) -> list[Record]:
    """Reads the records of a journal, which a process may have open. Raises FormatError, OSError."""
    return _read(path)[0]


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(path: Path) -> tuple[list[Record], int]:
    """Returns the records, and where the last one ends."""
    content = path.read_bytes()
    records: list[Record] = []
    end = 0
    for number, line in enumerate(_lines(content), start=1):
        if not line.endswith(b"\n"):  # the last record, which was not written in full
            break
        record = _record(line)
        if record is None:
            raise FormatError(f"{path}:{number}: damaged record")
        records.append(record)
        end += len(line)
    return records, end


def _lines(content: bytes) -> Iterator[bytes]:
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin) + 1 or len(content)
        yield content[begin:end]
        begin = end


def _record(line: bytes) -> Record | None:
    """Returns the record of a line; None if it is damaged."""
    text = line[9:-1]
    if line[:9] != b"%08x " % zlib.crc32(text):
        return None
    try:
        record = json.loads(text)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
