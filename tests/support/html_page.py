"""A parser that checks HTML pages of forests: well-formed, without external resources or references to
missing ids."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

VOID = {"meta"}


class Page(HTMLParser):
    """A parsed page: its ids, references to ids, classes, texts by tag, rules and links. Checks that tags
    balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: set[str] = set()
        self.classes: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.rules: list[dict[str, str]] = []
        self.links: list[tuple[str, str, str]] = []  # section, label, target section or ""
        self.data: dict[str, Any] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append((tag, values))
        assert "src" not in values and not any(name.startswith("on") for name in values)
        if "id" in values:
            self.ids.append(values["id"])
        section = "".join(v["id"] for t, v in self.open if t == "section")
        for name in ("data-own", "data-near"):
            self.references.update(f"{section}-{other}" for other in values.get(name, "").split())
        self.classes += values.get("class", "").split()
        if "data-rule" in values:
            self.rules.append(values | {"sides": "", "score": "", "head": ""})
        if tag == "a":
            target = values.get("href", "")
            assert target == "" or target[0] == "#"
            self.references.update([target[1:]] if target else [])
            self.links.append((section, values.get("aria-label", ""), target[1:]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, values = self.open[-1] if self.open else ("", {})
        self.texts.setdefault(tag, []).append(data)
        if values.get("id") == "data":
            self.data = json.loads(data)
        within = {name for _, v in self.open for name in v.get("class", "").split()}
        for name in {"sides", "score", "head"} & within:
            if any("data-rule" in v for _, v in self.open):
                self.rules[-1][name] += data

    def features(self, rule: dict[str, str]) -> dict[str, float]:
        """Reads the features of a rule from the panel."""
        names = self.data["features"]
        return {names[f]: value for f, value in self.data["rules"][int(rule["data-rule"])][1]}


def checked_page(text: str) -> Page:
    """Parses a page and checks it."""
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"http|url\(|@import|//|innerHTML", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe]", text)
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids) and page.references <= set(page.ids)
    assert (page.tags.count("script"), page.tags.count("style")) == (2, 1)
    return page
