"""Commands are short functions of few parameters, and the folders of the command line have an order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hiero.cli
from support.paths import ROOT

CLI = ROOT / "hiero" / "cli"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
# From the lowest. A file imports only from its own folder and lower ones, a command from all of them.
ROOMS = re.findall(r"\w+", PAGE.partition("    hiero/cli: ")[2].partition("\n")[0])
LINES, PARAMETERS = 60, 8


def command_modules() -> list[Path]:
    return sorted(path for path in CLI.glob("*.py") if path.name != "__init__.py")


def command_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yields the functions of commands, with their decorators and the names of their modules."""
    by_module: dict[str, set[str]] = {}
    for module, attribute in hiero.cli._PLACES.values():
        by_module.setdefault(module, set()).add(attribute)
    for module, names in by_module.items():
        for node in ast.parse((CLI / f"{module}.py").read_bytes()).body:
            if isinstance(node, ast.FunctionDef):
                in_group = any(isinstance(d, ast.Name) and d.id == "command" for d in node.decorator_list)
                if node.name in names or in_group:
                    yield module, node


def imported(path: Path) -> set[str]:
    """Returns the modules of the command line that a file imports, also within functions."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module == "hiero.cli":
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hiero.cli."):
            modules.add(str(node.module).removeprefix("hiero.cli."))
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            modules |= {name.removeprefix("hiero.cli.") for name in names if name.startswith("hiero.cli.")}
    return modules


def test_commands_are_short() -> None:
    functions = list(command_functions())
    assert len(functions) > 30
    for module, node in functions:
        lines = int(node.end_lineno or 0) - node.lineno + 1
        parameters = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
        assert lines <= LINES and parameters <= PARAMETERS, (module, node.name, lines, parameters)


def test_every_file_beside_the_program_is_a_command() -> None:
    assert {path.stem for path in command_modules()} == {module for module, _ in hiero.cli._PLACES.values()}


@pytest.mark.parametrize("path", command_modules(), ids=lambda path: path.stem)
def test_no_command_imports_another(path: Path) -> None:
    modules = imported(path)
    assert modules and {module.split(".")[0] for module in modules} <= set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_lower_ones(room: str) -> None:
    assert len(ROOMS) == 6 and {path.parent.name for path in CLI.glob("*/__init__.py")} == set(ROOMS)
    lower = set(ROOMS[: ROOMS.index(room) + 1])
    for path in (CLI / room).glob("*.py"):
        # The commands of `hiero run` are found by name.
        others = imported(path) - {"command_named"}
        assert {module.split(".")[0] for module in others} <= lower, path
