"""Measures what the search for the best WordPenalty is worth in the methods that have one.

    python benchmarks/length_search.py ../shared/data OUTPUT [--corpora ja-en] [--methods pro]

Trains a model of each corpus with default settings, tunes it by each method with the search and without it,
and prints BLEU of the tuning set, and BLEU and the length ratio of the test set, with the p-value of a
randomisation test of their difference. Models of `defaults.py` in the same OUTPUT are taken as they are. Goes
on where it was interrupted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from defaults import CORPORA, corpora_parser, length_ratio, run, scores, tuning_set
from machine import machine

from hiero.evaluate import approximate_randomization

METHODS = ("pro", "mira-batch", "mira", "risk")


def tuned(data: Path, name: str, method: str, option: list[str], folder: Path, threads: int) -> None:
    """Tunes the corpus' model and translates its test set, in a folder."""
    corpus, model = CORPORA[name], folder.parent / "1" / "model"
    folder.mkdir(parents=True, exist_ok=True)
    sets = tuning_set(data, corpus, folder)
    output = ["-o", folder / "tuned", "--save", folder / "tuned-model", "--threads", threads]
    run(sys.executable, folder, "tune", "tune", model, "--method", method, *option, *sets, *output)
    source, *_ = corpus.paths(data, "test")
    output = ["--output", folder / "test.txt", "--quiet", "--threads", threads]
    run(sys.executable, folder, "decode", "decode", "--model", folder / "tuned-model", *output, text=source)


def report(data: Path, name: str, method: str, folders: list[Path]) -> None:
    """Prints the scores without the search and with it."""
    results = [scores(data, name, [folder])[0] for folder in folders]
    metric = results[0][0]
    p = approximate_randomization(metric, results[0][1], results[1][1])
    parts = []
    for folder, (_, runs) in zip(folders, results, strict=True):
        dev = json.loads((folder / "tuned" / "tuned.json").read_text())["score"]
        seconds = json.loads((folder / "times.json").read_text())["tune"]
        parts.append(f"{dev:.2f}, {runs.mean:.2f} (length {length_ratio(runs):.3f}, {seconds:.0f} s)")
    print(f"{name} {method:<10} {' -> '.join(parts)} p = {p:.3f}", flush=True)


def main() -> None:
    """Runs the benchmark."""
    parser = corpora_parser(__doc__)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.corpora:
        folder = arguments.output / name
        (folder / "1").mkdir(parents=True, exist_ok=True)
        training = CORPORA[name].training(arguments.data)
        run(sys.executable, folder / "1", "train", "train", *training, "-o", folder / "1" / "model")
        for method in arguments.methods:
            folders = [folder / f"{method}-without", folder / f"{method}-with"]
            for path, option in zip(folders, ([], ["--length-search"]), strict=True):
                tuned(arguments.data, name, method, option, path, arguments.threads)
            report(arguments.data, name, method, folders)


if __name__ == "__main__":
    main()
