"""Options of training: the bitext and other files, how text is processed, memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from hiero import DecodingSettings, Model
from hiero._core import ExtractStatistics
from hiero.base.directories import temporary_folder
from hiero.base.parallel import processors
from hiero.cli.base.cluster import ClusterAddress, on_cluster
from hiero.cli.base.files import Writes
from hiero.cli.base.settings import SettingOptions
from hiero.cli.base.size import memory_text
from hiero.cli.options.common import PARSES, AllThreads
from hiero.cli.options.learning import LearningFiles
from hiero.cli.options.text import NormalisationOptions
from hiero.features.distortion import DistortionStatistics
from hiero.text import TextProcessing
from hiero.train import AlignSettings, TrainInputs
from hiero.train.corpus import divide_pairs
from hiero.train.settings import DEFAULT_MEMORY

TRAIN_MEMORY = memory_text(DEFAULT_MEMORY)

# Metavariable and help of options that appear in several groups.
SIDES = "SOURCE TARGET"
SOURCE = "Source side of the bitext: plain, .gz or .xz, a sentence a line."
TARGET = "Target side of the bitext, line by line."
DICTIONARY = "Both sides of a dictionary, an entry a line."
MONO = "More text of the target language; repeatable."
LINKS = "Word links (0-0 1-2) of every sentence pair"

Source = Annotated[Path, typer.Option(help=SOURCE)]
Target = Annotated[Path, typer.Option(help=TARGET)]
Memory = Annotated[str, typer.Option(help="Memory for sorting and for counts, such as 512M.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print neither progress nor reports.")]


# As in cpp/hiero/base/shard.h.
_MOST_SHARDS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Running:
    """Options that change nothing of a step's result: its threads, and what it prints."""

    threads: AllThreads = None
    quiet: Quiet = False

    @property
    def thread_count(self) -> int:
        return self.threads or processors()


@dataclass(frozen=True, kw_only=True)
class SpreadRunning(Running):
    """Options for work that may leave the machine."""

    cluster: ClusterAddress = None

    def place(self) -> AbstractContextManager[None]:
        """Has work done on the cluster until the block ends, or on threads if none was named."""
        return on_cluster(self.cluster)


@dataclass(frozen=True, kw_only=True)
class ShardRunning(SpreadRunning):
    """Options for work that may leave the machine, or be divided among jobs of a batch system."""

    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Do one of N shares of the work, such as 2/8; hiero merge puts them together, or for hiero"
            " align, --shards.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.shard is not None and self.cluster is not None:
            raise typer.BadParameter("--shard is for work without a cluster")
        _ = self.numbers

    @cached_property
    def numbers(self) -> tuple[int, int] | None:
        """The number of the shard, from 0, and that of all shards. Raises BadParameter."""
        if self.shard is None:
            return None
        number, slash, count = self.shard.partition("/")
        if not (
            slash
            and number.isdecimal()
            and count.isdecimal()
            and 1 <= int(number) <= int(count) <= _MOST_SHARDS
        ):
            raise typer.BadParameter(f"--shard: expected one of several, such as 2/8, not {self.shard}")
        return int(number) - 1, int(count)


@dataclass(frozen=True, kw_only=True)
class LinkedBitext:
    """A bitext and the links of its words."""

    source: Source
    target: Target
    alignment: Annotated[Path, typer.Option(help=f"{LINKS}.")]

    @property
    def paths(self) -> tuple[Path, Path, Path]:
        return self.source, self.target, self.alignment


Tokenize = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar=SIDES,
        help="Languages and schemes by which raw text becomes tokens, such as ja:janome en:moses (default:"
        " text consists of tokens).",
    ),
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Lowercase both sides.")]


@dataclass(frozen=True, kw_only=True)
class TextOptions(NormalisationOptions):
    """Options for turning raw text into tokens."""

    tokenize: Tokenize = None
    lowercase: Lowercase = False

    def __post_init__(self) -> None:
        _ = self.processing

    @cached_property
    def processing(self) -> TextProcessing:
        """The text processing of both sides. Raises BadParameter for an unknown scheme."""
        return self.both(self.tokenize, self.lowercase)


@dataclass(frozen=True, kw_only=True)
class CasedTextOptions(TextOptions):
    """Options for turning raw text into tokens, and for the case of words."""

    truecaser: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar=SIDES, help="Truecasers of both sides, from hiero truecaser."),
    ] = None

    @cached_property
    def processing(self) -> TextProcessing:
        """The text processing of both sides. Raises BadParameter for an unknown scheme, OSError."""
        return self.both(self.tokenize, self.lowercase, self.truecaser)


