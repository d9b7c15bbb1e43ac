"""The command line: `hiero COMMAND` and `hiero-decode`.

The files beside this one are the commands. The exit code is 0 for success, 1 for an error in data or files,
which is one line on stderr, and 2 for wrong usage.
"""

from __future__ import annotations

import ast
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import typer

from hiero import Error
from hiero.base.arguments import similar_names
from hiero.base.text import one_line
from hiero.cli.base.commands import Group, Version, add_command, new_app, summary
from hiero.cli.base.files import InterruptError, naming_stdout
from hiero.cli.base.help import group_help

# Commands by purpose, each with its module and the name of its function there, or of a group's app.
_COMMANDS = {
    "From start to end": {"run": ("run", "run")},
    "Train": {
        "train": ("train", "train"),
        "corpus": ("train", "corpus"),
        "truecaser": ("train", "truecaser"),
        "align": ("align", "align_words"),
        "extract": ("train", "extract"),
        "score": ("train", "score"),
        "merge": ("merge", "merge"),
        "lm": ("lm", "lm"),
        "assemble": ("train", "assemble"),
        "features": ("features", "put_features"),
        "train-reranker": ("rerank", "train_reranker"),
    },
    "Translate": {
        "decode": ("decode", "decode"),
        "rerank": ("rerank", "rerank"),
        "tokenize": ("text", "tokenize"),
        "detokenize": ("text", "detokenize"),
        "lattice": ("lattice", "make_lattices"),
        "adapt": ("adapt", "adapt"),
        "serve": ("serve", "serve"),
        "parse": ("parse", "parse"),
    },
    "Tune and judge": {
        "tune": ("tune", "tune_model"),
        "weights": ("weights", "put_weights"),
        "eval": ("eval", "evaluate"),
        "experiment": ("experiment", "app"),
    },
    "Look inside": {
        "info": ("info", "info"),
        "check": ("info", "check"),
        "rules": ("tables", "rules"),
        "pack": ("tables", "pack"),
        "unpack": ("tables", "unpack"),
        "forest": ("forest", "app"),
        "analyse": ("analyse", "analyse_search"),
    },
}
_PLACES = {name: place for group in _COMMANDS.values() for name, place in group.items()}


class Program(Group):
    """All commands. Each is imported when it is needed, because importing all takes longer than most
    commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return command_named(cmd_name) if cmd_name in _PLACES else None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in _PLACES:
            near = ", ".join(similar_names(args[0], _PLACES))
            raise typer.BadParameter(f"no command {args[0]!r}: is it {near}?")
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: Any) -> str:
        usage = f"{ctx.command_path} COMMAND [OPTIONS]"
        rows = {
            group: [(name, _summary(*place)) for name, place in commands.items()]
            for group, commands in _COMMANDS.items()
        }
        rows["Options"] = [
            ("-h, --help", "Show this message and exit; hiero help COMMAND shows the help of a command."),
            ("-V, --version", "Show the version and exit."),
            ("--install-completion", "Install completion of commands and options in this shell."),
            ("--show-completion", "Show the completion that would be installed."),
        ]
        return group_help(usage, self.help or "", rows)


def main() -> None:
    """Runs `hiero`."""
    app = new_app(
        name="hiero",
        cls=Program,
        add_completion=True,
        help="Hierarchical phrase-based machine translation.\n\n"
        "An option that may be repeated also takes several values, up to the next option or --; an argument "
        "that the command requires may stand behind them: hiero tune --references r1 r2 MODEL.",
    )
    app.callback()(_program)
    _run(app, "hiero")


def decode_main() -> None:
    """Runs `hiero-decode`, which is the same as `hiero decode`."""
    app = new_app(add_completion=True, no_args_is_help=False)
    add_command(app, _imported("decode"), "hiero-decode")
    _run(app, "hiero-decode")


def command_named(name: str) -> Any:
    """Returns a command, or a group of commands."""
    app = _imported(name)
    if not isinstance(app, typer.Typer):
        function, app = app, typer.Typer(add_completion=False)
        add_command(app, function, name)
    command = typer.main.get_command(app)
    command.name = name
    return command


def _program(version: Version = False) -> None:
    """Takes the options of the program without a command."""


def _imported(name: str) -> Any:
    """Imports the function of a command, or the app of a group."""
    module, attribute = _PLACES[name]
    return getattr(importlib.import_module(f"hiero.cli.{module}"), attribute)


def _summary(module: str, attribute: str) -> str:
    """Returns the first paragraph of a command's docstring, or the text of a group's module, from the source,
    without importing it."""
    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_bytes())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == attribute:
            return summary(ast.get_docstring(node) or "")
    return summary((ast.get_docstring(tree) or "").partition(": ")[2])


def _run(app: typer.Typer, name: str) -> None:
    """Runs a program and ends it with the exit code for its errors."""
    stdout = sys.stdout
    try:
        try:
            app(prog_name=name)
        except SystemExit:
            if sys.stdout is not stdout:  # typer replaces it when a pipe is closed
                raise BrokenPipeError from None
            with naming_stdout():
                sys.stdout.flush()
            raise
    except BrokenPipeError:
        # Ends as other programs do when their output is not read to the end: shells see 141.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    except (KeyboardInterrupt, InterruptError) as interrupt:
        print(f"hiero: {interrupt or 'interrupted'}", file=sys.stderr)
        # Python would wait for threads that still work on a sentence.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    except (Error, OSError, ValueError, MemoryError) as error:
        print(f"hiero: {one_line(error)}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # the rest of the buffer must not raise again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
