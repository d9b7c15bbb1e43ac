"""The page of the server in a browser: each of its functions, by pointer and keyboard, at any width, light
and dark, for scripts that run either way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hiero
from support.browser import axe_violations, cut_off_texts
from support.served import server

LINE = "她 的 老师 很 忙 。"
LONG = "那 部 便宜 的 手机 已经 被 陈静 偷走 了 。"


@pytest.fixture(scope="module")
def address(trained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the model, by two names: as it is, and as one of a language that is written
    from right to left."""
    model = tmp_path_factory.mktemp("page") / "model"
    hiero.Model.load(trained_model).save(model)
    other = model.with_name("other")
    hiero.Model.load(trained_model).save(other)
    with server(model, f"ur-en={other}") as (address, _):
        yield address


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page at its first visit, which may run functions of tests."""
    with opened(browser, address, bypass_csp=True) as page:
        yield page


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


def type_source(page: Any, text: str) -> None:
    page.fill("#source", text)
    settled(page)


def settled(page: Any) -> None:
    """Waits until what was done is drawn, and every sentence is translated."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function("!/translating/.test(document.querySelector('#status').textContent)")
    page.wait_for_function(
        "![...document.querySelectorAll('.output, #view p')].some(e => e.textContent.includes('…'))"
    )


def output(page: Any, which: int = 0) -> str:
    return str(page.locator(".output").nth(which).inner_text())


def view(page: Any, name: str) -> None:
    page.click(f"role=tab[name='{name}']")
    settled(page)


def decoder(trained_model: Path) -> hiero.Decoder:
    return hiero.Decoder(hiero.Model.load(trained_model))


