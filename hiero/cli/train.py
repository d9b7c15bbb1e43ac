"""`hiero train` and the steps it is made of: `corpus`, `align`, `extract`, `score`, `assemble`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from hiero import DecodingSettings, Model, read_weights
from hiero.base.text import TextProcessing, parse_side
from hiero.cli.lm import BinaryType
from hiero.cli.progress import one_unit, progress_line
from hiero.cli.size import parse_memory
from hiero.decode.distortion import DistortionStatistics
from hiero.train import (
    HEURISTICS,
    ExtractSettings,
    ScoreSettings,
    TrainInputs,
    TrainSettings,
    align,
    default_weights,
    extract_rules,
    prepare_corpus,
    score_rules,
)
from hiero.train import train as train_model

Settings = TypeVar("Settings", bound=BaseModel)

Source = Annotated[Path, typer.Option(help="Source side: plain, .gz or .xz, a sentence a line.")]
Target = Annotated[Path, typer.Option(help="Target side, line by line.")]
Memory = Annotated[str, typer.Option(help="For what is being sorted, such as 512M.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no reports.")]
Tokenize = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="SOURCE TARGET", help="How raw text becomes tokens, such as ja:none en:moses."),
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Lowercase both sides.")]
Heuristic = Annotated[str, typer.Option(help=f"Symmetrisation: {', '.join(HEURISTICS)}.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the word alignment.")]
MaxLength = Annotated[int, typer.Option(min=1, help="Tokens of a sentence; longer pairs are left out.")]
MaxRatio = Annotated[float, typer.Option(min=1, help="Of the lengths of a pair; others are left out.")]
MaxPhrase = Annotated[int, typer.Option(help="Words of an initial phrase pair, on either side.")]
MaxSymbols = Annotated[int, typer.Option(help="Source symbols of a rule with nonterminals.")]
MaxNonterminals = Annotated[int, typer.Option(help="Nonterminals of a rule, at most 2.")]
MinGap = Annotated[int, typer.Option(help="Source words a nonterminal stands for, at least.")]
UnalignedEdges = Annotated[
    bool, typer.Option("--unaligned-edges", help="Initial phrases may begin and end with unaligned words.")
]
PhraseLines = Annotated[
    str | None, typer.Option(metavar="RANGES", help="Lines to take plain phrases from, such as 1-20000.")
]
HierarchicalLines = Annotated[
    str | None, typer.Option(metavar="RANGES", help="Lines to take rules with nonterminals from.")
]
Discount = Annotated[str, typer.Option(help="Of rule counts: none, good_turing or absolute.")]
MinCount = Annotated[int, typer.Option(help="Leave out rules that occurred less often.")]
Significance = Annotated[
    str | None,
    typer.Option(
        help="Leave out rules whose -log p by Fisher's exact test is not above this number, or above that of "
        "rules seen once of sides seen once, and a bit (a+e) or not quite (a-e)."
    ),
]
TtableLimit = Annotated[int, typer.Option(help="Rules per source side, by p(e|f); 0: all.")]


def train(
    source: Source,
    target: Target,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model directory.")],
    dictionary: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="SOURCE TARGET", help="Entries, line by line.")
    ] = None,
    mono: Annotated[list[Path] | None, typer.Option(help="More text of the target language.")] = None,
    alignment: Annotated[
        Path | None, typer.Option(help="Word links (0-0 1-2) of every pair, instead of aligning.")
    ] = None,
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    max_length: MaxLength = 100,
    max_ratio: MaxRatio = 9.0,
    heuristic: Heuristic = "grow-diag-final-and",
    seed: Seed = 1,
    max_phrase: MaxPhrase = 10,
    max_symbols: MaxSymbols = 5,
    max_nonterminals: MaxNonterminals = 2,
    min_gap: MinGap = 1,
    unaligned_edges: UnalignedEdges = False,
    phrase_lines: PhraseLines = None,
    hierarchical_lines: HierarchicalLines = None,
    discount: Discount = "none",
    min_count: MinCount = 1,
    ttable_limit: TtableLimit = 0,
    significance: Significance = None,
    lm_order: Annotated[int, typer.Option(help="Words of the longest n-grams.")] = 5,
    lm_type: Annotated[BinaryType, typer.Option(help="KenLM binary.")] = BinaryType.PROBING,
    lm_quantize: Annotated[int | None, typer.Option(help="Bits of each number in a trie.")] = None,
    lms: Annotated[
        str, typer.Option(help="separate: models of bitext and of monolingual text; together: one.")
    ] = "separate",
    memory: Memory = "4G",
    quiet: Quiet = False,
) -> None:
    """Trains a model from bitext: line-aligned files in, a directory for hiero-decode --model out.

    What is interrupted goes on where it stopped when run again; OUTPUT.train keeps the steps' files.
    """
    settings = _settings(
        TrainSettings,
        text=_text(tokenize, lowercase),
        max_length=max_length,
        max_ratio=max_ratio,
        heuristic=heuristic,
        seed=seed,
        extract=_extract_settings(
            max_phrase,
            max_symbols,
            max_nonterminals,
            min_gap,
            unaligned_edges,
            phrase_lines,
            hierarchical_lines,
        ),
        score=_settings(
            ScoreSettings,
            discount=discount,
            min_count=min_count,
            ttable_limit=ttable_limit,
            significance=significance,
        ),
        lm_order=lm_order,
        lm_binary=lm_type.value,
        lm_quantize=lm_quantize,
        lms=lms,
    )
    inputs = TrainInputs(source, target, dictionary, mono or [], alignment)
    with progress_line(quiet) as progress:
        train_model(
            inputs,
            output,
            settings=settings,
            memory=parse_memory(memory),
            report=_reporter(quiet),
            progress=progress,
        )


def corpus(
    source: Source,
    target: Target,
    output: Annotated[
        tuple[Path, Path], typer.Option("-o", "--output", metavar="SOURCE TARGET", help="Prepared sides.")
    ],
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    max_length: MaxLength = 100,
    max_ratio: MaxRatio = 9.0,
    quiet: Quiet = False,
) -> None:
    """Tokenises a bitext and blanks out the pairs that do no good in training."""
    with progress_line(quiet) as progress:
        report = prepare_corpus(
            [(source, target)],
            *output,
            text=_text(tokenize, lowercase),
            max_length=max_length,
            max_ratio=max_ratio,
            progress=one_unit(progress, "sentence pairs"),
        )
    _reporter(quiet)(str(report))


def align_words(
    source: Source,
    target: Target,
    output: Annotated[Path, typer.Option("-o", "--output", help="Links, a line for each pair.")],
    held_out: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(metavar="SOURCE TARGET OUTPUT", help="More pairs to align along, such as a tuning set."),
    ] = None,
    heuristic: Heuristic = "grow-diag-final-and",
    seed: Seed = 1,
    quiet: Quiet = False,
) -> None:
    """Aligns the words of a bitext in tokens: links as 0-0 1-2, source then target position."""
    if heuristic not in HEURISTICS:
        raise typer.BadParameter(f"{heuristic!r}: expected one of {', '.join(HEURISTICS)}")
    bitexts: list[tuple[Path, Path]] = [(source, target)]
    outputs = [output]
    if held_out:
        bitexts.append(held_out[:2])
        outputs.append(held_out[2])
    with progress_line(quiet) as progress:
        align(
            bitexts,
            outputs,
            heuristic=next(h for h in HEURISTICS if h == heuristic),
            seed=seed,
            progress=progress and (lambda done, total: progress("iterations", done, total)),
        )


def extract(
    source: Source,
    target: Target,
    alignment: Annotated[Path, typer.Option(help="Word links (0-0 1-2) of every pair.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Counted rules.")],
    distortion: Annotated[Path | None, typer.Option(help="Distortion statistics, JSON.")] = None,
    max_phrase: MaxPhrase = 10,
    max_symbols: MaxSymbols = 5,
    max_nonterminals: MaxNonterminals = 2,
    min_gap: MinGap = 1,
    unaligned_edges: UnalignedEdges = False,
    phrase_lines: PhraseLines = None,
    hierarchical_lines: HierarchicalLines = None,
    memory: Memory = "1G",
    quiet: Quiet = False,
) -> None:
    """Extracts and counts the rules of an aligned bitext in tokens."""
    settings = _extract_settings(
        max_phrase, max_symbols, max_nonterminals, min_gap, unaligned_edges, phrase_lines, hierarchical_lines
    )
    with progress_line(quiet) as progress:
        statistics = extract_rules(
            source,
            target,
            alignment,
            output,
            settings=settings,
            memory=parse_memory(memory),
            progress=progress and (lambda pairs, rules: progress("sentence pairs", pairs, None)),
        )
    if distortion is not None:
        DistortionStatistics.of(statistics).save(distortion)
    _reporter(quiet)(
        f"{statistics.pairs:,} sentence pairs, {statistics.phrases:,} initial phrase pairs, "
        f"{statistics.occurrences:,} rule occurrences, {statistics.rules:,} rules"
    )


def score(
    counts: Annotated[Path, typer.Argument(help="Counted rules, from hiero extract.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Packed table (.hrt).")],
    discount: Discount = "none",
    min_count: MinCount = 1,
    ttable_limit: TtableLimit = 0,
    significance: Significance = None,
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="SOURCE TARGET", help="What the rules come from; for --significance."),
    ] = None,
    owner: Annotated[str, typer.Option(help="Name of the table; by default pt, pt1, ...")] = "",
    span_limit: Annotated[int, typer.Option(help="Source words a rule may span; 0: the decoder's.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Makes the rule table of counted rules, with their probabilities."""
    settings = _settings(
        ScoreSettings,
        discount=discount,
        min_count=min_count,
        ttable_limit=ttable_limit,
        significance=significance,
        owner=owner,
        span_limit=span_limit,
    )
    if significance is not None and corpus is None:
        raise typer.BadParameter("--significance needs --corpus")
    with progress_line(quiet) as progress:
        statistics = score_rules(
            counts, output, settings=settings, bitext=corpus, progress=one_unit(progress, "rules")
        )
    _reporter(quiet)(f"{statistics.kept:,} of {statistics.read:,} rules kept")


