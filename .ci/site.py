"""Hooks of mkdocs: add the results, which lie beside the benchmarks that made them, to the site."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of results."""
    for page in sorted(RESULTS.glob("*.md")):
        files.append(File.generated(config, f"results/{page.name}", abs_src_path=str(page)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turns links between guides and results into those of the site, and links to code into their text."""
    if not page.file.src_uri.startswith("results/"):
        return markdown.replace("](../benchmarks/results/", "](results/")

    def link(match: re.Match[str]) -> str:
        text, target = match.groups()
        if target.startswith("../../docs/"):
            return f"[{text}](../{target.removeprefix('../../docs/')})"
        return text if target.startswith("../") else match[0]

    return re.sub(r"\[([^\]]*)\]\(([^)]*)\)", link, markdown)
