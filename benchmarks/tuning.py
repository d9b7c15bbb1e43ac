"""Tuning on three corpora: every method against the default weights and against MERT.

    python benchmarks/tuning.py ../shared/data OUTPUT [--corpora de-en] [--processes 2]

trains a model for each corpus with `hiero train`, tunes it by every method of `hiero tune`, three times with
other seeds (the simplex once), translates the test set with what came out, and prints a table: BLEU of both
sets, mean and deviation between runs, iterations, minutes of CPU time, and p of a difference to the default
weights and to MERT by approximate randomisation over runs. Started again, it goes on with the first run
that is not done.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import argument_parser, command, machine

from hiero.base.lines import read_lines
from hiero.evaluate import Bleu, Runs, approximate_randomization
from hiero.evaluate.evaluation_sets import EvaluationSet
from train import CORPORA

RUNS = {"mert": 3, "hypergraph-mert": 3, "pro": 3, "mira-batch": 3, "simplex": 1}
# Of the simplex, about as many as the paper's searches took (Cettolo and Federico 2004).
DECODINGS = 100
# The tuning set's source and references, and options of training.
TUNING = {
    "ja-en": (["dev.ja", "dev.en"], ["--unaligned-edges"]),
    "de-en": (["dev.de", "dev.en"], []),
    "ur-en": (["dev.ur", *(f"dev.en.{k}" for k in range(4))], []),
}


@dataclass(frozen=True)
class Job:
    """A run of tuning.

    ``folder`` holds the run itself, the translated test set, and the minutes, which are written last. A
    folder without minutes is tuned again from the start, as its time would not be that of a whole run.
    """

    corpus: str
    method: str
    seed: int
    folder: Path

    @property
    def minutes(self) -> Path:
        return self.folder / "minutes.json"

    def run(self, data: Path, model: Path) -> None:
        if self.minutes.exists():
            return
        run = self.folder / "run"
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        source, *references = (data / self.corpus / name for name in TUNING[self.corpus][0])
        sets = ["--source", source, "--references", *references]
        options = ["--method", self.method, "--seed", self.seed, "--output", run]
        if self.method == "simplex":
            options += ["--iterations", DECODINGS]
        with (self.folder / "log").open("w") as log:
            process = subprocess.Popen(command("hiero", "tune", model, *sets, *options), stdout=log)
            _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"{self.folder}: tuning failed")
        translate(data, self.corpus, model, run / "weights.txt", self.folder / "test")
        self.minutes.write_text(json.dumps((usage.ru_utime + usage.ru_stime) / 60))
        print(f"{self.corpus} {self.method} {self.seed}: done", file=sys.stderr, flush=True)


def translate(data: Path, corpus: str, model: Path, weights: Path, output: Path) -> None:
    source = data / corpus / CORPORA[corpus][1][0]
    part = output.with_name(output.name + ".part")
    decode = [model, "--weights", weights, "--source", source, "--output", part, "--quiet"]
    subprocess.run(command("hiero-decode", *decode), check=True)
    part.rename(output)


def prepare(data: Path, corpus: str, output: Path) -> Path:
    """Trains a model and translates the test set with its default weights, unless that is done; returns the
    model."""
    model = output / corpus / "model"
    model.parent.mkdir(parents=True, exist_ok=True)
    inputs = [
        data / corpus / part if (data / corpus / part).is_file() else part for part in CORPORA[corpus][0]
    ]
    options = [*TUNING[corpus][1], "-o", model, "--quiet"]
    subprocess.run(command("hiero", "train", *inputs, *options), check=True)
    if not (output / corpus / "test").exists():
        translate(data, corpus, model, model / "weights.txt", output / corpus / "test")
    return model


def table(data: Path, corpus: str, output: Path, jobs: Sequence[Job]) -> None:
    references = [data / corpus / name for name in CORPORA[corpus][1][1:]]
    metric = Bleu(EvaluationSet.read(references).references)

    def runs(files: Sequence[Path]) -> Runs:
        return Runs.of(metric, [metric.statistics(list(read_lines(file))) for file in files])

    default = runs([output / corpus / "test"])
    by_method = {
        method: [job for job in jobs if job.corpus == corpus and job.method == method] for method in RUNS
    }
    tested = {method: runs([job.folder / "test" for job in done]) for method, done in by_method.items()}
    rows = {
        method: [
            [
                line.split("\t")
                for line in (job.folder / "run" / "iterations.tsv").read_text().splitlines()[1:]
            ]
            for job in done
        ]
        for method, done in by_method.items()
    }
    first = float(rows["mert"][0][0][1])
    print(f"\n== {corpus}, test set of {metric.segments} sentences")
    print("weights            tuning BLEU     test BLEU  iterations  minutes  p: default    MERT")
    print(f"default          {first:6.2f}        {default.mean:6.2f}")
    for method, done in by_method.items():
        scores = [max(float(row[1]) for row in run) for run in rows[method]]
        spread = np.std(scores, ddof=1) if len(scores) > 1 else 0.0
        minutes = np.mean([json.loads(job.minutes.read_text()) for job in done])
        against = approximate_randomization(metric, default, tested[method])
        mert = (
            ""
            if method == "mert"
            else f"{approximate_randomization(metric, tested['mert'], tested[method]):8.3f}"
        )
        print(
            f"{method:15}  {np.mean(scores):6.2f} ±{spread:5.2f} {tested[method].mean:6.2f} ±"
            f"{tested[method].deviation:5.2f} {np.mean([len(run) for run in rows[method]]):8.1f}"
            f" {minutes:9.1f} {against:11.3f}{mert}"
        )


def main() -> None:
    parser = argument_parser(__doc__, "data", "output")
    parser.add_argument("--corpora", nargs="+", choices=TUNING, default=list(TUNING))
    parser.add_argument("--processes", type=int, default=1, help="runs at the same time")
    arguments = parser.parse_args()
    jobs = [
        Job(corpus, method, seed, arguments.output / corpus / f"{method}-{seed}")
        for corpus in arguments.corpora
        for method, runs in RUNS.items()
        for seed in range(1, runs + 1)
    ]
    # What takes longest comes first, so that no process is left alone with it.
    jobs.sort(key=lambda job: job.method not in ("simplex", "hypergraph-mert"))
    models = {corpus: prepare(arguments.data, corpus, arguments.output) for corpus in arguments.corpora}
    with ThreadPoolExecutor(arguments.processes) as pool:
        try:
            for _ in pool.map(lambda job: job.run(arguments.data, models[job.corpus]), jobs):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    print(machine())
    for corpus in arguments.corpora:
        table(arguments.data, corpus, arguments.output, jobs)


if __name__ == "__main__":
    main()
