"""Links of all Markdown files lead to files and headings of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from support.paths import ROOT

# Folders of builds and of environments, which may have Markdown files of others.
OTHERS = {"build", "dist", "node_modules", "site", "venv", "__pycache__"}
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part in OTHERS or part.startswith(".") for part in path.relative_to(ROOT).parts[:-1])
)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(\s*([^)\s]+)\s*\)")


def text(path: Path) -> str:
    """Returns a page without blocks of code and words in code."""
    page = FENCE.sub("", path.read_text(encoding="utf-8"))
    return re.sub(r"^ {4}.*$", "", page, flags=re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Returns the anchors that GitHub gives to the headings of a page."""
    names: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text(path), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = sum(
            other == name or re.fullmatch(rf"{re.escape(name)}-\d+", other) is not None for other in names
        )
        names.add(f"{name}-{count}" if count else name)
    return names


def broken(path: Path) -> list[str]:
    """Returns the links of a page that lead nowhere."""
    page = re.sub(r"`[^`\n]*`", "`code`", text(path))
    bad = []
    for link in LINK.findall(page):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target))):
            bad.append(link)
    return bad


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken(path) == []


def test_most_pages_have_links() -> None:
    links = {path.name: len(LINK.findall(text(path))) for path in PAGES}
    assert len(PAGES) > 25 and sum(links.values()) > 100


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`, three\n## One\n## One\n[a](page.md#one-two-three) [b](#one-1) [c](https://x.org/none)\n"
        "[d](#one-2) [e](other.md) [f](page.md#two)\n```\n[g](none.md)\n# No heading\n```\n[h](#no-heading)\n"
    )
    assert broken(page) == ["#one-2", "other.md", "page.md#two", "#no-heading"]
