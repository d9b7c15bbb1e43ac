"""Prefixes and references: how many next words are right, keystrokes saved, time, and what can be reached.

    python benchmarks/constraints.py ../shared/data [--models FOLDER]

For the two prepared systems, a reference is typed letter by letter, and what the decoder expects to follow
is taken as soon as its next word is right, with one key. Prints the share of next words that are right after
whole words, the share of keys that are saved against typing all letters and blanks, and the CPU time of a
key by the length of the sentence. Then looks for the references of training and test sets in the grammar, on
these corpora and on `ur-en` and `es-en`, for which `hiero train` made models in FOLDER. Where a test set has
four references, any of them will do. Prints the share of sentences for which one is found, what stops the
others, and CPU time. Loading is not counted.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from machine import argument_parser, disturbance_check, machine
from prepared import PREPARED, TRAINED, System

import hiero
from hiero.base.lines import read_lines

TYPED = 200
FORCED = 1000
# The largest lengths of a source sentence of the rows of times.
LENGTHS = (10, 20, 100)

# A sentence and its references.
Pair = tuple[str, list[str]]


class Typist:
    """Types references, and counts."""

    def __init__(self, decoder: hiero.Decoder) -> None:
        self._decoder = decoder
        self.keys = self.letters = self.words = self.right = self.forced = 0
        self.seconds: list[tuple[int, float]] = []  # with the length of the source

    def next_word(self, source: Sequence[str], words: Sequence[str], begun: str) -> str | None:
        """Returns the word that the decoder expects after some words and the beginning of the next."""
        prefix = " ".join([*words, begun])
        start = time.process_time()
        result = self._decoder.translate(source, prefix=prefix)
        self.seconds.append((len(source), time.process_time() - start))
        self.forced += "ForcedWords" in result.features
        tokens = result.tokens
        return tokens[len(words)] if len(tokens) > len(words) else None

    def type(self, source: Sequence[str], reference: Sequence[str]) -> None:
        """Types a reference."""
        for place, word in enumerate(reference):
            self.words += 1
            self.letters += len(word) + 1
            for typed in range(len(word) + 1):
                if typed == len(word):
                    self.keys += 1  # the blank after it
                    break
                expected = self.next_word(source, reference[:place], word[:typed])
                self.right += expected == word and typed == 0
                self.keys += 1
                if expected == word:
                    break

    def report(self) -> None:
        """Prints what was counted."""
        print(f"next words right {self.right / self.words:.1%} of {self.words}")
        print(f"keys saved {1 - self.keys / self.letters:.1%} of {self.letters}")
        print(f"prefixes with forced words {self.forced / len(self.seconds):.1%} of {len(self.seconds)}")
        for low, high in zip((0, *LENGTHS), LENGTHS, strict=False):
            times = [seconds * 1e3 for length, seconds in self.seconds if low < length <= high]
            if times:
                mean, high_end = np.mean(times), np.quantile(times, 0.95)
                print(f"{low + 1}-{high} words: {mean:.1f} ms a key, 95 % below {high_end:.1f} ms")


def verdict(result: hiero.Translation) -> str:
    """Says what stops a reference."""
    if result.has_parse:
        return "found"
    if result.uncovered_target:
        return "a target word without a rule"
    return "a source word without a rule" if result.uncovered_source else "words that do not go together"


def force(name: str, decoder: hiero.Decoder, pairs: Iterable[Pair]) -> None:
    """Looks for references, and prints what comes of them."""
    start = time.process_time()
    verdicts = Counter(
        verdict(decoder.translate(source, references=references)) for source, references in pairs
    )
    count = verdicts.total()
    milliseconds = (time.process_time() - start) / count * 1e3
    shares = ", ".join(f"{kind} {number / count:.1%}" for kind, number in verdicts.most_common())
    print(f"{name}, {count} references: {shares}; {milliseconds:.2f} ms each", flush=True)


def read_pairs(source: Path, references: Sequence[Path], most: int) -> list[Pair]:
    """Returns the first sentences that have words and a reference with words, and these references."""
    files = [list(read_lines(file)) for file in (source, *references)]
    pairs = ((one, [other for other in others if other.strip()]) for one, *others in zip(*files, strict=True))
    return [(one, others) for one, others in pairs if one.strip() and others][:most]


def measure(data: Path, corpus: str, trained: Path | None) -> None:
    """Measures one corpus, by the prepared system or a trained model."""
    folder, language = data / corpus, corpus[:2]
    source, reference = (folder / name for name in (PREPARED | TRAINED)[corpus])
    references = [reference] if trained is None else sorted(folder.glob(f"{reference.stem}.[0-3]"))
    print(f"\n== {corpus}")
    if trained is None:
        with tempfile.TemporaryDirectory() as scratch:
            decoder = hiero.Decoder(System(data, corpus, Path(scratch)).model(), span_limit=15)
        typist = Typist(decoder)
        for text, others in read_pairs(source, references, TYPED):
            typist.type(text.split(), others[0].split())
        typist.report()
    else:
        decoder = hiero.Decoder(hiero.Model.load(trained))
    training = folder / f"train.{language}", [folder / "train.en"]
    force("training set", decoder, read_pairs(*training, FORCED))
    force("test set", decoder, read_pairs(source, references, FORCED))


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--models", type=Path, help="folder of trained models")
    arguments = parser.parse_args()
    print(machine())
    with disturbance_check():
        for corpus in PREPARED:
            measure(arguments.data, corpus, None)
        for corpus in TRAINED if arguments.models is not None else ():
            measure(arguments.data, corpus, arguments.models / corpus)


if __name__ == "__main__":
    main()
