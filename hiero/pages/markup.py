"""Parts of HTML pages: texts, numbers, rules, curves, rows of words, and the page around them.

All functions return markup as strings; ``escape_html`` makes markup of text. A page has sections. The ids of
the elements of a section begin with the name of the section. An element lists, without that name, the
elements that are marked when the pointer is on it: elements that belong to it (``data-own``) and elements
below those (``data-near``). ``page.css`` and ``page.js`` are in every page.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from importlib.resources import files
from typing import Any

from hiero.forest.derivations import RuleApplication

Weights = Mapping[str, float]

_FONT_SIZE = 14.0  # px
_MOST_DIGITS = 9  # counts with more digits are written with an exponent

# Characters that HTML cannot contain, that are invisible, or that change the direction of the text around
# them. C0 is replaced by control pictures, others (C1, surrogates, directions, noncharacters) by replacement
# characters.
_CONTROLS = {c: 0x2400 + c for c in range(32)} | {
    c: 0xFFFD
    for c in (
        *range(0x7F, 0xA0),
        *range(0xD800, 0xE000),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        *(0xFFFE, 0xFFFF),
    )
}


def page(title: str, sections: Sequence[str], data: Any, more: Sequence[str] = ()) -> str:
    """Returns a complete page. ``data`` is JSON for the script; its texts must be ``printable``. ``more``
    names further styles and scripts: "report" stands for ``report.css`` and ``report.js``."""
    style, script = (
        "".join((files("hiero.pages") / f"{name}.{kind}").read_text("utf-8") for name in ("page", *more))
        for kind in ("css", "js")
    )
    texts = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return document(title, "".join(sections), texts, style, f"<script>\n{script}</script>\n")


def document(title: str, body: str, data: str, style: str, script: str) -> str:
    """Returns the markup of a page from its parts. ``data`` is JSON, with any texts."""
    return (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}"
        '<script type="application/json" id="data">' + data.replace("<", "\\u003c") + "</script>\n"
        f"{script}</body>\n</html>\n"
    )


def section(name: str, heading: str, links: str, words: str, *parts: str) -> str:
    """Returns a section. Links, heading and the picture of the words stay visible; other parts scroll."""
    title = f'<div class="title">{links}<h1>{escape_html(heading)}</h1></div>\n'
    bar = f'<div class="bar">{title}{words_box(words) if words else ""}</div>\n'
    return f'<section id="{name}">\n{bar}{"".join(parts)}</section>\n'


def words_box(picture: str) -> str:
    """Returns a box for a picture of words. It scrolls sideways if it is wider than the window."""
    return f'<div class="words scroll" tabindex="0" role="group" aria-label="words">{picture}</div>\n'


PANEL = '<div class="panel" role="region" aria-label="the selected rule" hidden></div>\n'


def printable(text: str) -> str:
    """Replaces control characters."""
    return text.translate(_CONTROLS)


def escape_html(text: str) -> str:
    return html.escape(printable(text))


def number_text(value: float) -> str:
    return f"{round(value, 3) + 0.0:,.3f}"  # + 0.0 turns -0.0 into 0.0


def count_text(count: int, noun: str) -> str:
    """Writes a count with a noun whose plural ends in s: "1 edge", "2,044 edges", "1.2e15 derivations"."""
    number = f"{count:,}" if count < 10**_MOST_DIGITS else f"{Decimal(count):.1e}".replace("e+", "e")
    return f"{number} {noun}" + "s" * (count != 1)


def words_text(words: Iterable[str]) -> str:
    """Returns words from left to right in sentence order, each in the direction of its own script."""
    return " ".join(map(_word_text, words))


def _word_text(word: str) -> str:
    is_right_to_left = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in word)
    return f"<bdi>{escape_html(word)}</bdi>" if is_right_to_left else escape_html(word)


def rule_sides(rule: RuleApplication) -> str:
    """Returns both sides of a rule. Nonterminals have the colours of their numbers."""
    source, target = (f'<span class="side">{_side(side)}</span>' for side in (rule.source, rule.target))
    return f'<span class="sides">{source} \N{RIGHTWARDS ARROW} {target}</span>'


def _side(side: str) -> str:
    tokens = []
    for token in side.split(" "):
        number = re.fullmatch(r"\[.*,(\d+)\]", token, re.DOTALL)
        text = _word_text(token)
        tokens.append(f'<b class="{colour_class(int(number[1]))}">{text}</b>' if number else text)
    return " ".join(tokens)


def colour_class(number: int) -> str:
    """Returns the CSS class for the colour of a nonterminal."""
    return f"n{min(number, 3)}"


def span_text(rule: RuleApplication) -> str:
    return escape_html(f"{rule.label} {rule.span[0]}:{rule.span[1]}".strip())


def marks(elements: Sequence[str], below: Sequence[str] = ()) -> str:
    """Returns the attributes with the elements to mark: those that belong to an element, and those below."""
    return f'data-own="{" ".join(elements)}" data-near="{" ".join(below)}"'


# Pictures.


def text_width(text: str) -> float:
    """Estimates an upper bound of the width of a text in px. The reader's font is unknown."""
    return _FONT_SIZE * sum(map(_advance, printable(text)))


