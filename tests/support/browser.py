"""Pages in Debian's Chromium, driven by playwright: what is in sight, where it ends, and in which colours."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Texts that are rendered, each with its colour, that of what it stands on, its rectangle in the document, and
# whether it is in something that scrolls sideways.
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
    """A browser's page; skips where there is none."""
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


def opened(
    page: Any, path: Path, width: int, scheme: str = "light", media: str = "screen", at: str = ""
) -> Any:
    """The page with a file, in a window of this width and 800 pixels high, at a section."""
    page.goto("about:blank")  # from where a place in the same file is read anew
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(media=media, color_scheme=scheme)
    page.mouse.move(0, 0)
    page.goto(f"{path.as_uri()}{at}")
    return page


def texts(page: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(_TEXTS)
    assert found
    return found


def contrast(one: str, other: str) -> float:
    """Computes the contrast of two colours, from 1 to 21 (WCAG 2, relative luminance)."""
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    values = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour)
    assert values, colour
    parts = np.array([int(value) / 255 for value in values.groups()])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def pixels(element: Any) -> np.ndarray:
    """Takes a picture of an element: rows, columns, red, green and blue."""
    import matplotlib.image  # which takes a second

    return np.asarray(matplotlib.image.imread(io.BytesIO(element.screenshot())))[:, :, :3]


def edges(element: Any) -> tuple[bool, bool]:
    """Whether there are shadows on the left and on the right edge of an element, by rows of pixels that are
    added to it and have nothing else."""
    element.evaluate("element => { element.style.paddingBottom = '9px' }")
    seen = pixels(element)[-7:-2]
    ground = seen[0, seen.shape[1] // 2]
    filled = np.abs(seen - ground).max(axis=2) > 0.1
    assert not filled[:, 40:-40].any()
    left, right = filled[:, 1], filled[:, -2]
    assert left.all() == left.any() and right.all() == right.any()
    return bool(left.all()), bool(right.all())


def unreadable(page: Any) -> list[tuple[str, float]]:
    """Texts with less contrast than 4.5, but for links that lead nowhere."""
    found = [
        (one["text"], contrast(one["colour"], one["ground"])) for one in texts(page) if not one["disabled"]
    ]
    return [(text, ratio) for text, ratio in found if ratio < 4.5]


def cut_off(page: Any) -> list[str]:
    """Texts that end outside the window, and in nothing that scrolls sideways."""
    width = page.evaluate("document.documentElement.clientWidth")
    return [
        one["text"]
        for one in texts(page)
        if not one["scrolls"] and (one["left"] < 0 or one["right"] > width + 0.5)
    ]


def blank_end(page: Any) -> float:
    """Pixels below the last text, or picture, that one can scroll to."""
    boxes = "[...document.querySelectorAll('svg, .panel')].filter(box => box.checkVisibility())"
    ends = page.evaluate(f"{boxes}.map(box => box.getBoundingClientRect().bottom + scrollY)")
    last = max(one["bottom"] for one in texts(page))
    height, window = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    return 0.0 if height <= window else float(height - max(last, *ends, 0.0))
