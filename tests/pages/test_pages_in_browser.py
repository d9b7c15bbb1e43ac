"""Tests of pages in a browser: readable in both colour schemes, complete in narrow windows, and printable."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.pages import chart_page, derivations_page, forest_page
from support.browser import (
    blank_pixels_at_end,
    cut_off_texts,
    low_contrast_texts,
    open_page,
    scroll_shadows,
    visible_texts,
)

NARROW, WIDE, PAPER = 420, 1200, 680
PAGES = ("chart", "derivations", "forest", "short")
PAGE = rb"/Type\s*/Page\b"  # in a PDF file
LONG = " ".join(["je ne comprends pas le chat noir"] * 6)


@pytest.fixture(scope="module")
def pages(french: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    decoder = hiero.Decoder(model, pass_through="all")
    long = decoder.translate(LONG, keep="splits")
    assert long.chart is not None
    short = decoder.translate("le chat noir dort", keep="forest")
    outside = long.chart.outside("guided", [["i", "do", "not", "understand", "the", "black", "cat"] * 6])
    assert short.forest is not None
    small = short.forest.prune(short.forest.scores(model.weights), margin=2.0)
    derivations = {n: {"best": result.derivation} for n, result in enumerate((long, short), start=3)}
    written = {
        "chart": chart_page(outside, model.weights, "Sentence 3"),
        "derivations": derivations_page(derivations, model.weights),
        "short": derivations_page({4: derivations[4]}, model.weights),
        "forest": forest_page(small, model.weights),
    }
    paths = {name: folder / f"{name}.html" for name in written}
    for name, text in written.items():
        paths[name].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_texts_can_be_read(browser: Any, pages: dict[str, Path], scheme: str) -> None:
    """All texts, those of the chart included, have enough contrast in both colour schemes."""
    for name in PAGES:
        page = open_page(browser, pages[name], WIDE, scheme)
        assert low_contrast_texts(page) == [], name
        grounds = {one["ground"] for one in visible_texts(page)}
        assert ("rgb(255, 255, 255)" in grounds) == (scheme == "light")


def test_narrow_windows_show_all(browser: Any, pages: dict[str, Path]) -> None:
    """No text is cut off, and the page does not scroll sideways or end with blank space."""
    for name in PAGES:
        page = open_page(browser, pages[name], NARROW)
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW, name
        assert cut_off_texts(page) == [], name
        assert blank_pixels_at_end(page) < 40, name
        # The fixed parts leave room for those that scroll.
        assert page.eval_on_selector(".bar", "bar => bar.offsetHeight") <= 190, name


def test_rows_that_scroll_sideways_have_shadows(browser: Any, pages: dict[str, Path]) -> None:
    """A shadow is only at an edge beyond which there is more."""
    for name, selector, width, scheme in (
        ("chart", ".words", NARROW, "light"),
        ("derivations", ".words", NARROW, "dark"),
        ("forest", ".graph", WIDE, "light"),
    ):
        page = open_page(browser, pages[name], width, scheme)
        row = page.locator(selector).first
        assert scroll_shadows(row) == (False, True), name
        row.evaluate("row => row.scrollBy(60, 0)")
        assert scroll_shadows(row) == (True, True), name
        row.evaluate("row => row.scrollBy(1e6, 0)")
        assert scroll_shadows(row) == (True, False), name
    page = open_page(browser, pages["short"], WIDE)
    assert scroll_shadows(page.locator(".words").first) == (False, False)


def test_a_forest_is_a_list_on_narrow_windows(browser: Any, pages: dict[str, Path]) -> None:
    """Nodes are one below the other, as wide as the window, and edges name their tails."""
    page = open_page(browser, pages["forest"], NARROW)
    boxes = page.eval_on_selector_all(
        ".node",
        "all => all.map(e => e.getBoundingClientRect()).map(b => [b.x, b.y, b.width, b.bottom])",
    )
    assert len(boxes) > 5
    assert all(x == 10 and width == NARROW - 20 for x, _, width, _ in boxes)
    assert all(above[3] < below[1] for above, below in pairwise(boxes))
    shown = [one["text"] for one in visible_texts(page)]
    rows = page.eval_on_selector_all(".edge", "rows => rows.map(row => row.dataset.own)")
    tails = [re.findall(r"\bn(\d+)", row) for row in rows]
    assert [f"over {', '.join(row_tails)}" for row_tails in tails if row_tails] == [
        t for t in shown if t.startswith("over")
    ]
    assert not page.locator(".graph svg").is_visible()
    page = open_page(browser, pages["forest"], WIDE)
    assert page.locator(".graph svg").is_visible()
    assert not any(one["text"].startswith("over") for one in visible_texts(page))


def test_the_panel_of_a_narrow_window(browser: Any, pages: dict[str, Path]) -> None:
    """The panel of the last rule does not hide this rule."""
    page = open_page(browser, pages["derivations"], NARROW)
    last = page.locator("section:not([hidden]) [data-rule]").last
    before = page.evaluate("document.documentElement.scrollHeight")
    last.click()
    panel = page.locator(".panel:visible")
    box, row = panel.bounding_box(), last.bounding_box()
    assert row["y"] + row["height"] <= box["y"] and box["y"] + box["height"] <= 800
    page.mouse.move(1, 1)  # a mouse over a rule would show its panel
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.evaluate("document.documentElement.scrollHeight") == before


def test_paper(browser: Any, pages: dict[str, Path]) -> None:
    """A print is dark on white in both colour schemes, has no controls, and is not wider than a sheet."""
    for name in PAGES:
        page = open_page(browser, pages[name], PAPER, "dark", "print")
        assert low_contrast_texts(page) == [], name
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not any(link.is_visible() for link in page.locator("nav").all())
        assert page.eval_on_selector(".bar", "bar => getComputedStyle(bar).position") == "static"
        sides = page.eval_on_selector_all(
            "svg, .node, .tree li",
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.left, b.right])",
        )
        assert min(left for left, _ in sides) >= 0 and max(right for _, right in sides) <= PAPER
        assert all(0 <= one["left"] <= one["right"] <= PAPER for one in visible_texts(page)), name
        assert page.evaluate("[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= 680)")


def test_sheets(browser: Any, pages: dict[str, Path]) -> None:
    """Parts that fit on a sheet are not split, even while a rule is selected; white chips keep their
    colours."""
    page = open_page(browser, pages["short"], NARROW)
    page.locator("[data-rule]").first.click()
    assert page.locator(".panel").is_visible()
    sheets = page.pdf(format="A4")
    assert len(re.findall(PAGE, sheets)) == 1
    page.emulate_media(media="print")
    assert not page.locator(".panel").is_visible()
    assert page.locator("aside table").last.is_visible()
    page = open_page(browser, pages["derivations"], NARROW, media="print", at="#s4-d1")
    assert len(re.findall(PAGE, page.pdf(format="A4"))) == 1
    chip = page.locator("section:not([hidden]) .chip").first
    assert chip.evaluate("chip => getComputedStyle(chip).printColorAdjust") == "exact"
