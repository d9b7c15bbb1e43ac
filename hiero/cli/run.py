"""`hiero run`: from the two files of a bitext to a tuned and tested system, by other commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from hiero import __version__
from hiero.base.directories import run_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.lines import count_lines
from hiero.cli.base.commands import usage
from hiero.cli.base.files import on_interrupt
from hiero.cli.options.common import Threads
from hiero.cli.options.system import TRAINING, SystemData, SystemSets, SystemTuning
from hiero.cli.options.training import TextOptions
from hiero.cli.system.data import SetFiles, prepare
from hiero.cli.system.report import report_page, unknown_words
from hiero.cli.system.stages import Stages
from hiero.cli.system.system import System
from hiero.decode.model_directory import check_output
from hiero.train import TrainSettings


def run(
    *,
    data: SystemData,
    text: TextOptions,
    sets: SystemSets,
    training: Annotated[TrainSettings, TRAINING],
    tuning: SystemTuning,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 32) - 1, help="Seed of all random choices.")] = 1,
    threads: Threads = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only scores and warnings.")] = False,
) -> None:
    """Trains a model, tunes it, translates a test set before and after, scores both, and writes a report.

    Each step is another command, which is printed. An interrupted run goes on when it is started again.
    OUTPUT/report.html is the report, OUTPUT/tuned-model the model for hiero-decode.

        hiero run --source all.de --target all.en --tokenize de:moses en:moses --truecase -o my-system
    """
    files = sets.files()
    _check(data, text, training)
    sizes = sets.sizes(count_lines(data.source))
    record = {
        "program": __version__,
        "data": _checksums(data, files),
        "sizes": sizes,
        "text": dataclasses.asdict(text.processing),
        "training": TRAINING.options_for(training),
        "method": tuning.method,
        "tuning": dict(tuning.settings),
        "seed": seed,
    }
    output, stages = data.output, Stages(data.output, quiet)
    note = f"run it again to go on; {output} has what is done"
    is_started = (output / "model").exists
    with run_directory(output, "run.json", record, is_started), on_interrupt(note):
        stages.restore()
        bitext, mono = (data.source, data.target), data.mono or []
        parts = prepare(output / "sets", bitext, mono, files, sizes, record, seed, quiet)
        system = System(output, stages, {"threads": threads, "quiet": quiet})
        system.train(parts, **_words(data, text), **TRAINING.options_for(training), seed=seed)
        system.translate("before", "model", parts.test)
        system.tune(parts.tune, method=tuning.method, **tuning.settings, seed=seed)
        system.translate("after", "tuned-model", parts.test)
        scores = system.judge(parts.test, text.processing.target)
        unknown = unknown_words(output, parts)
        page = report_page(output, scores, unknown, stages)
        write_atomically(output / "report.html", page)
    print(*(f"{name}: {words.describe()}" for name, words in unknown.items()), sep="\n")
    print(*scores.summary(), sep="\n")
    if not quiet:
        print(f"{output / 'report.html'} shows more")


def _check(data: SystemData, text: TextOptions, training: TrainSettings) -> None:
    """Raises BadParameter for settings that contradict each other, and FormatError or OSError for files that
    cannot be used, before the first step."""
    with usage():
        training.model_copy(update={"text": text.processing}).check(data.inputs)
    data.inputs.check()
    for model in ("model", "tuned-model"):
        check_output(data.output / model)


def _checksums(data: SystemData, sets: Mapping[str, SetFiles | None]) -> dict[str, list[str]]:
    """Returns the checksums of all input files."""
    paths = {"source": [data.source], "target": [data.target], "mono": data.mono or []}
    paths |= {name: [one.source, *one.references] for name, one in sets.items() if one is not None}
    paths |= {"dictionary": list(data.dictionary or ()), "lm": data.lm or []}
    return {name: [sha256(path) for path in files] for name, files in paths.items()}


def _words(data: SystemData, text: TextOptions) -> dict[str, Any]:
    """Returns the options of training that `hiero run` has, too."""
    return {
        "dictionary": list(data.dictionary or ()),
        "lm": data.lm or [],
        **_text_words(text),
    }


def _text_words(text: TextOptions) -> dict[str, Any]:
    """Returns the options of raw text."""
    return {
        "tokenize": text.tokenize,
        "lowercase": text.lowercase,
        "unicode": text.unicode if text.tokenize else None,
        "keep_punctuation": text.keep_punctuation,
        "protect": text.protect or [],
    }
