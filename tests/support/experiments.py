"""Experiments that have a configuration, for the tests of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hiero.experiments.laboratory import ExperimentOptions, Laboratory
from hiero.tune import ModelDecoder
from support.commands import call, one_error_line


def check_refused(name: str, folder: Path, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    """An experiment on the files of a folder says what is wrong once its configuration is changed, and begins
    nothing."""
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


def check_unused(
    laboratory: Callable[[Any], Laboratory[Any, Any]],
    options: ExperimentOptions,
    changes: Mapping[str, Any],
    systems: Sequence[Any],
) -> None:
    """Checks that options which a laboratory calls unused by a system change nothing of how it is tuned, and
    others something; ``changes`` are options one of which is changed at a time."""

    def trial(own: Laboratory[Any, Any], system: Any) -> object:
        found = own.trial(system)
        assert isinstance(found.tuning, ModelDecoder)
        decoder = found.tuning._decoder
        return (
            *(found.options.identity(), own.start(found, 1), list(found.free), len(found.tuning._sentences)),
            *(decoder.settings, found.translating.settings, repr(decoder.model.local_features)),
        )

    plain = laboratory(options)
    before = {system: trial(plain, system) for system in systems}
    for name, value in changes.items():
        changed = laboratory(type(options).model_validate({**options.model_dump(), name: value}))
        same = {system.name: trial(changed, system) == before[system] for system in systems}
        assert same == {system.name: name in plain.unused(system) for system in systems}, name
