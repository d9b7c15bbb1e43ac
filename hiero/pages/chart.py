"""The page of a chart. It shows which spans lost a good derivation by pruning, and the text around them.

A pyramid over the source words has a cell for each span with an item. Spans that the guided backtrace reached
are marked. A span that lost a derivation has a link to a section about it.
"""

from __future__ import annotations

from dataclasses import dataclass

from hiero._core import Derivation, OutsideStrings
from hiero.pages.details import Details
from hiero.pages.forest import derivation_parts
from hiero.pages.markup import (
    Weights,
    count_text,
    escape_html,
    number_text,
    page,
    section,
    svg,
    words_box,
    words_text,
)

_CELL = 22.0  # px


@dataclass(frozen=True)
class LostDerivation:
    """The best recovered derivation of a span that is not in the beam of the span, with its Bleu+1."""

    span: tuple[int, int]
    derivation: Derivation
    bleu: float

    @property
    def name(self) -> str:
        return f"c{self.span[0]}-{self.span[1]}"


def lost_derivations(outside: OutsideStrings) -> list[LostDerivation]:
    """Returns lost derivations of spans in increasing order, at most one for each span.

    A derivation is lost if its translation differs from those of all items that survived pruning.
    """
    chart = outside.chart
    lost = []
    for span in chart.spans:
        nodes = [node for node in chart.nodes(*span).tolist() if chart.survived[node]]
        beam = {tuple(chart.derivation(node).tokens) for node in nodes}
        for derivation, bleu in outside.recovered(*span):
            # The beam of the complete sentence consists of translations.
            if tuple(derivation.tokens) not in beam:
                lost.append(LostDerivation(span, derivation, bleu))
                break
    return lost


def chart_page(outside: OutsideStrings, weights: Weights | None = None, title: str = "Chart") -> str:
    """Makes the page of a chart and the results of the guided backtrace, with scores if there are weights.

    Raises ValueError for outside strings of another kind, FormatError for a weight that names no feature.
    """
    if outside.kind != "guided":
        raise ValueError(f"a chart page needs outside strings of the guided backtrace, not {outside.kind}")
    outside.chart.forest.feature_names.ids(weights or {})
    details = Details(weights)
    lost = lost_derivations(outside)
    kbest_bleu, oracle_bleu = number_text(outside.best_bleu), number_text(outside.oracle_bleu)
    translations = (
        (_translation(outside), f"best translation; the highest Bleu+1 of the k best is {kbest_bleu}"),
        (outside.oracle, f"best translation found by the guided backtrace, with Bleu+1 {oracle_bleu}"),
    )
    spans = (
        ("lost", len(lost), "that lost a derivation of a better translation"),
        ("reached", len(outside.reached) - len(lost), "with outside strings that lost no such derivation"),
        ("other", len(outside.chart.spans) - len(outside.reached), "without outside strings"),
    )
    overview = section(
        "chart",
        title,
        "",
        "",  # no words here: the pyramid scrolls with the page, as it may fill the window
        words_box(_pyramid(outside, {derivation.span: derivation for derivation in lost})),
        *(
            f'<p class="dim">{_legend(kind)}{escape_html(count_text(count, "span"))} {description}</p>\n'
            for kind, count, description in spans
        ),
        *(
            f'<p class="text">{words_text(words)}</p>\n<p class="dim">{description}</p>\n'
            for words, description in translations
        ),
    )
    sections = [_lost_section(outside, derivation, weights, details) for derivation in lost]
    return page(title, [overview, *sections], details.data())


def _translation(outside: OutsideStrings) -> list[str]:
    """Returns the words of the best translation, an empty list if there is none."""
    root = outside.chart.forest.root
    return outside.chart.derivation(root).tokens if root >= 0 else []


def _lost_section(
    outside: OutsideStrings, lost: LostDerivation, weights: Weights | None, details: Details
) -> str:
    left, right = outside.around(*lost.span)
    best = outside.chart.derivation(int(outside.chart.nodes(*lost.span)[0]))
    words, *parts = derivation_parts(lost.name, lost.derivation, weights, details)
    inside = f"<b>[{words_text(lost.derivation.tokens)}]</b>"
    facts = f"Bleu+1 {number_text(lost.bleu)}; the best of its cell is {words_text(best.tokens)}"
    return section(
        lost.name,
        f"Span {lost.span[0]}:{lost.span[1]}",
        '<nav><a rel="up" href="#chart">chart</a></nav>',
        words,
        f'<p class="text">{words_text(left)} {inside} {words_text(right)}</p>\n',
        f'<p class="dim">{facts}</p>\n',
        *parts,
    )


def _legend(kind: str) -> str:
    """Returns a cell of the pyramid for the line that explains this kind."""
    return f'<svg class="key" width="12" height="12">{_box(kind, 1, 1, 10)}</svg> '


def _box(kind: str, x: float, y: float, size: float, title: str = "") -> str:
    shape = f'x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" rx="{size / 6:g}"'
    return f'<rect class="cell {kind}" {shape}>{title}</rect>'


def _pyramid(outside: OutsideStrings, lost: dict[tuple[int, int], LostDerivation]) -> str:
    """Draws cells above the words, or of a lattice above its nodes: longer spans higher, each over its
    middle."""
    forest = outside.chart.forest
    arcs = forest.source_nodes.reshape(-1, 2).tolist() or [[k, k + 1] for k in range(forest.source_length)]
    words = [(begin, end, word) for (begin, end), word in zip(arcs, forest.source, strict=True)]
    reached = set(outside.reached)
    height = _CELL * forest.source_length
    cells = []
    for begin, end in outside.chart.spans:
        x, y = _CELL * (begin + end - 1) / 2, height - _CELL * (end - begin)
        kind = "lost" if (begin, end) in lost else "reached" if (begin, end) in reached else "other"
        below = escape_html(" ".join(word for first, last, word in words if begin <= first and last <= end))
        box = _box(kind, x + 2, y, _CELL - 4, f"<title>{begin}:{end} {below}</title>")
        if kind == "lost":
            box = f'<a href="#{lost[begin, end].name}" aria-label="{begin}:{end}">{box}</a>'
        cells.append(box)
    for number in range(forest.source_length):
        at = f'x="{_CELL * (number + 0.5):g}" y="{height + 12:g}" text-anchor="middle"'
        here = escape_html(" ".join(word for first, _, word in words if first == number))
        cells.append(f'<text class="dim" {at}>{number}<title>{here}</title></text>')
    until = ":{}" if len(forest.source_nodes) else ""
    names = " ".join(f"{first}{until.format(last)} {word}" for first, last, word in words)
    picture = svg(_CELL * forest.source_length, height + 18, "\n".join(cells))
    return f'{picture}<p class="dim">{escape_html(names)}</p>\n'
