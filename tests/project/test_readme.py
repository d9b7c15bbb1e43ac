"""The README and pages that go on with what its first command makes: sessions print what the pages say, and
the single steps of docs/training-steps.md make the model that one command makes.

The installation in the README's two commands is what `.ci/run` and a reader run.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.paths import ROOT

BIN = Path(sys.executable).parent


def readme_commands() -> Callable[[str], list[list[str]]]:
    """Loads the function that finds commands in the README, which `.ci/run` uses too."""
    spec = importlib.util.spec_from_file_location("readme", ROOT / ".ci" / "readme.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.commands  # type: ignore[no-any-return]


def blocks(kind: str, page: str) -> list[str]:
    """Returns the fenced blocks of a kind in a page."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run_in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder, with installed commands first on the path."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    command = command.replace(".venv/bin/", "")
    return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, env=environment)


def check_sessions(page: str, folder: Path) -> int:
    """Runs the console sessions of a page and compares all they print; returns the number of commands."""
    count = 0
    for block in blocks("console", page):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            done = run_in_shell(f"exec 2>&1\n{command}", folder)
            # Which span limit is chosen is said with the time that each takes.
            lines = [
                line for line in done.stdout.splitlines(True) if not line.startswith("hiero: span limit")
            ]
            assert (done.returncode, "".join(lines)) == (0, expected), command
            count += 1
    return count


def check_demo(folder: Path) -> None:
    """Runs the first of the two commands, without the installation; its tuning has to pay."""
    ((line,),) = readme_commands()("demo")
    setup, install, run = line.split(" && ")
    assert (setup, install) == ("python3 -m venv .venv", ".venv/bin/pip install .")
    done = run_in_shell(run, folder)
    assert done.returncode == 0, done.stderr
    tuning = re.search(r"^BLEU (\S+) before, (\S+) at iteration", done.stdout, re.MULTILINE)
    test = re.search(r"^before +(\S+) .*\nmert \* +(\S+) ", done.stdout, re.MULTILINE)
    assert tuning and test, done.stdout
    before, after = map(float, tuning.groups())
    assert after > before + 1
    before, after = map(float, test.groups())
    assert 65 < before < 85 and before - 1 < after < 85
    assert (folder / "demo" / "report.html").stat().st_size > 10_000


def check_training_by_hand(folder: Path) -> None:
    """Compares the model of single steps with that of one command, which docs/training-steps.md has made."""
    for file in (
        "rules0.hrt",
        "rules0.statics",
        "lm0.binary",
        "weights.txt",
        "model.toml",
        "distortion.json",
    ):
        one, other = (folder / name / file for name in ("at-once", "by-hand"))
        assert one.read_bytes() == other.read_bytes()


def check_python(page: str, folder: Path) -> int:
    """Runs the Python sessions of a page as one; returns how many statements there are."""
    text = "\n".join(blocks("pycon", page))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(text, {}, page, page, 0)
    output: list[str] = []
    with contextlib.chdir(folder):
        runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)
    return len(test.examples)


@pytest.mark.slow
def test_readme_and_tour(tmp_path: Path) -> None:
    """One test, since all goes on with what the first command makes."""
    shutil.copytree(ROOT / "data" / "demo", tmp_path / "data" / "demo")
    check_demo(tmp_path)
    assert check_python("README.md", tmp_path) >= 8
    assert check_sessions("README.md", tmp_path) >= 1
    assert check_sessions("docs/tour.md", tmp_path) >= 12
    assert check_python("docs/tour.md", tmp_path) >= 15
    assert check_sessions("docs/training-steps.md", tmp_path) >= 18
    check_training_by_hand(tmp_path)
    assert check_sessions("docs/what-now.md", tmp_path) >= 15
    assert check_sessions("docs/from-moses.md", tmp_path) >= 5


def test_readme_is_short_and_its_commands_are_found() -> None:
    commands = readme_commands()
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110
    assert [len(commands(name)) for name in ("demo", "tests", "own data")] == [1, 1, 2]
    assert commands("tests")[0][0].endswith(".venv/bin/pytest")
    with pytest.raises(KeyError):
        commands("nonsense")
