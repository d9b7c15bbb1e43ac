"""`hiero train` and the steps it is made of: `corpus`, `align`, `extract`, `score`, `assemble`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from hiero import DecodingSettings, Model, read_weights
from hiero.base.lines import count_lines
from hiero.base.text import TextProcessing, parse_side
from hiero.cli.base.arguments import usage
from hiero.cli.base.files import Writes, on_interrupt
from hiero.cli.base.progress import one_unit, progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import memory_text, parse_memory
from hiero.features.distortion import DistortionStatistics
from hiero.train import (
    AlignSettings,
    CorpusSettings,
    ExtractSettings,
    ScoreSettings,
    TrainInputs,
    TrainSettings,
    align,
    default_weights,
    extract_rules,
    prepare_corpus,
    rules,
    score_rules,
    train_truecaser,
    weights_by_length,
)
from hiero.train import train as train_model
from hiero.train.corpus import read_pairs
from hiero.train.settings import DEFAULT_MEMORY

TRAIN_MEMORY = memory_text(DEFAULT_MEMORY)
_EXTRACT_MEMORY = memory_text(rules.DEFAULT_MEMORY)

Source = Annotated[Path, typer.Option(help="Source side: plain, .gz or .xz, a sentence a line.")]
Target = Annotated[Path, typer.Option(help="Target side, line by line.")]
Memory = Annotated[str, typer.Option(help="For what is being sorted, such as 512M.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no reports.")]
Tokenize = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="SOURCE TARGET", help="How raw text becomes tokens, such as ja:janome en:moses."),
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Lowercase both sides.")]
Truecaser = Annotated[
    tuple[Path, Path] | None,
    typer.Option(metavar="SOURCE TARGET", help="Truecasers of both sides, from hiero truecaser."),
]


def train(
    *,
    source: Source,
    target: Target,
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Model directory.")],
    dictionary: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="SOURCE TARGET", help="Entries, line by line.")
    ] = None,
    mono: Annotated[list[Path] | None, typer.Option(help="More text of the target language.")] = None,
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Language models that are there already, after those of the texts."),
    ] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="Word links (0-0 1-2) of every pair, instead of aligning.")
    ] = None,
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    settings: Annotated[
        TrainSettings,
        SettingOptions(
            TrainSettings,
            without=("text", "owner", "span_limit"),
            renamed={"lm_binary": "lm_type"},
        ),
    ],
    memory: Memory = TRAIN_MEMORY,
    quiet: Quiet = False,
) -> None:
    """Trains a model from bitext: line-aligned files in, a directory for hiero-decode out.

    What is interrupted goes on where it stopped when run again; OUTPUT.train keeps the steps' files.

        hiero train --source train.de --target train.en --tokenize de:moses en:moses --truecase -o my-model
    """
    inputs = TrainInputs(source, target, dictionary, mono or [], alignment, lm or [])
    settings = settings.model_copy(update={"text": text_processing(tokenize, lowercase)})
    with usage():
        settings.check(inputs, parse_memory(memory))
    work = f"{output.name}.train"
    with progress_line(quiet) as progress, on_interrupt(f"run it again to go on; {work} has what is done"):
        train_model(
            inputs,
            output,
            settings=settings,
            memory=parse_memory(memory),
            report=reporter(quiet),
            progress=progress,
        )


def corpus(
    *,
    source: Source,
    target: Target,
    output: Annotated[
        tuple[Path, Path],
        Writes(),
        typer.Option("-o", "--output", metavar="SOURCE TARGET", help="Prepared sides."),
    ],
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    truecaser: Truecaser = None,
    settings: Annotated[CorpusSettings, SettingOptions(CorpusSettings)],
    quiet: Quiet = False,
) -> None:
    """Tokenises a bitext and blanks out the pairs that do no good in training."""
    with progress_line(quiet) as progress:
        report = prepare_corpus(
            [(source, target)],
            *output,
            text=text_processing(tokenize, lowercase, truecaser),
            progress=one_unit(progress, "sentence pairs", partial(count_lines, source)),
            **settings.model_dump(),
        )
    reporter(quiet)(str(report))


def truecaser(
    *,
    texts: Annotated[
        list[Path], typer.Argument(metavar="TEXT...", help="Raw text, as the side of a bitext.")
    ],
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Words with their case.")],
    tokenize: Annotated[str, typer.Option(metavar="SIDE", help="Such as en:moses.")] = "und:none",
    quiet: Quiet = False,
) -> None:
    """Learns which words are written with capitals for what they are, not for where they stand."""
    side = text_processing((tokenize, tokenize), False).target
    with progress_line(quiet) as progress:
        words = train_truecaser(
            texts, output, side, one_unit(progress, "sentences", partial(count_lines, *texts))
        )
    reporter(quiet)(f"{words:,} words with case")


def align_words(
    *,
    source: Source,
    target: Target,
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Links, a line for each pair.")],
    held_out: Annotated[
        list[Path] | None,
        Writes(every=3),
        typer.Option(
            metavar="SOURCE TARGET OUTPUT...",
            help="More pairs to align along, such as a tuning set with each of its references.",
        ),
    ] = None,
    settings: Annotated[AlignSettings, SettingOptions(AlignSettings)],
    quiet: Quiet = False,
) -> None:
    """Aligns the words of a bitext in tokens: links as 0-0 1-2, source then target position."""
    bitexts, outputs = [(source, target)], [output]
    more = held_out or []
    if len(more) % 3:
        raise typer.BadParameter("--held-out: expected a source, a target and an output, or several of each")
    bitexts += zip(more[::3], more[1::3], strict=True)
    outputs += more[2::3]
    with progress_line(quiet) as progress:
        align(
            bitexts,
            outputs,
            progress=progress and (lambda done, total: progress("iterations", done, total)),
            **settings.model_dump(),
        )


def extract(
    *,
    source: Source,
    target: Target,
    alignment: Annotated[Path, typer.Option(help="Word links (0-0 1-2) of every pair.")],
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Counted rules.")],
    distortion: Annotated[Path | None, Writes(), typer.Option(help="Distortion statistics, JSON.")] = None,
    settings: Annotated[ExtractSettings, SettingOptions(ExtractSettings)],
    memory: Memory = _EXTRACT_MEMORY,
    quiet: Quiet = False,
) -> None:
    """Extracts and counts the rules of an aligned bitext in tokens."""
    with progress_line(quiet) as progress:
        count = one_unit(progress, "sentence pairs", partial(count_lines, source))
        statistics = extract_rules(
            source,
            target,
            alignment,
            output,
            settings=settings,
            memory=parse_memory(memory),
            progress=count and (lambda pairs, rules: count(pairs)),
        )
    if distortion is not None:
        DistortionStatistics.of(statistics).save(distortion)
    reporter(quiet)(
        f"{statistics.pairs:,} sentence pairs, {statistics.phrases:,} initial phrase pairs, "
        f"{statistics.occurrences:,} rule occurrences, {statistics.rules:,} rules"
    )


def score(
    *,
    counts: Annotated[Path, typer.Argument(help="Counted rules, from hiero extract.")],
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Packed table (.hrt).")],
    settings: Annotated[ScoreSettings, SettingOptions(ScoreSettings)],
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="SOURCE TARGET", help="What the rules come from; for --significance."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Makes the rule table of counted rules, with their probabilities."""
    if settings.significance is not None and corpus is None:
        raise typer.BadParameter("--significance needs --corpus")
    with progress_line(quiet) as progress:
        statistics = score_rules(
            counts,
            output,
            settings=settings,
            bitext=corpus,
            progress=progress and (lambda done, total: progress("rules", done, total)),
        )
    reporter(quiet)(f"{statistics.kept:,} of {statistics.read:,} rules kept")


