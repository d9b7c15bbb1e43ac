"""Arguments that `hiero experiment` passes to laboratories: sets with their names, options, and origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hiero
from hiero.cli import experiment
from support.commands import handed
from support.files import write


def configuration(files: Path, tmp_path: Path, more: str = "", aligned: str = "") -> Path:
    text = (
        f'model = "{files}/model"\ntokens = true\n{more}\n[tuning]\nsource = "{files}/dev.fr"\n'
        f'references = ["{files}/dev.en"]\n{aligned}\n[[test]]\nname = "some"\nsource = "{files}/out.fr"\n'
        f'references = ["{files}/out.en"]\n'
        f'[[test]]\nsource = "{files}/dev.fr"\nreferences = ["{files}/dev.en1"]\n'
    )
    return write(tmp_path / "experiment.toml", text.splitlines())


def laboratory(name: str, *words: object) -> dict[str, Any]:
    """Returns the arguments that a command hands to its laboratory, by their names."""
    module = experiment.cettolo if name == "Cettolo2004" else experiment
    return handed(module, name, "experiment", name.lower(), *words, "--threads", 2)


def test_zhai2015(files: Path, tmp_path: Path) -> None:
    """Sets have the names of the configuration, or those of files; the origin has the model's weights, and
    identifies the files of word links."""
    links = f'alignments = ["{files}/links"]'
    output = ("-o", tmp_path / "o")
    first = laboratory("Zhai2015", configuration(files, tmp_path, "seed = 4", links), *output)
    assert [one.name for one in first["tests"]] == ["some", "dev"] and first["tuning"].name == "dev"
    assert (first["threads"], first["folder"], first["options"].seed) == (2, tmp_path / "o", 4)
    assert first["tuning"].links is not None
    model = hiero.Model.load(files / "model")
    assert first["origin"]["weights"] == model.weights
    assert first["origin"]["decoding"]["pop_limit"] == model.settings.pop_limit
    write(tmp_path / "links", ["0-0", "0-0"])
    links = f'alignments = ["{tmp_path}/links"]'
    other = laboratory("Zhai2015", configuration(files, tmp_path, "seed = 4", links), *output)
    origins = first["origin"], other["origin"]
    assert {name for name in origins[0] if origins[0][name] != origins[1][name]} == {"alignments"}


def test_li2009(files: Path, tmp_path: Path) -> None:
    """The bitext's files are relative to the configuration."""
    bitext = (
        '[bitext]\nsource = "s"\ntarget = "t"\ndictionary = ["ds", "dt"]\nmono = ["m"]\nalignment = "links"\n'
    )
    configured = configuration(files, tmp_path, "k = 7")
    configured.write_text(configured.read_text() + bitext)
    arguments = laboratory("Li2009", configured, "-o", tmp_path / "o")
    assert (arguments["threads"], arguments["folder"], arguments["options"].k) == (2, tmp_path / "o", 7)
    inputs = arguments["trained"].inputs
    paths = (inputs.source, inputs.target, *inputs.dictionary, *inputs.mono, inputs.alignment)
    assert list(paths) == [tmp_path / name for name in ("s", "t", "ds", "dt", "m", "links")]
    assert arguments["trained"].directory == files / "model"
    assert [one.name for one in (arguments["tuning"], *arguments["tests"])] == ["dev", "some", "dev"]


def test_chiang2008(files: Path, tmp_path: Path) -> None:
    held_out = f'[held_out]\nname = "kept"\nsource = "{files}/out.fr"\nreferences = ["{files}/out.en"]\n'
    configured = configuration(files, tmp_path, "sentence = 1")
    configured.write_text(configured.read_text().replace('name = "some"\n', 'name = "other"\n') + held_out)
    arguments = laboratory("Chiang2008", configured, "-o", tmp_path / "o")
    assert (arguments["threads"], arguments["folder"]) == (2, tmp_path / "o")
    assert arguments["options"].sentence == 1
    assert arguments["held_out"].name == "kept"
    assert [one.name for one in (arguments["tuning"], *arguments["tests"])] == ["dev", "other", "dev"]


def test_cettolo2004(files: Path, tmp_path: Path) -> None:
    sets = (
        *("--source", files / "dev.fr", "--references", files / "dev.en"),
        *("--test-source", files / "out.fr", "--test-references", files / "out.en"),
    )
    more = ("-o", tmp_path / "o", "--seed", 3, "--decodings", 9)
    arguments = laboratory("Cettolo2004", files / "model", *sets, *more)
    assert (arguments["options"].seed, arguments["options"].decodings) == (3, 9)
    assert (arguments["threads"], arguments["folder"]) == (2, tmp_path / "o")
    assert arguments["origin"]["weights"] == hiero.Model.load(files / "model").weights
    assert [len(one.sentences) for one in (arguments["tuning"], *arguments["tests"])] == [2, 1]
