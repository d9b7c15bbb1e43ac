"""A program that aligns words in one direction, with a model of sil-thot's of targets given sources.

    direction.py MODEL SEED SAMPLERS

The model is ``eflomal``, or one that is trained by expectation maximisation: ``ibm1``, ``hmm`` or
``fast-align``. Input: one line for each sentence pair, ``source tokens TAB target tokens``. Output: lines
with the number of iterations done and their total, an empty line, then for every target word the position of
its source word as a native int32, or -1.

It is a process of its own because the library holds Python's global lock during training. It imports nothing
from this package, so it runs wherever ``sil_thot.py`` finds it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from thot.alignment import (
    AlignmentModel,
    EflomalAlignmentModel,
    FastAlignModel,
    HmmAlignmentModel,
    Ibm1AlignmentModel,
)

Pair = tuple[list[str], list[str]]
Matrix = np.ndarray[Any, np.dtype[np.bool_]]

# Iterations of each model by expectation maximisation, as GIZA++ has them.
_ITERATIONS = 5


def main() -> None:
    name, seed, samplers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    pairs = list(_pairs())
    matrix = _eflomal(pairs, seed, samplers) if name == "eflomal" else _maximised(name, pairs)
    print(flush=True)
    for pair in range(len(pairs)):
        links = matrix(pair)
        positions = np.where(links.any(axis=0), links.argmax(axis=0), -1)
        sys.stdout.buffer.write(positions.astype(np.int32).tobytes())


def _pairs() -> Iterator[Pair]:
    # Words are replaced by names such as w0, because some words, such as NULL, are special to the library.
    numbers: tuple[dict[bytes, str], dict[bytes, str]] = ({}, {})
    for line in sys.stdin.buffer:
        source, target = (
            [names.setdefault(word, f"w{len(names)}") for word in words.split()]
            for words, names in zip(line.split(b"\t"), numbers, strict=True)
        )
        yield source, target


def _eflomal(pairs: list[Pair], seed: int, samplers: int) -> Callable[[int], Matrix]:
    """Trains eflomal's model. Returns a function that gives the links of a pair, (sources, targets)."""
    model = EflomalAlignmentModel()
    model.seed = seed
    model.num_samplers = samplers
    model.deterministic = True
    model.emit_training_alignments = True
    for pair in pairs:
        model.add_sentence_pair(*pair)
    model.start_training()
    for done in range(model.scheduled_iterations):
        model.train()
        print(done + 1, model.scheduled_iterations, flush=True)
    model.end_training()
    return lambda pair: model.get_training_alignment(pair)[1].to_numpy()


def _maximised(name: str, pairs: list[Pair]) -> Callable[[int], Matrix]:
    """Trains another model, HMM after IBM model 1. Returns a function that gives the links of a pair."""
    iterations = _ITERATIONS * (2 if name == "hmm" else 1)

    def train(model: AlignmentModel, done: int) -> None:
        model.start_training()
        for iteration in range(done + 1, done + _ITERATIONS + 1):
            model.train()
            print(iteration, iterations, flush=True)
        model.end_training()

    first = FastAlignModel() if name == "fast-align" else Ibm1AlignmentModel()
    for pair in pairs:
        first.add_sentence_pair(*pair)
    train(first, 0)
    last: AlignmentModel = first
    if isinstance(first, Ibm1AlignmentModel) and name == "hmm":
        train(last := HmmAlignmentModel(first), _ITERATIONS)
    return lambda pair: last.get_best_alignment(*pairs[pair])[1].to_numpy()


if __name__ == "__main__":
    main()
