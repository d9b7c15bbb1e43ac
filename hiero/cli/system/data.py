"""The data of `hiero run`: tuning and test sets, given or drawn from the bitext, and the rest to train on."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hiero.base.files import write_atomically
from hiero.cli.io.lines import format_of
from hiero.cli.io.sets import read_files
from hiero.train import leave_out, set_aside

_COUNTS = "counts.json"


@dataclass(frozen=True)
class SetFiles:
    """Files of sentences and their references, for tuning or testing."""

    source: Path
    references: Sequence[Path]

    def lines(self) -> tuple[list[str], list[str]]:
        """Its sentences and all of its references."""
        source, found = read_files(self.source, self.references)
        return source, [line for segment in found.references for line in segment]


@dataclass(frozen=True)
class RunData:
    """Files to train on, in which no sentence of the sets is, and the sets."""

    source: Path
    target: Path
    mono: Sequence[Path]
    tune: SetFiles
    test: SetFiles


def own_set(
    name: str, source: Path | None, references: list[Path] | None, size: int | None
) -> SetFiles | None:
    """A set of the user's own; None if it is to be set aside. What is wrong with it is said before all work.
    Raises BadParameter, FormatError, OSError."""
    if (source is None) != (not references):
        raise typer.BadParameter(f"a {name} set of one's own has --{name}-source and --{name}-references")
    if source is None:
        return None
    if size is not None:
        raise typer.BadParameter(f"--{name}-size is of a set from the bitext, not of --{name}-source")
    if format_of(source, None) == "jsonl":
        raise typer.BadParameter(f"--{name}-source: expected text or NIST's XML, not records as JSON")
    found = SetFiles(source, references or [])
    found.lines()
    return found


def prepare(
    folder: Path,
    bitext: tuple[Path, Path],
    mono: Sequence[Path],
    own: Mapping[str, SetFiles | None],
    sizes: Mapping[str, int],
    known: Mapping[str, object],
    seed: int,
    quiet: bool,
) -> RunData:
    """Draws what is not there, and writes the rest, into a folder; once, as long as what is ``known`` of the
    run is the same. Raises FormatError for texts that do not fit together or are too short, OSError."""
    folder.mkdir(exist_ok=True)
    sets = {name: own[name] or _drawn(folder, name) for name in own}
    copies = [folder / f"mono{k}" for k in range(len(mono))]
    run = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
    if _done(folder).get("run") != run:
        (folder / _COUNTS).unlink(missing_ok=True)
        others = [line for one in own.values() if one is not None for line in one.lines()[0]]
        counts = set_aside(*bitext, folder, sizes, seed, others)
        references = [line for one in sets.values() for line in one.lines()[1]]
        left = [leave_out(text, copy, references) for text, copy in zip(mono, copies, strict=True)]
        for copy, count in zip(copies, left, strict=True):
            if count == 0:  # the text itself will do
                copy.unlink()
        done = {"run": run, "pairs": counts, "mono": left}
        write_atomically(folder / _COUNTS, json.dumps(done, indent=1) + "\n")
        if not quiet:
            print(*_told(counts, left), sep="\n", file=sys.stderr)
    source, target = folder / "train.source", folder / "train.target"
    texts = [copy if copy.exists() else text for text, copy in zip(mono, copies, strict=True)]
    return RunData(source, target, texts, sets["tune"], sets["test"])


def pairs(folder: Path) -> dict[str, int]:
    """How many pairs are trained on, in drawn sets, and left out."""
    return dict(_done(folder)["pairs"])


def _drawn(folder: Path, name: str) -> SetFiles:
    return SetFiles(folder / f"{name}.source", [folder / f"{name}.target"])


def _done(folder: Path) -> dict[str, Any]:
    """Reads the record that is written last; an empty one if it is not there."""
    try:
        return dict(json.loads((folder / _COUNTS).read_bytes()))
    except (OSError, ValueError):
        return {}


def _told(counts: Mapping[str, int], mono: Sequence[int]) -> Iterator[str]:
    yield f"hiero: sentence pairs: {', '.join(f'{count:,} {name}' for name, count in counts.items())}"
    if any(mono):
        yield f"hiero: monolingual text: {sum(mono):,} sentences left out, which are references"
