"""Decoding with many labels.

    python benchmarks/labels.py MODEL.train

First, time against the number of labels over a span: ten words, each of as many labels as there are, all of
which glue takes. Then grammars whose labels are the classes of the words at both ends of the target phrase
(Zollmann and Vogel 2011), extracted from the alignment that `hiero train` left in its working directory (with
`--output MODEL`, MODEL.train): score and time by pop limit on 200 sentences of the training text. Times are
CPU time of one thread.
"""

from __future__ import annotations

import math
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from machine import machine, parser, watched

import hiero

CLASSES = (6, 20, 60)
POP_LIMITS = (5, 30, 100, 200)
WEIGHTS = {"LM0": 1.0, "WordPenalty": -0.5, "PhraseEF": 0.6, "PhraseFE": 0.4, "Glue": -0.5}
MAX_PHRASE = 8
MAX_SYMBOLS = 5

Phrase = tuple[int, int, int, int]  # source begin, end, target begin, end


def decode_all(decoder: hiero.Decoder, sentences: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Milliseconds, hypotheses and score a sentence."""
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
    """Initial phrases with links at both ends of the source side."""
    linked = {s for s, _ in links}
    found = []
    for i, j in combinations(range(len(source) + 1), 2):
        targets = [t for s, t in links if i <= s < j]
        if j - i > MAX_PHRASE or not targets or i not in linked or j - 1 not in linked:
            continue
        k, m = min(targets), max(targets) + 1
        if m - k <= MAX_PHRASE and all(i <= s < j for s, t in links if k <= t < m):
            found.append((i, j, k, m))
    return found


def gaps(phrase: Phrase, found: Sequence[Phrase]) -> Iterator[tuple[Phrase, ...]]:
    """Up to two phrases within, not side by side on the source side."""
    i, j, k, m = phrase
    within = [p for p in found if p != phrase and i <= p[0] and p[1] <= j and k <= p[2] and p[3] <= m]
    yield ()
    for p in within:
        yield (p,)
    for p, q in combinations(sorted(within), 2):
        if p[1] < q[0] and (p[3] <= q[2] or q[3] <= p[2]):
            yield p, q


def side(words: Sequence[str], span: tuple[int, int], at: int, cut: dict[int, tuple[int, str]]) -> list[str]:
    out = []
    while at < span[1]:
        end, token = cut.get(at, (at + 1, words[at]))
        out.append(token)
        at = end
    return out


def labelled_grammar(folder: Path, classes: int, output: Path) -> int:
    """Writes the rules; returns the number of labels."""
    pairs = [(folder / f"corpus.{name}").read_text().splitlines() for name in ("source", "target")]
    alignment = (folder / "alignment").read_text().splitlines()
    frequent = [word for word, _ in Counter(word for line in pairs[1] for word in line.split()).most_common()]
    half = classes // 2
    class_of = {word: half + zlib.crc32(word.encode()) % (classes - half) for word in frequent}
    class_of.update({word: number for number, word in enumerate(frequent[:half])})
    counts: Counter[tuple[str, str, str]] = Counter()
    for source_line, target_line, links_line in zip(*pairs, alignment, strict=True):
        source, target = source_line.split(), target_line.split()
        links = [(int(s), int(t)) for s, t in (link.split("-") for link in links_line.split())]
        found = phrases(source, links)
        label = {p: f"{class_of[target[p[2]]]}-{class_of[target[p[3] - 1]]}" for p in found}
        for phrase in found:
            choices = list(gaps(phrase, found))
            for chosen in choices:
                tokens = [f"[{label[p]},{n}]" for n, p in enumerate(chosen, 1)]
                cut = [
                    {p[at]: (p[at + 1], token) for p, token in zip(chosen, tokens, strict=True)}
                    for at in (0, 2)
                ]
                sides = (
                    side(source, phrase[:2], phrase[0], cut[0]),
                    side(target, phrase[2:], phrase[2], cut[1]),
                )
                if len(sides[0]) <= MAX_SYMBOLS and len(sides[0]) > len(chosen):
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


def word_classes(folder: Path) -> None:
    lines = (folder / "corpus.source").read_text().splitlines()
    sentences = [line.split() for line in lines[:: len(lines) // 200]]
    for classes in CLASSES:
        with tempfile.TemporaryDirectory() as name:
            grammar = Path(name) / "grammar"
            labels = labelled_grammar(folder, classes, grammar)
            model = hiero.Model.assemble([grammar], [folder / "lm0.binary"], WEIGHTS)
        print(f"\n{labels} labels\npop limit   mean score      ms   hypotheses")
        for limit in POP_LIMITS:
            milliseconds, hypotheses, score = decode_all(hiero.Decoder(model, pop_limit=limit), sentences)
            print(f"{limit:9}   {score:10.4f}  {milliseconds:6.2f}   {hypotheses:10.0f}")


def main() -> None:
    parsed = parser(__doc__, "folder")
    arguments = parsed.parse_args()
    print(machine())
    with watched():
        by_number()
        word_classes(arguments.folder)


if __name__ == "__main__":
    main()
