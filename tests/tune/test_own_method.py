"""The user's method of docs/tuning.md: in the loop, in runs that are taken up again, and in commands."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.evaluate import Bleu
from hiero.tune import METHODS, TuneOptions, TuneResult, register, tune
from support.paths import DOCS
from support.synthetic_decoder import solvable
from support.tuning import BEST, START

EXAMPLE = DOCS / "tuning.md"


def example() -> str:
    (code,) = re.findall(
        r"<!-- a method -->\n```python\n(.*?)^```$", EXAMPLE.read_text(), re.DOTALL | re.MULTILINE
    )
    return str(code)


@pytest.fixture
def registered() -> Iterator[None]:
    own = dict(METHODS)
    exec(compile(example(), "docs/tuning.md", "exec"), {"__name__": "docs"})
    yield
    for name in METHODS.keys() - own.keys():
        del METHODS[name]


def run(directory: Path, **settings: object) -> TuneResult:
    decoder, references = solvable(1, BEST)
    return tune(decoder, Bleu(references), START, directory, TuneOptions("my-search", **settings))


def test_it_tunes_and_goes_on(registered: None, tmp_path: Path) -> None:
    result = run(tmp_path / "a", points=30, iterations=6)
    assert result.iterations[result.best].score > result.iterations[0].score + 10
    run(tmp_path / "b", points=30, iterations=3)
    again = run(tmp_path / "b", points=30, iterations=6)
    assert [each.weights for each in again.iterations] == [each.weights for each in result.iterations]
    with pytest.raises(FormatError, match="holds another run"):
        run(tmp_path / "a", points=31, iterations=6)
    with pytest.raises(ValueError, match="points must be at least 1, not 0"):
        TuneOptions("my-search", points=0)
    with pytest.raises(ValueError, match="mert takes no points"):
        TuneOptions("mert", points=1)


def test_names_of_methods(registered: None) -> None:
    method = METHODS["my-search"]
    register("my-search", method)  # as a notebook does that is run again
    with pytest.raises(ValueError, match="pro: one of this package's methods has that name"):
        register("pro", method)
    with pytest.raises(TypeError, match="other: expected an instance of a method"):
        register("other", type(method))  # type: ignore[arg-type]
    assert "other" not in METHODS


def test_commands_have_it(tmp_path: Path) -> None:
    script = tmp_path / "my_hiero.py"
    script.write_text(example() + "\nfrom hiero.cli import main\n\nmain()\n")
    done = subprocess.run(
        [sys.executable, script, "tune", "--help"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "|risk|my-search" in done.stdout
    assert (
        "Method my-search:" in done.stdout
        and "Number of weights that are tried (default: 100)." in done.stdout
    )
