"""Options of `hiero eval`: metrics, other systems, and the output."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import typer

from hiero.cli.base.files import OUTPUT_HELP, Writes
from hiero.decode.model_directory import read_config
from hiero.evaluate import EffectiveLength, Metric, Terms, Text, Tokenizer
from hiero.evaluate.evaluation_sets import EvaluationSet
from hiero.evaluate.metrics import METRICS, metric_named, word_metrics
from hiero.evaluate.significance import SAMPLES, SEED
from hiero.features.glossary import Glossary
from hiero.text import TextProcessing, TextSide


@dataclass(frozen=True, kw_only=True)
class MetricOptions:
    """The metrics, and how they see text."""

    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Metric to score by: {', '.join(METRICS)}; repeatable (default: bleu).",
        ),
    ] = None
    effective_length: Annotated[
        EffectiveLength, typer.Option(help="Reference length for the brevity penalty of BLEU.")
    ] = "closest"
    tokenize: Annotated[
        Tokenizer,
        typer.Option(help=f"Tokeniser of sacrebleu for {word_metrics()}; none leaves text as it is."),
    ] = "none"
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False
    model: Annotated[
        Path | None,
        typer.Option(
            help="Model directory: references and translations are normalised first, as its target text is."
        ),
    ] = None

    terms: Annotated[
        Path | None,
        typer.Option(
            help="Glossary, as of hiero decode: also give the share of terms that are translated as asked."
        ),
    ] = None
    source: Annotated[
        Path | None, typer.Option(help="Source text, in which the terms of --terms are looked for.")
    ] = None

    def __post_init__(self) -> None:
        if (self.terms is None) != (self.source is None):
            raise typer.BadParameter("--terms and --source go together")
        for name in self.metric or ():
            if name not in METRICS:
                raise typer.BadParameter(f"--metric {name}: expected one of {', '.join(METRICS)}")

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(self.metric or ["bleu"]))

    @cached_property
    def sides(self) -> TextProcessing:
        """The text of the model; one that is left as it is without --model. Raises FormatError, OSError."""
        return TextProcessing() if self.model is None else read_config(self.model).text

    @property
    def side(self) -> TextSide:
        """The side by which texts are normalised. Raises FormatError, OSError."""
        return self.sides.target

    @property
    def text(self) -> Text:
        return Text(self.tokenize, self.lowercase)

    @property
    def counts_given_words(self) -> bool:
        """Whether a metric counts words as they stand between spaces."""
        return self.tokenize == "none" and any(METRICS[name].uses_tokenizer for name in self.names)

    def for_set(self, test_set: EvaluationSet) -> list[Metric]:
        """Returns the metrics with the references of a test set. Raises FormatError, ValueError, OSError."""
        metrics = [
            metric_named(name, test_set.references, self.text, self.effective_length) for name in self.names
        ]
        if self.terms is not None and self.source is not None:
            source = test_set.source_lines(self.source)
            glossary = Glossary.read(self.terms)
            metrics.append(Terms(test_set.references, source, glossary, self.sides, self.text))
        return metrics


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The parts that are scored besides the whole test set, and the systems that are compared."""

    by: Annotated[
        Literal["document", "segment"] | None,
        typer.Option(help="Also score each document or segment; segments of text are numbered from 0."),
    ] = None
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM",
            help="Translations of another system, of several runs if joined by commas; repeatable.",
        ),
    ] = None
    samples: Annotated[
        int, typer.Option(min=1, help="Number of samples for intervals and significance tests.")
    ] = SAMPLES
    seed: Annotated[int, typer.Option(min=0, help="Seed of these samples.")] = SEED


@dataclass(frozen=True, kw_only=True)
class EvaluationOutput:
    """Options for the file and the format of scores."""

    output_format: Annotated[
        Literal["text", "json"],
        typer.Option(help="Format of the output; json: all results, as a list of metrics."),
    ] = "text"
    output: Annotated[Path | None, Writes(stream=True), typer.Option("-o", "--output", help=OUTPUT_HELP)] = (
        None
    )
    quiet: Annotated[bool, typer.Option("--quiet", help="Write only the score.")] = False
