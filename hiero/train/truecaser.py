"""Truecasers: which words are written with capitals for what they are, not for where they stand."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hiero.base.files import write_atomically
from hiero.base.lines import PathLike, read_lines
from hiero.base.text import TextSide


def train_truecaser(
    texts: Sequence[PathLike],
    output: PathLike,
    side: TextSide,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Writes what sacremoses' port of Moses' truecaser learns from texts, in its format; ``side`` says how
    they become tokens.

    Words at the beginning of a sentence do not count. The counts are held in memory. Returns how many words
    with case were found. Raises FormatError for text that is not UTF-8; OSError.
    """
    from sacremoses import MosesTruecaser  # here, as it takes long to start

    truecaser = MosesTruecaser()
    truecaser.train(_sentences(texts, side, progress))
    # It would replace a file itself, by one that nobody else may read.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "truecaser")
        truecaser.save_model(path)
        write_atomically(output, path.read_text(encoding="utf-8"))
    return len(truecaser.model["best"])


def _sentences(
    texts: Sequence[PathLike], side: TextSide, progress: Callable[[int], object] | None
) -> Iterator[list[str]]:
    done = 0
    for text in texts:
        for line in read_lines(text):
            # Its format has no words with white space of any kind.
            yield " ".join(side.words(line)).split()
            done += 1
            if progress is not None and done % 1000 == 0:
                progress(done)