def test_it_translates_as_one_types(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    asked: list[str] = []
    page.on(
        "request",
        lambda one: asked.append(one.post_data_json["text"]) if one.url.endswith("/translate") else None,
    )
    type_source(page, f"{LINE}\n{LONG}")
    first, second = (model.translate(line).text for line in (LINE, LONG))
    assert output(page) == f"{first}\n{second}"
    page.focus("#source")
    page.keyboard.press("Control+End")
    page.keyboard.type("x")
    page.wait_for_function("document.querySelector('.output').innerText.includes('x')")
    assert asked.count(LINE) == 1 and asked.count(LONG) == 1 and asked.count("x") == 1
    assert re.fullmatch(r"[\d,]+ ms", page.locator("#status").inner_text())


def test_it_needs_no_more_than_the_server_allows(browser: Any, address: str, trained_model: Path) -> None:
    with opened(browser, address) as page:
        page.fill("#source", LINE)
        page.wait_for_selector(f".output:has-text('{decoder(trained_model).translate(LINE).text}')")
        for name in ("derivation", "chart", "why not?", "edit and teach", "words"):
            page.click(f"role=tab[name='{name}']")
            page.wait_for_selector("#view *")


def test_words_that_belong_together(page: Any, trained_model: Path) -> None:
    result = decoder(trained_model).translate(LINE, keep="forest")
    type_source(page, LINE)
    for source in range(len(result.source)):
        page.hover(f"[data-word=s{source}]")
        linked = page.locator(".linked").evaluate_all("all => all.map(e => e.dataset.word)")
        assert set(linked) == {f"s{source}"} | {f"t{t}" for s, t in result.alignment if s == source}
    target = result.alignment[0][1]
    page.focus(f"[data-word=t{target}]")
    linked = page.locator(".linked").evaluate_all("all => all.map(e => e.dataset.word)")
    assert set(linked) == {f"t{target}"} | {f"s{s}" for s, t in result.alignment if t == target}
    sure = page.locator("[data-word^=t]").evaluate_all(
        "all => all.map(e => e.style.getPropertyValue('--sure'))"
    )
    assert [float(one) for one in sure] == pytest.approx(result.confidence(), abs=0.006)


def test_alternatives_of_a_phrase(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    type_source(page, LINE)
    before = output(page)
    chart = model.translate(LINE, keep="chart").chart

    def options(place: int) -> list[str]:
        found = [chart.derivation(int(node)).tokens for node in chart.nodes(place, place + 1)]
        return list(dict.fromkeys(filter(None, map(" ".join, found))))[:12]

    place = next(k for k in range(6) if any(option not in before.split() for option in options(k)))
    page.click(f"[data-word=s{place}]")
    page.wait_for_selector(".choice")
    choices = page.locator(".choice").all_inner_texts()
    assert choices == options(place)
    other = next(choice for choice in choices if choice not in before.split())
    page.locator(".choice", has_text=re.compile(f"^{re.escape(other)}$")).click()
    page.wait_for_function("other => document.querySelector('.output').innerText.includes(other)", arg=other)
    page.click("text=one word more after")
    words = " ".join(LINE.split()[place : place + 2])
    page.wait_for_selector(f"h3:has-text('{words}')")
    page.click("text=undo choices")
    page.wait_for_function("text => document.querySelector('.output').innerText === text", arg=before)


def test_the_chart_opens(page: Any, trained_model: Path) -> None:
    chart = decoder(trained_model).translate(LINE, keep="chart").chart
    type_source(page, LINE)
    view(page, "chart")
    page.wait_for_selector("[data-span]")
    assert page.locator("[data-span]").count() == len(chart.spans)
    page.click("[data-span='0:3']")
    page.wait_for_selector(".items li")
    best = " ".join(chart.derivation(int(chart.nodes(0, 3)[0])).tokens)
    assert page.locator(".items .text").first.inner_text() == best
    page.locator(".items button").first.click()
    assert page.locator(".features caption").inner_text() == "the rule"
    assert page.locator(".features tr.sum").count() == 1
    page.locator("[data-span='0:3']").focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.span") == "0:4"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.span") == "1:5"
    page.keyboard.press("Enter")
    page.wait_for_selector("h3:has-text('1:5')")


def test_the_derivation_folds_and_its_rules_can_be_hidden_and_edited(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    type_source(page, "老师")
    view(page, "derivation")
    items = page.locator("[role=treeitem]")
    items.first.focus()
    shown = page.locator("[role=treeitem]:visible").count()
    page.keyboard.press("ArrowLeft")
    assert page.locator("[role=treeitem]:visible").count() == 1 < shown
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=treeitem]:visible").count() == shown
    page.keyboard.press("End")
    assert page.locator("[role=treeitem][aria-selected=true]").count() == 1
    text = output(page)
    page.click("text=hide this rule")
    page.wait_for_selector("#hidden:visible")
    hidden = page.locator("#hidden").input_value()
    assert hidden.startswith("[X] ||| 老师 ||| ")
    expected = model.translate(hiero.Sentence("老师", hidden=[hiero.Rule(hidden)])).text
    assert expected != text
    page.wait_for_function("text => document.querySelector('.output').innerText === text", arg=expected)
    page.fill("#hidden", "")
    page.locator("#hidden").blur()
    page.wait_for_function("text => document.querySelector('.output').innerText === text", arg=text)
    view(page, "derivation")
    page.locator("[role=treeitem]").last.locator(".line").click()
    page.click("text=edit this rule")
    page.wait_for_selector("#rules:focus")
    line = page.locator("#rules").input_value()
    assert line.startswith(f"{hidden} ||| ") and "RuleCount=" in line
    page.fill("#rules", line.replace(hidden, "[X] ||| 老师 ||| hound"))
    page.locator("#rules").blur()
    page.wait_for_function("document.querySelector('.output').innerText === 'hound'")


def test_rules_are_added(page: Any) -> None:
    type_source(page, "小狗")
    page.click("summary:has-text('rules')")
    settled(page)
    page.fill("#rules", "小狗 ||| young dog")
    page.locator("#rules").blur()
    page.wait_for_function("document.querySelector('.output').innerText === 'young dog'")
    page.fill("#rules", "nonsense")
    page.locator("#rules").blur()
    page.wait_for_function("/expected/.test(document.querySelector('#status').textContent)")


def test_why_not(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    result = model.translate(LINE, keep="forest")
    type_source(page, LINE)
    view(page, "why not?")
    for wanted, said in (
        (result.text, "This is the translation"),
        (result.kbest(3, unique=True)[2].text, "scored lower"),
        ("her teacher is very qqq .", "No rules"),
    ):
        page.fill("#wanted", wanted)
        page.click("role=button[name='why not?']")
        page.wait_for_selector(f".reason:has-text('{said}')")
    assert "qqq" in page.locator(".reason").inner_text()
    page.fill("#wanted", result.kbest(3, unique=True)[2].text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".bars tr")
    assert page.locator(".bars .against").count() > 0


def test_weights_and_two_settings(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    type_source(page, LONG)
    assert page.locator(".weight").count() == len(model.model.feature_names)
    slider, exact = (page.get_by_label(f"weight of LM0{more}", exact=True) for more in ("", ", as a number"))
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.4, 0.3, 0.2, 0.1):  # it is dragged while translations change
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        settled(page)
    page.mouse.up()
    dragged = float(slider.input_value())
    assert dragged < -0.5 * float(slider.get_attribute("max")) and float(
        exact.input_value()
    ) == pytest.approx(dragged, rel=1e-3)
    expected = model.translate(LONG, weights={"LM0": dragged}).text
    page.wait_for_function("text => document.querySelector('.output').innerText === text", arg=expected)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        settled(page)
    assert float(slider.input_value()) < dragged
    assert page.evaluate("document.activeElement.dataset.focus") == "w-LM0"
    page.get_by_label("weight of LM0, as a number").fill("0")
    page.get_by_label("weight of LM0, as a number").blur()
    expected = model.translate(LONG, weights={"LM0": 0.0}).text
    page.wait_for_function("text => document.querySelector('.output').innerText === text", arg=expected)
    page.check("#compare")
    settled(page)
    assert [output(page, 0), output(page, 1)] == [expected, model.translate(LONG).text]
    page.click("text=settings B")
    settled(page)
    page.get_by_label("weight of WordPenalty, as a number").fill("2")
    page.get_by_label("weight of WordPenalty, as a number").blur()
    other = model.translate(LONG, weights={"WordPenalty": 2.0}).text
    page.wait_for_function("text => document.querySelectorAll('.output')[1].innerText === text", arg=other)
    assert output(page, 0) == expected
    page.click("text=as in the model")
    page.wait_for_function(
        "text => document.querySelectorAll('.output')[1].innerText === text", arg=model.translate(LONG).text
    )


def test_the_link_has_the_state(page: Any, address: str) -> None:
    type_source(page, f"{LINE}\n{LONG}")
    page.locator(".sentence").nth(1).click()
    settled(page)
    page.check("#compare")
    settled(page)
    view(page, "chart")
    page.click("[data-span='0:2']")
    page.wait_for_selector(".items li")
    page.click("#link")
    assert "whole state" in page.locator("#status").inner_text()
    parts = ("#outputs", "#inspect", "#settings")
    link, texts = page.url, [page.locator(part).inner_text() for part in parts]
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(".items li")
    settled(page)
    assert page.locator("#source").input_value() == f"{LINE}\n{LONG}"
    assert [page.locator(part).inner_text() for part in parts] == texts
    page.goto("about:blank")
    page.goto(f"{address}/#nonsense")
    page.wait_for_selector("#status:has-text('cannot be read')")


def test_interactive_translation_and_teaching(page: Any, trained_model: Path) -> None:
    model = decoder(trained_model)
    type_source(page, LINE)
    view(page, "edit and teach")
    whole = model.translate(LINE).text
    page.wait_for_function("text => document.querySelector('#rest').textContent === text", arg=whole)
    page.focus("#edit")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    first, second, *_ = whole.split()
    assert page.locator("#edit").input_value() == f"{first} {second} "
    page.keyboard.type("al")
    typed = f"{first} {second} al"
    expected = model.translate(LINE, prefix=typed).text
    page.wait_for_function(
        "text => ['#edit', '#rest'].map(e => document.querySelector(e)).map(e => e.value).join('') === text",
        arg=expected,
    )
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "accept"
    assert page.is_disabled("#learn")
    type_source(page, "机器人 很 忙 。")
    page.fill("#context", "anna")
    page.locator("#context").blur()
    settled(page)
    page.wait_for_selector("#edit[data-text='机器人 很 忙 。']")
    page.wait_for_selector("#teach-note:has-text('anna')")
    page.fill("#edit", "the robot is very busy .")
    page.wait_for_selector("#learn:enabled")
    page.click("#learn")
    page.wait_for_selector("#status:has-text('Learned correction 1')")
    page.wait_for_selector(".corrections li:has-text('the robot is very busy .')")
    type_source(page, "他 的 机器人")
    has_learned = "document.querySelector('.output').innerText.includes('robot')"
    page.wait_for_function(has_learned)
    page.fill("#context", "")
    page.locator("#context").blur()
    page.wait_for_function(f"!{has_learned}")
    page.fill("#context", "anna")
    page.locator("#context").blur()
    page.wait_for_function(has_learned)
    page.click("role=button[name='undo correction 1']")
    page.wait_for_selector(".corrections li", state="detached")
    page.wait_for_function(f"!{has_learned}")


def test_scripts_from_right_to_left(page: Any) -> None:
    page.select_option("#model", "ur-en")
    type_source(page, LINE)
    assert page.locator(".row").nth(0).get_attribute("dir") == "rtl"
    assert page.locator(".row").nth(1).get_attribute("dir") == "ltr"
    assert page.locator(".output").get_attribute("dir") == "ltr"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
def test_everyone_can_use_it(page: Any, width: int, scheme: str) -> None:
    """axe finds no violation in any view, nothing is cut off, and no text has too little contrast."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.fill("#context", "axe")
    page.locator("#context").blur()
    settled(page)
    type_source(page, f"{LINE}\n{LONG} 机器人")
    for name in ("words", "derivation", "chart", "why not?", "edit and teach"):
        view(page, name)
        if name == "words":
            page.click("[data-word=s2]")
            page.wait_for_selector(".choice")
        if name == "derivation":
            page.locator("[role=treeitem]").last.locator(".line").click()
        if name == "chart":
            page.click("[data-span='0:2']")
            page.wait_for_selector(".items li")
        if name == "why not?":
            page.fill("#wanted", "her teacher is busy .")
            page.click("role=button[name='why not?']")
            page.wait_for_selector(".reason")
        violations = axe_violations(page)
        assert violations == [], (name, json.dumps(violations, indent=1))
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert cut_off_texts(page) == []
