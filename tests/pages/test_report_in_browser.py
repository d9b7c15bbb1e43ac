"""The report of a run in a browser: whole at any width and on paper, and all sentences to search and sort."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hiero.cli.report.page import report_page
from support.browser import cut_off_texts, low_contrast_texts, open_page
from support.files import write
from support.html_page import checked_page
from support.reports import SYSTEMS, finished_run, random_set, save_french, write_training

COUNT = 3000
# Elements that have more content than they show.
CLIPPED = """all => all.filter(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).display !== "inline")
  .map(e => e.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a small test set and a large one."""
    folder = tmp_path_factory.mktemp("browser")
    model = save_french(folder)
    write_training(folder, ["the cat does not eat ."] * 12, [30.0, 33.5])
    tests = {"news": random_set(3, 20, model), "talks": random_set(4, COUNT, model)}
    commands = [f"hiero train --source '{'long name/' * 30}a  b' --output {'x' * 200}", "hiero decode model"]
    run = finished_run(
        model,
        tests,
        tuning={"pro": folder / "tuned"},
        seconds={"train": 1234.5},
        peak_megabytes={"train": 12345.6},
        commands=commands,
    )
    return write(folder / "report.html", report_page(run).splitlines())


def rows(report: Path, place: int) -> list[Any]:
    return list(checked_page(report.read_text(encoding="utf-8")).data["sets"][place]["rows"])


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1400),
        ("dark", 420),
        pytest.param("light", 420, marks=pytest.mark.slow),
        pytest.param("dark", 1400, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_cut_off(browser: Any, report: Path, width: int, scheme: str) -> None:
    for at in ("", "#" + rows(report, 0)[0][7]):
        page = open_page(browser, report, width, scheme, at=at)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert cut_off_texts(page) == []
        if scheme == "light" or width == 420:
            assert low_contrast_texts(page) == []
        if not at:
            assert page.eval_on_selector_all(".report *", CLIPPED) == []


@pytest.mark.slow
def test_paper(browser: Any, report: Path) -> None:
    """A print is dark on white and has no controls, and differences are seen without colours."""
    page = open_page(browser, report, 680, "dark", "print")
    assert low_contrast_texts(page) == [] == cut_off_texts(page)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    controls = page.locator("button, input, select, .contents").all()
    assert len(controls) > 8 and not any(control.is_visible() for control in controls)
    for tag, line in (("del", "line-through"), ("ins", "underline")):
        shown = page.locator(tag).first
        assert line in shown.evaluate("e => getComputedStyle(e).textDecorationLine") and shown.is_visible()
    assert page.locator("pre").last.is_visible()


def test_commands_can_be_copied(browser: Any, report: Path) -> None:
    page = open_page(browser, report, 420)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    commands = re.findall("<pre>(.*?)</pre>", report.read_text(encoding="utf-8"))
    buttons = page.locator(".command button")
    assert buttons.count() == len(commands) == 2
    for k, command in enumerate(commands):
        buttons.nth(k).click()
        page.wait_for_function(f"document.querySelectorAll('.command button')[{k}].textContent === 'copied'")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == re.sub("</?span>", "", command).replace("&#x27;", "'")
    # Where pages may not use the clipboard, the browser copies what is selected.
    page = open_page(browser, report, 420)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.execCommand = name => { window.told = name + getSelection(); return true }")
    page.locator(".command button").last.click()
    assert page.evaluate("window.told") == "copyhiero decode model"


def shown(form: Any) -> list[int]:
    """Returns the numbers of the sentences that a form shows."""
    return [int(re.findall(r"Sentence (\d+)", text)[0]) for text in form.locator("h4").all_inner_texts()]


def said(form: Any) -> str:
    return str(form.locator("output").inner_text())


def test_sentences_are_searched_and_sorted(browser: Any, report: Path) -> None:
    all_rows = rows(report, 1)
    page = open_page(browser, report, 1400)
    form = page.locator(".browse").nth(1)
    assert shown(form) == list(range(50))
    assert said(form) == f"3,000 of {COUNT:,} sentences found, 50 shown"
    form.locator(".more").click()
    assert shown(form) == list(range(100)) and said(form).endswith("100 shown")

    # Words are looked for in sources, references and all translations, in any order.
    for words, place in (("  CHAT  voiture ", 2), ("cat not car", 3)):
        form.locator("[type=search]").fill(words)
        wanted = words.lower().split()
        expected = [
            row[0]
            for row in all_rows
            if all(word in f"{row[2]} {' '.join(row[3])} {row[4]}".lower() for word in wanted)
        ]
        assert 50 < len(expected) < COUNT, place
        assert said(form) == f"{len(expected):,} of {COUNT:,} sentences found, 50 shown"
        assert shown(form) == expected[:50]
    form.locator("[type=search]").fill("no such words")
    assert said(form) == f"0 of {COUNT:,} sentences found, 0 shown" and shown(form) == []
    assert not form.locator(".more").is_visible()
    form.locator("[type=search]").fill("")

    longest = max(row[1] for row in all_rows)
    form.locator("[type=number]").fill(str(longest))
    assert shown(form) == [row[0] for row in all_rows if row[1] == longest][:50]
    form.locator("[type=number]").fill("0")

    keys = {
        "worst": lambda row: row[6][1],
        "best": lambda row: -row[6][1],
        "gained": lambda row: row[6][0] - row[6][1],
        "lost": lambda row: row[6][1] - row[6][0],
        "short": lambda row: row[1],
        "long": lambda row: -row[1],
        "number": lambda row: row[0],
    }
    form.locator("[name=system]").select_option("mert")
    for order, key in keys.items():
        form.locator("[name=order]").select_option(order)
        assert shown(form) == [row[0] for row in sorted(all_rows, key=key)][:50], order
    # The other set has a form of its own.
    assert said(page.locator(".browse").first) == "20 of 20 sentences found, 20 shown"


def test_scores_of_a_system_sort(browser: Any, report: Path) -> None:
    """The final system is chosen at first; differences are to the system before tuning."""
    all_rows = rows(report, 1)
    form = open_page(browser, report, 1400).locator(".browse").nth(1)
    assert form.locator("[name=system]").input_value() == str(SYSTEMS.index("pro"))
    form.locator("[name=order]").select_option("gained")
    assert shown(form) == [row[0] for row in sorted(all_rows, key=lambda row: row[6][0] - row[6][2])][:50]


def test_the_script_draws_what_python_draws(browser: Any, report: Path) -> None:
    """A sentence looks the same among the examples as among all sentences."""
    page = open_page(browser, report, 1400)
    inside: dict[str, str] = {}
    outside: dict[str, str] = {}
    read = """() => [...document.querySelectorAll(".example")].map(box => [!!box.closest(".browse"),
      box.innerHTML.replace(/\\n/g, "")])"""
    for is_inside, markup in page.evaluate(read):
        if link := re.search('href="(#[^"]+)"', markup):
            (inside if is_inside else outside)[link[1]] = markup
    both = inside.keys() & outside.keys()
    assert len(both) > 15
    assert [anchor for anchor in sorted(both) if inside[anchor] != outside[anchor]] == []
    assert any("<del>" in inside[anchor] and "<ins>" in inside[anchor] for anchor in both)


def test_the_page_works_alone(browser: Any, report: Path, tmp_path: Path) -> None:
    """The page asks for nothing, also no file beside it, and no script fails."""
    alone = shutil.copyfile(report, tmp_path / "alone.html")
    asked: list[str] = []
    failed: list[str] = []
    browser.on("request", lambda request: asked.append(request.url))
    browser.on("pageerror", lambda error: failed.append(str(error)))
    page = open_page(browser, alone, 1400)
    page.locator("h4 a").first.click()
    assert page.locator("section:not([hidden]) .tree").is_visible()
    assert [url for url in asked if not url.startswith(("about:", alone.as_uri()))] == [] == failed
