"""The page with models of Japanese, German and Urdu: each of its functions, on wide and narrow windows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.adapt.session import read_corrections
from hiero.train import TrainInputs, train
from support.browser import axe_violations, cut_off_texts
from support.files import head, write
from support.paths import SHARED
from support.served import server
from support.served_page import (
    click,
    fill,
    focused,
    opened,
    output,
    settled,
    type_source,
    view,
    wait_for_output,
)

PAIRS = 2000  # sentence pairs that a model learns from
LANGUAGES = ("ja-en", "de-en", "ur-en")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared corpora"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {}
    for name in LANGUAGES:
        folder = folders[name] = tmp_path_factory.mktemp(name)
        sides = [
            write(folder / side, head(SHARED / name / f"train.{side}", PAIRS)) for side in name.split("-")
        ]
        train(TrainInputs(*sides), folder / "model")
    return {name: folder / "model" for name, folder in folders.items()}


@pytest.fixture(scope="module")
def address(models: dict[str, Path]) -> Iterator[str]:
    first, *others = models.items()
    with server(first[1], *(f"{name}={path}" for name, path in others), name=first[0]) as (address, _):
        yield address


def sentence_of(name: str, decoder: hiero.Decoder) -> tuple[str, hiero.Translation, str]:
    """Returns a test sentence whose words are all known, its translation, and the second best one."""
    source = name.split("-")[0]
    path = SHARED / name / ("test2016.de" if source == "de" else f"test.{source}")
    for line in path.read_text(encoding="utf-8").splitlines():
        if 5 <= len(line.split()) <= 12:
            best = decoder.translate(line, keep="forest").kbest(2, unique=True)
            result = decoder.translate(line, keep="chart")
            if not result.unknown and len(result.tokens) > 3 and len(best) > 1:
                return line, result, best[1].text
    raise AssertionError(f"{path}: no such sentence")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
@pytest.mark.parametrize("name", LANGUAGES)
def test_all_functions(
    browser: Any, address: str, models: dict[str, Path], name: str, width: int, scheme: str, tmp_path: Path
) -> None:
    decoder = hiero.Decoder(hiero.Model.load(models[name]))
    line, result, second = sentence_of(name, decoder)
    with opened(browser, address, bypass_csp=True) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)

        def check(what: str) -> None:
            violations = axe_violations(page)
            assert violations == [], (what, json.dumps(violations, indent=1))
            assert page.evaluate("document.documentElement.scrollWidth") == width, what
            assert cut_off_texts(page) == [], what
            page.screenshot(path=tmp_path / f"{what}.png", full_page=True)

        page.select_option("#model", name)
        type_source(page, line)
        assert output(page) == result.text
        rows = page.locator(".row")
        assert rows.nth(0).get_attribute("dir") == ("rtl" if name == "ur-en" else "ltr")
        assert rows.nth(0).inner_text().split() == result.source

        # Words that belong together, and another translation of one.
        position = result.alignment[0][0]
        page.hover(f"[data-word=s{position}]")
        linked = page.locator(".linked").evaluate_all("all => all.map(word => word.dataset.word)")
        assert set(linked) == {f"s{position}", *(f"t{t}" for s, t in result.alignment if s == position)}
        click(page, f"[data-word=s{position}]")
        page.wait_for_selector(".choice")
        choice = page.locator(".choice").last
        chosen = choice.inner_text()
        choice.click()
        settled(page)
        assert chosen in output(page)
        check("words")
        click(page, "text=undo choices")
        assert output(page) == result.text

        # The derivation folds, and a rule of it is hidden.
        view(page, "derivation")
        items = page.locator("[role=treeitem]")
        items.first.focus()
        page.keyboard.press("ArrowLeft")
        assert page.locator("[role=treeitem]:visible").count() == 1
        page.keyboard.press("ArrowRight")
        items.last.locator(".line").click()
        check("derivation")
        click(page, "text=hide this rule")
        hidden = hiero.Rule(page.locator("#hidden").input_value())
        assert output(page) == decoder.translate(hiero.Sentence(line, hidden=[hidden])).text
        fill(page, "#hidden", "")

        # The chart opens.
        view(page, "chart")
        click(page, "[data-span='0:2']")
        best = result.chart.derivation(int(result.chart.nodes(0, 2)[0]))
        assert page.locator(".items .text").first.inner_text().split() == best.tokens
        page.locator(".items button").first.click()
        assert page.locator(".features tr.sum").count() == 1
        check("chart")

        # Why not: another translation, and words that there are not.
        view(page, "why not?")
        for wanted, reason in (
            (second, "scored lower"),
            ("qqq zzz", "No rules"),
        ):
            page.fill("#wanted", wanted)
            click(page, "role=button[name='why not?']")
            assert reason in page.locator("#reason").inner_text()
            check(f"why not, {reason}")

        # Weights, and two settings.
        weights = {"LM0": 0.0}
        fill(page, "role=spinbutton[name='weight of LM0, as a number']", "0")
        page.check("#compare")
        settled(page)
        assert [output(page, 0), output(page, 1)] == [
            decoder.translate(line, weights=weights).text,
            result.text,
        ]
        check("two settings")
        page.uncheck("#compare")
        click(page, "text=as in the model")

        # A rule is added.
        if not page.locator("#rules").is_visible():
            page.click("summary:has-text('rules')")
        word = result.source[position]
        fill(page, "#rules", f"{word} ||| zzz ||| PhraseEF=9")
        rule = hiero.Rule(f"[X] ||| {word} ||| zzz ||| PhraseEF=9")
        assert output(page) == decoder.translate(hiero.Sentence(line, rules=[rule])).text
        fill(page, "#rules", "")

        # The link has it all.
        click(page, "#link")
        link = page.url
        page.goto("about:blank")
        page.goto(link)
        wait_for_output(page, result.text)
        settled(page)

        # Interactive translation, and learning.
        context = f"{name}-{width}"
        fill(page, "#context", context)
        view(page, "edit and teach")
        page.focus("#edit")
        page.keyboard.press("Tab")
        settled(page)
        assert page.locator("#edit").input_value() == f"{result.text.split()[0]} "
        page.keyboard.type("zzz ")
        settled(page)
        assert focused(page) == "edit"
        corrected = f"{result.text.split()[0]} zzz"
        page.fill("#edit", corrected)
        page.wait_for_selector("#learn:enabled")
        check("edit and teach")
        page.click("#learn")
        page.wait_for_selector("#status:has-text('Learned correction 1')")
        settled(page)
        (correction,) = read_corrections(models[name], context)
        assert correction.source == line and correction.target.startswith(corrected)
        assert page.locator(".corrections li").count() == 1
        check("corrections")
        click(page, "role=button[name='undo correction 1']")
        wait_for_output(page, result.text)
        assert read_corrections(models[name], context) == []
