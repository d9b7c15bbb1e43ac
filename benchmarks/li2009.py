"""`hiero experiment li2009` on two corpora.

    python benchmarks/li2009.py ../shared/data OUTPUT [--corpora ja-en] [--threads 2]

trains a model for each corpus and runs the experiment; its table is in OUTPUT/CORPUS/li2009/tables.md. The
second stage learns from 20,000 sentences of ja-en, and from all of ur-en, three times as well, with a
variance of 0.03 and all of the weights of n-grams. Tests are on the test set, and on the last pairs of the
bitext of ja-en or of the tuning set of ur-en, which are held out.
The pop limit is 50, and forests have 1,000 edges. Started again, it goes on where it was interrupted. Then
prints times of the runs, and seconds and peak memory of one evaluation of the risk and its gradient for each
system: over all derivations of the tuning set that its first run has accumulated, or over the forests of the
bitext.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
from corpora import CORPORA, name_of, run

from hiero.base.memory import peak_memory
from hiero.base.weights import read_weights
from hiero.cli.experiment import read_li2009
from hiero.experiments.li2009 import LARGE, Li2009
from hiero.experiments.report import markdown_rows
from hiero.experiments.systems import System
from hiero.rerank import Reranker
from hiero.rerank.examples import read_examples
from hiero.rerank.learning import RERANKER
from hiero.rerank.training import objective_of, penalties_of
from hiero.tune.methods.risk import Risk
from hiero.tune.methods.risk.descent import evaluate
from hiero.tune.methods.risk.losses import Loss
from hiero.tune.methods.risk.spaces import RiskSpace
from hiero.tune.run.protocol import Array

USED = ("ja-en", "ur-en")
POP_LIMIT = 50
EDGES = 1000


def configure(data: Path, name: str, path: Path) -> None:
    """Writes the configuration of the experiment."""
    corpus, folder = CORPORA[name], path.parent.absolute()
    files = corpus.data(data.absolute())
    tuning, test = [[files / part for part in parts] for parts in (corpus.tuning, corpus.test)]
    held_out = [folder / name_of("held-out", k) for k in range(len(corpus.tuning))]
    if corpus.held == "tuning set":
        tuning = [folder / name_of("tuning", k) for k in range(len(corpus.tuning))]
    bitext = {"source": folder / "train.source", "target": folder / "train.target"}
    with path.open("w", encoding="utf-8") as file:
        file.write('model = "model"\nlarge_runs = 3\n')
        for head, label, (source, *references) in (
            ("[tuning]", "tuning", tuning),
            ("[[test]]", "test", test),
            ("[[test]]", "held out", held_out),
        ):
            file.write(f"\n{head}\nname = {json.dumps(label)}\nsource = {json.dumps(str(source))}\n")
            file.write(f"references = {json.dumps([str(path) for path in references])}\n")
        file.write("\n[bitext]\n")
        file.writelines(f"{side} = {json.dumps(str(path))}\n" for side, path in bitext.items())
        if "--dictionary" in corpus.training:
            begin = corpus.training.index("--dictionary") + 1
            dictionary = [str(files / part) for part in corpus.training[begin : begin + 2]]
            file.write(f"dictionary = {json.dumps(dictionary)}\n")
        file.write(f"\n[decoding]\npop_limit = {POP_LIMIT}\n")
        file.write(f"\n[risk]\nedges = {EDGES}\n")
        file.write(
            f"\n[second]\nsentences = {20_000 if name == 'ja-en' else 0}\nvariance = 0.03\nshare = 1.0\n"
        )


def print_passes(configuration: Path, results: Path) -> None:
    """Prints seconds and peak memory of an evaluation of the risk and its gradient for each system."""
    laboratory, rows = read_li2009(configuration, folder=results), []
    for system in laboratory.systems():
        if system.method == "mert":
            continue
        space, loss, weights = (
            _second_stage_risk(laboratory) if system == LARGE else _risk(laboratory, system)
        )
        with peak_memory() as peak:
            begin = time.perf_counter()
            evaluate(space, loss, weights, 1.0, 0.0)
            seconds = time.perf_counter() - begin
        rows.append([system.name, f"{seconds:.2f}", f"{peak.megabytes:.0f}"])
    print("\n".join(markdown_rows(["system", "s a pass", "MB"], rows)), flush=True)


def _risk(laboratory: Li2009, system: System) -> tuple[RiskSpace, Loss, Array]:
    """Returns the risk of all derivations that a run has accumulated, and the weights that it ended with."""
    run, metric = laboratory.run_folder(system, 0), laboratory.bleu(laboratory.tuning)
    weights = laboratory.model.weight_vector(read_weights(run / "weights.txt"))
    method = laboratory.trial(system).options.settings
    assert isinstance(method, Risk)
    accumulated = method.empty(metric, len(weights))
    for folder in sorted(run.glob("iteration-*")):
        accumulated.restore(folder)
    return *method.objective(accumulated, metric, weights, laboratory.threads), weights


def _second_stage_risk(laboratory: Li2009) -> tuple[RiskSpace, Loss, Array]:
    """Returns the risk of the forests of the bitext, and the weights of the second stage."""
    run = laboratory.run_folder(LARGE, 0)
    examples, reranker = read_examples(run), Reranker.load(run / RERANKER)
    ngrams = [reranker.ngrams.get(" ".join(ngram), 0.0) for ngram in examples[0].features.ngrams]
    penalties = penalties_of(examples[0].features, laboratory.second_options(0))
    return *objective_of(examples, penalties, laboratory.threads), np.array([reranker.score, *ngrams])


if __name__ == "__main__":
    run("li2009", __doc__, USED, configure, print_passes)