@dataclass(frozen=True, kw_only=True)
class AlignedFiles:
    """The bitexts whose words are aligned, and the files of their links."""

    source: Annotated[Path | None, typer.Option(help=SOURCE)] = None
    target: Annotated[Path | None, typer.Option(help=TARGET)] = None
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Both sides of the bitext in one file, such as das haus ||| the house on each line."
        ),
    ] = None
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Word links, a line for each pair.")
    ]
    probabilities: Annotated[
        Path | None,
        Writes(),
        typer.Option(help="Output file for the probabilities of the bitext's links, in the same order."),
    ] = None
    held_out: Annotated[
        list[Path] | None,
        Writes(every=3),
        typer.Option(
            metavar="SOURCE TARGET OUTPUT...",
            help="Another bitext to align, and its output, such as a tuning set and one of its references;"
            " repeatable.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if (self.source is None) != (self.target is None) or (self.source is None) == (self.pairs is None):
            raise typer.BadParameter("a bitext has --source and --target, or --pairs")
        if len(self.held_out or []) % 3:
            raise typer.BadParameter(
                "--held-out: expected a source, a target and an output, or several of each"
            )

    @property
    def outputs(self) -> list[Path]:
        return [self.output, *(self.held_out or [])[2::3]]

    @contextmanager
    def bitexts(self) -> Iterator[list[tuple[Path, Path]]]:
        """Yields both sides of each bitext. Those of one file are divided into two that are removed at the
        end. Raises FormatError, naming the line, for a line of it without both sides; OSError."""
        more = self.held_out or []
        others = list(zip(more[::3], more[1::3], strict=True))
        if self.source is not None and self.target is not None:
            yield [(self.source, self.target), *others]
            return
        assert self.pairs is not None
        with temporary_folder(self.output) as folder:
            sides = folder / "source", folder / "target"
            divide_pairs(self.pairs, *sides)
            yield [sides, *others]


@dataclass(frozen=True, kw_only=True)
class TrainingFiles:
    """The files that a model is trained on, and its directory."""

    source: Source
    target: Target
    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Model directory to write.")]
    more: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar=SIDES, help="Both sides of a further bitext, such as one of hiero adapt --export."
        ),
    ] = None
    dictionary: Annotated[tuple[Path, Path] | None, typer.Option(metavar=SIDES, help=DICTIONARY)] = None
    mono: Annotated[list[Path] | None, typer.Option(help=MONO)] = None
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Existing language model, used after those made of the texts; repeatable."),
    ] = None
    alignment: Annotated[Path | None, typer.Option(help=f"{LINKS} (default: words are aligned).")] = None
    without: Annotated[
        list[Path] | None,
        typer.Option(
            help="Source side of a test set, a sentence a line; pairs with one of its sentences are left out;"
            " repeatable."
        ),
    ] = None

    @property
    def inputs(self) -> TrainInputs:
        return TrainInputs(
            self.source,
            self.target,
            self.dictionary,
            self.mono or [],
            self.alignment,
            self.lm or [],
            self.without or [],
            [self.more] if self.more else [],
        )


@dataclass(frozen=True, kw_only=True)
class RerankerFiles:
    """The model to rerank for, the bitext that it was trained on, and the directory of the reranker."""

    model: Annotated[Path, typer.Argument(help="Model directory, with tuned weights.")]
    source: Source
    target: Target
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Directory for reranker.json and all steps.")
    ]
    dictionary: Annotated[tuple[Path, Path] | None, typer.Option(metavar=SIDES, help=DICTIONARY)] = None
    mono: Annotated[
        list[Path] | None,
        typer.Option(
            help="More text of the target language, for a model trained with --lms together (other models"
            " keep their language models); repeatable."
        ),
    ] = None
    alignment: Annotated[Path | None, typer.Option(help=f"{LINKS} (default: words are aligned).")] = None
    parses: Annotated[Path | None, typer.Option(help=PARSES)] = None
    weights: Annotated[
        Path | None,
        typer.Option(
            help="Weights file, or directory of hiero tune, for decoding (default: the model's weights)."
        ),
    ] = None

    @property
    def inputs(self) -> TrainInputs:
        return TrainInputs(self.source, self.target, self.dictionary, self.mono or [], self.alignment)


@dataclass(frozen=True, kw_only=True)
class AssemblyOptions:
    """The parts to assemble a model from, and its directory."""

    output: Annotated[Path, Writes(), typer.Option("-o", "--output", help="Model directory to write.")]
    grammar: Annotated[list[Path], typer.Option(help="Rule table, packed or text; repeatable.")]
    lm: Annotated[
        list[Path] | None, typer.Option(help="Language model, ARPA or KenLM binary; repeatable.")
    ] = None
    weights: Annotated[
        Path | None, typer.Option(help="Weights file (default: the weights of a newly trained model).")
    ] = None
    corpus: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar=SIDES,
            help="Bitext that the rules come from, for default weights by its sentence lengths.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample of the corpus.")] = AlignSettings().seed
    distortion: Annotated[Path | None, typer.Option(help="Distortion statistics, from hiero extract.")] = None
    settings: Annotated[DecodingSettings, SettingOptions(DecodingSettings, only=("span_limit",))]
    learning: LearningFiles
    goal: Annotated[
        str | None,
        typer.Option(
            help="Nonterminal label of whole sentences (default: the label of rules that begin with <s>, or"
            " S)."
        ),
    ] = None
    copy_label: Annotated[
        list[str] | None,
        typer.Option(
            help="Nonterminal label for words copied to the output; repeatable (default: X, or all labels)."
        ),
    ] = None
    glue_label: Annotated[
        list[str] | None,
        typer.Option(help="Nonterminal label that glue rules are made for; repeatable (default: all)."),
    ] = None

    def assemble(self, text: TextProcessing) -> Model:
        """Assembles the model without weights. Raises FormatError, OSError."""
        return Model.assemble(
            self.grammar,
            self.lm or [],
            goal=self.goal,
            copy_labels=self.copy_label or (),
            glue_labels=self.glue_label or (),
            settings=self.settings,
            text=text,
            distortion=DistortionStatistics.load(self.distortion) if self.distortion else None,
            learning=self.learning.learning(self.settings.span_limit),
        )


def reporter(quiet: bool) -> Callable[[str], object]:
    """Returns a function that prints a line on stderr; with ``quiet``, only warnings."""

    def report(line: str) -> None:
        if not quiet or line.startswith("warning"):
            print(f"hiero: {line}", file=sys.stderr)

    return report


def extraction_summary(statistics: ExtractStatistics) -> str:
    """Returns a line of what was extracted. Shards have no number of rules."""
    rules = f", {statistics.rules:,} rules" if statistics.rules else ""
    return (
        f"{statistics.pairs:,} sentence pairs, {statistics.phrases:,} initial phrase pairs, "
        f"{statistics.occurrences:,} rule occurrences{rules}"
    )
