"""Packs rule text into tables, and unpacks tables into lines of text."""

from __future__ import annotations

from pathlib import Path

from hiero import RuleTable
from hiero.base import tables


def unpack_lines(table: RuleTable) -> list[str]:
    parts: list[bytes] = []
    tables.unpack(table, parts.append)
    return b"".join(parts).decode().split("\n")[:-1]


def pack_text(tmp_path: Path, text: str | bytes, **options: object) -> RuleTable:
    source = tmp_path / "rules.txt"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    tables.pack(source, tmp_path / "rules.hrt", **options)  # type: ignore[arg-type]
    return RuleTable.open(str(tmp_path / "rules.hrt"))
