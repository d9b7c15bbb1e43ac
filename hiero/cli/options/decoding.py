"""Options of `hiero decode`: the model, the output, and how a translation is selected."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hiero import Decoder, FormatError, Model
from hiero.base.files import sha256
from hiero.cli.base.cluster import ClusterAddress
from hiero.cli.base.files import OUTPUT_HELP, Writes, writing
from hiero.cli.base.loading import LOAD, LOAD_METAVAR, load_model
from hiero.cli.base.settings import SettingOptions
from hiero.cli.io.sentences import SentenceRules
from hiero.cli.io.sinks import Derivations, Forests, Records, Sinks, Tstset
from hiero.cli.io.translation import Choice
from hiero.cli.io.tuned import read_tuned
from hiero.cli.options.common import Threads
from hiero.evaluate.nist_xml import SegmentSet
from hiero.forest.decisions import Decision
from hiero.forest.files import ForestWriter
from hiero.text import TextSide

if TYPE_CHECKING:
    from hiero.rerank import Reranker

# Groups of options.
_MODEL = "Model"
_IO = "Input and output"
_DECISION = "Decision"


@dataclass(frozen=True, kw_only=True)
class DecodingModel:
    """A model directory, or rule tables and language models, with weights."""

    model: Annotated[
        Path | None, typer.Argument(help="Model directory; --grammar and --lm can stand in its place.")
    ] = None
    model_option: Annotated[
        Path | None,
        typer.Option("--model", help="Model directory, the same as MODEL.", rich_help_panel=_MODEL),
    ] = None
    grammar: Annotated[
        list[Path] | None,
        typer.Option(help="Rule table, packed or text; repeatable.", rich_help_panel=_MODEL),
    ] = None
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Language model, ARPA or KenLM binary; repeatable.", rich_help_panel=_MODEL),
    ] = None
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Nonterminal label of whole sentences (default: the label of rules that begin with <s>, or"
            " S).",
            rich_help_panel=_MODEL,
        ),
    ] = None
    copy_label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Nonterminal label for words copied to the output; repeatable (default: X, or all labels).",
            rich_help_panel=_MODEL,
        ),
    ] = None
    glue_label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Nonterminal label that glue rules are made for; repeatable (default: all).",
            rich_help_panel=_MODEL,
        ),
    ] = None
    load: Annotated[
        list[str] | None, typer.Option(metavar=LOAD_METAVAR, help=LOAD, rich_help_panel=_MODEL)
    ] = None
    weights: Annotated[
        Path | None,
        typer.Option(
            help="Weights file, or directory of hiero tune; features that it does not name keep the model's"
            " weights.",
            rich_help_panel=_MODEL,
        ),
    ] = None
    set_weight: Annotated[
        list[str] | None,
        typer.Option(metavar="Name=value", help="Weight of one feature; repeatable.", rich_help_panel=_MODEL),
    ] = None

    def __post_init__(self) -> None:
        model = self.model or self.model_option
        if self.model is not None and self.model_option is not None:
            raise typer.BadParameter(
                f"two models, {self.model} and --model {self.model_option}: give text by --source"
            )
        if (model is None) == (not self.grammar) or (model and self.lm):
            hint = (
                ""
                if model or self.grammar
                else "; behind an option that takes several values it is one of them"
            )
            raise typer.BadParameter(f"give either MODEL, or --grammar and --lm{hint}")
        if model is None and self.load:
            raise typer.BadParameter("--load is for what a model was saved with: it goes with MODEL")
        if model is not None and (self.goal is not None or self.copy_label or self.glue_label):
            raise typer.BadParameter(
                "--goal, --copy-label and --glue-label go with --grammar: a model has its own"
            )
        for text in self.set_weight or ():
            _assignment(text)

    def open(self) -> Model:
        """Loads the model, or assembles it. Weights of hiero tune bring their span limit and
        temperature. Raises FormatError,
        OSError."""
        model = self._open()
        return model if self.weights is None else model.with_settings(**read_tuned(self.weights)[1])

    def _open(self) -> Model:
        model = self.model or self.model_option
        if model is not None:
            return load_model(model, self.load)
        return Model.assemble(
            self.grammar or [],
            self.lm or [],
            goal=self.goal,
            copy_labels=self.copy_label or [],
            glue_labels=self.glue_label or [],
        )

    def weight(self, decoder: Decoder, rules: SentenceRules, may_have_rules: bool) -> Decoder:
        """Returns the decoder with the weights of these options, and gives the rules for single sentences the
        weights of their own features. ``may_have_rules`` is as for ``SentenceRules.take_weights``.

        Raises FormatError, or BadParameter, for a feature that neither the model nor the rules have."""
        from_file = {} if self.weights is None else read_tuned(self.weights)[0]
        weights = {**from_file, **dict(map(_assignment, self.set_weight or []))}
        features = decoder.model.feature_names
        weights = rules.take_weights(weights, features, may_have_rules)
        if unknown := weights.keys() - features:
            names = ", ".join(features)
            if in_file := unknown & from_file.keys():
                raise FormatError(f"{self.weights}: no feature {min(in_file)!r}, but {names}")
            raise typer.BadParameter(f"--set-weight: no feature {min(unknown)!r}, but {names}")
        return decoder.with_weights(weights)


def _assignment(text: str) -> tuple[str, float]:
    """Reads a weight as ``Name=value``. Raises BadParameter."""
    name, equals, value = text.rpartition("=")
    try:
        if equals:
            return name, float(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"--set-weight {text}: expected Name=value")


@dataclass(frozen=True, kw_only=True)
class DecodingOutput:
    """The files to write, and what is written for each sentence."""

    system: Annotated[str, typer.Option(help="Name of the system in a tstset.", rich_help_panel=_IO)] = (
        "hiero"
    )
    target_language: Annotated[
        str | None,
        typer.Option(
            help="Target language of a tstset, as the refset names it (default: as the model names it).",
            rich_help_panel=_IO,
        ),
    ] = None
    output: Annotated[
        Path | None,
        Writes(stream=True),
        typer.Option("-o", "--output", help=OUTPUT_HELP, rich_help_panel=_IO),
    ] = None
    nbest: Annotated[
        int | None, typer.Option(min=1, help="Length of the n-best lists.", rich_help_panel=_IO)
    ] = None
    unique: Annotated[
        bool,
        typer.Option(
            "--unique", help="Keep the best entry of each string in n-best lists.", rich_help_panel=_IO
        ),
    ] = False
    output_format: Annotated[
        Literal["text", "alignment", "nbest", "jsonl"],
        typer.Option(
            help="Format of the output; alignment: word links such as 0-0 1-2, source then target position;"
            " nbest: n-best lists, whose ids count from 0; jsonl: a record for each sentence.",
            rich_help_panel=_IO,
        ),
    ] = "text"
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Add to each jsonl record the confidence of its target words, 0 to 1.",
            rich_help_panel=_IO,
        ),
    ] = False
    derivations: Annotated[
        Path | None,
        Writes(stream=True),
        typer.Option(help="Output file for the best derivations, as JSON lines.", rich_help_panel=_IO),
    ] = None
    forests: Annotated[
        Path | None,
        Writes(),
        typer.Option(
            help="Output file for the forests, which hiero forest and hiero.forest.ForestFile read.",
            rich_help_panel=_IO,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.nbest is None and self.output_format == "nbest":
            raise typer.BadParameter("--output-format nbest needs --nbest K")
        if self.confidence and self.output_format != "jsonl":
            raise typer.BadParameter("--confidence goes with --output-format jsonl")
        if self.nbest is not None and self.output_format == "alignment":
            raise typer.BadParameter("--output-format alignment is of the best translation, without --nbest")

    def sinks(
        self, stack: ExitStack, segments: SegmentSet | None, decoder: Decoder, rules: SentenceRules
    ) -> Sinks:
        """Opens the outputs until ``stack`` closes; ``segments`` is the source set in NIST's formats."""
        file = stack.enter_context(writing(self.output))
        sinks: Sinks = [Records(file, self.output_format)]
        if segments is not None:
            sinks = [Tstset(file, segments, self._language(decoder.model.text.target), self.system)]
        if self.derivations:
            sinks.append(Derivations(stack.enter_context(writing(self.derivations))))
        if self.forests:
            writer = ForestWriter(self.forests, _forest_origin(decoder, rules))
            sinks.append(Forests(stack.enter_context(writer)))
        return sinks

    def _language(self, target: TextSide) -> str:
        return self.target_language or target.language


