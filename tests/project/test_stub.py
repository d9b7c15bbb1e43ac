"""hiero/_core.pyi is the stub of the built extension module, and tells all there is to know about it."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator

import pytest

from support.paths import ROOT

STUB = ROOT / "hiero" / "_core.pyi"
# Special methods whose meaning everyone knows.
UNDOCUMENTED = re.compile(r"__(?!init__|len__)\w+__$")
HEADING = r"(?:Args|Returns|Raises):"

Definition = ast.ClassDef | ast.FunctionDef


def definitions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, node
            yield from definitions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


def decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(decorator) for decorator in node.decorator_list}


ALL = list(definitions(ast.parse(STUB.read_text(encoding="utf-8"))))
FUNCTIONS = [
    (name, node, ast.get_docstring(node) or "")
    for name, node in ALL
    if isinstance(node, ast.FunctionDef)
    and not UNDOCUMENTED.search(name)
    and not any(part == "property" or part.endswith(".setter") for part in decorators(node))
]


def test_it_is_generated() -> None:
    """The stub is that of the module; `python cpp/bindings/make_stub.py` makes it after a change."""
    pytest.importorskip("nanobind.stubgen", reason="nanobind, which generates the stub, is not installed")
    spec = importlib.util.spec_from_file_location("make_stub", ROOT / "cpp" / "bindings" / "make_stub.py")
    assert spec is not None and spec.loader is not None
    make_stub = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_stub)
    assert make_stub.stub().splitlines() == STUB.read_text(encoding="utf-8").splitlines()


def test_everything_has_a_docstring() -> None:
    assert len(ALL) > 300
    missing = [
        name
        for name, node in ALL
        if not UNDOCUMENTED.search(name)
        and not ast.get_docstring(node)
        and not (isinstance(node, ast.FunctionDef) and any(".setter" in part for part in decorators(node)))
    ]
    # Their only argument is nothing.
    assert [name for name in missing if not re.fullmatch(r"\w+Semiring\.__init__", name)] == []


def test_functions_begin_with_a_verb() -> None:
    assert len(FUNCTIONS) > 90
    verbs = {text.split()[0] for name, _, text in FUNCTIONS if text}
    assert {verb for verb in verbs if not re.fullmatch(r"[A-Z][a-z]+s", verb)} == set()


def test_properties_and_classes_do_not() -> None:
    texts = [
        ast.get_docstring(node) or ""
        for name, node in ALL
        if isinstance(node, ast.ClassDef) or "property" in decorators(node)
    ]
    assert len(texts) > 180
    assert [text for text in texts if re.match(r"(Returns|Gets|The number)\b", text)] == []


def test_arguments_are_those_of_the_signature() -> None:
    for name, node, text in FUNCTIONS:
        names = [arg.arg for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        expected = [arg for arg in names if arg != "self"]
        section = re.search(rf"^Args:\n(.*?)(?=^{HEADING}|\Z)", text, re.MULTILINE | re.DOTALL)
        told = re.findall(r"^    (\w+): ", section[1], re.MULTILINE) if section else []
        # Where there is no such section, the sentence has them.
        assert told == expected or (not told and all(re.search(rf"\b{arg}\b", text) for arg in expected)), (
            name
        )
