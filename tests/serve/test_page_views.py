"""The page of the server: views of the selected sentence, by pointer and keyboard, at any width, light and
dark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hiero
from support.browser import axe_violations, cut_off_texts
from support.served_page import (
    LINE,
    LONG,
    click,
    fill,
    focused,
    follow_link,
    held,
    linked_state,
    output,
    reopen,
    settled,
    type_source,
    view,
    wait_for_output,
)


def test_words_that_belong_together(page: Any, trained_model: Path) -> None:
    result = hiero.Decoder(hiero.Model.load(trained_model)).translate(LINE, keep="forest")
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
    assert list(map(float, sure)) == pytest.approx(result.confidence(), abs=0.006)


def test_an_answer_changes_its_own_sentence_only(page: Any) -> None:
    type_source(page, f"{LINE}\n{LONG}")
    page.evaluate("nodes = [...document.querySelectorAll('.sentence')].map(sentence => sentence.firstChild)")
    before = output(page).split("\n")
    type_source(page, f"{LINE}\n老师")
    after = output(page).split("\n")
    assert after[0] == before[0] and after[1] != before[1]
    kept = "nodes.map((node, k) => node === document.querySelectorAll('.sentence')[k].firstChild)"
    assert page.evaluate(kept) == [True, False]


def test_words_that_differ_between_two_settings_are_marked(page: Any) -> None:
    type_source(page, f"老师\n{LONG}")
    page.check("#compare")
    fill(page, "role=spinbutton[name='weight of LM0, as a number']", "0")
    first, second = (output(page, which).split("\n")[1].split() for which in (0, 1))
    assert first != second
    for which, (words, others) in enumerate([(first, second), (second, first)]):
        marked = page.locator(".output").nth(which).locator(".sentence").nth(1).locator("[data-differs]")
        assert marked.all_inner_texts() == [word for word in words if word not in others]


def test_alternatives_of_a_phrase(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
    type_source(page, LINE)
    before = output(page)
    chart = model.translate(LINE, keep="chart").chart

    def options(place: int) -> list[str]:
        texts = [" ".join(chart.derivation(int(node)).tokens) for node in chart.nodes(place, place + 1)]
        return list(dict.fromkeys(filter(None, texts)))[:12]

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


def test_weights_of_a_context_are_left_out_where_it_is_not_there(page: Any) -> None:
    type_source(page, LINE)
    before = output(page)
    fill(page, "#context", "emma")
    view(page, "edit and teach")
    page.fill("#edit", "her teacher is very zzz .")
    page.wait_for_selector("#learn:enabled")
    click(page, "#learn")
    field = "role=spinbutton[name='weight of Corrected, as a number']"
    fill(page, field, "3")
    assert "ms" in page.locator("#status").inner_text()
    fill(page, "#context", "")
    page.wait_for_selector(field, state="detached")
    wait_for_output(page, before)
    assert "ms" in page.locator("#status").inner_text()
    fill(page, "#context", "emma")
    page.wait_for_selector(field)
    assert page.locator(field).input_value() == "3"


def test_choices_that_do_not_fit_can_be_undone(page: Any) -> None:
    type_source(page, LINE)
    before = output(page)
    follow_link(page, linked_state(page) | {"phrases": {LINE: [[40, 41, "dog"]]}})
    page.wait_for_selector("#view:has-text('a mark at 41')")
    for name in ("derivation", "chart", "words"):
        view(page, name)
        assert output(page) == "✕" and page.locator("text=undo choices").is_visible()
    click(page, "text=undo choices")
    assert output(page) == before


def test_the_chart_opens(page: Any, trained_model: Path) -> None:
    chart = hiero.Decoder(hiero.Model.load(trained_model)).translate(LINE, keep="chart").chart
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
    assert focused(page) == "cell 1:5"
    assert "1:5" not in page.locator("#announcement").inner_text() != ""


def test_what_is_folded_and_selected_stays(page: Any) -> None:
    """Answers for another sentence do not draw the view again."""
    type_source(page, LINE)
    view(page, "derivation")
    page.locator("[role=treeitem] .fold").nth(1).click()
    selected = page.locator("#view [aria-selected=true] > .line").inner_text()
    details = page.locator("aside").inner_text()
    shown = page.locator("[role=treeitem]:visible").count()
    type_source(page, f"{LINE}\n{LONG}")
    assert page.locator("[role=treeitem]:visible").count() == shown
    assert page.locator("#view [aria-selected=true] > .line").inner_text() == selected
    assert page.locator("aside").inner_text() == details != ""
    page.locator("[role=treeitem]").nth(1).locator("> .line").click()
    page.get_by_label("weight of LM0, as a number").evaluate(
        "e => { e.value = 0.001; e.dispatchEvent(new Event('change')) }"
    )
    settled(page)
    assert focused(page) == "rule 0.0"


def test_the_derivation_folds_and_its_rules_can_be_hidden_and_edited(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
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
    wait_for_output(page, expected)
    fill(page, "#hidden", "")
    wait_for_output(page, text)
    page.locator("[role=treeitem]").last.locator(".line").click()
    page.click("text=edit this rule")
    page.wait_for_selector("#rules:focus")
    line = page.locator("#rules").input_value()
    assert line.startswith(f"{hidden} ||| ") and "RuleCount=" in line
    assert set(re.findall(r"(\S+)=", line)) <= set(model.model.feature_names) - {"LM0", "WordPenalty"}
    fill(page, "#rules", line.replace(hidden, "[X] ||| 老师 ||| hound"))
    wait_for_output(page, "hound")


def test_rules_of_long_sentences_have_room_on_narrow_windows(page: Any) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    type_source(page, " ".join([LINE] * 30))
    view(page, "derivation")
    levels = page.locator("[aria-level]").evaluate_all("all => all.map(item => item.ariaLevel)")
    assert max(map(int, levels)) > 20
    widths = page.locator(".line .sides").evaluate_all("all => all.map(side => side.offsetWidth)")
    assert min(widths) > 120
    assert page.evaluate("document.documentElement.scrollWidth") == 420 and cut_off_texts(page) == []


def test_hiding_a_rule_leaves_those_that_begin_like_it(page: Any) -> None:
    type_source(page, "小狗")
    click(page, "summary:has-text('rules')")
    longer = ["[X] ||| 小狗 ||| zzz zzz", "[X] ||| 小狗 |||  zzz  ||| RuleCount=1"]
    fill(page, "#rules", "\n".join(longer))
    click(page, "role=tab[name='derivation']")
    page.locator("[role=treeitem]", has_text="zzz").last.locator("> .line").click()
    page.click("text=hide this rule")
    settled(page)
    hidden, rules = (page.locator(field).input_value().split("\n") for field in ("#hidden", "#rules"))
    assert hidden in (["[X] ||| 小狗 ||| zzz"], ["[X] ||| 小狗 ||| zzz zzz"])
    assert rules == [longer[hidden == ["[X] ||| 小狗 ||| zzz zzz"]]]


def test_why_not(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
    result = model.translate(LINE, keep="forest")
    type_source(page, LINE)
    view(page, "why not?")
    for wanted, reason in (
        (result.text, "This is the translation"),
        (result.kbest(3, unique=True)[2].text, "scored lower"),
        ("her teacher is very qqq .", "No rules"),
    ):
        page.fill("#wanted", wanted)
        page.click("role=button[name='why not?']")
        page.wait_for_selector(f"#reason:has-text('{reason}')")
    assert "qqq" in page.locator("#reason").inner_text()
    page.fill("#wanted", result.kbest(3, unique=True)[2].text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".bars tr")
    assert page.locator(".bars .against").count() > 0
    assert "scored lower" in page.locator("#announcement").inner_text()


def test_each_sentence_has_its_own_wanted_translation(page: Any, trained_model: Path) -> None:
    model = hiero.Decoder(hiero.Model.load(trained_model))
    type_source(page, f"{LINE}\n{LONG}")
    view(page, "why not?")
    page.fill("#wanted", "her teacher is busy .")
    click(page, "role=button[name='why not?']")
    reason = page.locator("#reason").inner_text()
    page.fill("#wanted", "her teach")
    click(page, ".sentence >> nth=1")
    assert page.locator("#wanted").input_value() == model.translate(LONG).text
    assert page.locator("#reason").inner_text() == ""
    click(page, ".sentence >> nth=0")
    assert page.locator("#wanted").input_value() == "her teacher is busy ."
    assert page.locator("#reason").inner_text() == reason
    reopen(page)
    page.wait_for_selector("#reason *")
    assert page.locator("#wanted").input_value() == "her teacher is busy ."


def test_scripts_from_right_to_left(page: Any) -> None:
    page.select_option("#model", "ur-en")
    type_source(page, LINE)
    assert page.locator(".row").nth(0).get_attribute("dir") == "rtl"
    assert page.locator(".row").nth(1).get_attribute("dir") == "ltr"
    assert page.locator(".output").get_attribute("dir") == "ltr"


def test_names_of_contexts_have_letters_of_any_script(page: Any) -> None:
    for typed, name in (("Jürgen", "Jürgen"), ("日本 2", "日本2"), ("क/a.b-c_d", "कa.b-c_d")):
        fill(page, "#context", typed)
        assert page.locator("#context").input_value() == name
        assert page.locator("#context:invalid").count() == 0
        follow_link(page, linked_state(page) | {"view": "chart"})
        settled(page)
        assert "cannot" not in page.locator("#status").inner_text()


def test_another_model_has_no_part_of_what_was_done_with_one(page: Any) -> None:
    type_source(page, LINE)
    view(page, "why not?")
    page.fill("#wanted", "a dog")
    click(page, "role=button[name='why not?']")
    view(page, "edit and teach")
    page.fill("#edit", "her")
    page.check("#compare")
    click(page, "text=settings B")
    page.select_option("#model", "ur-en")
    settled(page)
    assert page.locator("#edit").input_value() == ""
    assert page.locator("text=settings A").get_attribute("aria-pressed") == "true"
    view(page, "why not?")
    assert page.locator("#wanted").input_value() == output(page)
    assert page.locator("#reason").inner_text() == ""


def test_a_word_without_links_is_said_to_have_none(page: Any) -> None:
    def unlink(route: Any) -> None:
        answer = route.fetch().json()
        answer["sentences"][0]["alignment"] = []
        route.fulfill(json=answer)

    page.route("**/api/translate", unlink)
    type_source(page, LINE)
    click(page, "[data-word=s0]")
    page.wait_for_selector(".choice")
    click(page, "[data-word=t0]")
    word = page.locator("[data-word=t0]").inner_text()
    assert page.locator("#view .hint").inner_text() == f"“{word}” is linked with no word of the source."
    assert "is linked with no word" in page.locator("#announcement").inner_text()
    assert page.locator(".choice").count() == 0
    click(page, "[data-word=s1]")
    page.wait_for_selector(".choice")


def test_blanks_that_are_typed_do_not_matter(page: Any, trained_model: Path) -> None:
    whole = hiero.Decoder(hiero.Model.load(trained_model)).translate(LINE).text
    first, second, rest = whole.split(" ", 2)
    type_source(page, LINE)
    view(page, "edit and teach")
    for typed, shown in (
        (f"{first}  {second}", f" {rest}"),
        (f" {first} {second} ", rest),
        (f"{first} {second}\n", rest),
        (f"{whole}\n", ""),
    ):
        page.fill("#edit", typed)
        settled(page)
        assert page.locator("#rest").inner_text() == shown.strip()
        assert page.locator("#edit-note").inner_text() == ""
    page.fill("#edit", f"{first}  ")
    settled(page)
    page.focus("#edit")
    page.keyboard.press("Tab")
    assert page.locator("#edit").input_value() == f"{first}  {second} "


def test_a_button_that_the_space_bar_presses_while_answers_come_is_clicked(page: Any) -> None:
    type_source(page, LINE)
    view(page, "chart")
    click(page, "[data-span='0:2']")
    view(page, "words")
    button = page.locator("text=one word more after")
    with held(page, "**/api/*"):
        page.get_by_label("weight of LM0, as a number").evaluate(
            "e => { e.value = 0.001; e.dispatchEvent(new Event('change')) }"
        )
        button.focus()
        page.keyboard.down(" ")
    page.wait_for_timeout(500)
    page.keyboard.up(" ")
    settled(page)
    assert page.locator(f"h3:has-text('{' '.join(LINE.split()[:3])}')").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
def test_everyone_can_use_it(page: Any, width: int, scheme: str) -> None:
    """axe finds no violation in any view, nothing is cut off, and no text has too little contrast."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    fill(page, "#context", "axe")
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
            page.wait_for_selector("#reason *")
        violations = axe_violations(page)
        assert violations == [], (name, json.dumps(violations, indent=1))
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert cut_off_texts(page) == []
