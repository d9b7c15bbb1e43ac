"""The page of a chart: which spans lost a good derivation to pruning, what it was, and what stood around it.

A pyramid over the source words has a cell for each span with an item: those that the guided backtrace came
by, and of these the ones that lost a derivation, which lead to a section with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from hiero._core import Derivation, OutsideStrings
from hiero.pages.details import Details
from hiero.pages.forest import derivation_parts
from hiero.pages.markup import (
    Weights,
    count_text,
    escaped,
    number_text,
    page,
    section,
    svg,
    words_box,
    words_text,
)

_CELL = 22.0  # px


@dataclass(frozen=True)
class Lost:
    """The best derivation that is recovered of a span and is not in its beam, with its Bleu+1."""

    span: tuple[int, int]
    derivation: Derivation
    bleu: float

    @property
    def name(self) -> str:
        return f"c{self.span[0]}-{self.span[1]}"


def lost_derivations(outside: OutsideStrings) -> list[Lost]:
    """Finds a derivation for each span, by rising span, whose translation differs from those of all items
    that outlived pruning."""
    chart = outside.chart
    found = []
    for span in chart.spans:
        nodes = [node for node in chart.nodes(*span).tolist() if chart.survived[node]]
        kept = {tuple(chart.derivation(node).tokens) for node in nodes}
        for derivation, bleu in outside.recovered(*span):
            # That of the whole sentence has translations for its beam.
            if tuple(derivation.tokens) not in kept:
                found.append(Lost(span, derivation, bleu))
                break
    return found


def chart_page(outside: OutsideStrings, weights: Weights | None = None, title: str = "Chart") -> str:
    """The page of a chart and what the guided backtrace found in it, with scores if there are weights.

    Raises ValueError for other outside strings, FormatError for a weight that names no feature.
    """
    if outside.kind != "guided":
        raise ValueError(f"a page shows what the guided backtrace finds, not {outside.kind}")
    outside.chart.forest.feature_names.ids(weights or {})
    details = Details(weights)
    lost = lost_derivations(outside)
    of_k, of_all = number_text(outside.best_bleu), number_text(outside.oracle_bleu)
    translations = (
        (_translation(outside), f"the best translation; the highest Bleu+1 of the k best is {of_k}"),
        (outside.oracle, f"the best that the guided backtrace saw, Bleu+1 {of_all}"),
    )
    spans = (
        ("lost", len(lost), "that lost a derivation that would have made a better translation"),
        ("reached", len(outside.reached) - len(lost), "with outside strings that did not"),
        ("other", len(outside.chart.spans) - len(outside.reached), "without outside strings"),
    )
    overview = section(
        "chart",
        title,
        "",
        "",  # a pyramid that stayed in sight would fill the window
        words_box(_pyramid(outside, {one.span: one for one in lost})),
        *(
            f'<p class="dim">{_key(kind)}{escaped(count_text(count, "span"))} {what}</p>\n'
            for kind, count, what in spans
        ),
        *(
            f'<p class="text">{words_text(words)}</p>\n<p class="dim">{what}</p>\n'
            for words, what in translations
        ),
    )
    sections = [_lost_section(outside, one, weights, details) for one in lost]
    return page(title, [overview, *sections], details.data())


def _translation(outside: OutsideStrings) -> list[str]:
    """Nothing where there is none."""
    root = outside.chart.forest.root
    return outside.chart.derivation(root).tokens if root >= 0 else []


def _lost_section(outside: OutsideStrings, one: Lost, weights: Weights | None, details: Details) -> str:
    left, right = outside.around(*one.span)
    best = outside.chart.derivation(int(outside.chart.nodes(*one.span)[0]))
    words, *parts = derivation_parts(one.name, one.derivation, weights, details)
    inside = f"<b>[{words_text(one.derivation.tokens)}]</b>"
    facts = f"Bleu+1 {number_text(one.bleu)}; the best of its cell is {words_text(best.tokens)}"
    return section(
        one.name,
        f"Span {one.span[0]}:{one.span[1]}",
        '<nav><a rel="up" href="#chart">chart</a></nav>',
        words,
        f'<p class="text">{words_text(left)} {inside} {words_text(right)}</p>\n',
        f'<p class="dim">{facts}</p>\n',
        *parts,
    )


def _key(kind: str) -> str:
    """A cell of the pyramid, for a line that says what its kind is."""
    return f'<svg class="key" width="12" height="12">{_box(kind, 1, 1, 10)}</svg> '


def _box(kind: str, x: float, y: float, size: float, title: str = "") -> str:
    shape = f'x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" rx="{size / 6:g}"'
    return f'<rect class="cell {kind}" {shape}>{title}</rect>'


def _pyramid(outside: OutsideStrings, lost: dict[tuple[int, int], Lost]) -> str:
    """Cells above the words: longer spans higher, each over the middle of its words."""
    source = outside.chart.forest.source
    reached = set(outside.reached)
    height = _CELL * len(source)
    cells = []
    for begin, end in outside.chart.spans:
        x, y = _CELL * (begin + end - 1) / 2, height - _CELL * (end - begin)
        kind = "lost" if (begin, end) in lost else "reached" if (begin, end) in reached else "other"
        words = escaped(" ".join(source[begin:end]))
        box = _box(kind, x + 2, y, _CELL - 4, f"<title>{begin}:{end} {words}</title>")
        if kind == "lost":
            box = f'<a href="#{lost[begin, end].name}" aria-label="{begin}:{end}">{box}</a>'
        cells.append(box)
    for place, word in enumerate(source):
        at = f'x="{_CELL * (place + 0.5):g}" y="{height + 12:g}" text-anchor="middle"'
        cells.append(f'<text class="dim" {at}>{place}<title>{escaped(word)}</title></text>')
    names = " ".join(f"{place} {word}" for place, word in enumerate(source))
    return svg(_CELL * len(source), height + 18, "\n".join(cells)) + f'<p class="dim">{escaped(names)}</p>\n'
