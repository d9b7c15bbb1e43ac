"""The command line: `hiero COMMAND` and `hiero-decode`.

Errors end in one line on stderr: exit 0 is fine, 1 is data or a file, 2 is usage.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

import typer

from hiero import Error
from hiero.cli import decode, eval, experiment, forest, info, lm, tables, text, train, tune

app = typer.Typer(
    name="hiero",
    help="Hierarchical phrase-based machine translation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(train.train)
app.command()(decode.decode)
app.command()(train.corpus)
app.command(name="align")(train.align_words)
app.command()(train.extract)
app.command()(train.score)
app.command()(lm.lm)
app.command()(train.assemble)
app.command(name="tune")(tune.tune_model)
app.command(name="eval")(eval.evaluate)
app.command()(text.tokenize)
app.command()(text.detokenize)
app.command()(tables.pack)
app.command()(tables.unpack)
app.command()(tables.rules)
app.add_typer(forest.app, name="forest")
app.add_typer(experiment.app, name="experiment")
app.command()(info.info)
app.command()(info.check)

decode_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
decode_app.command(name="hiero-decode")(decode.decode)


# Options that take one value or more.
_SEVERAL = frozenset(
    {
        "--mono",
        "--references",
        "--test-references",
        "--held-out-references",
        "--mu",
        "--metric",
        "--compare",
        "--fix",
        "--bound",
    }
)


def main() -> None:
    """Entry point of `hiero`."""
    _run(app)


def decode_main() -> None:
    """Entry point of `hiero-decode`, the same as `hiero decode`."""
    _run(decode_app)


def _repeat_options(arguments: Sequence[str]) -> Iterator[str]:
    """`--mono a b` and `--mono=a b` as `--mono a --mono b`."""
    option = ""
    values = 0
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, equals, _ = argument.partition("=")
            option, values = (name if name in _SEVERAL else ""), len(equals)
        elif option:
            values += 1
            if values > 1:
                yield option
        yield argument


def _run(command: Callable[[list[str]], None]) -> None:
    try:
        command(list(_repeat_options(sys.argv[1:])))
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
