"""Tables, lists and commands of reports, and how their numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hiero.pages.markup import escape_html

# Between a number and its unit.
_SPACE = "\N{NO-BREAK SPACE}"


def score_text(score: float | None) -> str:
    """Writes a score with two decimals, an empty text for None."""
    return "" if score is None else f"{score + 0.0:,.2f}"


def difference_text(difference: float) -> str:
    """Writes the difference of two scores with its sign; +0.00 for one that is rounded to zero."""
    return f"{round(difference, 2) + 0.0:+,.2f}"


def ratio_text(ratio: float) -> str:
    """Writes a ratio, also a probability, with three decimals."""
    return f"{ratio:,.3f}"


def percent_text(share: float | None) -> str:
    """Writes a share of 1 in percent with one decimal, an empty text for None."""
    return "" if share is None else f"{100 * share:,.1f}{_SPACE}%"


def seconds_text(seconds: float) -> str:
    """Writes seconds with one decimal."""
    return f"{seconds:,.1f}{_SPACE}s"


def megabytes_text(megabytes: float) -> str:
    """Writes megabytes without decimals."""
    return f"{megabytes:,.0f}{_SPACE}MB"


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of texts. The first column names the rows."""
    head = "".join(f'<th scope="col">{escape_html(text)}</th>' for text in heads)
    lines = [f"<tr>{head}</tr>\n"]
    for first, *others in rows:
        cells = "".join(f"<td>{escape_html(text)}</td>" for text in others)
        lines.append(f'<tr><th scope="row">{escape_html(first)}</th>{cells}</tr>\n')
    name = f"<caption>{escape_html(caption)}</caption>\n"
    return f'<div class="scroll"><table>\n{name}{"".join(lines)}</table></div>\n'


def definitions(texts: Mapping[str, str]) -> str:
    """Returns a list of texts by name. The texts are markup, and each has the direction of its script."""
    rows = (f'<dt>{escape_html(name)}</dt><dd dir="auto">{text}</dd>\n' for name, text in texts.items())
    return f"<dl>\n{''.join(rows)}</dl>\n"


def text_definitions(texts: Mapping[str, object]) -> str:
    """Returns a list of texts by name that are not markup."""
    return definitions({name: escape_html(str(text)) for name, text in texts.items()})


def commands(lines: Iterable[str]) -> str:
    """Returns commands, each in a box that wraps at spaces and gets a button to copy it."""
    boxes = (" ".join(f"<span>{escape_html(word)}</span>" for word in line.split(" ")) for line in lines)
    return "".join(f'<div class="command"><pre>{box}</pre></div>\n' for box in boxes)
