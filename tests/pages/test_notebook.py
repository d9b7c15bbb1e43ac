"""Tests of what notebooks show: the data of frames, and frames in a browser, by pointer and keyboard."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero import Rule, RuleTable
from hiero.features.lattice import Lattice
from hiero.pages import notebook
from support.browser import axe_violations, cut_off_texts
from support.brute_force_forest import small_random_forest
from support.html_page import Page

SENTENCE = "je ne vois pas le chat dans la maison"
URDU = "میں گھر میں ہوں ABC"


@pytest.fixture(scope="module")
def decoder(french: Path) -> hiero.Decoder:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    return hiero.Decoder(model)


@pytest.fixture(scope="module")
def with_chart(decoder: hiero.Decoder) -> hiero.Translation:
    return decoder.translate(SENTENCE, keep="chart")


@pytest.fixture(scope="module")
def with_forest(decoder: hiero.Decoder) -> hiero.Translation:
    return decoder.translate(SENTENCE, keep="forest")


@pytest.fixture(scope="module")
def ambiguous(french: Path) -> hiero.Translation:
    """A translation whose cells have many items, some of them pruned."""
    targets = ["the", "a", "cat", "dog", "house", "home", "car", "book", "blue", "black", "small", "her"]
    rules = [Rule(f"[X] ||| {s} ||| {t} ||| F=-0.{k:02}") for s in "xyz" for k, t in enumerate(targets)]
    lm = hiero.LanguageModel.load(str(french / "lm.arpa"))
    model = hiero.Model([RuleTable.from_rules(rules)], [lm], {"F": 1.0, "LM0": 0.5})
    return hiero.Decoder(model, beam_size=10).translate(list("xyzx"), keep="chart")


def page_of(value: Any) -> str:
    frame = value._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    return html.unescape(re.findall(r"srcdoc='([^']*)'", frame)[0])


def data_of(value: Any) -> Any:
    return Page(page_of(value)).data


def rules_of(rule: Any) -> list[Any]:
    return [rule, *(below for child in rule["children"] for below in rules_of(child))]


@contextmanager
def shown(browser: Any, value: Any, width: int = 1000, scheme: str = "light") -> Iterator[Any]:
    """Opens the frame of a value. Errors, and requests to anywhere, fail the test."""
    problems: list[str] = []
    page = browser.context.browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url))
    page.set_content(f'<body style="margin:0">{value._repr_html_()}</body>')
    frame = page.frames[1]
    frame.wait_for_selector("main h1")
    yield frame
    page.close()
    assert problems == []


def linked(frame: Any) -> set[str]:
    return set(frame.locator(".linked").evaluate_all("all => all.map(e => e.dataset.word)"))


def heads(frame: Any) -> list[str]:
    """Returns the heads of the columns of the table of features that is shown."""
    texts: list[str] = frame.locator("aside table").first.locator("th[scope=col]").all_inner_texts()
    return texts


def test_the_data_are_those_of_the_translation(with_chart: hiero.Translation) -> None:
    data = data_of(with_chart)
    sentence, weights = data["sentence"], data["weights"]
    assert (sentence["source"], sentence["tokens"]) == (SENTENCE.split(), with_chart.tokens)
    assert sentence["alignment"] == list(map(list, with_chart.alignment))
    rules = rules_of(sentence["derivation"])
    assert len(rules) == len(with_chart.derivation.edges) > 4
    assert sum(rule["score"] for rule in rules) == pytest.approx(with_chart.score)
    assert sum(weights[name] * value for name, value in sentence["features"].items()) == pytest.approx(
        with_chart.score
    )


def test_items_are_those_of_the_chart(ambiguous: hiero.Translation) -> None:
    chart, shown_chart = ambiguous.chart, data_of(ambiguous)["chart"]
    assert not chart.survived.all() and len(chart.nodes(*chart.spans[0])) > notebook.MOST_ITEMS
    assert len(chart.spans) == len(shown_chart["cells"]) == 7
    for cell, items in zip(shown_chart["cells"], shown_chart["items"], strict=True):
        nodes = chart.nodes(*cell["span"])[: notebook.MOST_ITEMS]
        assert [item["score"] for item in items] == chart.scores[nodes].tolist()
        for node, item in zip(nodes.tolist(), items, strict=True):
            best = chart.derivation(node)
            assert item["text"] == best.text and item["survived"] == bool(chart.survived[node])
            assert item["rule"]["children"] == []
            assert item["rule"]["score"] == pytest.approx(chart.edge_scores[best.edges[0]])


def test_confidence_is_that_of_the_forest(
    with_chart: hiero.Translation, with_forest: hiero.Translation
) -> None:
    assert data_of(with_forest)["sentence"]["confidence"] == with_forest.confidence()
    assert data_of(with_chart)["sentence"]["confidence"] == []
    assert data_of(with_forest)["chart"] is None


def test_only_weights_that_are_shown_are_there(decoder: hiero.Decoder) -> None:
    translation = decoder.translate("je")
    assert data_of(translation)["weights"].items() < translation.weights.items()


def test_nothing_is_shown_without_a_derivation(decoder: hiero.Decoder) -> None:
    nothing: Any = decoder.translate("", keep="chart")
    assert nothing._repr_html_() is None and nothing.derivation._repr_html_() is None
    assert nothing.chart._repr_html_() is None


def test_small_forests_are_pictures(with_forest: hiero.Translation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Page(page_of(with_forest.forest)).rules
    monkeypatch.setattr(notebook, "MOST_EDGES", with_forest.forest.edge_count - 1)
    assert with_forest.forest._repr_html_() is None  # type: ignore[attr-defined]


def test_derivations_of_made_forests() -> None:
    """Made forests may have no words, no labels, and spans beyond the source."""
    for seed in range(20):
        forest = small_random_forest(random.Random(seed))
        for derivation in forest.kbest(3, [0.0] * forest.edge_count):
            assert len(rules_of(data_of(derivation)["sentence"]["derivation"])) == len(derivation.edges)


def test_very_deep_derivations_are_not_drawn() -> None:
    table = RuleTable.from_rules([Rule("[X] ||| a ||| b ||| F=0.1")])
    deep: Any = hiero.Decoder(hiero.Model([table], [], {})).translate(["a"] * 1500)
    assert deep.has_parse and deep._repr_html_() is None


def test_the_best_items_of_all_cells_come_first(
    ambiguous: hiero.Translation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = data_of(ambiguous)["chart"]["items"]
    monkeypatch.setattr(notebook, "MOST_BYTES", 10_000)
    some = data_of(ambiguous)["chart"]["items"]
    assert 10_000 <= sum(len(json.dumps(one)) for items in some for one in items) < 10_500
    assert all(part == items[: len(part)] for part, items in zip(some, whole, strict=True))
    most = max(map(len, some))
    assert 1 < most < notebook.MOST_ITEMS
    assert all(len(part) >= min(most - 1, len(items)) for part, items in zip(some, whole, strict=True))


def test_charts_of_lattices_have_the_words_of_positions(decoder: hiero.Decoder) -> None:
    lattice = Lattice.from_plf("((('le',0,1),('la',0,1),('le',0,2)),(('chat',0,1),),(('noir',0,1),),)")
    translation = decoder.translate(hiero.Sentence(lattice=lattice), keep="chart")
    assert data_of(translation)["chart"]["source"] == ["le/la/le", "chat", "noir"]


def test_words_light_up(browser: Any, with_forest: hiero.Translation, with_chart: hiero.Translation) -> None:
    with shown(browser, with_forest) as frame:
        assert frame.locator("h1").inner_text() == with_forest.text
        for kind, words in (("s", with_forest.source), ("t", with_forest.tokens)):
            assert frame.locator(f"[data-word^={kind}]").all_inner_texts() == words
        for source in range(len(with_forest.source)):
            frame.hover(f"[data-word=s{source}]")
            targets = {f"t{t}" for s, t in with_forest.alignment if s == source}
            assert linked(frame) == {f"s{source}"} | targets
        target = with_forest.alignment[0][1]
        frame.focus(f"[data-word=t{target}]")
        assert linked(frame) == {f"t{target}"} | {f"s{s}" for s, t in with_forest.alignment if t == target}
        sure = with_forest.confidence()[target]
        assert frame.get_attribute(f"[data-word=t{target}]", "title") == f"sure by {sure:.2f}"
    with shown(browser, with_chart) as frame:
        assert frame.get_attribute("[data-word=t0]", "title") is None


def test_unknown_words_are_marked(browser: Any, decoder: hiero.Decoder) -> None:
    with shown(browser, decoder.translate("le qqq dort")) as frame:
        assert frame.locator("[data-unknown]").all_inner_texts() == ["qqq"]


def test_the_tree_folds_by_keyboard(browser: Any, with_chart: hiero.Translation) -> None:
    with shown(browser, with_chart) as frame:
        items = frame.locator("[role=treeitem]")
        seen = frame.locator("[role=treeitem] > .line:visible")
        assert items.count() == seen.count() == len(with_chart.derivation.edges)
        assert frame.locator(".columns caption").first.inner_text() == "the whole translation"
        items.first.focus()
        frame.page.keyboard.press("ArrowLeft")
        assert seen.count() == 1
        frame.page.keyboard.press("ArrowRight")
        frame.page.keyboard.press("End")
        assert items.last.get_attribute("aria-selected") == "true"
        # The features of the rule that is chosen are beside the tree.
        table = frame.locator("aside table").first
        assert table.locator("caption").inner_text() == "the rule"
        last = rules_of(data_of(with_chart)["sentence"]["derivation"])[-1]
        assert set(table.locator("th[scope=row]").all_inner_texts()) == {"score", *last["features"]}
        tree = frame.locator("[role=tree]").bounding_box()
        assert table.bounding_box()["x"] >= tree["x"] + tree["width"]


def test_a_cell_shows_its_items(browser: Any, with_chart: hiero.Translation) -> None:
    chart = with_chart.chart
    for value in (with_chart, chart):
        with shown(browser, value) as frame:
            frame.click("[data-span='4:6']")
            node = int(chart.nodes(4, 6)[0])
            best = chart.derivation(node)
            first = frame.locator(".items li").first
            assert first.locator(".text").inner_text() == best.text
            assert first.locator(".score").inner_text() == f"X {best.score:.3f}"
            assert frame.evaluate("document.activeElement.dataset.span") == "4:6"
            first.locator("button").click()
            table = frame.locator("aside table").last
            names = {"LM0", *(["score"] if value is with_chart else [])}
            assert names <= set(table.locator("th[scope=row]").all_inner_texts())
            frame.focus("[data-span='4:6']")
            frame.page.keyboard.press("ArrowDown")
            frame.page.keyboard.press("Enter")
            texts = [chart.derivation(int(n)).text for n in chart.nodes(4, 5)[: notebook.MOST_ITEMS]]
            assert frame.locator(".items .text").all_inner_texts() == texts


def test_what_is_left_out_is_said(
    browser: Any, ambiguous: hiero.Translation, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = len(ambiguous.chart.nodes(0, 1)) - notebook.MOST_ITEMS
    with shown(browser, ambiguous) as frame:
        frame.click("[data-span='0:1']")
        assert frame.locator("aside").last.get_by_text(f"Left out of this page: {left} more.").count() == 1
    monkeypatch.setattr(notebook, "MOST_CELLS", 5)
    assert ambiguous.chart._repr_html_() is None  # type: ignore[attr-defined]
    with shown(browser, ambiguous) as frame:
        assert frame.get_by_text("too many cells").count() == 1 and frame.locator(".cell").count() == 0


def test_weights_are_shown_where_they_are_known(browser: Any, with_chart: hiero.Translation) -> None:
    with shown(browser, with_chart) as frame:
        assert heads(frame) == ["feature", "value", "weight", "product"]
        assert frame.locator(".line .score").count() == len(with_chart.derivation.edges)
    with shown(browser, with_chart.derivation) as frame:
        assert heads(frame) == ["feature", "value"]
        assert frame.locator(".line .score").count() == 0
        assert frame.locator("h1").inner_text() == with_chart.derivation.text


def test_texts_are_no_markup(browser: Any, decoder: hiero.Decoder) -> None:
    words = ["</script>", "<b>le</b>", "<!--", "'\"&lt;", "\u2028"]
    translation = decoder.translate(words, keep="chart")
    for value in (translation, translation.derivation, translation.chart):
        with shown(browser, value) as frame:
            assert frame.locator("main b:not([class])").count() == 0
            frame.click("[role=treeitem] .line" if value is not translation.chart else ".cell")
    with shown(browser, translation) as frame:
        shown_words = frame.locator("[data-word^=s]").evaluate_all("all => all.map(e => e.textContent)")
        assert shown_words == words


def test_words_go_in_the_direction_of_their_script(browser: Any, decoder: hiero.Decoder) -> None:
    with shown(browser, decoder.translate(URDU)) as frame:
        assert [row.get_attribute("dir") for row in frame.locator(".row").all()] == ["rtl", "rtl"]
    with shown(browser, decoder.translate("le chat میں")) as frame:
        assert [row.get_attribute("dir") for row in frame.locator(".row").all()] == ["ltr", "ltr"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 420])
def test_everyone_can_use_it(
    browser: Any, with_chart: hiero.Translation, with_forest: hiero.Translation, width: int, scheme: str
) -> None:
    """axe finds no violation, nothing is cut off, and no text has too little contrast."""
    for value in (with_chart, with_forest, with_chart.derivation, with_chart.chart):
        with shown(browser, value, width, scheme) as frame:
            if value is not with_chart.chart:
                frame.click("[role=treeitem] >> nth=2 >> .line >> nth=0")
            if value in (with_chart, with_chart.chart):
                frame.click("[data-span='4:6']")
                frame.locator(".items button").first.click()
            violations = axe_violations(frame)
            assert violations == [], json.dumps(violations, indent=1)
            assert cut_off_texts(frame) == []
            assert frame.evaluate("document.documentElement.scrollWidth") <= width
