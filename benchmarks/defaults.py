"""Measures what a user gets who trains, tunes and translates with default settings.

    python benchmarks/defaults.py ../shared/data OUTPUT [--corpora ja-en ur-en] [--seeds 1 2 3]
    python benchmarks/defaults.py ../shared/data OUTPUT --against OUTPUT-OF-ANOTHER-VERSION
    python benchmarks/defaults.py ../shared/data OUTPUT --tuning "-k 100" --training "--aligner hiero"

Runs `hiero train`, `hiero tune --method mert` and `hiero decode` on each corpus with each seed, and prints
BLEU, chrF++ and the length ratio of the test set, and the seconds of processor time of each command. Of
es-en's 3,979 segments to tune on, only the first 1,000 are tuned on. A run that was interrupted goes on.
``--python`` names the Python of the hiero that is measured, to compare two versions. ``--training`` and
``--tuning`` give further options of `hiero train` and `hiero tune`. With ``--against``, each score has its
difference to that of another run in its folder, and the p-values of a randomisation test and a bootstrap.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from machine import argument_parser, machine

from hiero.base.files import write_atomically
from hiero.base.lines import read_lines
from hiero.evaluate import (
    Bleu,
    ChrfPlusPlus,
    Metric,
    Runs,
    Text,
    approximate_randomization,
    paired_bootstrap,
)
from hiero.forest.losses import BleuColumns
from hiero.text import TextSide


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus: the stems of its sets in the folder of all data, the languages of both sides,
    the number of references, further options of `hiero train`, and how many lines of the tuning set are
    tuned on (None: all)."""

    train: str
    dev: str
    test: str
    source: str
    target: str
    references: int = 1
    files: Sequence[tuple[str, str]] = ()
    options: Sequence[str] = field(default=())
    tuning_lines: int | None = None

    @property
    def is_raw(self) -> bool:
        """Whether its text is raw, not tokens."""
        return "--tokenize" in self.options

    def training(self, data: Path) -> list[object]:
        """Returns the options of `hiero train`."""
        stem = data / self.train
        words: list[object] = ["--source", f"{stem}.{self.source}", "--target", f"{stem}.{self.target}"]
        for option, names in self.files:
            words += [option, *(data / name for name in names.split())]
        return [*words, *self.options]

    def paths(self, data: Path, name: str) -> list[Path]:
        """Returns the source and the references of the set ``dev`` or ``test``."""
        stem = data / getattr(self, name)
        ends = (
            [self.target] if self.references == 1 else [f"{self.target}.{k}" for k in range(self.references)]
        )
        return [Path(f"{stem}.{end}") for end in (self.source, *ends)]


CORPORA = {
    "ja-en": Corpus("ja-en/train", "ja-en/dev", "ja-en/test", "ja", "en"),
    "de-en": Corpus("de-en/train", "de-en/dev", "de-en/test2016", "de", "en"),
    "en-de": Corpus("de-en/train", "de-en/dev", "de-en/test2016", "en", "de"),
    "ur-en": Corpus(
        "ur-en/train",
        "ur-en/dev",
        "ur-en/test",
        "ur",
        "en",
        4,
        [("--dictionary", "ur-en/dict.ur ur-en/dict.en"), ("--mono", "ur-en/mono.en.gz")],
    ),
    "es-en": Corpus(
        "es-en/train",
        "es-en/dev",
        "es-en/test",
        "es",
        "en",
        4,
        options=["--tokenize", "es:moses", "en:moses", "--truecase"],
        tuning_lines=1000,
    ),
}