def assemble(
    output: Annotated[Path, typer.Option("-o", "--output", help="Model directory.")],
    grammar: Annotated[list[Path], typer.Option(help="Rule table, packed or text; repeatable.")],
    lm: Annotated[list[Path] | None, typer.Option(help="Language model; repeatable.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Default: those of a trained model.")] = None,
    distortion: Annotated[Path | None, typer.Option(help="Distortion statistics.")] = None,
    span_limit: Annotated[int, typer.Option(min=1, help="Source words a rule may span.")] = 10,
    goal: Annotated[str | None, typer.Option(help="Label of whole sentences; default: glue's, or S.")] = None,
    copy_label: Annotated[list[str] | None, typer.Option(help="Label of words that pass through.")] = None,
    glue_label: Annotated[list[str] | None, typer.Option(help="Label that glue is made for.")] = None,
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
) -> None:
    """Puts tables, language models and weights together as a model directory."""
    model = Model.assemble(
        grammar,
        lm or [],
        goal=goal,
        copy_labels=copy_label or (),
        glue_labels=glue_label or (),
        settings=DecodingSettings(span_limit=span_limit),
        text=_text(tokenize, lowercase),
        distortion=DistortionStatistics.load(distortion) if distortion else None,
    )
    chosen = read_weights(weights) if weights else default_weights(model.feature_names)
    model.with_weights(chosen).save(output)


