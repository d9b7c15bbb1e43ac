"""Decoding with many labels.

    python benchmarks/labels.py MODEL.train
    python benchmarks/labels.py MODEL.train --parses TREES --input TOKENS

First, time against the number of labels over a span: ten words, each of as many labels as there are, all of
which glue takes. Then grammars whose labels are the classes of the words at both ends of the target phrase
(Zollmann and Vogel 2011), extracted from the alignment that `hiero train` left in its working directory (with
`--output MODEL`, MODEL.train): score and time by pop limit on 200 sentences of the training text. Times are
CPU time of one thread.

With trees of the bitext's target side, as `hiero parse --tokens --input MODEL.train/corpus.target` writes
them, the labels are those of syntax-augmented grammars (Zollmann and Venugopal 2006), of which there are
thousands, a hundred over each span. Rules without words are of constituents' labels alone.
"""

from __future__ import annotations

import math
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from machine import argument_parser, disturbance_check, machine

import hiero
from hiero.base.tables import pack
from hiero.features.trees import read_trees

CLASSES = (6, 20, 60)
POP_LIMITS = (5, 30, 100, 200, 1000)
WEIGHTS = {"LM0": 1.0, "WordPenalty": -0.5, "PhraseEF": 0.6, "PhraseFE": 0.4, "Glue": -0.5}
MAX_PHRASE = 8
MAX_SYMBOLS = 5

Phrase = tuple[int, int, int, int]  # source begin, end, target begin, end


