"""The page of the server: translation, settings, the link, and teaching."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

import hiero
from support.served_page import (
    LINE,
    LONG,
    click,
    fill,
    follow_link,
    held,
    linked_state,
    opened,
    output,
    reopen,
    settled,
    type_source,
    view,
    wait_for_output,
)


def test_it_translates_as_one_types(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
    texts: list[str] = []

    def note(request: Any) -> None:
        if request.url.endswith("/translate"):
            texts.append(request.post_data_json["text"])

    page.on("request", note)
    type_source(page, f"{LINE}\n{LONG}")
    first, second = (model.translate(line).text for line in (LINE, LONG))
    assert output(page) == f"{first}\n{second}"
    page.focus("#source")
    page.keyboard.press("Control+End")
    with held(page, "**/api/split"):
        page.keyboard.type("x")
        page.wait_for_timeout(100)
        assert output(page) == f"{first}\n{second}"  # until the server has split the text
    page.wait_for_function("document.querySelector('.output').innerText.includes('x')")
    assert texts.count(LINE) == 1 and texts.count(LONG) == 1 and texts.count("x") == 1
    assert re.fullmatch(r"[\d,]+ ms", page.locator("#status").inner_text())


def test_it_needs_no_more_than_the_server_allows(browser: Any, address: str, trained_model: Path) -> None:
    with opened(browser, address) as page:
        page.fill("#source", LINE)
        page.wait_for_selector(
            f".output:has-text('{hiero.Decoder(hiero.Model.load(trained_model)).translate(LINE).text}')"
        )
        for name in ("derivation", "chart", "why not?", "edit and teach", "words"):
            page.click(f"role=tab[name='{name}']")
            page.wait_for_selector("#view *")


def test_weights_and_two_settings(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
    type_source(page, LONG)
    assert page.locator(".weight").count() == len(model.model.feature_names)
    slider, exact = (page.get_by_label(f"weight of LM0{more}", exact=True) for more in ("", ", as a number"))
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.4, 0.3, 0.25, 0.2):  # it is dragged while translations change
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        settled(page)
    page.mouse.up()
    dragged = float(slider.input_value())
    assert dragged < -0.5 * float(slider.get_attribute("max")) and float(
        exact.input_value()
    ) == pytest.approx(dragged, rel=1e-3)
    expected = model.translate(LONG, weights={"LM0": dragged}).text
    wait_for_output(page, expected)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        settled(page)
    assert float(slider.input_value()) < dragged
    assert page.evaluate("document.activeElement.dataset.focus") == "w-LM0"
    page.get_by_label("weight of LM0, as a number").fill("0")
    page.get_by_label("weight of LM0, as a number").blur()
    expected = model.translate(LONG, weights={"LM0": 0.0}).text
    wait_for_output(page, expected)
    page.check("#compare")
    settled(page)
    assert [output(page, 0), output(page, 1)] == [expected, model.translate(LONG).text]
    click(page, "text=settings B")
    page.get_by_label("weight of WordPenalty, as a number").fill("2")
    page.get_by_label("weight of WordPenalty, as a number").blur()
    other = model.translate(LONG, weights={"WordPenalty": 2.0}).text
    wait_for_output(page, other, 1)
    assert output(page, 0) == expected
    page.click("text=as in the model")
    wait_for_output(page, model.translate(LONG).text, 1)


def test_numbers_of_weights_are_not_cut_off(page: Any) -> None:
    type_source(page, LINE)
    field = page.get_by_label("weight of LM0, as a number")
    for width in (1400, 1000, 420):
        page.set_viewport_size({"width": width, "height": 900})
        field.evaluate("field => { field.value = '-0.00007951' }")
        assert field.evaluate("field => field.scrollWidth <= field.clientWidth")
        field.evaluate("field => { field.value = '-0.00007951234567' }")
        assert field.evaluate("field => field.scrollWidth > field.clientWidth")  # which does tell
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_field_of_the_settings_stays_while_somebody_writes_there(page: Any) -> None:
    type_source(page, LINE)
    field = page.get_by_label("weight of WordPenalty, as a number")
    with held(page, "**/api/contexts/*"):
        page.fill("#context", "anna")
        field.fill("2")
        page.evaluate("field = document.activeElement")
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement === field") and field.input_value() == "2"
    assert page.locator("summary:has-text('corrections')").count() == 0
    field.blur()
    page.wait_for_selector("summary:has-text('corrections')")
    assert field.input_value() == "2"


def test_a_button_that_is_pressed_while_answers_come_is_clicked(page: Any) -> None:
    type_source(page, f"{LINE}\n{LONG}")
    with held(page, "**/api/translate"):
        page.fill("#source", f"{LINE}\n{LONG}\n老师")
        page.wait_for_selector(".sentence >> nth=2")
        box = page.locator(".sentence").nth(1).bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
    page.wait_for_timeout(300)
    assert page.locator(".sentence").nth(2).inner_text() == "…"
    page.mouse.up()
    settled(page)
    assert page.locator(".sentence.chosen").inner_text() == page.locator(".sentence").nth(1).inner_text()
    assert page.locator(".sentence").nth(2).inner_text() != "…"


def test_what_a_busy_server_refuses_is_asked_again(page: Any) -> None:
    answers = [
        {"status": 503, "json": {"error": "busy"}, "headers": {"Retry-After": "1"}},
        {"status": 502, "body": "<p>"},
    ]
    times: list[float] = []

    def refuse(route: Any) -> None:
        times.append(time.monotonic())
        route.fulfill(**answers.pop(0)) if answers else route.continue_()

    page.route("**/api/translate", refuse)
    page.fill("#source", LINE)
    page.wait_for_selector("#again:visible")
    assert "status 502" in page.locator("#status").inner_text()
    assert len(times) == 2 and times[1] - times[0] >= 1.0  # after the time that the server named, and no more
    click(page, "#again")
    assert output(page) not in ("✕", "…") and page.locator("#again").is_hidden()
    page.route("**/api/split", lambda route: route.abort())
    page.fill("#source", LONG)
    page.wait_for_selector("#status:has-text('cannot be reached')")
    page.unroute("**/api/split")
    type_source(page, f"{LONG} ")
    assert page.locator("#again").is_hidden() and "ms" in page.locator("#status").inner_text()


def test_an_error_of_the_request_itself_is_kept(page: Any) -> None:
    type_source(page, LINE)
    click(page, "summary:has-text('rules')")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    fill(page, "#rules", "nonsense")
    page.wait_for_selector("#status:has-text('expected')")
    view(page, "edit and teach")
    fill(page, "#source", f"{LINE}\n")
    assert page.locator("#status").inner_text().count("expected") == 1 and page.locator("#again").is_hidden()
    assert len([url for url in addresses if url.endswith("/translate")]) == 2  # with a prefix, and without


def test_a_correction_is_sent_once(page: Any) -> None:
    sent: list[Any] = []
    page.route("**/api/correct", lambda route: (sent.append(route.request.post_data_json), route.abort()))
    type_source(page, LINE)
    fill(page, "#context", "berta")
    view(page, "edit and teach")
    page.evaluate("document.querySelector('#learn').click(), document.querySelector('#learn').click()")
    page.wait_for_selector("#status:has-text('cannot be reached')")
    page.wait_for_selector("#learn:enabled")
    assert [(fields["context"], fields["source"]) for fields in sent] == [("berta", LINE)]


def test_a_page_that_was_opened_while_the_server_was_away(page: Any) -> None:
    page.route("**/api/models", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#status:has-text('cannot be reached')")
    page.fill("#source", LINE)
    page.unroute("**/api/models")
    page.click("#again")
    page.wait_for_selector(".sentence")
    settled(page)
    assert page.locator("#again").is_hidden() and output(page) != ""


def test_a_correction_is_undone_in_the_context_of_its_button(page: Any) -> None:
    type_source(page, LINE)
    view(page, "edit and teach")
    fill(page, "#context", "carl")
    click(page, "#learn")
    page.wait_for_selector("#status:has-text('Learned correction 1')")
    page.fill("#context", "dora")
    page.get_by_label("weight of WordPenalty, as a number").focus()  # so that the settings are not drawn anew
    page.wait_for_selector("#teach-note:has-text('dora')")
    with page.expect_request("**/api/undo") as request:
        page.locator("[aria-label='undo correction 1']").evaluate("button => button.click()")
    assert request.value.post_data_json["context"] == "carl"
    page.wait_for_selector("#status:has-text('forgotten')")


def test_rules_are_added(page: Any) -> None:
    type_source(page, "小狗")
    click(page, "summary:has-text('rules')")
    fill(page, "#rules", "小狗 ||| young dog")
    wait_for_output(page, "young dog")
    fill(page, "#rules", "nonsense")
    page.wait_for_function("/expected/.test(document.querySelector('#status').textContent)")


def test_interactive_translation_and_teaching(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
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
    page.fill("#edit", "the")
    type_source(page, LINE)
    assert page.locator("#edit").input_value() == typed  # each sentence has its own
    type_source(page, "机器人 很 忙 。")
    fill(page, "#context", "anna")
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
    fill(page, "#context", "")
    page.wait_for_function(f"!{has_learned}")
    fill(page, "#context", "anna")
    page.wait_for_function(has_learned)
    page.click("role=button[name='undo correction 1']")
    page.wait_for_selector(".corrections li", state="detached")
    page.wait_for_function(f"!{has_learned}")


def test_characters_are_composed_without_being_disturbed(page: Any) -> None:
    type_source(page, LINE)
    view(page, "edit and teach")
    page.focus("#edit")
    page.evaluate(
        "field = document.activeElement, blurs = 0, field.addEventListener('blur', () => { blurs++ })"
    )
    keyboard = page.context.new_cdp_session(page)
    for text in ("n", "ni", "你"):
        keyboard.send(
            "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        )
        settled(page)
    page.evaluate(
        "key => field.dispatchEvent(new KeyboardEvent('keydown', key))", {"key": "Tab", "isComposing": True}
    )
    assert page.locator("#edit").input_value() == "你"
    keyboard.send("Input.insertText", {"text": "你"})
    settled(page)
    page.keyboard.type(" a")
    settled(page)
    assert page.locator("#edit").input_value() == "你 a"
    assert page.evaluate("document.activeElement === field && blurs === 0")
    reopen(page)
    page.wait_for_selector("#edit")
    assert page.locator("#edit").input_value() == "你 a"


def test_the_link_has_the_state(page: Any, address: str) -> None:
    type_source(page, f"{LINE}\n{LONG}")
    page.locator(".sentence").nth(1).click()
    settled(page)
    page.check("#compare")
    settled(page)
    view(page, "chart")
    page.click("[data-span='0:2']")
    page.wait_for_selector(".items li")
    parts = ("#outputs", "#inspect", "#settings")
    texts = [page.locator(part).inner_text() for part in parts]
    reopen(page)
    page.wait_for_selector(".items li")
    settled(page)
    assert page.locator("#source").input_value() == f"{LINE}\n{LONG}"
    assert [page.locator(part).inner_text() for part in parts] == texts


def test_links_that_are_not_of_the_page_are_refused(page: Any, address: str) -> None:
    fill(page, "#source", LINE)
    state = linked_state(page)
    wrong: list[tuple[str, Any]] = [
        *(("view", value) for value in ("constructor", None, 1)),
        *(("span", value) for value in ([1], [2, 1], [0, 1.5], "01")),
        *(("settings", value) for value in ([], [None, None], [state["settings"][0], {"weights": {}}])),
        *(
            ("settings", [state["settings"][0] | {name: value}] * 2)
            for name, value in [("weights", {"LM0": "1"}), ("rules", [1])]
        ),
        *(("phrases", value) for value in ([], {LINE: [[0, 1]]}, {LINE: [[0, "1", "x"]]})),
        *((name, value) for name in ("prefix", "wanted") for value in ("", [], {LINE: 1})),
        *(("active", 2), ("sentence", -1), ("compare", 1), ("text", None), ("context", "a/b")),
    ]
    for name, value in wrong:
        follow_link(page, state | {"text": "老师", name: value})
        page.wait_for_selector("#status:has-text('cannot be read')")
        assert page.locator("#source").input_value() == LINE, (name, value)
        page.fill("#source", f"{LINE} ")
        page.fill("#source", LINE)
        assert "cannot" not in page.locator("#status").inner_text()
    follow_link(page, state | {"text": "老师"})
    page.wait_for_function("document.querySelector('#source').value === '老师'")
    page.goto("about:blank")
    page.goto(f"{address}/#nonsense")
    page.wait_for_selector("#status:has-text('cannot be read')")


def test_the_link_of_a_long_text_is_written_once(page: Any) -> None:
    page.evaluate("""() => {
        writes = 0;
        const write = history.replaceState.bind(history);
        history.replaceState = (...link) => { writes++; write(...link); };
    }""")
    page.route("**/api/translate", lambda route: route.abort())
    page.evaluate(
        """text => {
        const source = document.querySelector("#source");
        writes = 0;
        for (let k = 0; k < 20; k++) {
            source.value = text + k;
            source.dispatchEvent(new Event("input"));
        }
    }""",
        "äöüß " * 19_000,
    )
    page.wait_for_function("writes > 0")
    page.click("#link")
    assert page.evaluate("writes") == 1 and len(page.url) > 200_000


@pytest.mark.parametrize("text", ["__proto__", "constructor"])
def test_texts_that_are_names_of_the_language_are_texts(page: Any, text: str) -> None:
    type_source(page, text)
    assert output(page) == text
    click(page, "[data-word=s0]")
    page.wait_for_selector(".choice")
    click(page, ".choice >> nth=0")
    page.wait_for_selector("text=undo choices")
    view(page, "why not?")
    page.fill("#wanted", text)
    click(page, "role=button[name='why not?']")
    view(page, "edit and teach")
    assert page.locator("#edit").input_value() == ""
    page.locator("#edit").press_sequentially(text[:4])
    reopen(page)
    page.wait_for_selector("#edit")
    settled(page)
    assert page.locator("#edit").input_value() == text[:4]
    view(page, "why not?")
    assert page.locator("#reason").inner_text() == "This is the translation."
