"""Generates hiero/_core.pyi, the type stub of the extension module, from the module itself.

Signatures and docstrings are written once, in cpp/bindings; editors, type checkers and the documentation read
them in the stub. Run `python cpp/bindings/make_stub.py` after a change of them and commit the result; a test
compares the two. Needs nanobind and ruff.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from nanobind.stubgen import ReplacePattern, StubGen

import hiero._core

STUB = Path(__file__).parents[2] / "hiero" / "_core.pyi"
# Members that are not part of the interface, or that type checkers know from the base class.
HIDDEN = (
    r"\.(__getstate__|__setstate__|__reduce__|__repr__|__str__|_restore|_repr_html_|_Iterator)$"
    r"|\.Rule\.__hash__$|\.FeatureNames\.(index|count)$"
)
# Exceptions are made without nanobind, as classes of the package `hiero`.
ERRORS = {"Error": "Exception", "FormatError": "Error, ValueError", "ForestError": "FormatError"}


def patterns() -> list[ReplacePattern]:
    """Returns what to write in place of members, by regular expressions of their names."""
    errors = [
        ReplacePattern(re.compile(rf"_core\.{name}$"), [f"class {name}({bases}):", "\\doc"], 0)
        for name, bases in ERRORS.items()
    ]
    return [ReplacePattern(re.compile(HIDDEN), [], 0), *errors]


def shortened(stub: str) -> str:
    """Names NumPy as everyone does, and drops None where it is only accepted to raise a better error."""
    stub = stub.replace("import numpy\nimport numpy.typing\n", "import np\nimport npt\n")
    stub = stub.replace("numpy.typing.", "npt.").replace("numpy.", "np.")
    stub = stub.replace("import np\nimport npt\n", "import numpy as np\nimport numpy.typing as npt\n")
    refused = r"(: (?:npt\.ArrayLike \| )?(?:Mapping\[str, float\]|Sequence\[str\]|Any)) \| None(?=[,)])"
    return re.sub(refused, r"\1", stub)


def formatted(stub: str) -> str:
    """Sorts imports and formats the stub as all files are."""
    ruff = Path(sysconfig.get_path("scripts")) / "ruff"
    for command in (["check", "--fix", "--select", "I", "--quiet"], ["format", "--quiet"]):
        arguments = [str(ruff), *command, "--stdin-filename", str(STUB), "-"]
        stub = subprocess.run(arguments, input=stub, capture_output=True, text=True, check=True).stdout
    return stub


def stub() -> str:
    """Returns the stub of the module that Python imports."""
    generator = StubGen(hiero._core, include_private=True, patterns=patterns())
    generator.put(hiero._core)
    return formatted(shortened(generator.get()))


if __name__ == "__main__":
    STUB.write_text(stub())
    print(f"wrote {STUB}", file=sys.stderr)