def corpora_parser(text: str | None) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark with the docstring ``text`` on these corpora: the folder of all data,
    that of the results, the corpora and the number of threads."""
    parser = argument_parser(text, "data", "output")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--threads", type=int, default=1)
    return parser


def run(python: str, folder: Path, name: str, *words: object, text: Path | None = None) -> None:
    """Runs a command of hiero with a text as its input, unless it was done, and notes its seconds of
    processor time."""
    times = folder / "times.json"
    done = json.loads(times.read_text()) if times.exists() else {}
    if name in done:
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / f"{name}.log").open("a") as log, open(text or os.devnull, "rb") as stdin:
        command = [python, "-m", "hiero", *map(str, words)]
        subprocess.run(command, check=True, stdin=stdin, stdout=log, stderr=log)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    done[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    write_atomically(times, json.dumps(done))


def tuning_set(data: Path, corpus: Corpus, folder: Path) -> list[object]:
    """Returns the options of `hiero tune` for the tuning set; what is tuned on of a long one is written to
    the folder."""
    paths = corpus.paths(data, "dev")
    if corpus.tuning_lines is not None:
        parts = [folder / path.name for path in paths]
        for path, part in zip(paths, parts, strict=True):
            lines = islice(read_lines(path), corpus.tuning_lines)
            write_atomically(part, "".join(f"{line}\n" for line in lines))
        paths = parts
    return ["--source", paths[0], "--references", *paths[1:]]


def make(arguments: argparse.Namespace, name: str, seed: int, folder: Path) -> None:
    """Trains, tunes and translates with one seed, in a folder."""
    data, python, threads = arguments.data, arguments.python, arguments.threads
    corpus = CORPORA[name]
    folder.mkdir(parents=True, exist_ok=True)
    model, tuned = folder / "model", folder / "tuned-model"
    options = [*shlex.split(arguments.training), "--seed", seed, "-o", model]
    run(python, folder, "train", "train", *corpus.training(data), *options)
    sets = tuning_set(data, corpus, folder)
    further = shlex.split(arguments.tuning)
    output = ["-o", folder / "tuned", "--save", tuned, "--seed", seed, "--threads", threads]
    run(python, folder, "tune", "tune", model, "--method", "mert", *sets, *output, *further)
    source, *_ = corpus.paths(data, "test")
    output = ["--output", folder / "test.txt", "--quiet", "--threads", threads]
    run(python, folder, "decode", "decode", "--model", tuned, *output, text=source)


def side_of(corpus: Corpus) -> TextSide:
    """Returns the text of the target side, by which translations and references are normalised."""
    return TextSide("moses", corpus.target) if corpus.is_raw else TextSide()


def test_set(data: Path, corpus: Corpus, name: str) -> tuple[list[int], list[list[str]]]:
    """Reads the references of the set ``dev`` or ``test``, normalised. Returns the numbers of the sentences
    that have one, and their references."""
    side = side_of(corpus)
    _, *paths = corpus.paths(data, name)
    columns = [[side.normalised(line) for line in read_lines(path)] for path in paths]
    references = [list(segment) for segment in zip(*columns, strict=True)]
    kept = [k for k, segment in enumerate(references) if any(line.strip() for line in segment)]
    return kept, [references[k] for k in kept]


def scores(data: Path, name: str, folders: Sequence[Path]) -> list[tuple[Metric, Runs]]:
    """Scores the translations of all seeds by BLEU and chrF++."""
    corpus = CORPORA[name]
    side, (kept, references) = side_of(corpus), test_set(data, corpus, "test")
    hypotheses = [list(read_lines(folder / "test.txt")) for folder in folders]
    texts = [[side.normalised(lines[k]) for k in kept] for lines in hypotheses]
    text = Text("13a" if corpus.is_raw else "none")
    metrics: list[Metric] = [metric(references, text) for metric in (Bleu, ChrfPlusPlus)]
    return [(metric, Runs.of(metric, [metric.statistics(lines) for lines in texts])) for metric in metrics]


def length_ratio(runs: Runs) -> float:
    """Returns how many times as long as their references translations are, from statistics of BLEU."""
    sums = runs.statistics.sum(axis=(0, 1))
    return float(sums[BleuColumns.LENGTH] / sums[BleuColumns.REFERENCE_LENGTH])


def report(data: Path, name: str, seeds: Sequence[int], output: Path, against: Path | None) -> None:
    """Prints the scores and times of a corpus, compared with those of another version if there is one."""
    folders = [output / name / str(seed) for seed in seeds]
    others = None
    if against is not None:
        others = scores(data, name, [against / name / str(seed) for seed in seeds])
    for k, (metric, runs) in enumerate(scores(data, name, folders)):
        line = f"{name} {metric.name:<7} {runs.mean:6.2f} deviation {runs.deviation:4.2f}"
        if isinstance(metric, Bleu):
            line += f" length {length_ratio(runs):.3f}"
        if others is not None:
            other = others[k][1]
            tests = [test(metric, other, runs) for test in (approximate_randomization, paired_bootstrap)]
            line += f" before {other.mean:6.2f} deviation {other.deviation:4.2f}"
            if isinstance(metric, Bleu):
                line += f" length {length_ratio(other):.3f}"
            line += f" difference {runs.mean - other.mean:+5.2f} p = {', '.join(f'{p:.3f}' for p in tests)}"
        print(line, flush=True)
    times = [json.loads((folder / "times.json").read_text()) for folder in folders]
    means = {step: sum(each[step] for each in times) / len(times) for step in times[0]}
    print(f"{name} seconds {', '.join(f'{step} {mean:.0f}' for step, mean in means.items())}", flush=True)


def main() -> None:
    """Runs the benchmark."""
    parser = corpora_parser(__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--against", type=Path)
    for command in ("--training", "--tuning"):
        parser.add_argument(command, default="", metavar="OPTIONS")
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.corpora:
        for seed in arguments.seeds:
            folder = arguments.output / name / str(seed)
            make(arguments, name, seed, folder)
        report(arguments.data, name, arguments.seeds, arguments.output, arguments.against)


if __name__ == "__main__":
    main()
