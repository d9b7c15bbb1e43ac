"""Help of commands: options in groups, with their texts in full, in the width of the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

# The column where texts begin, and the least and the greatest width of a page.
_INDENT = 28
_WIDTHS = (60, 100)
_OPTIONS = "Options"
_KINDS = {Path: "FILE", int: "N", float: "X", str: "TEXT"}


def metavar(annotation: Any, name: str, *, option: bool) -> str | None:
    """Returns the name of a parameter's value in help, None for a flag."""
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) in (Union, UnionType) and len(parts) == 1:
        annotation, parts = parts[0], list(get_args(parts[0]))
    if not option:
        return name.upper()
    if annotation is bool:
        return None
    if get_origin(annotation) is Literal:
        return "|".join(map(str, parts))
    if get_origin(annotation) is list:
        return f"{metavar(parts[0], name, option=True)}..."
    return _KINDS.get(annotation, "TEXT")


def command_help(usage: str, text: str, params: Sequence[Any]) -> str:
    """Returns the help of a command: usage, description, arguments, and options by group."""
    groups: dict[str, list[Any]] = {}
    for param in params:
        group = "Arguments" if param.param_type_name == "argument" else _group(param)
        groups.setdefault(group, []).append(param)
    # Groups with required options come first, and options without a group come last.
    required = {group for group in groups if any(param.required for param in groups[group])}
    order = sorted(groups, key=lambda group: (group != "Arguments", group not in required, group == _OPTIONS))
    rows = [(group, [(_names(param), _text(param)) for param in groups[group]]) for group in order]
    return "\n".join(_page(usage, text, rows))


def group_help(usage: str, text: str, groups: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Returns the help of several commands: names and summaries by group."""
    return "\n".join(_page(usage, text, groups.items()))


def _group(param: Any) -> str:
    return getattr(param, "rich_help_panel", None) or _OPTIONS


def _page(usage: str, text: str, groups: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> Iterator[str]:
    width = min(max(shutil.get_terminal_size().columns, _WIDTHS[0]), _WIDTHS[1])
    yield f"Usage: {usage}"
    for paragraph in text.split("\n\n"):
        yield ""
        # Examples are indented, and stay as they are.
        yield paragraph if paragraph.startswith(" ") else textwrap.fill(" ".join(paragraph.split()), width)
    for title, rows in groups:
        yield f"\n{title}:"
        for names, meaning in rows:
            yield from _row(f"  {names}", meaning, width)


def _row(head: str, text: str, width: int) -> Iterator[str]:
    lines = textwrap.wrap(text, width - _INDENT, break_on_hyphens=False) or [""]
    if len(head) > _INDENT - 2:
        yield head
    else:
        yield f"{head:<{_INDENT}}{lines.pop(0)}".rstrip()
    yield from (" " * _INDENT + line for line in lines if line)


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    short = [name for name in param.opts if not name.startswith("--")]
    names = ", ".join([*short, *(name for name in param.opts if name not in short)])
    if param.secondary_opts:
        names += f", {', '.join(param.secondary_opts)}"
    return names if param.is_flag or not param.metavar else f"{names} {param.metavar}"


def _text(param: Any) -> str:
    notes = []
    if param.param_type_name == "option":
        if param.required:
            notes.append("required")
        default = param.default
        if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
            notes.append(f"default: {default}")
    text = (param.help or "").strip()
    return f"{text.removesuffix('.')} ({', '.join(notes)})." if notes else text
