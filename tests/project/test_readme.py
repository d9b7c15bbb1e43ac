"""The README's blocks: console sessions and Python sessions print what it says they print. And the steps of
training by hand, as docs/training.md has them.

The installation in its two commands is what `.ci/run` and a reader run.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT


def blocks(kind: str, page: str = "README.md") -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def check_sessions(block: str, folder: Path) -> int:
    """Runs the commands of a block, the installed ones first on the path; returns how many."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    sessions = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    for session in sessions:
        command, _, expected = session.partition("\n")
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, cwd=folder, env=environment
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout == expected, command
    return len(sessions)


def check_demo(folder: Path) -> None:
    """Runs the first of the two commands, without the installation; its tuning has to pay."""
    (line,) = re.findall(r"<!-- demo -->\n```sh\n(.*)\n```", (ROOT / "README.md").read_text())
    setup, *steps = line.split(" && ")
    assert (setup, steps[0]) == ("python3 -m venv .venv", ".venv/bin/pip install .")
    commands = " && ".join(steps[1:]).replace(".venv/bin", str(Path(sys.executable).parent))
    done = subprocess.run(commands, shell=True, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    tuning, before, after = (
        re.search(rf"^{name} +(\S+)(.*)$", done.stdout, re.MULTILINE)
        for name in ("BLEU", r"before\.en", r"after\.en")
    )
    assert tuning and before and after, done.stdout
    gain = re.match(r" before, (\S+) at iteration", tuning[2])
    assert gain and float(gain[1]) > float(tuning[1]) + 1
    assert 65 < float(before[1]) < 85 and float(before[1]) - 1 < float(after[1]) < 85


def check_training_by_hand(folder: Path) -> None:
    """The commands of single steps make the model that the first command made, byte for byte."""
    (commands,) = (block for block in blocks("sh", "docs/training.md") if "hiero align" in block)
    by_hand = folder / "by-hand"
    by_hand.mkdir()
    shutil.copytree(folder / "data", by_hand / "data")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(commands, shell=True, check=True, cwd=by_hand, env=environment)
    for file in ("rules0.hrt", "lm0.binary", "weights.txt", "model.toml", "distortion.json"):
        assert (by_hand / "demo-model" / file).read_bytes() == (folder / "demo-model" / file).read_bytes()


def check_python(folder: Path) -> None:
    text = "\n".join(blocks("pycon"))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(text, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 10
    output: list[str] = []
    with contextlib.chdir(folder):
        runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


@pytest.mark.slow
def test_readme(tmp_path: Path) -> None:
    """One test, since the tours go on with what the first command makes."""
    shutil.copytree(ROOT / "data" / "demo", tmp_path / "data" / "demo")
    check_demo(tmp_path)
    assert sum(check_sessions(block, tmp_path) for block in blocks("console")) >= 6
    check_python(tmp_path)
    check_training_by_hand(tmp_path)
