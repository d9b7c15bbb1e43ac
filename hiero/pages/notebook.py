"""Frames with which notebooks show translations, derivations, charts and small forests.

``views.js`` draws them, as in the page of `hiero serve`, from data that are in the page; ``notebook.js`` says
what is where. Whole forests are drawn by ``forest_page``.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from hiero._core import Chart, Derivation, Forest, Translation
from hiero.pages.forest import MOST_EDGES, forest_page
from hiero.pages.markup import Weights, document
from hiero.pages.views import (
    ItemView,
    RuleView,
    SentenceView,
    cell_views,
    derivation_view,
    item_view,
    sentence_view,
)

# Charts with more cells are not drawn: they would be slow.
MOST_CELLS = 5000
MOST_ITEMS = 10  # of a cell
MOST_BYTES = 2_000_000  # of all items, as JSON


def picture(value: Translation | Derivation | Chart | Forest) -> str | None:
    """Returns HTML for ``_repr_html_``; None without a derivation, and for what is too large to draw."""
    if isinstance(value, Forest):
        return _frame("forest", forest_page(value)) if 0 < value.edge_count <= MOST_EDGES else None
    if isinstance(value, Chart):
        return _views("chart", chart=value) if 0 < len(value.spans) <= MOST_CELLS else None
    derivation = value.derivation if isinstance(value, Translation) else value
    if len(derivation.edges) == 0:
        return None
    if isinstance(value, Derivation):
        return _views("derivation", derivation_view(value))
    chart = value.chart if hasattr(value, "chart") else None
    return _views("translation", sentence_view(value, details=True), chart, value.weights)


def _views(
    title: str,
    sentence: SentenceView | None = None,
    chart: Chart | None = None,
    weights: Weights | None = None,
) -> str | None:
    """Returns a frame with the views of a sentence, of a chart, or of both."""
    chart_data = _chart_data(chart, weights) if chart else None
    rules = [item["rule"] for items in chart_data["items"] for item in items] if chart_data else []
    directions: list[str] = []
    if sentence:
        rules += [sentence["derivation"]]
        directions = [_direction(sentence["source"]), _direction(sentence["tokens"])]
    if weights is not None:  # a model may have many more
        shown = _features(rules)
        weights = {name: weight for name, weight in weights.items() if name in shown}
    data = {"sentence": sentence, "directions": directions, "chart": chart_data, "weights": weights}
    style, *scripts = (
        (files("hiero.pages") / name).read_text("utf-8") for name in ("views.css", "views.js", "notebook.js")
    )
    # Frames cannot load modules, so that the two scripts are made one.
    script = re.sub(r"^(export |import .*\n)", "", "".join(scripts), flags=re.MULTILINE)
    try:
        texts = json.dumps(data, separators=(",", ":"))
    except RecursionError:  # a chain of glue rules for hundreds of words
        return None
    body, script = "<main></main>\n", f'<script type="module">\n{script}</script>\n'
    return _frame(title, document(title, body, texts, style, script))


def _chart_data(chart: Chart, weights: Weights | None) -> dict[str, Any]:
    """Returns the cells of a chart and the items of each: the best one of all cells, then the second best, as
    many as there is room for. A chart with too many cells has none."""
    spans = chart.spans if len(chart.spans) <= MOST_CELLS else []
    nodes = [chart.nodes(*span)[:MOST_ITEMS].tolist() for span in spans]
    items: list[list[ItemView]] = [[] for _ in spans]
    size = 0
    for rank, cell in ((rank, cell) for rank in range(MOST_ITEMS) for cell in range(len(spans))):
        if rank < len(nodes[cell]) and size < MOST_BYTES:
            node = nodes[cell][rank]
            items[cell].append(item_view(chart, node, weights, " ".join))
            size += len(json.dumps(items[cell][-1]))
    cells = cell_views(chart, " ".join) if spans else []
    return {"source": _words_by_position(chart.forest), "cells": cells, "items": items}


def _features(rules: Sequence[RuleView]) -> set[str]:
    """Returns the names of the features of rules and of all below them."""
    names: set[str] = set()
    stack = list(rules)
    while stack:
        rule = stack.pop()
        names.update(rule["features"])
        stack.extend(rule["children"])
    return names


def _words_by_position(forest: Forest) -> list[str]:
    """Returns the word at each position; of a lattice all words that begin there."""
    if not len(forest.source_nodes):
        return forest.source
    words: list[list[str]] = [[] for _ in range(forest.source_length)]
    for word, begin in zip(forest.source, forest.source_nodes[:, 0].tolist(), strict=True):
        words[begin].append(word)
    return list(map("/".join, words))


def _direction(words: Sequence[str]) -> str:
    """Returns the direction that most letters of the words have."""
    kinds = [unicodedata.bidirectional(letter) for word in words for letter in word]
    return "rtl" if kinds.count("R") + kinds.count("AL") > kinds.count("L") else "ltr"


def _frame(title: str, page: str) -> str:
    """Puts a page into a frame, because its styles and script must not affect the notebook."""
    text = html.escape(page, quote=False).replace("'", "&#39;")  # JSON is full of the other quotes
    size = "width:100%;height:32rem;border:0"
    return f'<iframe title="{title}" srcdoc=\'{text}\' sandbox="allow-scripts" style="{size}"></iframe>'
