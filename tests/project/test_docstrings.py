"""Docstrings stand alone: none begins with a word that needs the name above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from support.paths import ROOT

# A docstring begins with a verb or a noun phrase, not with a preposition, a conjunction or a pronoun.
FRAGMENTS = re.compile(
    r"\W*(Of|And|Over|What|Which|That|How|As|For|By|With|Without|In|On|At|To|From|Like|Where|When|If|But|Or|So"
    r"|Because|Since|Also|Only|Not|Than|Who|Why|Such|Those|These|It|They|This|Its|Their|There|Here|Between"
    r"|Under|Above|Below|Instead|After|Before)\b"
)
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


VERB = re.compile(r"[A-Z][a-z]+s\b")


def is_value(function: ast.FunctionDef) -> bool:
    """Tells whether a function is read as a value, which a noun phrase describes."""
    return any(ast.unparse(decorator).endswith("property") for decorator in function.decorator_list)


def test_functions_begin_with_a_verb() -> None:
    """The verb is in the third person, as in Returns. Tests are named after what they check."""
    others = []
    count = 0
    for path in sorted([*(ROOT / "hiero").rglob("*.py"), *(ROOT / "tests" / "support").glob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__" and not is_value(node):
                text = ast.get_docstring(node)
                count += text is not None
                if text is not None and not VERB.match(text):
                    others.append(f"{path.relative_to(ROOT)}: {node.name}: {text}")
    assert count > 700
    assert others == []


def test_none_is_a_fragment() -> None:
    found = list(docstrings())
    assert len(found) > 1500
    assert [where for where, text in found if FRAGMENTS.match(text)] == []
