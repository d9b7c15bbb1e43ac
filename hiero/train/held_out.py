"""Tuning and test sets drawn from a bitext; the remaining bitext is for training."""

from __future__ import annotations

import os
import random
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hiero._core import DigestIndex, FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.text.normalisation import cleaned
from hiero.train.corpus import pair_example, read_pairs
from hiero.train.digests import digest

REST = "train"
LEFT_OUT = "left out"


class LeftOutExample:
    """The first sentence pair that is left out; as text ", such as line 7: source | target", or empty."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, number: int, pair: tuple[str, str]) -> None:
        """Keeps a pair and the number of its line, counted from 0, unless it is blank or not the first."""
        if not self._text and all(map(str.strip, pair)):
            self._text = f", such as {pair_example(number + 1, pair)}"

    def __str__(self) -> str:
        return self._text


def set_aside(
    source: PathLike,
    target: PathLike,
    folder: Path,
    sizes: Mapping[str, int],
    seed: int,
    others: Iterable[str] = (),
    example: LeftOutExample | None = None,
) -> dict[str, int]:
    """Draws tuning or test sets from a bitext, and writes the bitext without their sentences.

    Each set is written to ``NAME.source`` and ``NAME.target`` in ``folder``, in the order of the bitext. The
    remaining bitext is called "train". In it, every pair whose source sentence is in a set or in ``others``
    is replaced by an empty line, so that no test sentence is used in training and lines keep their numbers.
    Sentences are compared by letters, digits and symbols; case, spaces and punctuation are ignored. If a
    source sentence occurs more than once, its first pair is drawn. Memory holds a digest of each source
    sentence, some 32 bytes for each line.

    - ``source``: the source side of the bitext.
    - ``target``: the target side of the bitext.
    - ``folder``: an existing folder for the output files.
    - ``sizes``: the name and the number of sentence pairs of each set.
    - ``seed``: the random seed.
    - ``others``: more source sentences to leave out.
    - ``example``: is told each pair that is left out, and keeps the first.

    Returns the number of sentence pairs in each set, in "train", and "left out".
    Raises FormatError for files of different lengths, or if the sets would take more than half of the pairs.
    """
    left_out = set(map(sentence_key, others))
    sentences = _different_sentences(source, target, left_out)
    if 2 * sum(sizes.values()) > len(sentences):
        known = ", without those of other sets" if left_out else ""
        raise FormatError(
            f"{os.fspath(source)}: {len(sentences):,} different sentences with a translation are too few "
            f"to set {sum(sizes.values()):,} of them aside{known}"
        )
    places = random.Random(seed).sample(range(len(sentences)), sum(sizes.values()))
    names = (name for name, size in sizes.items() for _ in range(size))
    set_of = {sentences.lines[place]: name for place, name in zip(places, names, strict=True)}
    held_out = {sentences.digest(place) for place in places} | set(map(digest, left_out))
    del sentences  # the second reading does not need this memory

    def choose_set(number: int, pair: tuple[str, str]) -> str:
        if number in set_of:
            return set_of[number]
        if digest(sentence_key(pair[0])) not in held_out:
            return REST
        if example is not None:
            example.add(number, pair)
        return LEFT_OUT

    return _write_sets(source, target, folder, list(sizes), choose_set)


class _Sentences:
    """The different source sentences that have a translation and may be drawn, in the order of their first
    lines, ``lines``, which count from 0. An index of digests has them among other lines."""

    def __init__(self) -> None:
        self.lines = array("I")
        self._items = array("I")
        self._index = DigestIndex()

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, line: int, key: str) -> None:
        """Adds the sentence of a line, unless it was added before."""
        item = len(self._index)
        if self._index.add(digest(key)) == item:
            self.lines.append(line)
            self._items.append(item)

    def digest(self, place: int) -> bytes:
        """Returns the digest of a sentence by its place among the different ones."""
        return self._index[self._items[place]]


def _different_sentences(source: PathLike, target: PathLike, left_out: Set[str]) -> _Sentences:
    """Returns the source sentences of a bitext, but for those that are left out."""
    sentences = _Sentences()
    for line, pair in enumerate(read_pairs(source, target)):
        if all(map(str.strip, pair)) and (key := sentence_key(pair[0])) not in left_out:
            sentences.add(line, key)
    return sentences


def _write_sets(
    source: PathLike,
    target: PathLike,
    folder: Path,
    names: Sequence[str],
    choose_set: Callable[[int, tuple[str, str]], str],
) -> dict[str, int]:
    """Writes each pair of a bitext to its set. Returns the number of sentence pairs in each set."""
    counts = dict.fromkeys((*names, REST, LEFT_OUT), 0)
    with ExitStack() as stack:
        files = {name: _open_bitext(stack, folder, name) for name in (*names, REST)}
        for number, pair in enumerate(read_pairs(source, target)):
            name = choose_set(number, pair)
            if name in names:
                _write_pair(files[name], pair)
            _write_pair(files[REST], pair if name == REST else ("", ""))
            counts[name] += all(map(str.strip, pair))
    return counts


def _open_bitext(stack: ExitStack, folder: Path, name: str) -> tuple[IO[str], IO[str]]:
    paths = [stack.enter_context(replacing(folder / f"{name}.{side}")) for side in ("source", "target")]
    source, target = (stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths)
    return source, target


def _write_pair(files: tuple[IO[str], IO[str]], pair: tuple[str, str]) -> None:
    for file, line in zip(files, pair, strict=True):
        file.write(line + "\n")


def leave_out(text: PathLike, output: PathLike, others: Iterable[str]) -> int:
    """Writes a text with an empty line for every sentence in ``others``. Returns their number."""
    keys = set(map(sentence_key, others)) - {""}
    count = 0
    with replacing(output) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for line in read_lines(text):
            is_left_out = sentence_key(line) in keys
            count += is_left_out
            file.write(("" if is_left_out else line) + "\n")
    return count


def sentence_key(line: str) -> str:
    """Returns a key that ignores case, spaces, punctuation, entities and Unicode forms, or the line itself if
    it has nothing else."""
    return cleaned(line, "NFKC").casefold().translate(_SIGNIFICANT) or line.strip()


class _SignificantCharacters(dict[int, int | None]):
    """A table for ``str.translate`` that deletes white space, control characters and punctuation."""

    def __missing__(self, character: int) -> int | None:
        deleted = unicodedata.category(chr(character))[0] in "ZCP"
        self[character] = None if deleted else character
        return self[character]


_SIGNIFICANT = _SignificantCharacters()
