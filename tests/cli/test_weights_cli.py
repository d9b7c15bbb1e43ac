"""Tuned weights in models: put there by tuning or by command, remembered, and kept by training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero import read_weights
from support.commands import call, one_error_line
from support.files import head, write


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, demo: Path) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    for side in ("zh", "en"):
        write(folder / f"train.{side}", head(demo / f"train.{side}", 150))
    write(folder / "links", head(demo / "train.align", 150))
    assert call(*train_command(folder)).returncode == 0
    return folder


def train_command(folder: Path, *more: object) -> tuple[object, ...]:
    sides = ("--source", folder / "train.zh", "--target", folder / "train.en")
    return (
        "hiero",
        "train",
        *sides,
        "--alignment",
        folder / "links",
        "-o",
        folder / "model",
        "--quiet",
        *more,
    )


def made_from(model: Path) -> dict[str, Any]:
    return dict(json.loads((model / "manifest.json").read_text())["made_from"])


def test_tuning_makes_a_model(trained: Path, demo: Path, tmp_path: Path) -> None:
    source, references = tmp_path / "dev.zh", tmp_path / "dev.en"
    write(source, head(demo / "dev.zh", 20))
    write(references, head(demo / "dev.en.0", 20))
    sets = ("--source", source, "--references", references)
    own = hiero.Model.load(trained / "model").settings.span_limit
    options = ("--method", "pro", "-k", 20, "--iterations", 2, "--quiet", "-o", tmp_path / "tuned")
    options += ("--span-limit", own)
    done = call("hiero", "tune", trained / "model", *sets, *options, "--save", tmp_path / "model")
    assert (done.returncode, done.stderr) == (0, b"")
    tuned = read_weights(tmp_path / "tuned" / "weights.txt")
    model = hiero.Model.load(tmp_path / "model")
    assert model.weights == tuned and call("hiero", "check", tmp_path / "model").returncode == 0
    origin = made_from(tmp_path / "model")
    assert origin["settings"] == made_from(trained / "model")["settings"]
    assert origin["weights"] == json.loads((tmp_path / "tuned" / "tuned.json").read_text())
    said = origin["weights"]
    assert (said["method"], said["sentences"], said["source"]) == ("pro", 20, "dev.zh")
    assert f"{said['before']:.2f} before, {said['score']:.2f} at" in done.stdout.decode()
    assert f"temperature {said['confidence_temperature']:.2f}: " in done.stdout.decode()
    assert said["confidence_temperature"] != 1 and sum(words for words, *_ in said["calibration"]) > 100
    assert model.settings.confidence_temperature == said["confidence_temperature"]
    # The tables are shared, not copied.
    shared = [(path / "rules0.hrt").stat().st_ino for path in (trained / "model", tmp_path / "model")]
    assert shared[0] == shared[1]
    put = call("hiero", "weights", trained / "model", tmp_path / "tuned", "-o", tmp_path / "put")
    assert (put.returncode, put.stdout, put.stderr) == (0, b"", b"")
    for name in ("manifest.json", "weights.txt"):
        assert (tmp_path / "put" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
    # A model of its own weights is tuned as the same model.
    again = call(
        "hiero", "tune", tmp_path / "model", *sets, *options, "--weights", trained / "model/weights.txt"
    )
    assert again.returncode == 0 and again.stdout == done.stdout


def test_weights_into_a_model(trained: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    hiero.Model.load(trained / "model").save(model)
    before = read_weights(model / "weights.txt")
    write(tmp_path / "some.txt", ["LM0 0.75", "WordPenalty -0.5"])
    assert call("hiero", "weights", model, tmp_path / "some.txt").returncode == 0
    assert read_weights(model / "weights.txt") == {**before, "LM0": 0.75, "WordPenalty": -0.5}
    assert call("hiero", "check", model).returncode == 0
    assert made_from(model)["weights"]["file"] == "some.txt"
    write(tmp_path / "some.txt", ["None 1"])
    message = one_error_line(call("hiero", "weights", model, tmp_path / "some.txt"), 1)
    assert "None" in message and call("hiero", "check", model).returncode == 0
    # Other weights are of another origin.
    assert "weights" not in hiero.Model.load(model).with_weights(before).made_from
    assert "weights" not in hiero.Model.load(model, weights={"LM0": 1.0}).made_from


def test_weights_given_are_of_the_features_they_name(trained: Path, tmp_path: Path) -> None:
    write(tmp_path / "some.txt", ["LM0 0.75"])
    loaded = hiero.Model.load(trained / "model", weights=tmp_path / "some.txt")
    own = hiero.Model.load(trained / "model").weights
    assert loaded.weights == {**own, "LM0": 0.75} and own["LM0"] == 0.5


def test_training_again_keeps_weights(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    default = read_weights(tmp_path / "model" / "weights.txt")
    write(tmp_path / "some.txt", ["LM0 0.75"])
    assert call("hiero", "weights", tmp_path / "model", tmp_path / "some.txt").returncode == 0
    tuned = hiero.Model.load(tmp_path / "model")
    tuned.with_settings(span_limit=3).with_weights({}, {"span_limit": 3}).save(tmp_path / "model")
    put = (tmp_path / "model" / "manifest.json").read_bytes()
    again = call(*(part for part in train_command(tmp_path) if part != "--quiet"))
    assert again.returncode == 0 and b"model: keeps the weights that were set after training" in again.stderr
    assert (tmp_path / "model" / "manifest.json").read_bytes() == put
    third = call(*(part for part in train_command(tmp_path) if part != "--quiet"))
    assert all(line.endswith(b"done before") for line in third.stderr.splitlines())
    # Other rules, the same features.
    assert call(*train_command(tmp_path, "--max-phrase", 5)).returncode == 0
    assert read_weights(tmp_path / "model" / "weights.txt") == {**default, "LM0": 0.75}
    mono = call(*train_command(tmp_path, "--mono", tmp_path / "train.en"))
    assert mono.returncode == 0 and b"warning: the tuned weights are dropped" in mono.stderr
    assert read_weights(tmp_path / "model" / "weights.txt")["LM0"] == 0.25
