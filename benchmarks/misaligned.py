"""Misaligned sentence pairs that training finds, of those that were made so on purpose.

    python benchmarks/misaligned.py ../shared/data FOLDER

Gives 2 % of the pairs of each corpus the target side of the next such pair, aligns words, and looks for
problems. Prints how many pairs are found, which share of them was made misaligned (precision; pairs of the
corpus that are misaligned by themselves count against it), which share of those made so is found (recall),
and the time of both steps.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from machine import argument_parser, machine

from hiero.base.lines import read_lines
from hiero.text import TextProcessing, TextSide
from hiero.train import align, prepare_corpus
from hiero.train.problems import AlignedCorpus, find_problems

MOSES = TextProcessing(TextSide("moses", "es"), TextSide("moses", "en"))
CORPORA = {"ur-en": None, "de-en": None, "es-en": MOSES, "ja-en": None}
SHARE = 0.02


def misalign(targets: list[str]) -> set[int]:
    """Moves a share of the lines, in place. Returns the numbers of those that changed, counted from 1."""
    drawn = sorted(random.Random(1).sample(range(len(targets)), int(SHARE * len(targets))))
    before = [targets[line] for line in drawn]
    for line, other in zip(drawn, [*before[1:], before[0]], strict=True):
        targets[line] = other
    return {line + 1 for line, text in zip(drawn, before, strict=True) if targets[line] != text}


def main() -> None:
    arguments = argument_parser(__doc__, "data", "folder").parse_args()
    print(machine())
    for name, text in CORPORA.items():
        home, folder = arguments.data / name, arguments.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        language = name[:2]
        targets = list(read_lines(home / "train.en"))
        moved = misalign(targets)
        (folder / "misaligned.en").write_text("".join(f"{line}\n" for line in targets), encoding="utf-8")
        bitext = (home / f"train.{language}", folder / "misaligned.en")
        source, target, links = (folder / part for part in ("source", "target", "links"))
        report = prepare_corpus([bitext], source, target, text=text)
        begin = time.monotonic()
        align([(source, target)], [links])
        middle = time.monotonic()
        problems = find_problems(AlignedCorpus(source, target, links, len(targets)))
        found = {problem.line for problem in problems if problem.kind == "misaligned"}
        end = time.monotonic()
        moved &= kept_lines(source)
        right = len(found & moved)
        print(
            f"{name}: {len(found):,} of {report.kept:,} pairs, precision {right / len(found):.2f}, recall"
            f" {right / len(moved):.2f}; alignment {middle - begin:.1f} s, problems {end - middle:.1f} s"
        )


def kept_lines(path: Path) -> set[int]:
    """Returns the numbers of the lines that are not blank."""
    return {number for number, line in enumerate(read_lines(path), start=1) if line}


if __name__ == "__main__":
    main()
