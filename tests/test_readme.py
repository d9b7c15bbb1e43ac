"""The README's blocks: console sessions and Python sessions print what it says they print.

The installation in its two commands is what `.ci/run` and a reader run.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def blocks(kind: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo corpus and the model that the first session trains."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "data" / "demo", folder / "data" / "demo")
    assert check_sessions(blocks("console")[0], folder) >= 1
    return folder


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


def test_console_blocks(workspace: Path) -> None:
    assert sum(check_sessions(block, workspace) for block in blocks("console")) >= 6


def test_python_blocks(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    text = "\n".join(blocks("pycon"))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(text, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 10
    output: list[str] = []
    runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_demo_command(workspace: Path) -> None:
    (line,) = re.findall(r"<!-- demo -->\n```sh\n(.*)\n```", (ROOT / "README.md").read_text())
    setup, *steps = line.split(" && ")
    assert (setup, steps[0]) == ("python3 -m venv .venv", ".venv/bin/pip install -q .")
    commands = " && ".join(steps[1:]).replace(".venv/bin", str(Path(sys.executable).parent))
    done = subprocess.run(commands, shell=True, capture_output=True, text=True, cwd=workspace)
    assert done.returncode == 0, done.stderr
    tuning, before, after = (
        re.search(rf"^{name} +(\S+)(.*)$", done.stdout, re.MULTILINE)
        for name in ("BLEU", r"before\.en", r"after\.en")
    )
    assert tuning and before and after, done.stdout
    gain = re.match(r" before, (\S+) at iteration", tuning[2])
    assert gain and float(gain[1]) > float(tuning[1]) + 1
    assert 65 < float(before[1]) < 85 and float(before[1]) - 1 < float(after[1]) < 85
