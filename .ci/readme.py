"""Finds commands in README.md by the comments before their blocks; here is the only list of these.

    python3 .ci/readme.py tests | bash -eu

runs the blocks of that name. Tests and benchmarks import ``commands``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
# demo: sets up and makes a system of the demo corpus; tests: sets up and tests; own data: makes a system of a
# user's files, by one command and by several.
NAMES = ("demo", "tests", "own data")


def commands(name: str) -> list[list[str]]:
    """Returns the lines of each block with a name. Raises KeyError for a name that is not in the list or has
    no block."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(rf"^<!-- {re.escape(name)} -->\n```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if name not in NAMES or not blocks:
        raise KeyError(name)
    return [block.splitlines() for block in blocks]


if __name__ == "__main__":
    print("\n".join(line for block in commands(sys.argv[1]) for line in block))
