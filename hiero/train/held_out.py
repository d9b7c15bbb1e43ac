"""Sets for tuning and testing out of a bitext, and what is left to train on."""

from __future__ import annotations

import os
import random
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hiero._core import FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.train.corpus import read_pairs

REST = "train"
LEFT_OUT = "left out"


def set_aside(
    source: PathLike,
    target: PathLike,
    folder: Path,
    sizes: Mapping[str, int],
    seed: int,
    others: Iterable[str] = (),
) -> dict[str, int]:
    """Draws sets of these sizes from a bitext, and writes each into files ``NAME.source`` and
    ``NAME.target`` of the folder, in the order of the bitext; and the bitext, as "train", with blank lines in
    place of all pairs whose source sentence is one of a set, or of ``others``. The numbers of pairs, and of
    those "left out".

    So nothing is tested that was trained on, and lines keep their numbers. Sentences are the same if they
    have the same letters, digits and symbols, whatever case, spaces and punctuation. Of pairs with the same
    source sentence the first is drawn. The source side is held in memory. Raises FormatError for files of
    different length, and for too few pairs: the sets may take half of them.
    """
    other_keys = set(map(sentence_key, others))
    first: dict[str, int] = {}
    for number, pair in enumerate(read_pairs(source, target)):
        if all(map(str.strip, pair)) and (key := sentence_key(pair[0])) not in other_keys:
            first.setdefault(key, number)
    if 2 * sum(sizes.values()) > len(first):
        raise FormatError(
            f"{os.fspath(source)}: {len(first):,} different sentences with a translation are too few to set "
            f"{sum(sizes.values()):,} of them aside"
        )
    drawn = random.Random(seed).sample(list(first), sum(sizes.values()))
    names = iter(name for name, size in sizes.items() for _ in range(size))
    set_of = {key: next(names) for key in drawn} | dict.fromkeys(other_keys, LEFT_OUT)
    counts = dict.fromkeys((*sizes, REST, LEFT_OUT), 0)
    with ExitStack() as stack:

        def opened(name: str) -> IO[str]:
            path = stack.enter_context(replacing(folder / name))
            return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))

        files = {name: (opened(f"{name}.source"), opened(f"{name}.target")) for name in (*sizes, REST)}

        def write(name: str, pair: tuple[str, str]) -> None:
            for file, line in zip(files[name], pair, strict=True):
                file.write(line + "\n")

        for number, pair in enumerate(read_pairs(source, target)):
            key = sentence_key(pair[0])
            name = set_of.get(key, REST)
            if name != REST and first.get(key) != number:
                name = LEFT_OUT
            if name in sizes:
                write(name, pair)
            write(REST, pair if name == REST else ("", ""))
            counts[name] += all(map(str.strip, pair))
    return counts


def leave_out(text: PathLike, output: PathLike, others: Iterable[str]) -> int:
    """Writes a text with blank lines in place of sentences that are among ``others``; how many there are."""
    keys = set(map(sentence_key, others)) - {""}
    count = 0
    with replacing(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for line in read_lines(text):
            found = sentence_key(line) in keys
            count += found
            file.write(("" if found else line) + "\n")
    return count


def sentence_key(line: str) -> str:
    """Makes a key that sentences share which differ in case, spaces and punctuation alone; the line itself
    where it has nothing else."""
    return line.casefold().translate(_KEPT) or line.strip()


class _Kept(dict[int, int | None]):
    """Characters but for spaces, controls and punctuation, for ``str.translate``."""

    def __missing__(self, character: int) -> int | None:
        dropped = unicodedata.category(chr(character))[0] in "ZCP"
        self[character] = kept = None if dropped else character
        return kept


_KEPT = _Kept()
