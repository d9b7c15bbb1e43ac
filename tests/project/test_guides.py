"""The guides in docs/: options are those of commands, defaults those of their help, and examples run.

Blocks of ``sh`` and ``python`` are examples that run on the demo corpus. Other blocks show commands that need
other files.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.commands import call
from support.paths import DEMO, DOCS

# In an order in which each page finds what it uses.
GUIDES = (
    "run",
    "training",
    "training-steps",
    "tuning",
    "decoding",
    "terms",
    "lattices",
    "evaluation",
    "features",
    "forests",
    "reranking",
    "learning",
    "serving",
    "rule-tables",
    "language-models",
    "what-now",
    "from-moses",
    "demo",
)
# Commands whose options a page describes in its tables.
COMMANDS = {
    "run": ["run"],
    "training": ["train", "align", "score"],
    "decoding": ["decode"],
    "terms": ["decode", "tune", "eval"],
    "tuning": ["tune", "analyse"],
    "evaluation": ["eval", "decode"],
    "features": ["features", "decode", "tune"],
    "forests": ["forest show", "forest stats", "forest kbest"],
    "reranking": ["train-reranker"],
    "learning": ["adapt"],
    "serving": ["serve"],
    "rule-tables": ["pack"],
    "language-models": ["lm"],
}
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(kind: str, name: str) -> list[str]:
    """Returns the fenced blocks of a kind in a guide."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page(name), re.DOTALL | re.MULTILINE)


@cache
def options(command: str) -> dict[str, str]:
    """Returns the options of a command, and what its help says of each."""
    text = call("hiero", *command.split(), "--help").stdout.decode()
    entries = re.findall(r"^  (-.*?)(?=^  -|^\S|^$|\Z)", text, re.DOTALL | re.MULTILINE)
    described = {}
    for entry in entries:
        head = re.split(r"\s{2,}", entry, maxsplit=1)[0]
        names = re.findall(r"(?<!\S)(--?[A-Za-z][a-z-]*)", head)
        described |= dict.fromkeys(names, " ".join(entry.split()))
    assert "--help" in described
    return described


@cache
def commands() -> list[str]:
    """Returns the names of all commands, of two words in groups."""
    found = []
    for group in ("", "forest"):
        text = call("hiero", *group.split(), "--help").stdout.decode()
        listed = re.findall(r"^  ([a-z][a-z-]+) {2,}", text, re.MULTILINE)
        found += [f"{group} {name}".strip() for name in listed]
    return [name for name in found if name not in ("forest", "experiment")]


def command_lines(name: str) -> Iterator[list[str]]:
    """Yields the words of each command of hiero in blocks of a guide."""
    for kind in ("sh", "console", "text"):
        for block in blocks(kind, name):
            for line in block.replace("\\\n", " ").splitlines():
                for part in line.removeprefix("$ ").split(" | "):
                    if part.startswith(("hiero ", "hiero-decode ")):
                        yield shlex.split(part)


@pytest.mark.parametrize("name", GUIDES)
def test_commands_have_the_options_of_examples(name: str) -> None:
    count = 0
    for program, *words in command_lines(name):
        if program == "hiero":
            length = 2 if words[0] == "forest" else 1
            command, words = " ".join(words[:length]), words[length:]
        else:
            command = "decode"
        named = [word for word in words if re.match(r"--?[A-Za-z]", word)]
        assert [word for word in named if word not in options(command)] == [], command
        count += 1
    assert count > 1 or name == "demo"


@pytest.mark.parametrize("name", GUIDES)
def test_options_in_the_text_are_of_some_command(name: str) -> None:
    known = set().union(*(options(command) for command in commands()), {"--help"})
    text = re.sub(r"^```.*?^```$", "", page(name), flags=re.DOTALL | re.MULTILINE)
    stated = {option for code in re.findall(r"`([^`\n]+)`", text) for option in OPTION.findall(code)}
    # mteval-v13a's.
    foreign = {"--international-tokenization", "--no-smoothing"} if name == "evaluation" else set()
    assert stated - known == foreign
    assert stated or name == "demo"


def defaults(name: str) -> Iterator[tuple[str, str]]:
    """Yields options and their defaults in tables of a guide, where these are numbers or names; defaults of a
    tuning method as "pro: 30"."""
    tables = re.findall(r"^\|.*\| default \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", page(name), re.MULTILINE)
    for row in "".join(tables).splitlines():
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        stated = re.match(r"(?:`([\w+-]+)`|(\d[\d.]*[GMK]?))(?=$| )", cells[1])
        for option in re.findall(r"`(--?[A-Za-z][a-z-]*)", cells[0]):
            if stated:
                yield option, stated[1] or stated[2]
            for method, value in re.findall(r"`([\w-]+)`: (\d+)", row):
                yield option, f"{method}: {value}"


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_those_of_the_help(name: str) -> None:
    stated = list(defaults(name))
    for option, value in stated:
        helps = [options(command).get(option, "") for command in COMMANDS[name]]
        said = " ".join(part for text in helps for part in re.findall(r"\([^()]*\)|default \S+", text))
        assert re.search(rf"(?<![\w.-]){re.escape(value)}(\.0)?(?![\w-]|\.\d)", said), option
    assert len(stated) > 1 or name in ("features", "forests", "terms")


def test_many_defaults_are_stated() -> None:
    assert sum(len(list(defaults(name))) for name in COMMANDS) > 80


def quick(line: str) -> str:
    """Returns a command that tunes by fewer iterations."""
    fewer = " --iterations 2 -k 20" if line.startswith("hiero run ") else " --iterations 2"
    tunes = line.startswith(("hiero tune ", "hiero run ")) and "--iterations" not in line
    return line + fewer if tunes else line


@pytest.mark.slow
def test_examples_run(tmp_path: Path) -> None:
    """One test, since pages go on with what others leave."""
    shutil.copytree(DEMO, tmp_path / "data" / "demo")
    for name in GUIDES:
        for block in blocks("sh", name):
            script = "\n".join(map(quick, block.replace("\\\n", " ").splitlines()))
            done = subprocess.run(
                ["bash", "-euc", f'PATH="{Path(sys.executable).parent}:$PATH"\n{script}'],
                capture_output=True,
                text=True,
                cwd=tmp_path,
            )
            assert done.returncode == 0, script + done.stderr
        code = "\n".join(blocks("python", name))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, code + done.stderr