def decode_all(decoder: hiero.Decoder, sentences: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Returns milliseconds, hypotheses and score a sentence."""
    decoder.translate(sentences[0])
    start = time.process_time()
    results = [decoder.translate(sentence) for sentence in sentences]
    milliseconds = (time.process_time() - start) * 1e3
    hypotheses = sum(result.stats.hypotheses for result in results)
    score = sum(result.score for result in results)
    return milliseconds / len(results), hypotheses / len(results), score / len(results)


def by_number() -> None:
    print("labels      ms   (10 words, pop limit 1)")
    for labels in (500, 1000, 2000, 4000, 8000):
        rules = [hiero.Rule(f"[N{i}] ||| a ||| b{i % 50} ||| A=-{i % 97 + 1}") for i in range(labels)]
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {"A": 0.01})
        milliseconds, _, _ = decode_all(hiero.Decoder(model, pop_limit=1), [["a"] * 10] * 5)
        print(f"{labels:6}  {milliseconds:6.1f}")


def phrases(source: Sequence[str], links: Sequence[tuple[int, int]]) -> list[Phrase]:
    """Returns initial phrases with links at both ends of the source side."""
    linked = {s for s, _ in links}
    initial = []
    for i, j in combinations(range(len(source) + 1), 2):
        targets = [t for s, t in links if i <= s < j]
        if j - i > MAX_PHRASE or not targets or i not in linked or j - 1 not in linked:
            continue
        k, m = min(targets), max(targets) + 1
        if m - k <= MAX_PHRASE and all(i <= s < j for s, t in links if k <= t < m):
            initial.append((i, j, k, m))
    return initial


def gaps(phrase: Phrase, initial: Sequence[Phrase], abstract: bool) -> Iterator[tuple[Phrase, ...]]:
    """Yields the choices of up to two phrases within a phrase that a rule may leave as gaps.

    On the source side two gaps are not side by side unless rules may be ``abstract``, and a single gap is not
    the whole phrase.
    """
    i, j, k, m = phrase
    within = [p for p in initial if p != phrase and i <= p[0] and p[1] <= j and k <= p[2] and p[3] <= m]
    yield ()
    for p in within:
        if p[:2] != (i, j):
            yield (p,)
    for p, q in combinations(sorted(within), 2):
        if (p[1] < q[0] or (abstract and p[1] == q[0])) and (p[3] <= q[2] or q[3] <= p[2]):
            yield p, q


def side(words: Sequence[str], span: tuple[int, int], at: int, cut: dict[int, tuple[int, str]]) -> list[str]:
    out = []
    while at < span[1]:
        end, token = cut.get(at, (at + 1, words[at]))
        out.append(token)
        at = end
    return out


Labeller = Callable[[Phrase], str]


def word_class_labels(pairs: Sequence[Sequence[str]], classes: int) -> Iterator[Labeller]:
    """Yields for each sentence pair a function that labels phrases by the classes of their outer words."""
    frequent = [word for word, _ in Counter(word for line in pairs[1] for word in line.split()).most_common()]
    half = classes // 2
    class_of = {word: half + zlib.crc32(word.encode()) % (classes - half) for word in frequent}
    class_of.update({word: number for number, word in enumerate(frequent[:half])})
    for line in pairs[1]:
        target = line.split()
        yield lambda p, target=target: f"{class_of[target[p[2]]]}-{class_of[target[p[3] - 1]]}"


def syntax_labels(pairs: Sequence[Sequence[str]], parses: Path) -> Iterator[Labeller]:
    """Yields for each sentence pair a function that labels phrases by the target side's tree (Zollmann and
    Venugopal 2006): a constituent's label; `A+B` and `A+B+C` of constituents side by side; `A/B` and `A\\B`
    for an A that lacks a B at its end or its beginning; else X. Pairs beyond the last tree are labelled X."""
    trees = read_trees(parses)
    for number in range(len(pairs[1])):
        tree = trees[number] if number < len(trees) else None
        yield tree_labeller(tree, pairs[1][number].split())


def tree_labeller(tree: hiero.Tree | None, target: Sequence[str]) -> Labeller:
    if tree is None or list(tree.tokens) != target:
        return lambda phrase: "X"
    label = {(i, i + 1): tag for i, tag in enumerate(tree.tags)}
    # The outermost constituent of a span stands for it.
    for constituent in reversed(tree.constituents):
        if constituent.label != "TOP":
            label[constituent.begin, constituent.end] = constituent.label

    def labeller(phrase: Phrase) -> str:
        return spanning_label(label, phrase[2], phrase[3], len(target))

    return labeller


def spanning_label(label: dict[tuple[int, int], str], begin: int, end: int, length: int) -> str:
    if (begin, end) in label:
        return label[begin, end]
    for middle in range(begin + 1, end):
        if (begin, middle) in label and (middle, end) in label:
            return f"{label[begin, middle]}+{label[middle, end]}"
    for further in range(end + 1, length + 1):
        if (begin, further) in label and (end, further) in label:
            return f"{label[begin, further]}/{label[end, further]}"
    for before in range(begin - 1, -1, -1):
        if (before, end) in label and (before, begin) in label:
            return f"{label[before, end]}\\{label[before, begin]}"
    for first, second in combinations(range(begin + 1, end), 2):
        spans = ((begin, first), (first, second), (second, end))
        if all(span in label for span in spans):
            return "+".join(label[span] for span in spans)
    return "X"


def read_pairs(folder: Path) -> list[list[str]]:
    return [(folder / f"corpus.{name}").read_text().splitlines() for name in ("source", "target")]


def labelled_grammar(
    folder: Path,
    pairs: Sequence[Sequence[str]],
    labellers: Iterable[Labeller],
    abstract: bool,
    output: Path,
) -> int:
    """Writes a grammar with labels; returns the number of labels."""
    alignment = (folder / "alignment").read_text().splitlines()
    counts: Counter[tuple[str, str, str]] = Counter()
    for source_line, target_line, links_line, label_of in zip(*pairs, alignment, labellers, strict=True):
        source, target = source_line.split(), target_line.split()
        links = [(int(s), int(t)) for s, t in (link.split("-") for link in links_line.split())]
        initial = phrases(source, links)
        label = {p: label_of(p) for p in initial}
        for phrase in initial:
            choices = list(gaps(phrase, initial, abstract))
            for gap_phrases in choices:
                tokens = [f"[{label[p]},{n}]" for n, p in enumerate(gap_phrases, 1)]
                cut = [
                    {p[at]: (p[at + 1], token) for p, token in zip(gap_phrases, tokens, strict=True)}
                    for at in (0, 2)
                ]
                sides = (
                    side(source, phrase[:2], phrase[0], cut[0]),
                    side(target, phrase[2:], phrase[2], cut[1]),
                )
                labels = (label[phrase], *(label[p] for p in gap_phrases))
                if len(sides[0]) == len(gap_phrases) and any(set("+/\\") & set(each) for each in labels):
                    continue
                if len(sides[0]) <= MAX_SYMBOLS:
                    counts[label[phrase], " ".join(sides[0]), " ".join(sides[1])] += 1 / len(choices)
    by_source: Counter[str] = Counter()
    by_target: Counter[str] = Counter()
    for (_, source_side, target_side), count in counts.items():
        by_source[source_side] += count
        by_target[target_side] += count
    with output.open("w") as file:
        for (lhs, source_side, target_side), count in counts.items():
            forth, back = math.log(count / by_source[source_side]), math.log(count / by_target[target_side])
            file.write(
                f"[{lhs}] ||| {source_side} ||| {target_side} ||| PhraseEF={forth:.4f} PhraseFE={back:.4f}\n"
            )
    return len({lhs for lhs, _, _ in counts})


def by_pop_limit(
    folder: Path, labellers: Iterable[Labeller], abstract: bool, sentences: Sequence[Sequence[str]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        grammar, packed, text = (Path(name) / file for file in ("grammar", "grammar.hrt", "text"))
        labels = labelled_grammar(folder, read_pairs(folder), labellers, abstract, grammar)
        text.write_text("".join(f"{' '.join(sentence)}\n" for sentence in sentences))
        pack(grammar, packed, filter_for=text)
        model = hiero.Model.assemble([packed], [folder / "lm0.binary"], WEIGHTS)
    print(f"\n{labels} labels\npop limit   mean score      ms   hypotheses")
    for limit in POP_LIMITS:
        milliseconds, hypotheses, score = decode_all(hiero.Decoder(model, pop_limit=limit), sentences)
        print(f"{limit:9}   {score:10.4f}  {milliseconds:6.2f}   {hypotheses:10.0f}", flush=True)


def main() -> None:
    parser = argument_parser(__doc__, "folder")
    parser.add_argument("--parses", type=Path, help="trees of the target side, for labels of syntax")
    parser.add_argument("--input", type=Path, help="tokens to translate with labels of syntax")
    arguments = parser.parse_args()
    folder, pairs = arguments.folder, read_pairs(arguments.folder)
    print(machine())
    with disturbance_check():
        if arguments.parses is None:
            by_number()
            sentences = [line.split() for line in pairs[0][:: len(pairs[0]) // 200]]
            for classes in CLASSES:
                by_pop_limit(folder, word_class_labels(pairs, classes), False, sentences)
        else:
            sentences = [line.split() for line in arguments.input.read_text().splitlines()]
            by_pop_limit(folder, syntax_labels(pairs, arguments.parses), True, sentences)


if __name__ == "__main__":
    main()
