"""The command line: `hiero COMMAND` and `hiero-decode`.

Errors end in one line on stderr: exit 0 is fine, 1 is data or a file, 2 is usage.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from hiero import Error
from hiero.cli.arguments import add_command

# Commands, and where they are: a function or a group of commands.
_COMMANDS = {
    "train": ("train", "train"),
    "decode": ("decode", "decode"),
    "corpus": ("train", "corpus"),
    "truecaser": ("train", "truecaser"),
    "align": ("train", "align_words"),
    "extract": ("train", "extract"),
    "score": ("train", "score"),
    "lm": ("lm", "lm"),
    "assemble": ("train", "assemble"),
    "tune": ("tune", "tune_model"),
    "weights": ("weights", "put_weights"),
    "eval": ("eval", "evaluate"),
    "tokenize": ("text", "tokenize"),
    "detokenize": ("text", "detokenize"),
    "pack": ("tables", "pack"),
    "unpack": ("tables", "unpack"),
    "rules": ("tables", "rules"),
    "forest": ("forest", "app"),
    "experiment": ("experiment", "app"),
    "info": ("info", "info"),
    "check": ("info", "check"),
}


def main() -> None:
    """Entry point of `hiero`."""
    app = typer.Typer(
        name="hiero",
        help="Hierarchical phrase-based machine translation.\n\n"
        "An option that may be repeated also takes several values, up to the next option or --; an argument "
        "that the command requires may stand behind them: hiero tune --references r1 r2 MODEL.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    # A group of commands, also with one of them.
    app.callback()(lambda: None)
    # To import all of them takes longer than most take to run.
    asked = [name for name in sys.argv[1:2] if name in _COMMANDS]
    for name in asked or _COMMANDS:
        command = _imported(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            add_command(app, command, name)
    _run(app)


def decode_main() -> None:
    """Entry point of `hiero-decode`, the same as `hiero decode`."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    add_command(app, _imported("decode"), "hiero-decode")
    _run(app)


def _imported(name: str) -> Any:
    module, attribute = _COMMANDS[name]
    return getattr(importlib.import_module(f"hiero.cli.{module}"), attribute)


def _run(command: Callable[[], None]) -> None:
    try:
        command()
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except (Error, OSError, ValueError, MemoryError) as error:
        print(f"hiero: {_one_line(error)}", file=sys.stderr)
        sys.exit(1)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = str(error) or type(error).__name__
    return " ".join(text.split())
