"""The cost of soft syntax and structural distortion in decoding.

    python benchmarks/structured_features.py MODEL TEXT PARSES

Decodes the text by the model without local features and with both fine sets, whose weights are 0, so that the
search is the same, sentence by sentence in turns on one thread. Prints the processor time of each, of every
sentence the least of five, and the ratio.
"""

from __future__ import annotations

import time

import numpy as np
from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.features.trees import frequent_labels, read_trees

ROUNDS = 5


def main() -> None:
    arguments = argument_parser(__doc__, "model", "text", "parses").parse_args()
    lines, trees = arguments.text.read_text().splitlines(), read_trees(arguments.parses)
    sentences = [hiero.Sentence(line, parse=tree) for line, tree in zip(lines, trees, strict=True)]
    plain = hiero.Model.load(arguments.model)
    labels = tuple(frequent_labels(trees))
    model = plain.with_features([hiero.features.FineSyntax(labels=labels), hiero.features.FineDistortion()])
    decoders = [hiero.Decoder(each, pop_limit=200) for each in (plain, model)]
    print(machine())
    setup = f"{len(sentences)} sentences, pop limit 200, labels {' '.join(labels)}"
    print(f"{arguments.model}, {arguments.text}: {setup}")
    times = np.full((2, len(sentences)), np.inf)
    with disturbance_check():
        for _ in range(ROUNDS):
            for at, sentence in enumerate(sentences):
                for decoder, least in zip(decoders, times, strict=True):
                    before = time.process_time()
                    decoder.translate(sentence)
                    least[at] = min(least[at], time.process_time() - before)
    without, both = 1000 * times.mean(axis=1)
    print(
        f"without {without:.2f} ms a sentence, with both features {both:.2f} ms: times {both / without:.3f}"
    )


if __name__ == "__main__":
    main()
