"""Training of truecasers, which learn the usual case of each word."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hiero.base.files import write_atomically
from hiero.base.lines import PathLike, read_lines
from hiero.text import TextSide
from hiero.train.tokenised import tokenised


def train_truecaser(
    texts: Sequence[PathLike],
    output: PathLike,
    side: TextSide,
    progress: Callable[[int], object] | None = None,
    processes: int = 1,
) -> int:
    """Trains sacremoses' port of the Moses truecaser on texts, and writes it in Moses' format.

    ``side`` tokenises the texts, in several ``processes``. Words at the beginning of a sentence are not
    counted. Memory holds a count of each form of a word, but no text. Returns the number of words in the
    truecaser.
    Raises FormatError for text that is not UTF-8; OSError.
    """
    from sacremoses import MosesTruecaser  # imported late, as it is slow

    truecaser = MosesTruecaser()
    # MosesTruecaser.train() counts in the same way, but only after it has a list of all words of all texts.
    casing: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in _sentences(texts, side, progress, processes):
        for word, form, weight in truecaser.learn_truecase_weights(sentence):
            casing[word][form] += weight
    truecaser.model = {"casing": casing}
    # save_model() would replace an existing file by one that only this user may read.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "truecaser")
        truecaser.save_model(path)
        write_atomically(output, path.read_text(encoding="utf-8"))
    return len(casing)


def _sentences(
    texts: Sequence[PathLike], side: TextSide, progress: Callable[[int], object] | None, processes: int
) -> Iterator[list[str]]:
    lines = ((line,) for text in texts for line in read_lines(text))
    for done, (words,) in enumerate(tokenised([side], lines, processes, TextSide.words), start=1):
        # Words in a truecaser file cannot contain white space of any kind.
        yield " ".join(words).split()
        if progress is not None and done % 1000 == 0:
            progress(done)
