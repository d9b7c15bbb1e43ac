"""Speed of `hiero parse`, and likeness of its trees to those of another parser.

    python benchmarks/parse.py dev.en dev.en.parse

The first file has a sentence of tokens a line, the second a tree of each. F1 is of constituents, all of a set
together, without roots; without labels, of those over two tokens or more.
"""

from __future__ import annotations

import time
from collections import Counter

from machine import argument_parser, machine

from hiero.base.text import split
from hiero.features.syntax import FINE_LABELS
from hiero.features.trees import ROOTS, Tree, read_trees
from hiero.parse.parser import parse_sentences

Spans = Counter[tuple[int, str, int, int]]


def spans(trees: list[Tree], labelled: bool) -> Spans:
    return Counter(
        (number, c.label if labelled else "", c.begin, c.end)
        for number, tree in enumerate(trees)
        for c in tree.constituents
        if c.label not in ROOTS and (labelled or c.end - c.begin > 1)
    )


def f1(ours: Spans, theirs: Spans) -> float:
    return 200 * (ours & theirs).total() / max(ours.total() + theirs.total(), 1)


def of_label(constituents: Spans, label: str) -> Spans:
    return Counter({span: count for span, count in constituents.items() if span[1] == label})


def main() -> None:
    arguments = argument_parser(__doc__, "text", "trees").parse_args()
    sentences = [split(line) for line in arguments.text.read_text(encoding="utf-8").splitlines()]
    list(parse_sentences([["loaded", "."]]))  # what takes time once
    start = time.perf_counter()
    parses = list(parse_sentences(sentences))
    seconds = time.perf_counter() - start
    print(f"{machine()}\n{arguments.text}: {len(sentences) / seconds:.0f} sentences a second")
    pairs = [(ours, theirs) for ours, theirs in zip(parses, read_trees(arguments.trees), strict=True)]
    both = [(ours, theirs.retokenize(ours.tokens)) for ours, theirs in pairs if ours and theirs]
    parsed_trees, given_trees = ([pair[side] for pair in both] for side in (0, 1))
    ours, theirs = spans(parsed_trees, True), spans(given_trees, True)
    print(f"F1 with labels {f1(ours, theirs):.1f}, ", end="")
    unlabelled = f1(spans(parsed_trees, False), spans(given_trees, False))
    print(f"without {unlabelled:.1f}; of each label and how many were given:")
    for label in FINE_LABELS:
        expected = of_label(theirs, label)
        print(f"  {label:5} {f1(of_label(ours, label), expected):5.1f} {expected.total():6}")


if __name__ == "__main__":
    main()
