"""Names that `import hiero` makes reachable, and the modules that it may import."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hiero


def in_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "tune.tune",
        "train.train",
        "evaluate.Bleu",
        "forest.entropy",
        "forest.losses.bleu",
        "pages.forest_page",
        "experiments.__doc__",
    ],
)
def test_parts_of_the_package_are_there_without_importing_them(name: str) -> None:
    assert in_python(f"import hiero; hiero.{name}; print('there')") == "there\n"


def test_what_takes_long_is_imported_when_it_is_asked_for() -> None:
    heavy = ("scipy", "sacrebleu", "thot", "matplotlib", "rich", "typer", "hiero.tune", "hiero.train")
    found = in_python(f"import sys, hiero; print([name for name in {heavy} if name in sys.modules])")
    assert found == "[]\n"


def test_the_source_folder_says_what_it_is(tmp_path: Path) -> None:
    """`hiero/` is found before the installed package in the folder where the README leaves its readers."""
    (tmp_path / "hiero").mkdir()
    shutil.copy(hiero.__file__, tmp_path / "hiero")
    command = [sys.executable, "-c", "import hiero"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {tmp_path / 'hiero'} is hiero's source folder, without its extension module: "
        "run Python in another folder, or as `python -P`, to import the installed package"
    )
    command.insert(1, "-P")
    assert subprocess.run(command, cwd=tmp_path).returncode == 0


def test_the_licences_of_what_it_holds_are_installed() -> None:
    try:
        installed = importlib.metadata.distribution("hiero-mt")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("hiero is not installed, but run from its source folder")
    if Path(str(installed.locate_file("hiero/__init__.py"))) != Path(hiero.__file__):
        pytest.skip("another hiero is installed than the one that is run")
    files = installed.files or []
    texts = {"/".join(file.parts[2:]): file.read_text() for file in files if "licenses" in file.parts}
    for name, words in [
        ("NOTICE", "Copyright 2026 the hiero developers"),
        ("kenlm/COPYING.LESSER.3", "GNU LESSER GENERAL PUBLIC LICENSE"),
        ("nanobind/LICENSE", "Wenzel Jakob"),
        ("nanobind/robin_map", "Thibaut Goetghebuer-Planchon"),
    ]:
        assert words in texts[name], texts.keys()
    assert texts["nanobind/robin_map"].endswith("*/\n")


def test_names_of_the_package() -> None:
    assert set(hiero.__all__) == set(dir(hiero)) and {"tune", "Model"} <= set(dir(hiero))
    for name in hiero.__all__:
        assert getattr(hiero, name) is not None
    with pytest.raises(AttributeError, match="module 'hiero' has no attribute 'nothing'"):
        hiero.nothing  # noqa: B018
