"""Tests of NumPy numbers in files: they are read again as the same plain numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import FormatError, read_weights
from hiero.base.weights import write_weights
from hiero.evaluate import Bleu
from hiero.experiments.cettolo2004 import Cettolo2004, Cettolo2004Options
from hiero.experiments.systems import LabelledSet
from hiero.features.distortion import DistortionStatistics
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter
from hiero.tune import TuneOptions, tune
from support.paths import FRENCH
from support.synthetic_decoder import solvable

KINDS = (float, int, np.float64, np.float32, np.float16, np.int64, np.bool_, np.array)


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    french = FRENCH
    return hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")


def test_weights(tmp_path: Path) -> None:
    weights = {f"{kind.__name__}{value}": kind(value) for kind in KINDS for value in (0, 0.1, -3e-7, 1e4)}
    write_weights(tmp_path / "w", weights)
    loaded = read_weights(tmp_path / "w")
    assert list(loaded) == list(weights)
    assert all(loaded[name] == float(weight) for name, weight in weights.items())
    assert "np" not in (tmp_path / "w").read_text()
    for bad in (np.nan, np.float32("inf"), -np.inf):
        with pytest.raises(FormatError, match="weight of A is not finite"):
            write_weights(tmp_path / "w", {"A": bad})
    assert read_weights(tmp_path / "w") == loaded


def test_models(model: hiero.Model, tmp_path: Path) -> None:
    weights = dict(zip(model.feature_names, model.weight_vector(model.weights), strict=True))
    assert {type(weight) for weight in weights.values()} == {np.float64}
    settings = hiero.DecodingSettings(pop_limit=np.int64(7), beam_threshold=np.float32(2.5))  # type: ignore[arg-type]
    counts = np.arange(10)
    distortion = DistortionStatistics(counts, counts[::-1])  # type: ignore[arg-type]

    def make_model(made_from: dict[str, object]) -> hiero.Model:
        parts: dict[str, Any] = {"settings": settings, "distortion": distortion, "made_from": made_from}
        return hiero.Model(model.tables, model.lms, weights, **parts)

    make_model({"seed": np.int64(1), "share": np.float32(0.5), "raw": np.bool_(True)}).save(tmp_path / "m")
    again = hiero.Model.load(tmp_path / "m")
    assert again.weights == weights and again.settings == settings
    assert (again.settings.pop_limit, again.settings.beam_threshold) == (7, 2.5)
    assert again.distortion == DistortionStatistics(list(range(10)), list(range(10))[::-1])
    written = json.loads((tmp_path / "m" / "manifest.json").read_text())["made_from"]
    assert written == {"seed": 1, "share": 0.5, "raw": True}
    with pytest.raises(TypeError, match="object is no JSON value"):
        make_model({"what": object()}).save(tmp_path / "n")


def test_archives_of_forests(tmp_path: Path) -> None:
    with ForestWriter(tmp_path / "f", {"beam": np.float32(0.25), "k": np.int32(3)}) as writer:
        writer.write(NO_FOREST)
    with ForestFile(tmp_path / "f") as archive:
        assert (archive.about["beam"], archive.about["k"]) == (0.25, 3)


def test_weights_of_models_in_archives(model: hiero.Model, tmp_path: Path) -> None:
    with ForestWriter(tmp_path / "f", {"weights": model.weights}) as writer:
        writer.write(NO_FOREST)
    with ForestFile(tmp_path / "f") as archive:
        assert archive.weights == model.weights


def test_records_of_runs(tmp_path: Path) -> None:
    def run(number: type[float], whole: type[int]) -> hiero.tune.TuneResult:
        decoder, references = solvable(1, (1.0, -0.5, 2.0, 0.25), sentences=5)
        options = TuneOptions(
            seed=whole(3), k=whole(5), iterations=whole(2), bounds={"f1": (number(-2), number(2))}
        )
        start = {f"f{k}": number(0.5) for k in range(4)}
        origin = {"pop_limit": whole(50)}
        return tune(decoder, Bleu(references), start, tmp_path, options, origin=origin)

    once = run(float, int)
    record = (tmp_path / "run.json").read_bytes()
    # The same numbers of other types continue the same run.
    for number, whole in ((np.float64, np.int64), (np.float32, np.uint8)):
        assert run(number, whole) == once  # type: ignore[arg-type]
        assert (tmp_path / "run.json").read_bytes() == record


def test_working_points(model: hiero.Model, french: Path, tmp_path: Path) -> None:
    lines = (french / "input.fr").read_text().splitlines()[:3]
    texts = [[result.text] for result in hiero.Decoder(model).translate_batch(lines)]
    options = Cettolo2004Options(
        pop_limit=np.int64(5),  # type: ignore[arg-type]
        scales=tuple(np.float32([0.5, 1])),
        decodings=np.int32(1),  # type: ignore[arg-type]
    )
    labelled_set = LabelledSet("test", [hiero.Sentence(line) for line in lines], texts)
    laboratory = Cettolo2004(
        model=model, tuning=labelled_set, tests=[labelled_set], folder=tmp_path, options=options
    )
    result = laboratory.run()
    rows = [line.split("\t") for line in (tmp_path / "curves.tsv").read_text().splitlines()[1:]]
    assert [float(row[1]) for row in rows] == [0.5, 1.0] * 5
    table = (tmp_path / "table.txt").read_bytes()
    assert laboratory.run() == result and (tmp_path / "table.txt").read_bytes() == table
