"""Times `pip install .`, and each file that it compiles.

    python benchmarks/build.py

Installs the source tree that this file is part of into a fresh virtual environment, with all that it depends
on. Prints seconds and CPU seconds of that, and then, when each file that was compiled or linked began and how
long it took: several are made at a time, so that seconds are more than those of one processor alone.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from machine import argument_parser, disturbance_check, machine

SOURCE = Path(__file__).resolve().parents[1]


def compiled(log: Path) -> list[tuple[float, float, str]]:
    """Reads when each step of a build by Ninja began and ended, in seconds, and the file it made."""
    lines = [line.split("\t") for line in log.read_text().splitlines() if not line.startswith("#")]
    return sorted((int(begin) / 1000, int(end) / 1000, path) for begin, end, _, path, _ in lines)


def main() -> None:
    argument_parser(__doc__).parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        build, environment = Path(folder) / "build", Path(folder) / "venv"
        venv.create(environment, with_pip=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        with disturbance_check():
            subprocess.run(
                [*pip, f"--config-settings=build-dir={build}", str(SOURCE)],
                check=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
                | {"CCACHE_DISABLE": "1"},
                stdout=sys.stderr,
            )
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"pip install .: {seconds:.0f} s, {after.ru_utime - before.ru_utime:.0f} s of processors")
        for begin, end, path in compiled(build / ".ninja_log"):
            if end - begin > 0.5:
                print(f"{begin:7.1f} {end - begin:6.1f} s  {path}")


if __name__ == "__main__":
    main()
