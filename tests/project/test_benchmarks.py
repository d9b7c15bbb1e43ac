"""Benchmarks find all that they import, and their docstrings and the guide name all of them."""

from __future__ import annotations

import subprocess
import sys

from support.paths import DOCS, ROOT

BENCHMARKS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
IMPORTS = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


def test_benchmarks_can_be_imported() -> None:
    """Imports lead to names in hiero and in other benchmarks."""
    words = [sys.executable, "-P", "-c", IMPORTS, ROOT / "benchmarks", *BENCHMARKS]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_docstrings_show_the_command() -> None:
    shared = {"machine", "corpora", "prepared"}
    for name in BENCHMARKS:
        text = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        assert (f"    python benchmarks/{name}.py" in text) == (name not in shared), name


def test_the_guide_names_all_benchmarks() -> None:
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in BENCHMARKS if f"`{name}.py`" not in text] == []


def test_the_guide_links_all_results() -> None:
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    pages = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    assert len(pages) > 10
    assert [page.name for page in pages if f"results/{page.name})" not in text] == []
