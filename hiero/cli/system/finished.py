"""The finished run that the report of `hiero run` is made from."""

from __future__ import annotations

from collections.abc import Mapping

from hiero import Decoder, Model, read_weights
from hiero.base.json_files import read_json
from hiero.cli.io.results import Result
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import Evaluation
from hiero.cli.report.run import FinishedRun
from hiero.cli.system.data import TUNE, TUNING, RunData, pairs
from hiero.cli.system.system import BEFORE, System, bleu_tokenizer
from hiero.decode.model_directory import WEIGHTS_FILE
from hiero.text import TextSide
from hiero.train.problems import PROBLEM_COUNTS, ProblemReport


def finished_run(
    system: System, data: RunData, results: Mapping[str, list[Result]], final: str, target: TextSide
) -> FinishedRun:
    """Returns a run that is done: ``results`` are those of each set, ``final`` is the system whose weights
    the final model has, and ``target`` the text of translations. Raises FormatError, OSError."""
    names = [BEFORE, *system.methods]
    tests = {
        name: Evaluation.read(
            results[name],
            files.source,
            files.references,
            {each: system.translations(each, name, files) for each in names},
            target,
            bleu_tokenizer(target),
        )
        for name, files in data.tests.items()
    }
    before, decoder = Model.load(system.model).weights, Decoder(Model.load(system.tuned_model))
    tuned = {method: system.tuning(method) for method in system.methods}
    weights = {method: {**before, **read_weights(folder / WEIGHTS_FILE)} for method, folder in tuned.items()}
    training = system.folder / "model.train"
    counts = training / PROBLEM_COUNTS
    return FinishedRun(
        title=system.folder.resolve().name,
        tests=tests,
        weights={BEFORE: before, **weights},
        tuning=tuned,
        final=final,
        model=system.tuned_model,
        training=training,
        problems=read_json(counts, ProblemReport) if counts.exists() else ProblemReport(),
        unknown={
            TUNING if name == TUNE else name: UnknownWords.of(decoder, files.lines()[0])
            for name, files in data.sets.items()
        },
        pairs=pairs(system.folder / "sets"),
        seconds=system.stages.seconds,
        peak_megabytes=system.stages.peak_megabytes,
        commands=system.stages.commands,
    )
