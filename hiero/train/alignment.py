"""Word alignment both ways by sil-thot's eflomal model (Östling and Tiedemann 2016), symmetrised, in Pharaoh
format: per sentence pair its links as ``0-0 1-2``, source then target position, both from 0."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Literal, get_args

import numpy as np
from thot.alignment import EflomalAlignmentModel
from thot.common import WordAlignmentMatrix

from hiero._core import FormatError
from hiero.files import replacing
from hiero.text import split
from hiero.train.corpus import PathLike, read_lines, read_pairs

Heuristic = Literal["grow-diag-final-and", "grow-diag-final", "grow-diag", "union", "intersection"]
HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
Links = list[tuple[int, int]]


def align(
    bitexts: Sequence[tuple[PathLike, PathLike]],
    outputs: Sequence[PathLike],
    *,
    heuristic: Heuristic = "grow-diag-final-and",
    seed: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Aligns bitexts together, each into an output file of its own; a pair with a blank side gets no links.

    The texts are in tokens. The same seed gives the same alignment on any number of processors.
    ``progress`` is called with the iterations done, of both directions, and to do. The corpus is held in
    memory. Raises FormatError for files of different length or without a sentence pair; OSError.
    """
    corpora = [
        [(split(source), split(target)) for source, target in read_pairs(*bitext)] for bitext in bitexts
    ]
    aligned = [pair for corpus in corpora for pair in corpus if all(pair)]
    if not aligned:
        raise FormatError(f"{os.fspath(bitexts[0][0])}: no sentence pairs to align")
    matrices = symmetrise(_train_both(aligned, seed, progress), heuristic)
    with ExitStack() as stack:
        for corpus, output in zip(corpora, outputs, strict=True):
            file = stack.enter_context(stack.enter_context(replacing(output)).open("w", newline="\n"))
            for pair in corpus:
                links = next(matrices) if all(pair) else []
                file.write(format_links(links) + "\n")


def format_links(links: Links) -> str:
    """Links as a line in Pharaoh format."""
    return " ".join(f"{s}-{t}" for s, t in links)


def read_alignment(path: PathLike, pairs: int) -> Iterator[Links]:
    """The links of every line, sorted, each once.

    Raises FormatError naming the line for what is no link, and unless there is a line for each of ``pairs``.
    """
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{os.fspath(path)}:{number}"
        if number > pairs:
            raise FormatError(f"{where}: more lines than the {pairs} sentence pairs")
        yield sorted({_parse_link(token, where) for token in split(line)})
    if number < pairs:
        raise FormatError(f"{os.fspath(path)}: ends after {number} lines of {pairs} sentence pairs")


def check_links(links: Links, lengths: tuple[int, int], where: str) -> None:
    """Raises FormatError for a link beyond sentences of these numbers of words, source and target."""
    for s, t in links:
        if s >= lengths[0] or t >= lengths[1]:
            raise FormatError(
                f"{where}: link {s}-{t} points beyond a sentence pair of {lengths[0]} and {lengths[1]} words"
            )


def _parse_link(token: str, where: str) -> tuple[int, int]:
    source, dash, target = token.partition("-")
    if not (dash and source.isascii() and target.isascii() and source.isdigit() and target.isdigit()):
        raise FormatError(f"{where}: expected links such as 0-0 1-2, found {token}")
    return int(source), int(target)


def _train_both(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    seed: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[EflomalAlignmentModel, EflomalAlignmentModel]:
    """Models of the target given the source and of the source given the target."""
    stopped = threading.Event()
    forward, backward = _model(pairs, seed), _model([(t, s) for s, t in pairs], seed)
    total = 0
    done = 0
    lock = threading.Lock()

    def train(model: EflomalAlignmentModel) -> None:
        nonlocal total, done
        model.start_training()
        iterations = model.scheduled_iterations
        with lock:
            total += iterations
        for _ in range(iterations):
            if stopped.is_set():
                return
            model.train()
            with lock:
                done += 1
                if progress is not None:
                    progress(done, total)
        model.end_training()

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(train, model) for model in (forward, backward)]
        try:
            for future in futures:
                future.result()
        finally:
            stopped.set()  # an interrupt ends the threads after their current iteration
    return forward, backward


def _model(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], seed: int) -> EflomalAlignmentModel:
    model = EflomalAlignmentModel()
    model.seed = seed
    model.deterministic = True
    model.emit_training_alignments = True
    # Words by number: the library has names such as NULL that a text may hold.
    sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for pair in pairs:
        source, target = (
            [names.setdefault(word, f"w{len(names)}") for word in words]
            for words, names in zip(pair, sides, strict=True)
        )
        model.add_sentence_pair(source, target)
    return model


def symmetrise(
    models: tuple[EflomalAlignmentModel, EflomalAlignmentModel], heuristic: Heuristic
) -> Iterator[Links]:
    """The links of every training pair of the two models."""
    forward, backward = models
    for n in range(forward.num_sentence_pairs):
        _, there = forward.get_training_alignment(n)
        _, back = backward.get_training_alignment(n)
        back.transpose()
        combine(there, back, heuristic)
        yield [(int(s), int(t)) for s, t in np.argwhere(there.to_numpy())]


def combine(there: WordAlignmentMatrix, back: WordAlignmentMatrix, heuristic: Heuristic) -> None:
    """Symmetrises two matrices, source words by target words, into the first (Koehn et al. 2005)."""
    if heuristic == "intersection":
        there.intersect(back)
    elif heuristic == "union":
        there.union(back)
    elif heuristic == "grow-diag":
        there.grow_diag(back)
    elif heuristic == "grow-diag-final":
        there.grow_diag_final(back)
    else:
        there.grow_diag_final_and(back)
