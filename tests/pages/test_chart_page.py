"""Tests of chart pages: well-formed, complete, and with the items that search lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hiero
from hiero.pages import chart_page
from hiero.pages.chart import lost_derivations
from support.commands import call
from support.html_page import checked_page
from support.paper_chart import PAPER, REFERENCE, paper


def test_the_page_of_the_paper_s_example(tmp_path: Path) -> None:
    """Span [1, 5] has lost the words of the reference (Figure 2), and so has the whole sentence."""
    grammar = PAPER.replace("lived in Berlin ||| P=0", "lived in Berlin ||| P=-2")
    outside = paper(tmp_path, grammar, beam_size=2).outside("guided", [REFERENCE.split()])
    lost = lost_derivations(outside)
    assert [(one.span, one.derivation.text, one.bleu) for one in lost] == [
        ((0, 5), REFERENCE, 1.0),
        ((1, 5), "lived in Berlin before getting married", 1.0),
    ]
    page = checked_page(chart_page(outside, {"P": 1.0}, "Aimi"))
    html = chart_page(outside, {"P": 1.0}, "Aimi")
    names = " ".join(f"{place} {word}" for place, word in enumerate(outside.chart.forest.source))
    assert f'<p class="dim">{names}</p>' in html
    assert f"<title>0:1 {outside.chart.forest.source[0]}</title>" in html
    # The legend has one of each kind.
    assert page.classes.count("lost") == 2 + 1 and page.classes.count("cell") == len(outside.chart.spans) + 3
    assert page.classes.count("reached") == len(outside.reached) - 2 + 1
    sections = [name for name in page.ids if re.fullmatch(r"chart|c\d+-\d+", name)]
    assert sections == ["chart", "c0-5", "c1-5"]
    assert {target for section, _, target in page.links if section == "chart"} == {"c0-5", "c1-5"}
    text = " ".join(" ".join(words) for words in page.texts.values())
    assert REFERENCE in text and "[lived in Berlin before getting married]" in text
    counts = (2, len(outside.reached) - 2, len(outside.chart.spans) - len(outside.reached))
    for count, what in zip(
        counts, ("that lost a derivation", "with outside strings", "without outside strings"), strict=True
    ):
        assert f"{count} span{'' if count == 1 else 's'} {what}" in text
    best = outside.chart.derivation(outside.chart.forest.root).text
    assert best != REFERENCE and {best, REFERENCE} < set(page.texts["p"])
    assert f"best translation; the highest Bleu+1 of the k best is {outside.best_bleu:.3f}" in text
    assert "best translation found by the guided backtrace, with Bleu+1 1.000" in text


def test_other_outside_strings_have_no_page(tmp_path: Path) -> None:
    outside = paper(tmp_path, PAPER).outside("top-down")
    with pytest.raises(ValueError, match="not top-down"):
        chart_page(outside)
    with pytest.raises(hiero.FormatError):
        chart_page(paper(tmp_path, PAPER).outside("guided", [["a"]]), {"Unheard": 1.0})


def test_a_sentence_without_translation(tmp_path: Path) -> None:
    paper(tmp_path, PAPER)
    model = hiero.Model.assemble([tmp_path / "grammar"], [tmp_path / "lm"], tmp_path / "weights")
    chart = hiero.Decoder(model, pass_through="none").translate("Aimi unheard", keep="splits").chart
    assert chart is not None and chart.forest.root == -1
    page = checked_page(chart_page(chart.outside("guided", [REFERENCE.split()])))
    assert "0 spans that lost a derivation" in " ".join(page.texts["p"])


def test_the_command(tmp_path: Path) -> None:
    paper(tmp_path, PAPER)
    model = hiero.Model.assemble([tmp_path / "grammar"], [tmp_path / "lm"], tmp_path / "weights")
    model.save(tmp_path / "model")
    (tmp_path / "source").write_text("qian\nAimi jiehun qian zhuzai bolin\n")
    (tmp_path / "references").write_text(f"before\n{REFERENCE}\n")
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "references", "--tokens")
    command = ("hiero", "analyse", tmp_path / "model", *sets, "--page", tmp_path / "page.html")
    done = call(*command, "--sentence", 1, "--beam-size", 1, "--pass-through", "none")
    assert (done.returncode, done.stderr) == (0, b""), done
    page = checked_page((tmp_path / "page.html").read_text())
    assert "Sentence 1" in page.texts["h1"]
    assert call(*command, "--sentence", 2).returncode == 2


def test_a_lattice_has_nodes_in_place_of_words(tmp_path: Path) -> None:
    paper(tmp_path, PAPER)
    model = hiero.Model.assemble([tmp_path / "grammar"], [tmp_path / "lm"], tmp_path / "weights")
    arcs = [hiero.Arc("Aimi", 0, 1), hiero.Arc("Aimi", 0, 2), hiero.Arc("unheard", 1, 2)]
    chart = hiero.Decoder(model).translate(hiero.Sentence(lattice=hiero.Lattice(arcs)), keep="splits").chart
    assert chart is not None and chart.spans == [(0, 1), (0, 2), (1, 2)]
    html = chart_page(chart.outside("guided", [["Amy"]]))
    assert "0:1 Aimi 0:2 Aimi 1:2 unheard" in checked_page(html).texts["p"]
    assert "<title>0:2 Aimi Aimi unheard</title>" in html and "<title>1:2 unheard</title>" in html
    assert ">1<title>unheard</title>" in html and ">2<title>" not in html
