"""Sets for tuning and testing out of a bitext, and the bitext without them."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hiero._core import FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike
from hiero.train.corpus import read_pairs

REST = "train"


def set_aside(
    source: PathLike, target: PathLike, folder: Path, sizes: Mapping[str, int], seed: int
) -> dict[str, int]:
    """Draws sets of these sizes from a bitext, and writes each, and the rest as "train", into files
    ``NAME.source`` and ``NAME.target`` of the folder, in the order of the bitext. The numbers of their pairs.

    Only pairs of two sentences are drawn, and of those with the same source sentence the first; the others
    are left out of the rest too, so that nothing is tested that was trained on. The source side is held in
    memory. Raises FormatError for files of different length, and for too few pairs: the sets may take half
    of them.
    """
    first: dict[str, int] = {}
    for number, pair in enumerate(read_pairs(source, target)):
        if all(map(str.strip, pair)):
            first.setdefault(pair[0].strip(), number)
    if 2 * sum(sizes.values()) > len(first):
        raise FormatError(
            f"{os.fspath(source)}: {len(first):,} different sentences with a translation are too few to set "
            f"{sum(sizes.values()):,} of them aside"
        )
    drawn = random.Random(seed).sample(list(first), sum(sizes.values()))
    names = iter(name for name, size in sizes.items() for _ in range(size))
    set_of = {text: next(names) for text in drawn}
    counts = dict.fromkeys((*sizes, REST), 0)
    with ExitStack() as stack:

        def opened(name: str) -> IO[str]:
            path = stack.enter_context(replacing(folder / name))
            return stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))

        files = {name: (opened(f"{name}.source"), opened(f"{name}.target")) for name in counts}
        for number, pair in enumerate(read_pairs(source, target)):
            text = pair[0].strip()
            name = set_of.get(text, REST)
            if name != REST and first[text] != number:
                continue
            counts[name] += 1
            for file, line in zip(files[name], pair, strict=True):
                file.write(line + "\n")
    return counts
