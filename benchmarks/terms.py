"""Terms of a glossary: how many are translated as asked, and BLEU.

    python benchmarks/terms.py ../shared/data SCRATCH

The glossary is made of rare words of the German-English training text: 200 words of the test set and 200 of
the tuning set that occur two to ten times there, each with the phrase that most of its occurrences are
aligned with. The prepared system translates the test set without it, with its terms exclusively, and softly:
with its own weights, and with those that are tuned on the tuning set by MERT, with terms or without.
SCRATCH keeps what is made, and the benchmark goes on where it was interrupted.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

from machine import argument_parser, disturbance_check, machine, run
from prepared import System

import hiero
from hiero.train import align
from hiero.train.alignment import read_alignment

TERMS = 200
OCCURRENCES = range(2, 11)


def aligned_phrases(data: Path, scratch: Path) -> dict[str, str]:
    """Returns rare words with the phrases that most of their occurrences are aligned with."""
    files = [data / "train.de", data / "train.en"]
    links = scratch / "links"
    if not links.exists():
        align([(files[0], files[1])], [links], threads=2)
    source, target = ([line.split() for line in file.read_text("utf-8").split("\n")[:-1]] for file in files)
    counts = Counter(word for words in source for word in words)
    phrases: dict[str, Counter[str]] = defaultdict(Counter)
    for words, others, pairs in zip(source, target, read_alignment(links, len(source)), strict=True):
        for place, word in enumerate(words):
            places = sorted({t for s, t in pairs if s == place})
            is_alone = all(s == place for s, t in pairs if t in places)
            if counts[word] in OCCURRENCES and is_alone and places and places[-1] - places[0] < len(places):
                phrases[word][" ".join(others[places[0] : places[-1] + 1])] += 1
    return {word: found.most_common(1)[0][0] for word, found in phrases.items()}


def write_glossary(data: Path, scratch: Path) -> Path:
    """Writes the glossary, and returns its path."""
    path = scratch / "glossary.tsv"
    if not path.exists():
        phrases = aligned_phrases(data, scratch)
        chosen: list[str] = []
        for name in ("test2016.de", "dev.de"):
            here = sorted(set((data / name).read_text("utf-8").split()) & phrases.keys() - set(chosen))
            chosen += random.Random(1).sample(here, min(TERMS, len(here)))
        path.write_text("".join(f"{word}\t{phrases[word]}\n" for word in chosen), encoding="utf-8")
    return path


def tune(data: Path, scratch: Path, name: str, options: list[object]) -> Path:
    """Tunes by MERT, and returns the folder of the weights."""
    sets = ["--source", data / "dev.de", "--references", data / "dev.en", "--span-limit", 15]
    run("hiero", "tune", scratch / "model", "--method", "mert", *sets, *options, "-o", scratch / name)
    return scratch / name


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data", "scratch")
    arguments = parser.parse_args()
    data, scratch = arguments.data / "de-en", arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    with disturbance_check():
        glossary = write_glossary(data, scratch)
        model = scratch / "model"
        if not model.exists():
            System(arguments.data, "de-en", scratch).model().save(model)
        terms = ["--terms", glossary]
        soft = [*terms, "--soft-terms"]
        plain, with_terms = tune(data, scratch, "tuned", []), tune(data, scratch, "tuned-terms", terms)
        weight = hiero.read_weights(with_terms / "weights.txt")["Markup"]
        print(f"tuned weight of Markup {weight:.3f}")
        sets: list[object] = ["--references", data / "test2016.en"]
        ways: dict[str, list[object]] = {
            "without": [],
            "exclusive": terms,
            "soft": soft,
            "tuned, without": ["--weights", plain],
            "tuned, exclusive": [*terms, "--weights", plain],
            "tuned, soft": [*soft, "--weights", with_terms],
        }
        for way, options in ways.items():
            output = scratch / f"{way.replace(', ', '-')}.en"
            text = ["--source", data / "test2016.de", "--span-limit", 15, "--output", output, "--quiet"]
            run("hiero-decode", model, *text, *options)
            system = [*sets, "--hypothesis", output]
            told = run("hiero", "eval", *system, *terms, "--source", data / "test2016.de")
            scores = [line.split(" (")[0] for line in told.splitlines() if " = " in line]
            print(f"{way:20} {'; '.join(scores)}", flush=True)
        others = [word for way in ("exclusive", "soft") for word in ("--compare", scratch / f"{way}.en")]
        print(run("hiero", "eval", *sets, "--hypothesis", scratch / "without.en", *others), end="")


if __name__ == "__main__":
    main()
