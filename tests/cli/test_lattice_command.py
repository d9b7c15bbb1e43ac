"""`hiero lattice`: lattices of alternatives, n-best lists and spelling variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiero import Lattice
from support.commands import call, one_error_line
from support.files import write
from support.lattices import paths


def made(*options: object, stdin: str) -> list[object]:
    done = call("hiero", "lattice", *options, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b""), done
    return [paths(Lattice.from_plf(line)) if line else None for line in done.stdout.decode().splitlines()]


def test_alternatives() -> None:
    assert made(stdin="a b\ta c\n\nd\n") == [[(("a", "b"), ()), (("a", "c"), ())], None, [(("d",), ())]]


def test_lists() -> None:
    lists = "0 ||| a b ||| LM=1 ||| -1\n0 ||| a c ||| LM=2 ||| -3\n2 |||  |||  ||| 0\n3 ||| d ||| 0.5\n"
    assert made("--input-format", "nbest", stdin=lists) == [
        [(("a", "b"), (-1.0,)), (("a", "c"), (-3.0,))],
        None,
        None,
        [(("d",), (0.5,))],
    ]


def test_variants(tmp_path: Path) -> None:
    table = write(tmp_path / "table", ["u\tyou\t-1"])
    assert made("--variants", table, stdin="u go\n") == [[(("u", "go"), (0.0,)), (("you", "go"), (-1.0,))]]


@pytest.mark.parametrize(
    ("options", "stdin", "message"),
    [
        ((), "a\t\n", "input:1: lattice: a reading without words"),
        (("--input-format", "nbest"), "x ||| a\n", "input:1: expected a number, words and a score"),
        (("--input-format", "nbest"), "1 ||| a\n0 ||| b\n", "input:2: list 0 after list 1"),
        (("--input-format", "nbest"), "0 ||| a\n0 ||| b ||| 1\n", "input:2: lattice: no readings, or some"),
    ],
)
def test_bad_input(options: tuple[str, ...], stdin: str, message: str) -> None:
    assert message in one_error_line(call("hiero", "lattice", *options, stdin=stdin))
