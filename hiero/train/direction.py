"""A program that aligns words in one direction, with sil-thot's eflomal model of targets given sources.

    direction.py SEED SAMPLERS

Input: one line for each sentence pair, ``source tokens TAB target tokens``. Output: lines with the number of
iterations done and their total, an empty line, then for every target word the position of its source word as
a native int32, or -1.

It is a process of its own because the library holds Python's global lock during training. It imports nothing
from this package, so it runs wherever ``sil_thot.py`` finds it.
"""

from __future__ import annotations

import sys

import numpy as np
from thot.alignment import EflomalAlignmentModel


def main() -> None:
    model = EflomalAlignmentModel()
    model.seed = int(sys.argv[1])
    model.num_samplers = int(sys.argv[2])
    model.deterministic = True
    model.emit_training_alignments = True
    # Words are replaced by names such as w0, because some words, such as NULL, are special to the library.
    numbers: tuple[dict[bytes, str], dict[bytes, str]] = ({}, {})
    for line in sys.stdin.buffer:
        source, target = (
            [names.setdefault(word, f"w{len(names)}") for word in words.split()]
            for words, names in zip(line.split(b"\t"), numbers, strict=True)
        )
        model.add_sentence_pair(source, target)
    model.start_training()
    for done in range(model.scheduled_iterations):
        model.train()
        print(done + 1, model.scheduled_iterations, flush=True)
    model.end_training()
    print(flush=True)
    for pair in range(model.num_sentence_pairs):
        links = model.get_training_alignment(pair)[1].to_numpy()
        positions = np.where(links.any(axis=0), links.argmax(axis=0), -1)
        sys.stdout.buffer.write(positions.astype(np.int32).tobytes())


if __name__ == "__main__":
    main()
