"""Answers to why not: 50 references that the grammar reaches and 50 that it does not, checked by enumeration.

    python benchmarks/why_not.py ../shared/data/ja-en MODEL

MODEL is a model of `hiero train` on the bitext. For the first sentences of the test set, the reference is the
translation that is wanted. Whether rules derive it is found out once more by enumeration of the parts of the
reference that each span of the sentence may be translated to, and whether the chart has it by the parts of
the reference that each of its items may be. Prints how often each answer is given, and how many are wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from machine import argument_parser, machine, tokenised_pairs

import hiero
from hiero._core import Chart, unpack
from hiero.decode.why_not import WhyNot, why_not

EACH = 50
Span = tuple[int, int]
# The source side of a rule, with None for a nonterminal, and its targets, with the number of a nonterminal.
Grammar = dict[tuple[str | None, ...], list[tuple[str | int, ...]]]


def read_grammar(table: hiero.RuleTable, words: set[str]) -> Grammar:
    """Returns the rules all of whose source words are among these."""
    grammar: Grammar = defaultdict(list)
    pieces: list[bytes] = []
    unpack(table, pieces.append)
    for line in b"".join(pieces).decode().splitlines():
        _, source, target, *_ = line.split(" ||| ")
        side = tuple(None if token.startswith("[X") else token for token in source.split(" "))
        if all(token is None or token in words for token in side):
            numbered = (
                int(token[3:-1]) - 1 if token.startswith("[X,") else token for token in target.split(" ")
            )
            grammar[side].append(tuple(numbered))
    return grammar


def patterns(
    sentence: Sequence[str], begin: int, end: int, longest: int
) -> Iterator[tuple[list[str | None], list[Span]]]:
    """Yields all ways in which a source side of at most so many symbols, with at most two nonterminals that
    are not neighbours, covers a span."""
    stack: list[tuple[int, list[str | None], list[Span]]] = [(begin, [], [])]
    while stack:
        at, side, gaps = stack.pop()
        if at == end:
            yield side, gaps
            continue
        if gaps and len(side) == longest:
            continue
        stack.append((at + 1, [*side, sentence[at]], gaps))
        if len(gaps) < 2 and len(side) < longest and not (side and side[-1] is None):
            stack += [(to, [*side, None], [*gaps, (at, to)]) for to in range(at + 1, end + 1)]


def placements(
    target: Sequence[str | int], reference: Sequence[str], parts: Sequence[set[Span]]
) -> Iterator[Span]:
    """Yields the parts of the reference that a target side may be, with these parts for its nonterminals."""
    for begin in range(len(reference) + 1):
        ends = {begin}
        for symbol in target:
            if isinstance(symbol, int):
                ends = {to for first, to in parts[symbol] if first in ends}
            else:
                ends = {at + 1 for at in ends if at < len(reference) and reference[at] == symbol}
        yield from ((begin, end) for end in ends)


def is_derived(grammar: Grammar, sentence: Sequence[str], reference: Sequence[str], span_limit: int) -> bool:
    """Tells whether rules and glue translate the sentence to the reference, by enumeration."""
    size = len(sentence)
    found: dict[Span, set[Span]] = {}
    for length in range(1, min(size, span_limit) + 1):
        for begin in range(size - length + 1):
            span = (begin, begin + length)
            parts: set[Span] = set()
            for side, gaps in patterns(sentence, *span, span_limit):
                if gaps and gaps[0] == span:
                    continue
                for target in grammar.get(tuple(side), ()):
                    parts.update(placements(target, reference, [found[gap] for gap in gaps]))
            if length == 1 and (sentence[begin],) not in grammar:  # an unknown word is copied
                parts.update(placements((sentence[begin],), reference, ()))
            found[span] = parts
    reached = {0: {0}}  # by source position, the ends of what glue has put together
    for end in range(1, size + 1):
        reached[end] = {
            to
            for begin in range(max(0, end - span_limit), end)
            for first, to in found[begin, end]
            if first in reached[begin]
        }
    return len(reference) in reached[size]


def items_with(chart: Chart, reference: Sequence[str]) -> list[set[Span]]:
    """Returns for each node of a chart the parts of the reference that it may be."""
    forest = chart.forest
    parts: list[set[Span]] = []
    for node in range(forest.node_count):
        mine: set[Span] = set()
        for edge in range(*forest.edge_offsets[node : node + 2].tolist()):
            template = int(forest.edge_targets[edge])
            symbols = forest.target_symbols[slice(*forest.target_offsets[template : template + 2])].tolist()
            tails = forest.tails[slice(*forest.tail_offsets[edge : edge + 2])].tolist()
            target = [forest.words[symbol] if symbol >= 0 else -1 - symbol for symbol in symbols]
            mine.update(placements(target, reference, [parts[tail] for tail in tails]))
        parts.append(mine)
    return parts


def is_right(answer: WhyNot, grammar: Grammar, sentence: Sequence[str], limit: int) -> bool:
    """Checks an answer by enumeration."""
    reference = answer.tokens
    derived = is_derived(grammar, sentence, reference, limit)
    if answer.reason == "no rule":
        return not derived and not is_derived(grammar, sentence, reference, len(sentence))
    if answer.reason == "limit":
        return not derived and is_derived(grammar, sentence, reference, len(sentence))
    chart = answer.best.chart
    parts = items_with(chart, reference)
    has_whole = (0, len(reference)) in parts[chart.forest.root]
    if answer.reason == "chosen":
        return derived and answer.best.tokens == list(reference)
    if answer.reason == "scored lower":
        return derived and has_whole and answer.difference <= 1e-4
    assert answer.pruned is not None
    words = answer.pruned.derivation.tokens
    cell = [node for node in chart.nodes(*answer.pruned.span).tolist() if chart.survived[node]]
    above = sum(float(chart.scores[node]) > answer.pruned.derivation.score for node in cell)
    return derived and not has_whole and bool(words) and answer.pruned.rank <= 1 + above


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data", "model").parse_args()
    model = hiero.Model.load(arguments.model)
    decoder = hiero.Decoder(model)
    pairs = tokenised_pairs(arguments.data / "test.ja", [arguments.data / "test.en"], 10**6)
    grammar = read_grammar(model.tables[0], {word for sentence, _ in pairs for word in sentence})
    print(machine())
    counts: Counter[str] = Counter()
    wrong = 0
    for sentence, references in pairs:
        answer = why_not(decoder, sentence, references[0])
        kind = "not reached" if answer.reason in ("no rule", "limit") else "reached"
        if counts[kind] == EACH:
            continue
        counts.update([kind, answer.reason])
        if not is_right(answer, grammar, sentence, decoder.settings.span_limit):
            wrong += 1
            print(f"WRONG: {answer.reason}: {' '.join(sentence)} ||| {' '.join(answer.tokens)}")
        if counts["reached"] == counts["not reached"] == EACH:
            break
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    asked = sum(counts[name] for name in ("reached", "not reached"))
    print(f"{asked} answers checked by enumeration, {wrong} wrong")


if __name__ == "__main__":
    main()
