"""The README's blocks: console sessions and Python sessions print what it says they print.

Its two commands, which install, are what `.ci/run` and a reader run.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def blocks(kind: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the demo in it, the installed commands first on the path."""
    shutil.copytree(ROOT / "data" / "demo", tmp_path / "data" / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path


def test_console_blocks(workspace: Path) -> None:
    sessions = 0
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), command
            assert done.stdout == expected, command
            sessions += 1
    assert sessions >= 5


def test_python_blocks(workspace: Path) -> None:
    text = "\n".join(blocks("pycon"))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    test = parser.get_doctest(text, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 10
    output: list[str] = []
    runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)
