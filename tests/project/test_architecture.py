"""docs/architecture.md is true: its files and what is said to be in them are there, folders depend on each
other in its order, and files on each other without circles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CPP, PYTHON = ROOT / "cpp" / "hiero", ROOT / "hiero"


def ranks(tree: str) -> dict[str, int]:
    """The folders of a tree, by how many groups of them stand to the left."""
    found = re.search(rf"^    {tree}: (.+)$", PAGE, re.MULTILINE)
    assert found is not None
    groups = [group.split() for group in found[1].split("<")]
    return {folder: rank for rank, group in enumerate(groups) for folder in group}


def test_files_are_there() -> None:
    folders = "cpp|hiero|docs|tests|benchmarks"
    named = set(re.findall(rf"`((?:{folders})/[\w./]+)`", PAGE))
    assert len(named) > 60
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    # Files by name alone stand beside one that is named in full.
    for name in re.findall(r"`(\w+\.(?:cc|h|py))`", PAGE):
        assert any((ROOT / other).parent.joinpath(name).exists() for other in named), name


def test_rows_name_what_is_in_the_file() -> None:
    rows = re.findall(r"^\|.*\| `([\w./]+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) > 30
    for file, name in rows:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *(class|struct|def|\w[\w:<> ]*) {name}\b", text, re.MULTILINE), (file, name)


def test_types_are_in_the_file_behind_them() -> None:
    pairs = re.findall(r"`(\w+)`(?: and `\w+`)?\s+\(`([\w./]+)`\)", PAGE)
    assert len(pairs) > 8
    for name, file in pairs:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")), (name, file)


def test_all_folders_are_in_the_order() -> None:
    assert set(ranks("cpp/hiero")) == {path.name for path in CPP.iterdir()} | {"bindings"}
    packages = {path.parent.name for path in PYTHON.glob("*/__init__.py")}
    assert set(ranks("hiero")) == packages


def includes() -> Iterator[tuple[Path, str, str]]:
    for path in [*CPP.glob("*/*"), *(ROOT / "cpp" / "bindings").iterdir()]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if found := re.match(r'#include "(?:hiero/)?([\w/]+)\.h"', line):
                name = found[1]
                if "/" not in name:
                    yield path, path.parent.name, "bindings"
                elif (CPP / f"{name}.h").exists():  # else it is KenLM's
                    yield path, path.parent.name, name.split("/")[0]


def imports() -> Iterator[tuple[Path, str, str]]:
    """Yields imports, also those within functions. The package passes names of the core on to its folders."""
    for path, parts in imported_modules(PYTHON):
        if parts[0] == "hiero" and len(parts) > 1 and parts[1] != "_core":
            yield path, path.relative_to(PYTHON).parts[0], parts[1]


def tune_imports() -> Iterator[tuple[Path, str, str]]:
    """Yields the same of the folders within `hiero/tune`."""
    for path, parts in imported_modules(PYTHON / "tune"):
        folder = path.relative_to(PYTHON / "tune").parts[0]
        if parts[:2] == ["hiero", "tune"]:
            yield path, folder, parts[2]


def imported_modules(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yields the files in the folders below a folder, and the parts of each module's name that they
    import."""
    for path in folder.rglob("*/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                yield path, module.split(".")


@pytest.mark.parametrize(
    ("tree", "found", "least"),
    [("cpp/hiero", includes(), 150), ("hiero", imports(), 150), ("hiero/tune", tune_imports(), 100)],
)
def test_folders_depend_only_on_lower_ones(
    tree: str, found: Iterator[tuple[Path, str, str]], least: int
) -> None:
    rank = ranks(tree)
    seen = 0
    for path, folder, other in found:
        assert other == folder or rank[other] < rank[folder], f"{path} depends on {other}"
        seen += 1
    assert seen > least


def test_the_core_is_all_that_lower_folders_take_from_the_package() -> None:
    """Importing from `hiero` itself reaches up to decoders, but for these two."""
    for path in PYTHON.rglob("*/*.py"):
        if path.relative_to(PYTHON).parts[0] == "cli":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "hiero":
                assert {alias.name for alias in node.names} <= {"_core", "__version__"}, path


def included_files() -> Iterator[tuple[Path, Path]]:
    for path in [*CPP.glob("*/*"), *(ROOT / "cpp" / "bindings").iterdir()]:
        for name in re.findall(r'^#include "([\w/]+\.h)"', path.read_text(encoding="utf-8"), re.MULTILINE):
            for folder in (ROOT / "cpp", path.parent):
                if (folder / name).is_file():
                    yield path, folder / name


def imported_files() -> Iterator[tuple[Path, Path]]:
    """Pairs of files, the second imported by the first, also for types alone and within functions. A package
    that only passes on names stands for the modules that have them."""
    for path in PYTHON.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                file = ROOT.joinpath(*name.split(".")).with_suffix(".py")
                if file.is_file():
                    yield path, file


@pytest.mark.parametrize("pairs", [included_files(), imported_files()], ids=["cpp", "python"])
def test_no_file_depends_on_itself(pairs: Iterable[tuple[Path, Path]]) -> None:
    sorter: TopologicalSorter[Path] = TopologicalSorter()
    count = 0
    for path, other in pairs:
        sorter.add(path, other)
        count += 1
    assert count > 300
    try:
        sorter.prepare()
    except CycleError as error:
        names = [str(path.relative_to(ROOT)) for path in error.args[1]]
        pytest.fail(f"files depend on each other in a circle: {' -> '.join(names)}")


def test_tests_stand_in_rooms_of_what_they_test_and_share_nothing_but_helpers() -> None:
    tests = ROOT / "tests"
    rooms = {path.parent.name for path in tests.rglob("test_*.py")}
    assert rooms - {"project"} <= {path.name for path in [*CPP.iterdir(), *PYTHON.iterdir()]}
    assert not list(tests.glob("test_*.py"))
    for path in tests.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            assert not re.search(r"(^|\.)(test_\w+|conftest)$", module), (path, module)
