"""Tests of journals: what is acknowledged stays, and what is damaged is found."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.adapt.journal import Journal, read_records

RECORDS = [{"a": 1}, {"b": [0.1, "ü\n"]}, {}]


def written(path: Path) -> bytes:
    with Journal(path) as journal:
        assert journal.read() == []
        for record in RECORDS:
            journal.append(record)
    return path.read_bytes()


def test_records_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "journal"
    written(path)
    assert read_records(path) == RECORDS
    with Journal(path) as journal:
        assert journal.read() == RECORDS
        journal.append({"c": 2})
    assert read_records(path) == [*RECORDS, {"c": 2}]


def test_a_part_of_a_record_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    content = written(path)
    begin = len(content.rstrip(b"\n").rpartition(b"\n")[0]) + 1
    for end in range(begin, len(content)):
        path.write_bytes(content[:end])
        assert read_records(path) == RECORDS[:-1]
        with Journal(path) as journal:
            assert journal.read() == RECORDS[:-1]
            journal.append({"c": 2})
        assert read_records(path) == [*RECORDS[:-1], {"c": 2}]


def test_every_damaged_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    content = written(path)
    for place in range(len(content) - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        number = content[:place].count(b"\n") + 1
        with (
            pytest.raises(FormatError, match=rf"journal:{number}: damaged record"),
            Journal(path) as journal,
        ):
            journal.read()
        assert path.read_bytes() == damaged


def test_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written(path)
    with Journal(path), pytest.raises(OSError, match="another process is using this context"):
        Journal(path)
    Journal(path).close()


def test_there_is_no_file_before_the_first_record(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "journal"
    with Journal(path) as journal, Journal(path) as other:
        assert journal.read() == other.read() == [] and not path.parent.exists()
        journal.append({"a": 1})
        with pytest.raises(OSError, match="another process is using this context"):
            other.append({"a": 2})
        journal.close()
        with pytest.raises(OSError, match="another process has changed this context"):
            other.append({"a": 2})
        assert read_records(path) == [{"a": 1}]
    with Journal(path) as journal:
        journal.read()
        path.unlink()
        with pytest.raises(OSError, match="another process has changed this context"):
            journal.append({"a": 2})


def test_what_cannot_be_written_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    written(path)
    real = os.pwrite

    def full(file: int, data: bytes, offset: int) -> int:
        if len(data) <= 10:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(file, data[:-10], offset)

    with Journal(path) as journal:
        journal.read()
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match=r"No space left.*journal"):
            journal.append({"long": "x" * 50})
        assert read_records(path) == RECORDS
        monkeypatch.undo()
        journal.append({"c": 2})
    assert read_records(path) == [*RECORDS, {"c": 2}]


def test_new_files_and_folders_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("hiero.adapt.journal.sync", synced.append)
    for name in ("a", "b", "a"):
        with Journal(tmp_path / "folder" / name) as journal:
            journal.read()
            journal.append({})
    folder = tmp_path / "folder"
    assert synced == [tmp_path, folder, folder]


def test_records_are_synced_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
    with Journal(tmp_path / "journal") as journal:
        journal.append({})
        sizes.clear()
        journal.append({"a": 1})
        assert sizes == [(tmp_path / "journal").stat().st_size]
