"""The command line that trains on a part of the demo corpus."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hiero.train import TrainInputs

PAIRS = 80


def train_command(inputs: TrainInputs, output: Path, *more: object) -> list[str]:
    assert inputs.dictionary is not None
    options = ["--source", inputs.source, "--target", inputs.target, "--dictionary", *inputs.dictionary]
    return list(map(str, ["hiero", "train", *options, "--mono", *inputs.mono, "-o", output, *more]))


def one_error_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """Checks that a command failed with one line on standard error, besides warnings, and returns it."""
    assert done.returncode == 1, done
    errors = done.stderr.decode()
    lines = [line for line in errors.splitlines() if not line.startswith("warning")]
    assert len(lines) == 1 and "Traceback" not in errors, errors
    return lines[0]
