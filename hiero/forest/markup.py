"""What HTML pages with pictures are made of: texts, boxes and curves of SVG, rows of words, the page around.

All is markup in strings; ``escaped`` makes it of texts. Elements have ids, and a group names those that are
marked when one points at it: what belongs to it (own) and what is below that (near).
"""

from __future__ import annotations

import html
import itertools
import unicodedata
from collections.abc import Mapping, Sequence

_FONT_SIZE = 14.0  # px
LINE = 20.0  # from one line of text to the next

_STYLE = """
body { margin: 1.2em; color: #1c1c1c; background: #fff; font: 14px/1.45 system-ui, sans-serif }
h1 { font-size: 1.25em; margin: 0 0 .2em } p { margin: .2em 0 } .dim { color: #666 }
.scroll { overflow-x: auto; background: #fff; padding: .6em 0 }
.words { position: sticky; top: 0; border-bottom: 1px solid #ddd }
svg { display: block } text { font: 14px system-ui, sans-serif; fill: #1c1c1c }
text.dim { font-size: 11px; fill: #666 } text.head { font-weight: 600 } text.score { fill: #555 }
text.end { text-anchor: end } text.middle { text-anchor: middle }
tspan.n1 { fill: #0b5cad } tspan.n2 { fill: #b3470b } tspan.n3 { fill: #6b2fa0 }
rect { fill: #f7f8fa; stroke: #b8c0cc } .edge > rect { fill: #fff; stroke: none }
path { fill: none; stroke: #9aa5b5; stroke-width: 1.3 }
path.n1 { stroke: #7fb0dd } path.n2 { stroke: #e0a07d } path.n3 { stroke: #b79ad3 }
path.best { stroke-width: 3 } .best > text { font-weight: 600 }
.near > rect { fill: #fff6d6 } .own > rect { fill: #ffdd70 } path.own { stroke: #c2410c; stroke-width: 2.6 }
[data-own] { outline: none } table { border-collapse: collapse; margin-top: 1em }
th, td { padding: .1em .9em .1em 0; text-align: right; font-weight: 400; font-variant-numeric: tabular-nums }
th { color: #666 } th:first-child, td:first-child { text-align: left }
"""

# What is pointed at names the elements it belongs to (own) and those below it (near).
_SCRIPT = """
for (const it of document.querySelectorAll("[data-own]")) {
  const mark = on => { for (const kind of ["own", "near"])
    for (const id of (it.dataset[kind] || "").split(" "))
      document.getElementById(id)?.classList.toggle(kind, on) };
  it.onmouseenter = it.onfocus = () => mark(true);
  it.onmouseleave = it.onblur = () => mark(false);
}
"""

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


def page(title: str, *parts: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escaped(title)}</h1>\n"
        f"{''.join(parts)}<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def escaped(text: str) -> str:
    return html.escape(text.translate(_CONTROLS))


def number_text(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # plus zero, so that there is no -0.000


def text_width(text: str) -> float:
    """Of a text in px, at least: the font is the reader's."""
    return _FONT_SIZE * sum(map(_advance, text.translate(_CONTROLS)))


def _advance(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.category(character) in ("Mn", "Cf"):
        return 0.0
    if character in "mwMW@%\N{REPLACEMENT CHARACTER}":
        return 1.0
    return 0.8 if character.isupper() else 0.6


# Elements of pictures.


def label(x: float, y: float, content: str, kind: str = "") -> str:
    """A text whose content is markup already."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{content}</text>'


def box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'


def curve(x: float, y: float, to_x: float, to_y: float, attributes: str, sideways: bool = False) -> str:
    a, b = ((x + to_x) / 2, y) if sideways else (x, (y + to_y) / 2)
    c, d = ((x + to_x) / 2, to_y) if sideways else (to_x, (y + to_y) / 2)
    return f'<path {attributes} d="M{x:g} {y:g}C{a:g} {b:g} {c:g} {d:g} {to_x:g} {to_y:g}"/>'


def group(name: str, kind: str, content: str, own: Sequence[str], near: Sequence[str] = ()) -> str:
    data = f'data-own="{" ".join(own)}" data-near="{" ".join(near)}"'
    return f'<g id="{name}" class="{kind}" tabindex="0" {data}>{content}</g>\n'


def svg(width: float, height: float, content: str) -> str:
    return f'<svg width="{width:g}" height="{height:g}" role="img">\n{content}</svg>'


def word_rows(
    source: Sequence[str],
    target: Sequence[str] = (),
    links: Sequence[tuple[int, int]] = (),
    owners: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Source words s0, s1, ... above target words t0, ... with links l0, ... between them; pointing at a word
    marks what it is linked to and its owners."""
    own = {name: list(names) for name, names in (owners or {}).items()}
    for number, (i, j) in enumerate(links):
        own.setdefault(f"s{i}", []).extend((f"l{number}", f"t{j}"))
        own.setdefault(f"t{j}", []).extend((f"l{number}", f"s{i}"))
    width = max(sum(map(_cell, source)), sum(map(_cell, target)))
    above, below = _middles(source, width), _middles(target, width)
    parts = [
        curve(above[i], 42, below[j], 122, f'id="l{number}" class="link"')
        for number, (i, j) in enumerate(links)
    ]
    for side, words, middles in (("s", source, above), ("t", target, below)):
        for i, (word, x) in enumerate(zip(words, middles, strict=True)):
            parts.append(_word(f"{side}{i}", word, x, own.get(f"{side}{i}", [])))
    return svg(width + 2, 164 if target else 46, "\n".join(parts))


def _cell(word: str) -> float:
    return max(text_width(word), 10.0) + 20


def _middles(words: Sequence[str], width: float) -> list[float]:
    """Where words go in a row, in the middle of that width."""
    ends = itertools.accumulate(map(_cell, words), initial=1 + (width - sum(map(_cell, words))) / 2)
    return [(begin + end) / 2 for begin, end in itertools.pairwise(ends)]


def _word(name: str, word: str, x: float, own: Sequence[str]) -> str:
    top, number_at = (16.0, 11.0) if name[0] == "s" else (122.0, 161.0)
    width = _cell(word) - 8
    content = box(x - width / 2, top, width, 26) + label(x, top + 18, escaped(word), "middle")
    return group(name, "word", content + label(x, number_at, name[1:], "dim middle"), own)