def assemble(
    *,
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Model directory.")],
    grammar: Annotated[list[Path], typer.Option(help="Rule table, packed or text; repeatable.")],
    lm: Annotated[list[Path] | None, typer.Option(help="Language model; repeatable.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Default: those of a trained model.")] = None,
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="SOURCE TARGET", help="What it was trained on; for default weights by length."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample of the corpus.")] = AlignSettings().seed,
    distortion: Annotated[Path | None, typer.Option(help="Distortion statistics.")] = None,
    settings: Annotated[DecodingSettings, SettingOptions(DecodingSettings, only=("span_limit",))],
    goal: Annotated[str | None, typer.Option(help="Label of whole sentences; default: glue's, or S.")] = None,
    copy_label: Annotated[list[str] | None, typer.Option(help="Label of words that pass through.")] = None,
    glue_label: Annotated[list[str] | None, typer.Option(help="Label that glue is made for.")] = None,
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    truecaser: Truecaser = None,
) -> None:
    """Puts tables, language models and weights together as a model directory."""
    model = Model.assemble(
        grammar,
        lm or [],
        goal=goal,
        copy_labels=copy_label or (),
        glue_labels=glue_label or (),
        settings=settings,
        text=text_processing(tokenize, lowercase, truecaser),
        distortion=DistortionStatistics.load(distortion) if distortion else None,
    )
    if weights is not None:
        chosen = read_weights(weights)
    elif corpus is not None:
        chosen, _ = weights_by_length(model, read_pairs(*corpus), seed)
    else:
        chosen = default_weights(model.feature_names)
    model.with_weights(chosen).save(output)


def reporter(quiet: bool) -> Callable[[str], object]:
    """Prints on stderr; warnings also if quiet."""

    def report(line: str) -> None:
        if not quiet or line.startswith("warning"):
            print(f"hiero: {line}", file=sys.stderr)

    return report


def text_processing(
    tokenize: tuple[str, str] | None, lowercase: bool, truecasers: tuple[Path, Path] | None = None
) -> TextProcessing:
    """Makes the text processing that options name. Raises BadParameter for what no scheme is."""
    sides = tokenize or ("und:none", "und:none")
    files = ("", "") if truecasers is None else map(str, truecasers)
    with usage():
        return TextProcessing(
            *(parse_side(side, lowercase, file) for side, file in zip(sides, files, strict=True))
        )
