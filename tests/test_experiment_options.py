"""Arguments that `hiero experiment` passes to the experiments: sets by their names, options, and what a run
is of."""

from __future__ import annotations

from pathlib import Path

from in_process import handed
from test_options_passed_on import folder  # noqa: F401
from test_training import write

import hiero
from hiero.cli import experiment


def configuration(folder: Path, tmp_path: Path, more: str = "", aligned: str = "") -> Path:  # noqa: F811
    text = (
        f'model = "{folder}/model"\ntokens = true\n{more}\n[tuning]\nsource = "{folder}/dev.fr"\n'
        f'references = ["{folder}/dev.en"]\n{aligned}\n[[test]]\nname = "some"\nsource = "{folder}/out.fr"\n'
        f'references = ["{folder}/out.en"]\n'
        f'[[test]]\nsource = "{folder}/dev.fr"\nreferences = ["{folder}/dev.en1"]\n'
    )
    return write(tmp_path / "experiment.toml", text.splitlines())


def test_experiments(folder: Path, tmp_path: Path) -> None:  # noqa: F811
    """Sets have the names that are given, or those of files; the origin tells what weights the model has, and
    what else a run is of."""
    links = f'alignments = ["{folder}/links"]'
    command = (
        "experiment",
        "zhai2015",
        configuration(folder, tmp_path, "seed = 4", links),
        "-o",
        tmp_path / "o",
    )
    found = handed(experiment, "run_zhai2015", *command, "--threads", 2)
    assert [one.name for one in found["tests"]] == ["some", "dev"] and found["tuning"].own.name == "dev"
    assert found["tuning"].alignments is not None and found["threads"] == 2 and found["options"].seed == 4
    origin = found["origin"]
    assert origin["weights"] == hiero.Model.load(folder / "model").weights
    write(tmp_path / "links", ["0-0", "0-0"])
    other = configuration(folder, tmp_path, "seed = 4", f'alignments = ["{tmp_path}/links"]')
    changed = handed(experiment, "run_zhai2015", "experiment", "zhai2015", other, "-o", tmp_path / "o")[
        "origin"
    ]
    assert {name for name in origin if origin[name] != changed[name]} == {"alignments"}

    bitext = (
        '[bitext]\nsource = "s"\ntarget = "t"\ndictionary = ["ds", "dt"]\nmono = ["m"]\nalignment = "links"\n'
    )
    own = configuration(folder, tmp_path, bitext)
    text = own.read_text()
    own.write_text(text.replace(bitext, "") + bitext)
    found = handed(experiment, "run_li2009", "experiment", "li2009", own, "-o", tmp_path / "o")
    inputs = found["trained"].inputs
    paths = (inputs.source, inputs.target, *inputs.dictionary, *inputs.mono, inputs.alignment)
    assert list(paths) == [tmp_path / name for name in ("s", "t", "ds", "dt", "m", "links")]
    assert found["trained"].directory == folder / "model"

    held_out = f'[held_out]\nname = "kept"\nsource = "{folder}/out.fr"\nreferences = ["{folder}/out.en"]\n'
    own.write_text(text.replace(bitext, "").replace('name = "some"\n', 'name = "other"\n') + held_out)
    found = handed(experiment, "run_chiang2008", "experiment", "chiang2008", own, "-o", tmp_path / "o")
    assert (found["held_out"].name, [one.name for one in found["tests"]]) == ("kept", ["other", "dev"])

    sets = (
        "--source",
        folder / "dev.fr",
        "--references",
        folder / "dev.en",
        "--test-source",
        folder / "out.fr",
    )
    more = ("--test-references", folder / "out.en", "-o", tmp_path / "o", "--seed", 3, "--decodings", 9)
    found = handed(
        experiment, "run", "experiment", "cettolo2004", folder / "model", *sets, *more, "--threads", 2
    )
    assert (found["options"].seed, found["options"].decodings, found["threads"]) == (3, 9, 2)
    assert found["origin"]["weights"] == hiero.Model.load(folder / "model").weights
    assert [len(found[name].sentences) for name in ("tuning", "test")] == [2, 1]
