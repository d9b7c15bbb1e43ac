"""The documentation site: every page is in its menu, and every public name in the Python API."""

from __future__ import annotations

import re

import hiero
from support.paths import DOCS, ROOT


def test_menu_has_all_pages() -> None:
    menu = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    pages += [f"results/{path.name}" for path in (ROOT / "benchmarks" / "results").glob("*.md")]
    assert sorted(menu) == sorted(pages)


def test_api_has_all_packages() -> None:
    described = {name: (DOCS / "api" / f"{name}.md").read_text() for name in [*hiero._LAZY, "hiero"]}
    for name, text in described.items():
        module = "hiero" if name == "hiero" else f"hiero.{name}"
        assert f"::: {module}\n" in text, name
