"""Checks of pages in Debian's Chromium, driven by playwright: visible texts, their contrast, and what is cut
off."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# JavaScript that returns all visible texts, each with its colour, background colour, rectangle in the
# document, and whether it is inside an element that scrolls sideways.
_TEXTS = """() => {
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const clear = colour => ["none", "transparent", "rgba(0, 0, 0, 0)"].includes(colour);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, style, title")) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const inPicture = element instanceof SVGElement, box = element.closest(".word")?.querySelector("rect");
    let ground = inPicture && box && element.matches(":nth-child(2)") ? getComputedStyle(box).fill : "none";
    for (let around = element; around && clear(ground); around = around.parentElement)
      ground = getComputedStyle(around).backgroundColor;
    const style = getComputedStyle(element), scroller = element.closest(".scroll, .graph");
    for (const rect of range.getClientRects()) {
      texts.push({ text: walker.currentNode.data.trim(), colour: inPicture ? style.fill : style.color, ground,
        left: rect.left, right: rect.right, top: rect.top + scrollY, bottom: rect.bottom + scrollY,
        scrolls: !!scroller && scroller.scrollWidth > scroller.clientWidth,
        disabled: element.matches("nav a:not([href])") });
    }
  }
  return texts;
}"""


@contextmanager
def chromium() -> Iterator[Any]:
    """Opens a page in a browser. Skips the test if playwright or Chromium is missing."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="NO BROWSER TESTS: playwright is missing, pip install playwright"
    )
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("NO BROWSER TESTS: chromium is missing, apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program)
        yield browser.new_page(reduced_motion="reduce")
        browser.close()


def open_page(
    page: Any, path: Path, width: int, scheme: str = "light", media: str = "screen", at: str = ""
) -> Any:
    """Opens a file at a section, in a window of the given width and a height of 800 pixels."""
    page.goto("about:blank")  # so that another section of the same file is a new visit
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(media=media, color_scheme=scheme)
    page.mouse.move(0, 0)
    page.goto(f"{path.as_uri()}{at}")
    return page


def visible_texts(page: Any) -> list[dict[str, Any]]:
    """Returns the visible texts of a page, each with the properties that ``_TEXTS`` lists."""
    texts: list[dict[str, Any]] = page.evaluate(_TEXTS)
    assert texts
    return texts


def contrast_ratio(colour: str, background: str) -> float:
    """Computes the contrast of two colours, from 1 to 21 (WCAG 2, relative luminance)."""
    low, high = sorted(_luminance(value) for value in (colour, background))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    values = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour)
    assert values, colour
    parts = np.array([int(value) / 255 for value in values.groups()])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def axe_violations(page: Any) -> list[Any]:
    """Returns what axe finds in a page or a frame: names of rules, each with the elements that break it."""
    found = importlib.util.find_spec("axe_playwright_python")
    assert found is not None and found.origin is not None
    page.evaluate((Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    violations: list[Any] = page.evaluate(
        "axe.run().then(({violations}) => violations.map(one => [one.id, one.nodes.map(n => n.html)]))"
    )
    return violations


def pixels(element: Any) -> np.ndarray:
    """Takes a picture of an element as an array (rows, columns, 3) of red, green and blue."""
    import matplotlib.image  # imported here because it takes a second

    return np.asarray(matplotlib.image.imread(io.BytesIO(element.screenshot())))[:, :, :3]


def scroll_shadows(element: Any) -> tuple[bool, bool]:
    """Returns whether an element has shadows on its left and right edge. Looks at rows of pixels that it adds
    below the contents."""
    element.evaluate("element => { element.style.paddingBottom = '9px' }")
    rows = pixels(element)[-7:-2]
    background = rows[0, rows.shape[1] // 2]
    filled = np.abs(rows - background).max(axis=2) > 0.1
    assert not filled[:, 40:-40].any()
    left, right = filled[:, 1], filled[:, -2]
    assert left.all() == left.any() and right.all() == right.any()
    return bool(left.all()), bool(right.all())


def low_contrast_texts(page: Any) -> list[tuple[str, float]]:
    """Returns texts with a contrast below 4.5 and their contrast, without links that are disabled."""
    ratios = [
        (text["text"], contrast_ratio(text["colour"], text["ground"]))
        for text in visible_texts(page)
        if not text["disabled"]
    ]
    return [(text, ratio) for text, ratio in ratios if ratio < 4.5]


def cut_off_texts(page: Any) -> list[str]:
    """Returns texts that end outside the window and cannot be scrolled to."""
    width = page.evaluate("document.documentElement.clientWidth")
    return [
        text["text"]
        for text in visible_texts(page)
        if not text["scrolls"] and (text["left"] < 0 or text["right"] > width + 0.5)
    ]


def blank_pixels_at_end(page: Any) -> float:
    """Returns the height in pixels of the blank part below the last text or picture, 0 if the page does not
    scroll."""
    boxes = "[...document.querySelectorAll('svg, .panel')].filter(box => box.checkVisibility())"
    ends = page.evaluate(f"{boxes}.map(box => box.getBoundingClientRect().bottom + scrollY)")
    last = max(text["bottom"] for text in visible_texts(page))
    height, window = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    return 0.0 if height <= window else float(height - max(last, *ends, 0.0))
