"""`hiero decode` (also `hiero-decode`): translates lines of text."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hiero import Decoder, DecodingSettings, Failure, FormatError, Model, Sentence, Translation
from hiero.base.files import sha256
from hiero.base.lines import count_lines
from hiero.base.memory import peak_megabytes
from hiero.base.parallel import ordered_map
from hiero.base.weights import read_weights
from hiero.cli.base.arguments import Threads, Version
from hiero.cli.base.files import Writes, reading, writing
from hiero.cli.base.loading import LOAD, LOAD_METAVAR, load_model
from hiero.cli.base.progress import progress_line
from hiero.cli.base.settings import Given, SettingOptions
from hiero.cli.io.lines import PARSES, Format, Lines, SentenceParses, format_of, reader, source_set
from hiero.cli.io.records import Choice, Record, make_record
from hiero.cli.io.sentences import Forcing, SentenceRules
from hiero.cli.io.sets import Tokens
from hiero.cli.io.sinks import Derivations, Forests, Records, Sinks, Tstset
from hiero.decode.decoder import Keep
from hiero.evaluate.nist_xml import SegmentSet
from hiero.forest.decisions import Decision
from hiero.forest.files import ForestWriter

if TYPE_CHECKING:
    from hiero.rerank import Reranker

Advance = Callable[[], object]
# Groups of options.
_MODEL = "Model"
_IO = "Input and output"


def decode(
    *,
    model: Annotated[
        Path | None, typer.Argument(help="Model directory, where --grammar and --lm give none.")
    ] = None,
    model_option: Annotated[
        Path | None, typer.Option("--model", help="The same as MODEL.", rich_help_panel=_MODEL)
    ] = None,
    grammar: Annotated[
        list[Path] | None,
        typer.Option(help="Rule table, packed or text; repeatable.", rich_help_panel=_MODEL),
    ] = None,
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Language model, ARPA or KenLM binary; repeatable.", rich_help_panel=_MODEL),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Of whole sentences (the one whose rules begin with <s>, else S).",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    copy_label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Of words that are copied (X, else all); repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    glue_label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="That glue rules are made for (all); repeatable.", rich_help_panel=_MODEL
        ),
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option(metavar=LOAD_METAVAR, help=LOAD, rich_help_panel=_MODEL)
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Weights file, merged over MODEL's.", rich_help_panel=_MODEL)
    ] = None,
    set_weight: Annotated[
        list[str] | None,
        typer.Option(metavar="Name=value", help="One weight; repeatable.", rich_help_panel=_MODEL),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("-i", "--source", "--input", help="Source text (stdin).", rich_help_panel=_IO),
    ] = None,
    input_format: Annotated[
        Format | None,
        typer.Option(
            help="Text in lines; jsonl: records with text or tokens, parse, rules and more; nist: a srcset"
            " in XML or SGML, translated into a tstset (jsonl for .jsonl, nist for .xml, .sgm, else text).",
            rich_help_panel=_IO,
        ),
    ] = None,
    tokens: Tokens = False,
    parses: Annotated[Path | None, typer.Option(help=PARSES, rich_help_panel=_IO)] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="Rules for single sentences: a sentence's number, from 0, ||| and a rule a line.",
            rich_help_panel=_IO,
        ),
    ] = None,
    references: Annotated[
        list[Path] | None,
        typer.Option(
            help="Forced decoding: the best derivation that yields one of these, of those that the search"
            " keeps; one file or several.",
            rich_help_panel=_IO,
        ),
    ] = None,
    system: Annotated[
        str, typer.Option(help="Name of the system in a tstset.", rich_help_panel=_IO)
    ] = "hiero",
    target_language: Annotated[
        str | None,
        typer.Option(
            help="Of a tstset, as the refset names it (as the model names it).", rich_help_panel=_IO
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Writes(stream=True),
        typer.Option(
            "-o",
            "--output",
            help="There when it is whole; .gz and .xz compress (stdout).",
            rich_help_panel=_IO,
        ),
    ] = None,
    settings: Annotated[Given, SettingOptions(DecodingSettings, overrides="", group="Search")],
    nbest: Annotated[
        int | None, typer.Option(min=1, help="Length of the n-best lists.", rich_help_panel=_IO)
    ] = None,
    unique: Annotated[
        bool, typer.Option("--unique", help="n-best: one entry a string.", rich_help_panel=_IO)
    ] = False,
    output_format: Annotated[
        Literal["text", "alignment", "nbest", "jsonl"],
        typer.Option(
            help="What is written for a sentence; nbest: lists, their ids from 0; alignment: word links"
            " 0-0 1-2, source then target.",
            rich_help_panel=_IO,
        ),
    ] = "text",
    derivations: Annotated[
        Path | None,
        Writes(stream=True),
        typer.Option(help="Write the best derivations as JSON lines.", rich_help_panel=_IO),
    ] = None,
    forests: Annotated[
        Path | None,
        Writes(),
        typer.Option(
            help="Write the forests, for `hiero forest` and hiero.forest.ForestFile.", rich_help_panel=_IO
        ),
    ] = None,
    deciding: Annotated[Decision, SettingOptions(Decision, group="Decision")],
    reranker: Annotated[
        Path | None,
        typer.Option(
            help="Choose from forests by a second stage, of hiero train-reranker.",
            rich_help_panel="Decision",
        ),
    ] = None,
    threads: Threads = 1,
    stats: Annotated[bool, typer.Option("--stats", help="Speed and cost, at the end.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no notes.")] = False,
    version: Version = False,
) -> None:
    """Translates one line after the other; writes one record per line, always, in order.

    A bad input line gives an empty record and one line on stderr, and exit 1 at the end.

        hiero-decode my-model --source new.de -o new.en
        hiero-decode my-model --nbest 10 --output-format nbest < new.de
    """
    if nbest is None and output_format == "nbest":
        raise typer.BadParameter("--output-format nbest needs --nbest K")
    if nbest is not None and output_format == "alignment":
        raise typer.BadParameter("--output-format alignment is of the best translation, without --nbest")
    if deciding.decision != "viterbi" and reranker is not None:
        raise typer.BadParameter("--decision and --reranker are two ways to choose: give one")
    second = None if reranker is None else _second_stage(reranker)
    choose: Choice | None = None if deciding.decision == "viterbi" else deciding.choose
    if second is not None:
        choose = second.choose
    if choose is not None and (nbest is not None or references):
        raise typer.BadParameter(
            "--decision and --reranker are of one translation, without --nbest and --references"
        )
    if model is not None and model_option is not None:
        raise typer.BadParameter(f"two models, {model} and --model {model_option}: give text by --source")
    kind = format_of(source, input_format)
    if kind == "nist" and output_format != "text":
        raise typer.BadParameter("NIST's sets are translated as text, not in other output formats")
    started = time.perf_counter()
    labels = goal, copy_label or [], glue_label or []
    loaded = _model(model or model_option, load, grammar or [], lm or [], *labels)
    decoder = Decoder(loaded, **settings)
    own = SentenceRules(rules)
    trees = SentenceParses(parses)
    from_file = {} if weights is None else read_weights(weights)
    given = {**from_file, **dict(map(_assignment, set_weight or []))}
    assigned = own.take_weights(given, loaded.feature_names, kind == "jsonl")
    if unknown := assigned.keys() - loaded.feature_names:
        names = ", ".join(loaded.feature_names)
        if in_file := unknown & from_file.keys():
            raise FormatError(f"{weights}: no feature {min(in_file)!r}, but {names}")
        raise typer.BadParameter(f"--set-weight: no feature {min(unknown)!r}, but {names}")
    decoder = decoder.with_weights(assigned)
    if second is not None:
        second.check(decoder.weights)
    ready = time.perf_counter()
    if not quiet:
        _note_unweighted(decoder)
    wanted = nbest is not None or forests or references or choose is not None
    keep: Keep = "forest" if wanted else "none"
    target = loaded.text.target
    with contextlib.ExitStack() as stack:
        lines, segments = _input(stack, source, kind, tokens)
        forcing = None
        if references:
            forcing = Forcing(references, segments, tokens, target, {**decoder.weights, **own.weights})
        translations = stack.enter_context(writing(output))
        sinks: Sinks = [Records(translations, output_format)]
        if segments is not None:
            sinks = [Tstset(translations, segments, target_language or target.language, system)]
        if derivations:
            sinks.append(Derivations(stack.enter_context(writing(derivations))))
        if forests:
            sinks.append(Forests(stack.enter_context(ForestWriter(forests, _made_by(decoder, own.weights)))))

        def record(line: tuple[int, Sentence]) -> Record:
            number, sentence = line
            result: Translation | Failure
            try:
                result = own.attempt(decoder, number, trees.parsed(number, sentence), keep)
            except FormatError as error:
                result = Failure(sentence, error)
            return make_record(lines, number, sentence, result, nbest, unique, target, forcing, choose)

        shared = output is None and sys.stdout.isatty()  # where translations would stand among progress
        advance = stack.enter_context(_advance(source, lines, quiet or shared))
        tally = _translate(lines, record, sinks, threads, advance)
        for by_number in (own, trees, forcing):
            if by_number is not None:
                by_number.check(tally.sentences)
    if stats:
        tally.report(ready - started, time.perf_counter() - ready)
    if tally.failures:
        raise typer.Exit(1)


def _model(
    model: Path | None,
    load: list[str] | None,
    grammar: list[Path],
    lm: list[Path],
    goal: str | None,
    copy_labels: list[str],
    glue_labels: list[str],
) -> Model:
    if (model is None) == (not grammar) or (model and lm):
        hint = "" if model or grammar else "; behind an option that takes several values it is one of them"
        raise typer.BadParameter(f"give either MODEL, or --grammar and --lm{hint}")
    if model is None:
        if load:
            raise typer.BadParameter("--load is for what a model was saved with: it goes with MODEL")
        return Model.assemble(grammar, lm, goal=goal, copy_labels=copy_labels, glue_labels=glue_labels)
    if goal is not None or copy_labels or glue_labels:
        raise typer.BadParameter(
            "--goal, --copy-label and --glue-label go with --grammar: a model has its own"
        )
    return load_model(model, load)


def _second_stage(path: Path) -> Reranker:
    from hiero.rerank import Reranker  # here, as it takes long to start

    return Reranker.load(path)


def _input(
    stack: contextlib.ExitStack, path: Path | None, kind: Format, tokens: bool
) -> tuple[Lines, SegmentSet | None]:
    source = stack.enter_context(reading(path))
    name = str(path) if path else "input"
    read = reader(kind, tokens)
    if kind != "nist":
        return Lines(source, name, read, in_json=kind == "jsonl"), None
    segments = source_set(source.read(), name)
    return Lines.of_segments(segments, name, read), segments


def _translate(
    lines: Lines,
    record: Callable[[tuple[int, Sentence]], Record],
    sinks: Sinks,
    threads: int,
    advance: Advance,
) -> _Tally:
    tally = _Tally()

    def work(line: tuple[int, Sentence]) -> tuple[Record, list[Any]]:
        found = record(line)
        return found, [sink.make(found) for sink in sinks]

    for found, made in ordered_map(work, lines, threads):
        if found.error is not None:
            print(f"{lines.place(found.number)}: {found.error}", file=sys.stderr)
        for sink, part in zip(sinks, made, strict=True):
            sink.write(part)
        tally.add(found)
        advance()
    for sink in sinks:
        sink.end()
    return tally


def _made_by(decoder: Decoder, own_weights: Mapping[str, float]) -> dict[str, object]:
    """Describes the model for an archive of forests: weights, and checksums of rule tables by owner."""
    owners, tables = decoder.model.core.owners, decoder.model.tables
    files = [(owner, Path(table.path)) for owner, table in zip(owners, tables, strict=False)]
    checksums = {owner: sha256(path) for owner, path in files if path.is_file()}
    return {"tables": checksums, "weights": {**decoder.weights, **own_weights}}


def _assignment(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    try:
        if equals:
            return name, float(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"--set-weight {text}: expected Name=value")


def _note_unweighted(decoder: Decoder) -> None:
    missing = [name for name in decoder.model.feature_names if name not in decoder.weights]
    if missing:
        print(f"hiero: features without a weight count 0: {', '.join(missing)}", file=sys.stderr)


@contextlib.contextmanager
def _advance(source: Path | None, lines: Lines, quiet: bool) -> Iterator[Advance]:
    """Yields the function to call after each sentence, which shows the progress."""
    known = source is not None and source.is_file()
    with progress_line(quiet or not known) as progress:
        total = len(lines.places) or (0 if progress is None or source is None else count_lines(source))
        done = itertools.count(1)
        yield lambda: progress and progress("translate: sentences", next(done), total)


class _Tally:
    """Counts for --stats."""

    def __init__(self) -> None:
        self.sentences = self.words = self.hypotheses = self.lm_queries = self.failures = 0

    def add(self, record: Record) -> None:
        self.sentences += 1
        self.failures += record.error is not None
        if record.result is not None:
            self.words += len(record.result.source)
            self.hypotheses += record.result.stats.hypotheses
            self.lm_queries += record.result.stats.lm_queries

    def report(self, loading: float, decoding: float) -> None:
        print(
            f"loading {loading:.2f} s, decoding {decoding:.2f} s\n"
            f"{self.sentences} sentences, {self.sentences / decoding:.1f} a second; "
            f"{self.words} words, {self.words / decoding:.1f} a second\n"
            f"{self.hypotheses} hypotheses, {self.lm_queries} LM queries, "
            f"peak memory {peak_megabytes():.0f} MB",
            file=sys.stderr,
        )
