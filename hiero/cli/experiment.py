"""`hiero experiment`: what the papers measured, on one's own model and sets."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero import Model
from hiero.cli.arguments import Threads, add_command, new_app
from hiero.cli.files import Writes, on_interrupt
from hiero.cli.sets import Tokens, fingerprint, model_fingerprint, read_set
from hiero.cli.settings import SettingOptions
from hiero.experiments.cettolo2004 import Cettolo2004Options, LabelledSet, plot, table
from hiero.experiments.cettolo2004 import cettolo2004 as run

app = new_app(help="What the papers measured, on one's own model and sets.")
command = partial(add_command, app)


@app.callback()
def experiment() -> None:
    """Keeps the name of the one command."""


@command
def cettolo2004(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory.")],
    source: Annotated[Path, typer.Option(help="Tuning set: text, or NIST's .xml or .sgm.")],
    references: Annotated[list[Path], typer.Option(help="Its references, likewise.")],
    test_source: Annotated[Path, typer.Option(help="Test set, likewise.")],
    test_references: Annotated[list[Path], typer.Option(help="Of that set.")],
    output: Annotated[
        Path,
        Writes(),
        typer.Option("-o", "--output", help="Directory for tables, figures, decodings."),
    ],
    options: Annotated[Cettolo2004Options, SettingOptions(Cettolo2004Options, without=("scales",))],
    tokens: Tokens = False,
    threads: Threads = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only the table.")] = False,
) -> None:
    """Minimum error training by the simplex against uniform weights: Tables 3 and 4, Figures 1 and 2.

    Started again in the same directory, it goes on where it was interrupted.
    """
    loaded = Model.load(model)
    tuning, test = (
        read_set(source, references, tokens, loaded),
        read_set(test_source, test_references, tokens, loaded),
    )
    with on_interrupt(f"run it again to go on; {output} has the decodings that are done"):
        result = run(
            loaded,
            LabelledSet(*tuning),
            LabelledSet(*test),
            output,
            options,
            threads=threads,
            origin={
                "sets": fingerprint(tuning, test),
                "model": model_fingerprint(model),
                "weights": loaded.weights,
            },
            report=(lambda _: None) if quiet else (lambda line: print(line, flush=True)),
        )
    print(table(result), end="")
    if importlib.util.find_spec("matplotlib") is not None:
        plot(result, output)