def _forest_origin(decoder: Decoder, rules: SentenceRules) -> dict[str, object]:
    """Returns the entry about the model in an archive of forests: the weights, the temperature of the
    confidence of words, and checksums of rule tables by owner."""
    owners, tables = decoder.model.core.owners, decoder.model.tables
    files = [(owner, Path(table.path)) for owner, table in zip(owners, tables, strict=False)]
    checksums = {owner: sha256(path) for owner, path in files if path.is_file()}
    return {
        "tables": checksums,
        "weights": {**decoder.weights, **rules.weights},
        "confidence_temperature": decoder.settings.confidence_temperature,
    }


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Options for selecting a translation from the derivations of a sentence."""

    decision: Annotated[Decision, SettingOptions(Decision, group=_DECISION)]
    reranker: Annotated[
        Path | None,
        typer.Option(
            help="Reranker from hiero train-reranker, which selects from forests.",
            rich_help_panel=_DECISION,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.decision.decision != "viterbi" and self.reranker is not None:
            raise typer.BadParameter("--decision and --reranker are two ways to choose: give one")

    @property
    def needs_forests(self) -> bool:
        """Whether all derivations of a sentence are looked at, instead of the best by search."""
        return self.reranker is not None or self.decision.decision != "viterbi"

    def load_reranker(self) -> Reranker | None:
        """Raises FormatError, OSError."""
        if self.reranker is None:
            return None
        from hiero.rerank import Reranker  # here, as it takes long to import

        return Reranker.load(self.reranker)

    def choice(self, reranker: Reranker | None) -> Choice | None:
        """Returns the function that chooses from a forest, None where the best derivation is taken."""
        if reranker is not None:
            return reranker.choose
        return self.decision.choose if self.needs_forests else None


@dataclass(frozen=True, kw_only=True)
class DecodingRun:
    """Options for threads, statistics and progress."""

    threads: Threads = 1
    cluster: ClusterAddress = None
    stats: Annotated[
        bool, typer.Option("--stats", help="Print speed and the work of the search at the end.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither progress nor notes.")] = False
