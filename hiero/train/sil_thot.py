"""Word alignment in both directions by the library sil-thot (extra ``thot``), in a process for each."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hiero._core import Error

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]
Positions = npt.NDArray[np.int32]

# The models of ``direction.py`` by the names of aligners.
MODELS = {"sil-thot": "eflomal", "fast-align": "fast-align", "hmm": "hmm", "ibm1": "ibm1"}


def check_installed() -> None:
    """Raises Error if the library is not installed."""
    if find_spec("thot") is None:
        raise Error("this aligner needs the package sil-thot: pip install sil-thot")


def align_both(
    pairs: Pairs, model: str, seed: int, samplers: int, progress: Callable[[int, int], object] | None
) -> tuple[Positions, Positions]:
    """Returns the forward and the backward alignment of pairs without empty sides.

    The forward alignment has the position of the source word of every target word of all pairs, or -1. The
    backward alignment has the position of the target word of every source word. ``progress`` is called with
    the number of iterations done and their total, for both directions together. ``model`` is one of those of
    ``direction.py``. Raises Error if the library fails or is not installed.
    """
    check_installed()
    counts = [(0, 0), (0, 0)]

    def report(direction: int, done: int, total: int) -> None:
        counts[direction] = (done, total)
        if progress is not None and counts[0][1] and counts[1][1]:
            progress(sum(done for done, _ in counts), sum(total for _, total in counts))

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        processes = [stack.enter_context(_alignment_process(model, seed, samplers)) for _ in range(2)]
        forward = pool.submit(_run_direction, processes[0], pairs, partial(report, 0))
        backward = pool.submit(_run_direction, processes[1], [(t, s) for s, t in pairs], partial(report, 1))
        for future in as_completed([forward, backward]):
            future.result()  # raises the error of the one that fails first
        return forward.result(), backward.result()


@contextmanager
def _alignment_process(model: str, seed: int, samplers: int) -> Iterator[subprocess.Popen[bytes]]:
    """Yields a process that aligns in one direction. Kills it at the end if it is still running."""
    program = Path(__file__).with_name("direction.py")
    process = subprocess.Popen(
        [sys.executable, "-P", str(program), model, str(seed), str(samplers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # an interrupt from the keyboard is for this process alone
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _run_direction(
    process: subprocess.Popen[bytes], pairs: Pairs, report: Callable[[int, int], None]
) -> Positions:
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        try:
            with process.stdin:
                for source, target in pairs:
                    process.stdin.write(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
            # A process that is killed may leave an incomplete line.
            while counts := re.fullmatch(rb"(\d+) (\d+)\n", process.stdout.readline()):
                report(int(counts[1]), int(counts[2]))
        except BrokenPipeError:
            pass  # the error message is read below
        positions = process.stdout.read()
        messages = process.stderr.read().decode(errors="replace").strip()
    words = sum(len(target) for _, target in pairs)
    if process.wait() != 0 or len(positions) != words * np.dtype(np.int32).itemsize:
        reason = messages.splitlines()[-1] if messages else f"exit code {process.returncode}"
        raise Error(f"word alignment failed: {reason}")
    return np.frombuffer(positions, np.int32)
