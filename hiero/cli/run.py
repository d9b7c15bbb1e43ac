"""`hiero run`: from the two files of a bitext to tuned and tested systems, by other commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from hiero import __version__
from hiero.base.directories import run_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.lines import count_lines
from hiero.cli.base.cluster import check_cluster
from hiero.cli.base.commands import usage
from hiero.cli.base.files import on_interrupt
from hiero.cli.base.warnings import warn, warning_once
from hiero.cli.options.system import TRAINING, SystemData, SystemRules, SystemRun, SystemSets, SystemTuning
from hiero.cli.options.training import TextOptions
from hiero.cli.report.page import report_page
from hiero.cli.system.data import SetFiles, prepare
from hiero.cli.system.finished import finished_run
from hiero.cli.system.stages import Stages
from hiero.cli.system.system import BEFORE, MODELS, System
from hiero.cli.system.table import few_sentences, table_lines, unknown_lines
from hiero.decode.model_directory import check_output
from hiero.train import TrainSettings


@warning_once()
def run(
    *,
    data: SystemData,
    text: TextOptions,
    sets: SystemSets,
    training: Annotated[TrainSettings, TRAINING],
    rules: SystemRules,
    tuning: SystemTuning,
    common: SystemRun,
) -> None:
    """Trains a model, tunes it by one or several methods, translates test sets before and after, scores all,
    chooses the final model, and writes a report.

    Each step is another command, which is printed. An interrupted run goes on when it is started again. A run
    that is done goes on if it may take more iterations, or gets another method, which joins those before.
    OUTPUT/report.html is the report, OUTPUT/tuned-model the final model for hiero-decode.

        hiero run --source all.de --target all.en --tokenize de:moses en:moses --truecase -o my-system

        hiero run --config my-system.toml --method mert pro --iterations 20
    """
    files = sets.files()
    _check(data, text, training)
    check_cluster(common.cluster)
    made_by, sizes = rules.options(text.processing), sets.sizes(count_lines(data.source))
    record = {
        "program": __version__,
        "data": _checksums(data, files, rules.names),
        "sizes": sizes,
        "text": dataclasses.asdict(text.processing),
        "training": TRAINING.options_for(training),
        "numbers": made_by.get("numbers"),
        "seed": common.seed,
    }
    output, stages = data.output, Stages(data.output, common.quiet)
    note = f"run it again to go on; {output} has what is done"
    is_started = (output / "model").exists
    with run_directory(output, "run.json", record, is_started), on_interrupt(note):
        stages.restore()
        for message in data.inputs.repeated():
            warn(message)
        bitext, mono = (data.source, data.target), data.mono or []
        parts = prepare(output / "sets", bitext, mono, files, sizes, record, common.seed, common.quiet)
        system = System(output, stages, common.of_commands)
        system.train(parts, made_by, **_words(data, text), **TRAINING.options_for(training), seed=common.seed)
        for name, one in parts.judged.items():
            system.translate(BEFORE, name, one)
        for method, settings in (system.methods | tuning.methods).items():
            system.tune(method, parts.tuning_set, settings, common.seed)
            for name, one in parts.judged.items():
                system.translate(method, name, one)
        target = text.processing.target
        results = {name: system.judge(name, one, target) for name, one in parts.judged.items()}
        final = system.choose(results)
        finished = finished_run(system, parts, results, final, target)
        write_atomically(output / "report.html", report_page(finished))
    lines = list(unknown_lines(finished.unknown))
    lines += table_lines(results, [BEFORE, *system.methods], final, system.tuned_model)
    lines += few_sentences(parts.tests)
    print(*lines, *([] if common.quiet else [f"{output / 'report.html'} shows more"]), sep="\n")


def _check(data: SystemData, text: TextOptions, training: TrainSettings) -> None:
    """Raises BadParameter for settings that contradict each other, and FormatError or OSError for files that
    cannot be used, before the first step."""
    with usage():
        training.model_copy(update={"text": text.processing}).check(data.inputs)
    data.inputs.check()
    for model in MODELS:
        check_output(data.output / model)


def _checksums(
    data: SystemData, sets: Mapping[str, SetFiles | None], names: Path | None
) -> dict[str, list[str]]:
    """Returns the checksums of all input files."""
    paths = {"source": [data.source], "target": [data.target], "mono": data.mono or []}
    paths |= {name: [one.source, *one.references] for name, one in sets.items() if one is not None}
    paths |= {"dictionary": list(data.dictionary or ()), "lm": data.lm or []}
    paths["names"] = [names] if names else []
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
