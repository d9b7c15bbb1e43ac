"""Sets of sentences with references, as commands read them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError, Model
from hiero.base.text import looks_untokenised, split
from hiero.decode.model_directory import WEIGHTS_FILE, read_manifest
from hiero.evaluate.test_sets import TestSet, read_source

Tokens = Annotated[
    bool,
    typer.Option(
        "--tokens", help="Text is in tokens already, cased as the model was trained; not raw (raw text)."
    ),
]


def fingerprint(*sets: tuple[Sequence[str | list[str]], list[list[str]]]) -> str:
    """A checksum of what ``read_set`` read, by which a run that is taken up again knows its sets."""
    return hashlib.sha256(json.dumps(sets).encode()).hexdigest()


def model_fingerprint(model: Path) -> str:
    """A checksum of the files of a model directory but its weights. Raises FormatError or OSError."""
    files = {name: entry for name, entry in read_manifest(model).items() if name != WEIGHTS_FILE}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def read_set(
    source: Path, references: Sequence[Path], tokens: bool, model: Model
) -> tuple[list[str | list[str]], list[list[str]]]:
    """Sentences as the decoder takes them, and references as lines of tokens; files of raw text unless they
    are ``tokens`` already. Says on stderr where they do not look so."""
    lines, test_set = read_files(source, references)
    found = test_set.references
    if tokens or model.text.source.keeps_tokens:
        _note_untokenised(source, lines)
    if tokens:
        return [split(line) for line in lines], found
    target = model.text.target
    return list(lines), [[" ".join(target.tokens(line)) for line in segment] for segment in found]


def read_files(source: Path, references: Sequence[Path]) -> tuple[list[str], TestSet]:
    """The segments of a source and their references. Raises FormatError where they do not fit together."""
    lines, srcset = read_source(source)
    test_set = TestSet.read(references, srcset)
    if (srcset is None) != (test_set.source is None):
        raise FormatError(f"{source}: source and references are to be text both, or both NIST's files")
    if len(lines) != len(test_set.references):
        count = len(test_set.references)
        raise FormatError(f"{source}: {len(lines)} segments, where the references have {count}")
    return lines, test_set


def _note_untokenised(path: Path, lines: Sequence[str]) -> None:
    if looks_untokenised(lines):
        print(
            f"hiero: {path}: looks like raw text, but is taken for tokens: most lines have words that end "
            "in punctuation",
            file=sys.stderr,
        )
