"""Tests of what `hiero train` leaves alone: files and directories that are not its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import hiero
from hiero.train import TrainInputs
from support.commands import call
from support.files import write
from support.training_command import one_error_line, train_command


def test_nothing_but_a_model_is_replaced(
    inputs: TrainInputs, trained_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis").mkdir()
    write(tmp_path / "thesis" / "chapter", ["years of work"])
    write(tmp_path / "file", ["more"])
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("thesis", "file", "link", ".", ".."):
        done = call(*train_command(inputs, Path(name), "--quiet"))
        assert one_error_line(done) == f"hiero: {name}: exists and is not a model directory"
    with pytest.raises(FileExistsError):
        hiero.Model.load(trained_model).save(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter").read_text() == "years of work\n"
    assert (tmp_path / "file").read_text() == "more\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "thesis"]
    (tmp_path / "model").mkdir()
    hiero.Model.load(trained_model).save(tmp_path / "model")
    hiero.Model.load(tmp_path / "model").save(tmp_path / "model")


def test_a_folder_of_other_files_is_left_alone(inputs: TrainInputs, tmp_path: Path) -> None:
    (tmp_path / "m.train").mkdir()
    write(tmp_path / "m.train" / ".notes", ["mine"])
    done = call(*train_command(inputs, tmp_path / "m", "--quiet"))
    assert one_error_line(done) == f"hiero: {tmp_path}/m.train: exists and has no steps.json"
    assert [path.name for path in tmp_path.rglob("*")] == ["m.train", ".notes"]
