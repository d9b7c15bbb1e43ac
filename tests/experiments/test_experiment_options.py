"""Arguments that `hiero experiment` passes to laboratories: sets with their names, options, and origin."""

from __future__ import annotations

from pathlib import Path

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


def test_experiments(files: Path, tmp_path: Path) -> None:
    """Sets have the names of the configuration, or those of files; the origin has the model's weights, and
    identifies all other files."""
    links = f'alignments = ["{files}/links"]'
    command = (
        "experiment",
        "zhai2015",
        configuration(files, tmp_path, "seed = 4", links),
        "-o",
        tmp_path / "o",
    )
    handed_over = handed(experiment, "Zhai2015", *command, "--threads", 2)
    assert [one.name for one in handed_over["tests"]] == ["some", "dev"] and handed_over[
        "tuning"
    ].name == "dev"
    assert (
        handed_over["tuning"].links is not None
        and handed_over["threads"] == 2
        and handed_over["options"].seed == 4
    )
    origin = handed_over["origin"]
    assert origin["weights"] == hiero.Model.load(files / "model").weights
    write(tmp_path / "links", ["0-0", "0-0"])
    other = configuration(files, tmp_path, "seed = 4", f'alignments = ["{tmp_path}/links"]')
    changed = handed(experiment, "Zhai2015", "experiment", "zhai2015", other, "-o", tmp_path / "o")["origin"]
    assert {name for name in origin if origin[name] != changed[name]} == {"alignments"}

    bitext = (
        '[bitext]\nsource = "s"\ntarget = "t"\ndictionary = ["ds", "dt"]\nmono = ["m"]\nalignment = "links"\n'
    )
    configured = configuration(files, tmp_path, bitext)
    text = configured.read_text()
    configured.write_text(text.replace(bitext, "") + bitext)
    handed_over = handed(experiment, "Li2009", "experiment", "li2009", configured, "-o", tmp_path / "o")
    inputs = handed_over["trained"].inputs
    paths = (inputs.source, inputs.target, *inputs.dictionary, *inputs.mono, inputs.alignment)
    assert list(paths) == [tmp_path / name for name in ("s", "t", "ds", "dt", "m", "links")]
    assert handed_over["trained"].directory == files / "model"

    held_out = f'[held_out]\nname = "kept"\nsource = "{files}/out.fr"\nreferences = ["{files}/out.en"]\n'
    configured.write_text(text.replace(bitext, "").replace('name = "some"\n', 'name = "other"\n') + held_out)
    handed_over = handed(
        experiment, "Chiang2008", "experiment", "chiang2008", configured, "-o", tmp_path / "o"
    )
    assert (handed_over["held_out"].name, [one.name for one in handed_over["tests"]]) == (
        "kept",
        ["other", "dev"],
    )

    sets = (
        "--source",
        files / "dev.fr",
        "--references",
        files / "dev.en",
        "--test-source",
        files / "out.fr",
    )
    more = (
        "--test-references",
        files / "out.en",
        "-o",
        tmp_path / "o",
        "--seed",
        3,
        "--decodings",
        9,
    )
    handed_over = handed(
        experiment.cettolo,
        "Cettolo2004",
        "experiment",
        "cettolo2004",
        files / "model",
        *sets,
        *more,
        "--threads",
        2,
    )
    assert (handed_over["options"].seed, handed_over["options"].decodings, handed_over["threads"]) == (
        3,
        9,
        2,
    )
    assert handed_over["origin"]["weights"] == hiero.Model.load(files / "model").weights
    assert [len(one.sentences) for one in (handed_over["tuning"], *handed_over["tests"])] == [2, 1]