def _reporter(quiet: bool) -> Callable[[str], object]:
    """Prints on stderr; warnings also if quiet."""

    def report(line: str) -> None:
        if not quiet or line.startswith("warning"):
            print(f"hiero: {line}", file=sys.stderr)

    return report


def _text(tokenize: tuple[str, str] | None, lowercase: bool) -> TextProcessing:
    source, target = tokenize or ("und:none", "und:none")
    try:
        return TextProcessing(parse_side(source, lowercase), parse_side(target, lowercase))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _extract_settings(
    max_phrase: int,
    max_symbols: int,
    max_nonterminals: int,
    min_gap: int,
    unaligned_edges: bool,
    phrase_lines: str | None,
    hierarchical_lines: str | None,
) -> ExtractSettings:
    return _settings(
        ExtractSettings,
        max_phrase=max_phrase,
        max_symbols=max_symbols,
        max_nonterminals=max_nonterminals,
        min_gap=min_gap,
        unaligned_edges=unaligned_edges,
        phrase_lines=phrase_lines or (),
        hierarchical_lines=hierarchical_lines or (),
    )


def _settings(kind: type[Settings], **values: object) -> Settings:
    """Settings from options; what does not fit is the user's mistake."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise typer.BadParameter(f"--{name}: {first['msg']}") from None