def _advance(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.category(character) in ("Mn", "Cf"):
        return 0.0
    if character in "mwMW@%\N{REPLACEMENT CHARACTER}":
        return 1.0
    return 0.8 if character.isupper() else 0.6


def curve(x: float, y: float, to_x: float, to_y: float, attributes: str, sideways: bool = False) -> str:
    a, b = ((x + to_x) / 2, y) if sideways else (x, (y + to_y) / 2)
    c, d = ((x + to_x) / 2, to_y) if sideways else (to_x, (y + to_y) / 2)
    return f'<path {attributes} d="M{x:g} {y:g}C{a:g} {b:g} {c:g} {d:g} {to_x:g} {to_y:g}"/>'


def svg(width: float, height: float, content: str) -> str:
    return f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}">\n{content}</svg>'


def word_rows(
    name: str,
    source: Sequence[str],
    target: Sequence[str] = (),
    links: Sequence[tuple[int, int]] = (),
    owners: Mapping[str, Sequence[str]] | None = None,
    confidence: Sequence[float] = (),
) -> str:
    """Draws source words s0, s1, ... above target words t0, t1, ... with links l0, l1, ... between them.

    The ids begin with the section's ``name``. Pointing at a word marks its links, the linked words, and its
    ``owners``, which are ids by word. With the ``confidence`` of the target words, each has a bar as long as
    it is sure.
    """
    elements = {word: list(names) for word, names in (owners or {}).items()}
    for number, (i, j) in enumerate(links):
        elements.setdefault(f"s{i}", []).extend((f"l{number}", f"t{j}"))
        elements.setdefault(f"t{j}", []).extend((f"l{number}", f"s{i}"))
    width = max(sum(map(_word_width, source)), sum(map(_word_width, target)))
    above, below = _word_centres(source, width), _word_centres(target, width)
    parts = [
        curve(above[i], 38, below[j], 84, f'id="{name}-l{number}" class="link"')
        for number, (i, j) in enumerate(links)
    ]
    for side, words, centres in (("s", source, above), ("t", target, below)):
        for i, (word, x) in enumerate(zip(words, centres, strict=True)):
            word_name = f"{side}{i}"
            sure = confidence[i] if side == "t" and confidence else None
            parts.append(_word(name, word_name, word, x, elements.get(word_name, []), sure))
    return svg(width + 2, 124 if target else 42, "\n".join(parts))


def _word_width(word: str) -> float:
    return max(text_width(word), 10.0) + 20


def _word_centres(words: Sequence[str], width: float) -> list[float]:
    """Returns the positions of words in a row. They fill the width, which makes the links short."""
    space = (width - sum(map(_word_width, words))) / max(len(words), 1)
    ends = itertools.accumulate((_word_width(word) + space for word in words), initial=1.0)
    return [(begin + end) / 2 for begin, end in itertools.pairwise(ends)]


def _word(
    section_name: str, name: str, word: str, x: float, elements: Sequence[str], sure: float | None
) -> str:
    top, number_at = (14, 10) if name[0] == "s" else (84, 120)
    width = _word_width(word) - 8
    bar = "" if sure is None else _bar(x - width / 2, top + 24, width, sure)
    return (
        f'<g id="{section_name}-{name}" class="word" {marks(elements)}>{bar}'
        f'<rect x="{x - width / 2:g}" y="{top}" width="{width:g}" height="24" rx="4"/>'
        f'<text x="{x:g}" y="{top + 17}">{escape_html(word)}</text>'
        f'<text x="{x:g}" y="{number_at}">{name[1:]}</text></g>'
    )


def _bar(x: float, y: float, width: float, sure: float) -> str:
    """Draws how sure a word is as a line below it, on a line for 1, with the number as the word's title."""
    lines = ((width, "all"), (width * sure, "sure"))
    return f"<title>confidence {sure:.2f}</title>" + "".join(
        f'<path class="{kind}" d="M{x:g} {y + 2.5:g}h{length:g}"/>' for length, kind in lines
    )
