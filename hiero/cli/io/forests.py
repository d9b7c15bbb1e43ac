"""Archives of forests that commands read, and translations that are chosen from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import typer

from hiero import Derivation, Forest, FormatError, read_weights
from hiero.base.lines import read_lines
from hiero.base.parallel import ordered_map
from hiero.cli.base.files import writing
from hiero.forest.files import ForestFile

# The weights of a forest's features.
Weighting = Callable[[Forest], dict[str, float]]


def read_forests(file: Path) -> Iterator[Forest]:
    """Yields the forests of an archive. Raises FormatError, OSError."""
    with ForestFile(file) as archive:
        yield from archive


def read_forest(file: Path, sentence: int) -> Forest:
    """Reads the forest of a sentence. Raises ValueError if it is missing or has no derivation."""
    with ForestFile(file) as archive:
        if sentence >= len(archive):
            raise ValueError(f"{file}: no sentence {sentence}, there are {len(archive)}, from 0")
        forest: Forest = archive[sentence]
    if forest.root < 0:
        raise ValueError(f"{file}: sentence {sentence} has no derivation")
    return forest


def find_weights(file: Path, weights: Path | None) -> Weighting | None:
    """Returns the weights from a file of weights, else those of the archive, None if it has none."""
    if weights is not None:
        from_file = read_weights(weights)
        return lambda forest: from_file
    with ForestFile(file) as archive:
        of_archive = archive.weights
    if of_archive is None:
        return None
    # Some features occur only in the rules of single sentences.
    return lambda forest: {name: of_archive[name] for name in forest.feature_names if name in of_archive}


def temperature_of(file: Path) -> float:
    """Returns the temperature of the confidence of words that an archive was made with."""
    with ForestFile(file) as archive:
        return archive.temperature


def need_weights(file: Path, weights: Path | None) -> Weighting:
    """Returns the weights as ``find_weights`` does. Raises FormatError if there are none."""
    weighting = find_weights(file, weights)
    if weighting is None:
        raise FormatError(f"{file}: does not say what weights it was made with; give --weights")
    return weighting


def read_references(file: Path, references: Sequence[Path]) -> list[list[str]]:
    """Reads the lines of files of references for an archive. Raises FormatError unless each has a line for
    every forest."""
    texts = [list(read_lines(path)) for path in references]
    with ForestFile(file) as archive:
        forests = len(archive)
    for path, lines in zip(references, texts, strict=True):
        if len(lines) != forests:
            raise FormatError(f"{path}: {len(lines)} lines for the {forests} forests of {file}")
    return texts


def write_choices(
    file: Path, choose: Callable[[Forest], Derivation | None], output: Path | None, threads: int = 1
) -> None:
    """Writes the tokens that are chosen from each forest, one line each.

    A forest for which ``choose`` raises ValueError has an empty line; then the command exits with 1."""
    failures = 0

    def line(forest: Forest) -> str | ValueError:
        try:
            best = choose(forest)
        except ValueError as error:
            return error
        return "" if best is None else " ".join(best.tokens)

    with writing(output) as stream:
        for number, text in enumerate(ordered_map(line, read_forests(file), threads)):
            if isinstance(text, ValueError):
                print(f"{file}: sentence {number}: {text}", file=sys.stderr)
                failures, text = failures + 1, ""
            stream.write(f"{text}\n".encode())
    if failures:
        raise typer.Exit(1)
