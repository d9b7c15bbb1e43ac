"""Lines of text and tokens, as all parts of the package read and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable


def one_line(error: BaseException) -> str:
    """Describes an exception in one line. A system error is described by its file and message."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def split(text: str) -> list[str]:
    """Returns the tokens of a line, split at ASCII white space only, as in rule tables."""
    return [token.decode() for token in text.encode().split()]


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """Returns word links as a line such as ``0-0 1-2``: source and target positions, counted from 0."""
    return " ".join(f"{s}-{t}" for s, t in links)


_MARKS = ".,!?;:。！？，؛،۔؟।"
# A word that ends in punctuation. Most lines that are not tokenised have one.
_PUNCTUATED = re.compile(rf"[^\s{_MARKS}]{{2}}[{_MARKS}](?:\s|$)")


def looks_untokenised(lines: Iterable[str]) -> bool:
    """Returns whether most lines have punctuation that is part of a word."""
    punctuated = [_PUNCTUATED.search(line) is not None for line in lines if line.strip()]
    return 2 * sum(punctuated) > len(punctuated)
