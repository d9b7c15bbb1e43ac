"""Parts of HTML pages with pictures: texts, numbers, rules, curves, rows of words, the page around.

All is markup in strings; ``escaped`` makes it of texts. A page has sections, whose elements have ids that
begin with the section's; an element names, without that, those that are marked when one points at it: what
belongs to it (``data-own``) and what is below that (``data-near``). ``page.css`` and ``page.js`` are in every
page.
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
_MOST_DIGITS = 9  # of counts that are written out

# What HTML cannot hold, no reader can see or turns the text around it: C0 as control pictures, the rest (C1,
# surrogates, directions, noncharacters) as replacement characters.
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


def page(title: str, sections: Sequence[str], data: Any) -> str:
    """One file; ``data``, what JSON can hold, of ``visible`` texts, is for the script."""
    style, script = ((files("hiero.pages") / name).read_text("utf-8") for name in ("page.css", "page.js"))
    texts = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{''.join(sections)}"
        '<script type="application/json" id="data">' + texts.replace("<", "\\u003c") + "</script>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def section(name: str, heading: str, links: str, words: str, *parts: str) -> str:
    """Links, heading and the picture of the words, if there is one, stay in sight; the other parts scroll."""
    title = f'<div class="title">{links}<h1>{escaped(heading)}</h1></div>\n'
    bar = f'<div class="bar">{title}{words_box(words) if words else ""}</div>\n'
    return f'<section id="{name}">\n{bar}{"".join(parts)}</section>\n'


def words_box(picture: str) -> str:
    """A picture over or of the words, which scrolls sideways where it is wider than the window."""
    return f'<div class="words scroll" tabindex="0" role="group" aria-label="words">{picture}</div>\n'


PANEL = '<div class="panel" role="region" aria-label="the selected rule" hidden></div>\n'


def visible(text: str) -> str:
    return text.translate(_CONTROLS)


def escaped(text: str) -> str:
    return html.escape(visible(text))


def number_text(value: float) -> str:
    return f"{round(value, 3) + 0.0:,.3f}"  # plus zero, so that there is no -0.000


def count_text(count: int, one: str) -> str:
    """Writes a number of things whose plural ends in s: "1 edge", "2,044 edges", "1.2e15 derivations"."""
    number = f"{count:,}" if count < 10**_MOST_DIGITS else f"{Decimal(count):.1e}".replace("e+", "e")
    return f"{number} {one}" + "s" * (count != 1)


def words_text(words: Iterable[str]) -> str:
    """Words in the order of their sentence from left to right, each in the direction of its own script."""
    return " ".join(map(_word_text, words))


def _word_text(word: str) -> str:
    turns = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in word)
    return f"<bdi>{escaped(word)}</bdi>" if turns else escaped(word)


def sides(rule: RuleApplication) -> str:
    """Both sides of a rule, nonterminals in the colours of their numbers."""
    source, target = (f'<span class="side">{_side(side)}</span>' for side in (rule.source, rule.target))
    return f'<span class="sides">{source} \N{RIGHTWARDS ARROW} {target}</span>'


def _side(side: str) -> str:
    tokens = []
    for token in side.split(" "):
        number = re.fullmatch(r"\[.*,(\d+)\]", token, re.DOTALL)
        text = _word_text(token)
        tokens.append(f'<b class="{colour(int(number[1]))}">{text}</b>' if number else text)
    return " ".join(tokens)


def colour(number: int) -> str:
    """The class of what belongs to a nonterminal of that number."""
    return f"n{min(number, 3)}"


def place_text(rule: RuleApplication) -> str:
    return escaped(f"{rule.label} {rule.span[0]}:{rule.span[1]}".strip())


def marks(own: Sequence[str], near: Sequence[str] = ()) -> str:
    return f'data-own="{" ".join(own)}" data-near="{" ".join(near)}"'


# Pictures.


def text_width(text: str) -> float:
    """Estimates the width of a text in px from below: the font is the reader's."""
    return _FONT_SIZE * sum(map(_advance, visible(text)))


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
) -> str:
    """Draws for the section of that name source words s0, s1, ... above target words t0, ... with links l0,
    ... between them; pointing at a word marks what it is linked to and its owners."""
    own = {word: list(names) for word, names in (owners or {}).items()}
    for number, (i, j) in enumerate(links):
        own.setdefault(f"s{i}", []).extend((f"l{number}", f"t{j}"))
        own.setdefault(f"t{j}", []).extend((f"l{number}", f"s{i}"))
    width = max(sum(map(_cell, source)), sum(map(_cell, target)))
    above, below = _middles(source, width), _middles(target, width)
    parts = [
        curve(above[i], 38, below[j], 84, f'id="{name}-l{number}" class="link"')
        for number, (i, j) in enumerate(links)
    ]
    for side, words, middles in (("s", source, above), ("t", target, below)):
        for i, (word, x) in enumerate(zip(words, middles, strict=True)):
            word_name = f"{side}{i}"
            parts.append(_word(name, word_name, word, x, own.get(word_name, [])))
    return svg(width + 2, 124 if target else 42, "\n".join(parts))


def _cell(word: str) -> float:
    return max(text_width(word), 10.0) + 20


def _middles(words: Sequence[str], width: float) -> list[float]:
    """Where words go in a row, spread over all of the width: then links are short, and no end is empty."""
    space = (width - sum(map(_cell, words))) / max(len(words), 1)
    ends = itertools.accumulate((_cell(word) + space for word in words), initial=1.0)
    return [(begin + end) / 2 for begin, end in itertools.pairwise(ends)]


def _word(section_name: str, name: str, word: str, x: float, own: Sequence[str]) -> str:
    top, number_at = (14, 10) if name[0] == "s" else (84, 120)
    width = _cell(word) - 8
    return (
        f'<g id="{section_name}-{name}" class="word" {marks(own)}>'
        f'<rect x="{x - width / 2:g}" y="{top}" width="{width:g}" height="24" rx="4"/>'
        f'<text x="{x:g}" y="{top + 17}">{escaped(word)}</text>'
        f'<text x="{x:g}" y="{number_at}">{name[1:]}</text></g>'
    )
