"""`hiero train-reranker` and `hiero rerank`: a reranker, the second stage that chooses from forests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError
from hiero.cli.base.cluster import on_cluster
from hiero.cli.base.files import Output, on_interrupt
from hiero.cli.base.loading import loaded_parts
from hiero.cli.base.progress import progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import parse_memory
from hiero.cli.io.forests import find_weights, write_choices
from hiero.cli.io.tuned import read_tuned
from hiero.cli.options.common import Decoding, Load, Threads, Work
from hiero.cli.options.training import TRAIN_MEMORY, Memory, RerankerFiles, reporter
from hiero.forest.files import ForestFile
from hiero.rerank import Reranker, SecondStageOptions, train_second_stage
from hiero.rerank.learning import RERANKER


def train_reranker(
    *,
    files: RerankerFiles,
    settings: Annotated[SecondStageOptions, SettingOptions(SecondStageOptions)],
    decoding: Decoding,
    load: Load = None,
    memory: Memory = TRAIN_MEMORY,
    work: Work,
) -> None:
    """Learns weights of target n-grams by minimum risk, on forests of the bitext that a model was trained on.

    Each part of the bitext is decoded by a model that is trained on the other parts. An interrupted training
    goes on when it is started again.

        hiero train-reranker tuned-model --source train.de --target train.en -o second --threads 2
        hiero-decode tuned-model --reranker second/reranker.json --source new.de -o new.en
    """
    weights, tuned_with = (None, {}) if files.weights is None else read_tuned(files.weights)
    note = f"run it again to go on; {files.output} has what is done"
    with on_cluster(work.cluster), progress_line(work.quiet) as progress, on_interrupt(note):
        reranker = train_second_stage(
            files.model,
            files.inputs,
            files.output,
            settings,
            weights=weights,
            decoding={**tuned_with, **decoding},
            **loaded_parts(files.model, load),
            parses=files.parses,
            threads=work.threads,
            memory=parse_memory(memory),
            report=reporter(work.quiet),
            progress=progress,
        )
    used = sum(weight != 0 for weight in reranker.ngrams.values())
    learnt = f"{used:,} n-grams, score {reranker.score:.4g}, share {reranker.share:g}"
    print(f"{files.output / RERANKER}: {learnt}")


def rerank(
    *,
    file: Annotated[Path, typer.Argument(help="Archive of forests, from hiero-decode --forests.")],
    reranker: Annotated[Path, typer.Option(help="Reranker, from hiero train-reranker.")],
    threads: Threads = 1,
    output: Output = None,
) -> None:
    """Writes the translation that a reranker chooses from each forest, as tokens.

    The forests must be made with the weights that the reranker was trained on. A sentence without a forest
    has an empty line. So has a sentence where no translation can be chosen, and the exit code is 1.

        hiero rerank test.forests --reranker second/reranker.json
    """
    loaded = Reranker.load(reranker)
    weighting = find_weights(file, None)
    with ForestFile(file) as archive:
        weights = archive.weights
    if weights is not None:
        # The archive may have further weights, of features of rules for single sentences.
        try:
            loaded.check({name: weights.get(name, 0.0) for name in loaded.weights})
        except ValueError as error:
            raise FormatError(f"{file}: {error}") from None
    write_choices(
        file, lambda forest: loaded.choose(forest, weighting and weighting(forest)), output, threads
    )
