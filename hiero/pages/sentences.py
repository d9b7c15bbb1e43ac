"""Sentences of a test set with their translations by several systems, for the pages of reports.

A sentence shows its source, its references, the translation of the first system, and those of the others as
differences from it. ``sentence_html`` draws one. ``browser_html`` draws the place in which the script
``report.js`` draws all, from the data that ``sentence_data`` makes, in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hiero.pages.difference import Run, difference_html, word_difference
from hiero.pages.markup import count_text, escape_html, printable
from hiero.pages.tables import definitions, difference_text, score_text


@dataclass(frozen=True)
class ShownSentence:
    """A sentence with its number, the number of words of its source, and by system its translations and their
    scores; ``anchor`` is the name of the section of its derivation, "" if it has none."""

    number: int
    words: int
    source: str
    references: Sequence[str]
    translations: Mapping[str, str]
    scores: Mapping[str, float]
    anchor: str = ""

    @property
    def text(self) -> dict[str, str]:
        """The source and the references that are not empty, by name, as markup."""
        references = [line for line in self.references if line.strip()]
        names = (
            ["reference"] if len(references) == 1 else [f"reference {k + 1}" for k in range(len(references))]
        )
        texts = {"source": self.source, **dict(zip(names, references, strict=True))}
        return {name: escape_html(text) for name, text in texts.items()}

    def differences(self) -> dict[str, list[Run]]:
        """Returns for each system behind the first how its translation differs from that of the first."""
        first, *others = self.translations.values()
        return dict(
            zip(list(self.translations)[1:], (word_difference(first, one) for one in others), strict=True)
        )


def sentence_html(sentence: ShownSentence, metric: str) -> str:
    """Returns a sentence as markup; ``metric`` names its scores."""
    name = f"Sentence {sentence.number}"
    if sentence.anchor:
        name = f'<a href="#{escape_html(sentence.anchor)}">{name}</a>'
    first, *others = sentence.translations
    start = sentence.scores[first]
    scores = [f"{first} {score_text(start)}"]
    scores += [
        f"{system} {score_text(sentence.scores[system])} ({difference_text(sentence.scores[system] - start)})"
        for system in others
    ]
    facts = escape_html(f"{metric}: {', '.join(scores)}; {count_text(sentence.words, 'word')}")
    texts = sentence.text
    differences = sentence.differences()
    same = [name for name in others if sentence.translations[name] == sentence.translations[first]]
    texts[", ".join([first, *same])] = escape_html(sentence.translations[first])
    texts |= {system: difference_html(runs) for system, runs in differences.items() if system not in same}
    head = f'<h4>{name} <span class="dim">{facts}</span></h4>\n'
    return f'<div class="example">\n{head}{definitions(texts)}</div>\n'


def sentence_data(sentence: ShownSentence) -> list[Any]:
    """Returns a sentence as JSON for the script: number, words, source, references, the first translation,
    differences of the others (None for one that is the same), scores, and the anchor."""
    first, *others = sentence.translations
    differences = [
        None
        if sentence.translations[system] == sentence.translations[first]
        else [[kind, printable(text)] for kind, text in runs]
        for system, runs in sentence.differences().items()
    ]
    return [
        sentence.number,
        sentence.words,
        printable(sentence.source),
        [printable(line) for line in sentence.references if line.strip()],
        printable(sentence.translations[first]),
        differences,
        [round(sentence.scores[system], 4) for system in (first, *others)],
        sentence.anchor,
    ]


# How all sentences can be sorted, as the script knows it.
_ORDERS = {
    "number": "as in the set",
    "worst": "worst first",
    "best": "best first",
    "gained": "most gained first",
    "lost": "most lost first",
    "short": "shortest first",
    "long": "longest first",
}


def browser_html(place: int, systems: Sequence[str], final: str) -> str:
    """Returns the form and the place for all sentences of the set ``place``, counted from 0. Orders are by
    the scores of one of the systems behind the first, ``final`` at the start."""
    orders = _options(_ORDERS, "number")
    chosen = ""
    if len(systems) > 2:
        numbers = {str(k): name for k, name in enumerate(systems) if k > 0}
        chosen = _select("system", "by the scores of", _options(numbers, str(systems.index(final) or 1)))
    return (
        f'<form class="browse" data-set="{place}">\n'
        '<label>search <input type="search" name="words" placeholder="words of any text"/></label>\n'
        f"{_select('order', 'sort', orders)}{chosen}"
        '<label>words, at least <input type="number" name="least" min="0" value="0"/></label>\n'
        '<output class="dim" aria-live="polite">JavaScript shows the sentences here.</output>\n'
        '<div class="sentences"></div>\n'
        '<button type="button" class="more" hidden>show more</button>\n</form>\n'
    )


def _select(name: str, label: str, options: str) -> str:
    return f'<label>{label} <select name="{name}">{options}</select></label>\n'


def _options(texts: Mapping[str, str], chosen: str) -> str:
    return "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape_html(text)}</option>'
        for value, text in texts.items()
    )
