"""The page of the server in a browser: opening it, waiting for it, and what it shows."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LINE = "她 的 老师 很 忙 。"
LONG = "那 部 便宜 的 手机 已经 被 陈静 偷走 了 。"


@contextmanager
def opened(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """Opens the page. Errors, and requests to anywhere else, fail the test."""
    problems: list[str] = []

    def check(request: Any) -> None:
        if not request.url.startswith((address, "data:")):
            problems.append(request.url)

    def note(message: Any) -> None:
        # The browser says of each refused request that it was refused, as the page does.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            problems.append(message.text)

    page = browser.context.browser.new_page(
        reduced_motion="reduce", viewport={"width": 1400, "height": 900}, **options
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", note)
    page.on("request", check)
    page.goto(address)
    page.wait_for_selector("#model option >> nth=1", state="attached")
    yield page
    page.close()
    assert problems == []


@contextmanager
def held(page: Any, pattern: str) -> Iterator[None]:
    """Holds requests to an address until the end of the block."""
    routes: list[Any] = []
    page.route(pattern, lambda route: routes.append(route))
    yield
    for route in routes:
        route.continue_()
    page.unroute(pattern)


def settled(page: Any) -> None:
    """Waits until what was done is drawn, and all answers that are shown have come."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function("!/translating/.test(document.querySelector('#status').textContent)")
    page.wait_for_selector("[aria-busy=true]", state="detached")
    page.wait_for_function(
        "![...document.querySelectorAll('.output, #view p')].some(e => e.textContent.includes('…'))"
    )


def type_source(page: Any, text: str) -> None:
    page.fill("#source", text)
    settled(page)


def fill(page: Any, field: str, text: str) -> None:
    """Writes into a field of the settings, or above the text, and leaves it."""
    page.fill(field, text)
    page.locator(field).blur()
    settled(page)


def click(page: Any, selector: str) -> None:
    page.click(selector)
    settled(page)


def view(page: Any, name: str) -> None:
    click(page, f"role=tab[name='{name}']")


def output(page: Any, which: int = 0) -> str:
    return str(page.locator(".output").nth(which).inner_text())


def wait_for_output(page: Any, text: str, which: int = 0) -> None:
    page.wait_for_function(
        "([text, which]) => document.querySelectorAll('.output')[which]?.innerText === text",
        arg=[text, which],
    )


def focused(page: Any) -> str | None:
    """Returns the name of the part of the page that has the focus."""
    name: str | None = page.evaluate("document.activeElement.dataset.focus || document.activeElement.id")
    return name


def linked_state(page: Any) -> dict[str, Any]:
    """Returns the state that is in the link of the page."""
    page.click("#link")
    assert "whole state" in page.locator("#status").inner_text()
    encoded = page.url.partition("#")[2].replace("-", "+").replace("_", "/")
    state: dict[str, Any] = json.loads(base64.b64decode(encoded))
    return state


def follow_link(page: Any, state: dict[str, Any]) -> None:
    """Follows a link with a state from the page that is open."""
    encoded = base64.urlsafe_b64encode(json.dumps(state).encode()).decode()
    page.evaluate("link => { location.hash = link }", encoded)


def reopen(page: Any) -> None:
    """Opens the link of the page in a new visit."""
    linked_state(page)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
