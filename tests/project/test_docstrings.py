"""Docstrings stand alone: none begins with a word that needs the name above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from support.paths import ROOT

FRAGMENTS = re.compile(r"\W*(Of|And|Over|What|Which|That)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yields file and name, and the docstring, of all that has one."""
    for folder in ("hiero", "tests", "benchmarks", "data"):
        for path in sorted((ROOT / folder).rglob("*.py*")):
            if path.suffix not in (".py", ".pyi"):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                    yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}", text


def test_none_is_a_fragment() -> None:
    found = list(docstrings())
    assert len(found) > 1500
    assert [where for where, text in found if FRAGMENTS.match(text)] == []
