"""One direction of word alignment as a program: sil-thot's eflomal model of targets given sources.

A process of its own, since the library holds Python's lock while it trains: two directions in threads would
take turns. Started by ``alignment.py``; imports nothing of the package, so that it runs wherever that is.

    direction.py SEED

stdin: per sentence pair a line ``source tokens TAB target tokens``. stdout: lines ``iterations done, to do``,
a blank line, then for every target word in turn its source word's position as native int32, -1 for none.
"""

from __future__ import annotations

import sys

import numpy as np
from thot.alignment import EflomalAlignmentModel


def main() -> None:
    model = EflomalAlignmentModel()
    model.seed = int(sys.argv[1])
    model.deterministic = True
    model.emit_training_alignments = True
    # Words by number: the library has names such as NULL that a text may hold.
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
