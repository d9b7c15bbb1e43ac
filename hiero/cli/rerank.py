"""`hiero train-reranker` and `hiero rerank`: a second stage that chooses from forests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiero import DecodingSettings, FormatError, read_weights
from hiero.cli.base.arguments import Threads
from hiero.cli.base.files import Output, Writes, on_interrupt
from hiero.cli.base.loading import Load, given_parts
from hiero.cli.base.progress import progress_line
from hiero.cli.base.settings import Given, SettingOptions
from hiero.cli.base.size import parse_memory
from hiero.cli.forest import forest_weights, write_choices
from hiero.cli.io.lines import PARSES
from hiero.cli.train import TRAIN_MEMORY, Memory, Quiet, Source, Target, reporter
from hiero.forest.files import ForestFile
from hiero.rerank import Reranker, SecondStageOptions, train_second_stage
from hiero.rerank.pipeline import RERANKER
from hiero.train import TrainInputs


def train_reranker(
    *,
    model: Annotated[Path, typer.Argument(help="Model directory, tuned.")],
    source: Source,
    target: Target,
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Directory for reranker.json and all steps.")
    ],
    dictionary: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="SOURCE TARGET", help="Entries, line by line.")
    ] = None,
    mono: Annotated[
        list[Path] | None, typer.Option(help="More text, for --lms together: others are the model's.")
    ] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="Word links (0-0 1-2) of every pair, instead of aligning.")
    ] = None,
    parses: Annotated[Path | None, typer.Option(help=PARSES)] = None,
    weights: Annotated[Path | None, typer.Option(help="Of the first stage (the model's).")] = None,
    settings: Annotated[SecondStageOptions, SettingOptions(SecondStageOptions)],
    decoding: Annotated[Given, SettingOptions(DecodingSettings, overrides="the model's", group="Search")],
    load: Load = None,
    memory: Memory = TRAIN_MEMORY,
    threads: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """Learns weights of target n-grams by minimum risk, from forests of the bitext that a model was trained
    on, each made by a model of the other parts of it.

    What is interrupted goes on where it stopped when run again.

        hiero train-reranker tuned-model --source train.de --target train.en -o second --threads 2
        hiero-decode tuned-model --reranker second/reranker.json --source new.de -o new.en
    """
    inputs = TrainInputs(source, target, dictionary, mono or [], alignment)
    kept = f"run it again to go on; {output} has what is done"
    with progress_line(quiet) as progress, on_interrupt(kept):
        found = train_second_stage(
            model,
            inputs,
            output,
            settings,
            weights=None if weights is None else read_weights(weights),
            decoding=decoding,
            **given_parts(model, load),
            parses=parses,
            threads=threads,
            memory=parse_memory(memory),
            report=reporter(quiet),
            progress=progress,
        )
    used = sum(weight != 0 for weight in found.ngrams.values())
    print(f"{output / RERANKER}: {used:,} n-grams, score {found.score:.4g}")


def rerank(
    *,
    file: Annotated[Path, typer.Argument(help="File of forests, of hiero-decode --forests.")],
    reranker: Annotated[Path, typer.Option(help="Second stage, of hiero train-reranker.")],
    threads: Threads = 1,
    output: Output = None,
) -> None:
    """Writes the translation of each forest that a second stage chooses, as tokens.

    The forests are to be made with the weights that the second stage was trained on. A sentence without a
    forest has an empty line, as has one where nothing can be chosen, with exit 1.

        hiero rerank test.forests --reranker second/reranker.json
    """
    second = Reranker.load(reranker)
    known = forest_weights(file, None)
    with ForestFile(file) as archive:
        own = archive.weights
    if own is not None:  # which may be of rules of sentences' own, too
        try:
            second.check({name: own.get(name, 0.0) for name in second.weights})
        except ValueError as error:
            raise FormatError(f"{file}: {error}") from None
    write_choices(file, lambda forest: second.choose(forest, known and known(forest)), output, threads)
