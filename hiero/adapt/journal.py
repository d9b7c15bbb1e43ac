"""An append-only file of records. What was appended survives the end of the process and of the power.

There is a file from the first record on.

Each line is a record: the CRC-32 of its JSON as 8 hexadecimal digits, a space, and the JSON object. A process
that is killed while it appends leaves a part of a line, which was not acknowledged; it is cut off when the
journal is opened again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from hiero._core import FormatError
from hiero.base.files import sync

Record = dict[str, Any]


class Journal:
    """A journal that this process alone appends to. Not for several threads at once.

    Raises OSError if another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._end = 0
        if path.exists():
            self._open()

    def _open(self) -> None:
        """Opens the file for this process alone, and makes it if there is none."""
        if not self.path.parent.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            sync(self.path.parent.parent)
        is_new = not self.path.exists()
        file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise OSError(error.errno, "another process is using this context", str(self.path)) from None
        if is_new:
            sync(self.path.parent)
        self._file = file

    def read(self) -> list[Record]:
        """Returns the records that the file has, to be called before the first ``append``.

        Raises FormatError naming file and line if a record is damaged.
        """
        if self._file is None:
            return []
        records, self._end = _read(self.path)
        self._file.truncate(self._end)
        return records

    @property
    def is_current(self) -> bool:
        """Whether the file is as this object left it: nobody else has written, replaced or removed it."""
        if self._file is None:
            return not self.path.exists()
        try:
            status = os.fstat(self._file.fileno())
        except ValueError:  # another thread has just closed it
            return False
        return status.st_size == self._end and status.st_nlink > 0

    def append(self, record: Mapping[str, Any]) -> None:
        """Appends a record, and returns when it is on the disk.

        Raises OSError, and leaves the journal as it was, if it cannot be written.
        """
        if self._file is None:
            self._open()
        assert self._file is not None
        file = self._file.fileno()
        if not self.is_current:
            self.close()  # and gives the lock back
            raise OSError(errno.EAGAIN, "another process has changed this context", str(self.path))
        line = _line(record)
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(file, line[written:], self._end + written)
            os.fsync(file)
        except OSError as error:
            os.ftruncate(file, self._end)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._end += len(line)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

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
