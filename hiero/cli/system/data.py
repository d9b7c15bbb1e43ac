"""The data of `hiero run`: sets to tune on, to choose by and to test on, and the rest of the bitext to train
on."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero.base.files import write_atomically
from hiero.cli.io.sets import read_files
from hiero.evaluate.evaluation_sets import is_nist
from hiero.train import leave_out, set_aside
from hiero.train.held_out import LeftOutExample

# Names of the tuning set, of the held-out set, and of a test set that is set aside.
TUNE, HELD_OUT, TEST = "tune", "held-out", "test"
# What the tuning set is called in words, which is no name of another set.
TUNING = "tuning"
_COUNTS = "counts.json"


@dataclass(frozen=True)
class SetFiles:
    """The files of a set."""

    source: Path
    references: Sequence[Path]

    @property
    def suffix(self) -> str:
        """The ending of translations, which are in NIST's format if the source is."""
        return ".xml" if is_nist(self.source) else ".txt"

    def lines(self) -> tuple[list[str], list[str]]:
        """Reads the sentences, and the references of all sentences. Raises FormatError, OSError."""
        source, test_set = read_files(self.source, self.references)
        return source, [line for segment in test_set.references for line in segment]


@dataclass(frozen=True)
class RunData:
    """The files to train on, which have no sentence of the sets, and the sets by name."""

    source: Path
    target: Path
    mono: Sequence[Path]
    sets: Mapping[str, SetFiles]

    @property
    def tuning_set(self) -> SetFiles:
        """The set that weights are tuned on."""
        return self.sets[TUNE]

    @property
    def judged(self) -> dict[str, SetFiles]:
        """The sets that are translated: the held-out set, if there is one, and the test sets."""
        return {name: files for name, files in self.sets.items() if name != TUNE}

    @property
    def tests(self) -> dict[str, SetFiles]:
        """The test sets."""
        return {name: files for name, files in self.judged.items() if name != HELD_OUT}


def prepare(
    folder: Path,
    bitext: tuple[Path, Path],
    mono: Sequence[Path],
    files: Mapping[str, SetFiles | None],
    sizes: Mapping[str, int],
    record: Mapping[str, object],
    seed: int,
    quiet: bool,
) -> RunData:
    """Draws the sets that have no ``files`` from a bitext, and writes them and the rest into a folder.

    This is done once for the same ``record`` of the run. Raises FormatError for texts that do not fit
    together or are too short, OSError.
    """
    folder.mkdir(exist_ok=True)
    sets = {name: files[name] or _drawn(folder, name) for name in files}
    copies = [folder / f"mono{k}" for k in range(len(mono))]
    run = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    if _done(folder).get("run") != run:
        (folder / _COUNTS).unlink(missing_ok=True)
        others = [line for one in files.values() if one is not None for line in one.lines()[0]]
        example = LeftOutExample()
        counts = set_aside(*bitext, folder, sizes, seed, others, example)
        references = [line for one in sets.values() for line in one.lines()[1]]
        left = [leave_out(text, copy, references) for text, copy in zip(mono, copies, strict=True)]
        for copy, count in zip(copies, left, strict=True):
            if count == 0:  # the text itself is used
                copy.unlink()
        done = {"run": run, "pairs": counts, "mono": left}
        write_atomically(folder / _COUNTS, json.dumps(done, indent=1) + "\n")
        if not quiet:
            print(*_report(counts, example, left), sep="\n", file=sys.stderr)
    source, target = folder / "train.source", folder / "train.target"
    texts = [copy if copy.exists() else text for text, copy in zip(mono, copies, strict=True)]
    return RunData(source, target, texts, sets)


def pairs(folder: Path) -> dict[str, int]:
    """Returns how many pairs are trained on, in drawn sets, and left out."""
    return dict(_done(folder)["pairs"])


def _drawn(folder: Path, name: str) -> SetFiles:
    return SetFiles(folder / f"{name}.source", [folder / f"{name}.target"])


def _done(folder: Path) -> dict[str, Any]:
    """Reads the record of finished work, which is empty if the file is missing or damaged."""
    try:
        return dict(json.loads((folder / _COUNTS).read_bytes()))
    except (OSError, ValueError):
        return {}


def _report(counts: Mapping[str, int], example: LeftOutExample, mono: Sequence[int]) -> Iterator[str]:
    numbers = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    yield f"hiero: sentence pairs: {numbers}{example}"
    if any(mono):
        yield f"hiero: monolingual text: {sum(mono):,} sentences left out, which are references"
