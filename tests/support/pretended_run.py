"""`hiero run` with commands that only pretend: they note their parameters, and write the files that the next
ones look for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hiero.cli import command_named, run
from hiero.cli.io.results import Result, results_json
from hiero.cli.io.results import System as SystemScores
from hiero.cli.io.tuned import Tuned
from hiero.cli.system import stages
from support.commands import call
from support.files import write
from support.paths import FRENCH

Given = list[tuple[str, Mapping[str, Any]]]
Runs = Callable[..., Given]
# The held-out set and the test set are each translated and judged.
STAGES = ["train", "decode", "decode", "tune", "decode", "decode", "eval", "eval", "weights"]


# The file that a command writes last in its directory.
MADE = {
    **{"train": "manifest.json", "features": "manifest.json", "weights": "manifest.json"},
    "tune": "tuned.json",
}
# BLEU of methods on the tuning set and on the held-out set, where that before tuning is 20.
TUNED = {"mert": 40.0, "pro": 50.0, "mira": 30.0}
HELD_OUT = {"mert": 22.0, "pro": 23.0, "mira": 24.0}


def tuning_record(parameters: Mapping[str, Any]) -> str:
    """Returns what `hiero tune` writes about its weights."""
    record = Tuned(
        **{"method": parameters["method"], "metric": "m", "score": TUNED[parameters["method"]]},
        **{"before": 0.0, "held_out": False, "sentences": 1, "source": "s", "references": ["r"]},
    )
    return record.model_dump_json()


def judged(parameters: Mapping[str, Any]) -> str:
    """Returns what `hiero eval` writes about the systems that it compares."""
    systems = [SystemScores("before", 20.0, (19.0, 21.0), 1, 0.0)]
    for path in parameters["compare"]:
        score = HELD_OUT[Path(path).stem]
        systems.append(SystemScores(path, score, (score, score), 1, 0.0, score - 20, 0.01, 0.02))
    results = [Result(metric, "higher", "", "", systems) for metric in ("BLEU", "chrF++")]
    return results_json(results)


# The sentences of the sets, which share one.
NUMBERS = {"tune": (0, 1), "test": (1, 2)}


def run_files(tmp_path: Path) -> Path:
    """Writes a bitext, sets for tuning and testing, and text into a folder, and returns it."""
    for name in ("source", "target"):
        write(tmp_path / name, [f"{name} of pair {n}" for n in range(60)])
    for name in ("tune", "test"):
        write(tmp_path / f"{name}.s", [f"source of pair {n}" for n in NUMBERS[name]])
        for k in range(2):
            write(tmp_path / f"{name}.r{k}", [f"{name} {n} {k}" for n in range(2)])
    write(tmp_path / "mono", ["target of pair 3", "other text"])
    shutil.copyfile(FRENCH / "lm.arpa", tmp_path / "lm")
    for name in ("entries.s", "entries.t"):
        write(tmp_path / name, [f"a word of {name}"])
    return tmp_path


def pretended_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Returns a function that runs `hiero run` on the files of a folder, and returns the commands that it
    ran, with their parameters."""
    given: Given = []
    made = {"tune": tuning_record, "eval": judged}

    class Pretending:
        def __init__(self, name: str) -> None:
            self.name = name

        def main(self, words: Sequence[str], **_: object) -> None:
            parameters = command_named(self.name).make_context(self.name, list(words)).params
            given.append((self.name, parameters))
            path = Path(parameters["output"])
            if self.name in MADE:
                path.mkdir(exist_ok=True, parents=True)
                (path / "model.toml").touch()
                path = path / MADE[self.name]
            path.write_text(made.get(self.name, lambda _: "made")(parameters))

    monkeypatch.setattr(stages, "command_named", Pretending)

    class Finished:
        unknown: Mapping[str, object] = {}

    monkeypatch.setattr(run, "finished_run", lambda *_: Finished())
    monkeypatch.setattr(run, "report_page", lambda _: "page")

    def ran(*words: object, code: int = 0) -> Given:
        given.clear()
        start = ("--source", folder / "source", "--target", folder / "target", "-o", folder / "out")
        done = call("hiero", "run", *start, *words)
        assert done.returncode == code, done
        return list(given)

    return ran


def count_of_lines(path: Path) -> int:
    """Returns the number of lines of a text."""
    return len(path.read_text().splitlines())
