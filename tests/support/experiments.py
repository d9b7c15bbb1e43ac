"""Checks that the tests of several experiments share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hiero.experiments.laboratory import ExperimentOptions, Laboratory
from hiero.experiments.systems import System
from support.commands import call, one_error_line


def check_refused(name: str, folder: Path, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    """Checks that an experiment on the files of a folder refuses a changed configuration with a message, and
    begins nothing."""
    for file in ("model", *(path.name for path in folder.glob("*.*"))):
        (tmp_path / file).symlink_to(folder / file)
    configuration = tmp_path / "experiment.toml"
    text = configuration.read_text()
    assert change[0] in text
    configuration.unlink()
    configuration.write_text(text.replace(*change))
    failed = call("hiero", "experiment", name, configuration, "-o", tmp_path / "out")
    assert message in one_error_line(failed, 1)
    assert not (tmp_path / "out" / "experiment.json").exists()


def check_relevant_options(
    laboratory: Callable[[Any], Laboratory[Any]],
    options: ExperimentOptions,
    changes: Mapping[str, Any],
    systems: Sequence[System],
) -> None:
    """Checks that an option changes how a system is tuned if the system's results depend on it, and only
    then; ``changes`` are options one of which is changed at a time."""

    def trial(one: Laboratory[Any], system: System) -> object:
        trial = one.trial(system)
        tuning = trial.tuning or one.tuning
        decoder = trial.tuning_decoder or trial.decoder
        return (
            *(trial.options.identity(), one.start(trial, 1), trial.tuned, len(tuning.sentences)),
            *(decoder.settings, trial.decoder.settings, repr(decoder.model.local_features)),
            *(decoder.model.log_base, (trial.metric or one.bleu(tuning)).signature),
        )

    plain = laboratory(options)
    before = {system: trial(plain, system) for system in systems}
    for name, value in changes.items():
        changed = laboratory(type(options).model_validate({**options.model_dump(), name: value}))
        same = {system.name: trial(changed, system) == before[system] for system in systems}
        relevant = {system.name: {*plain.shared_options, *system.options} for system in systems}
        assert same == {system.name: name not in relevant[system.name] for system in systems}, name
