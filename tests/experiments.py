"""Experiments that have a configuration, for the tests of each."""

from __future__ import annotations

from pathlib import Path

from in_process import call
from test_cli import one_error_line


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
