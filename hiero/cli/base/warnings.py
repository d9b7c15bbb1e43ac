"""Warnings on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# The warnings so far, within `warning_once`.
_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)


def warn(message: str) -> None:
    """Prints a warning in a line of its own."""
    said = _SAID.get()
    if said is None or message not in said:
        print(f"hiero: warning: {message}", file=sys.stderr)
    if said is not None:
        said.add(message)


@contextmanager
def warning_once() -> Iterator[None]:
    """Prints each warning once, however many commands give it meanwhile."""
    token = _SAID.set(set())
    try:
        yield
    finally:
        _SAID.reset(token)
