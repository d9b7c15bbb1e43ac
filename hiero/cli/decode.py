"""`hiero decode` (also `hiero-decode`): translates lines of text."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hiero import Decoder, Failure, FormatError, Model, Translation
from hiero.base.files import replacing, sha256
from hiero.base.memory import peak_megabytes
from hiero.base.text import TextSide, split
from hiero.cli.records import Record, derivation_record, format_record
from hiero.decode.decoder import Keep
from hiero.evaluate.nist_xml import SegmentSet, parse_sets, write_tstset
from hiero.forest.files import NO_FOREST, ForestWriter

Advance = Callable[[], object]


class PassThrough(StrEnum):
    """Which words may be copied to the output."""

    unknown = "unknown"
    all = "all"
    none = "none"


class UnknownWords(StrEnum):
    """What becomes of unknown words that pass through."""

    copy = "copy"
    mark = "mark"
    drop = "drop"


class InputFormat(StrEnum):
    """What is read."""

    text = "text"
    nist = "nist"


class OutputFormat(StrEnum):
    """What is written for a sentence."""

    text = "text"
    nbest = "nbest"
    jsonl = "jsonl"


def decode(
    model: Annotated[Path | None, typer.Option(help="Model directory.")] = None,
    grammar: Annotated[
        list[Path] | None, typer.Option(help="Rule table, packed or text; repeatable.")
    ] = None,
    lm: Annotated[
        list[Path] | None, typer.Option(help="Language model, ARPA or KenLM binary; repeatable.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="Of whole sentences (the one whose rules begin with <s>, else S)."
        ),
    ] = None,
    copy_label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Of words that are copied (X, else all); repeatable."),
    ] = None,
    glue_label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="That glue rules are made for (all); repeatable."),
    ] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights file.")] = None,
    set_weight: Annotated[
        list[str] | None, typer.Option(metavar="Name=value", help="One weight; repeatable.")
    ] = None,
    input: Annotated[Path | None, typer.Option(help="Source text; default stdin.")] = None,
    input_format: Annotated[
        InputFormat, typer.Option(help="nist: a srcset in XML or SGML, translated into a tstset.")
    ] = InputFormat.text,
    system: Annotated[str, typer.Option(help="Name of the system in a tstset.")] = "hiero",
    target_language: Annotated[
        str | None, typer.Option(help="Of a tstset, as the refset names it (as the model names it).")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Default stdout.")] = None,
    pop_limit: Annotated[
        int | None, typer.Option(min=0, help="Hypotheses per span, on average (200); 0: no limit.")
    ] = None,
    span_limit: Annotated[int | None, typer.Option(min=1, help="Source words a rule may span (10).")] = None,
    beam_size: Annotated[int | None, typer.Option(min=0, help="Items kept per cell (0: all).")] = None,
    beam_threshold: Annotated[
        float | None, typer.Option(min=0, help="Natural log, relative to a cell's best (off).")
    ] = None,
    ttable_limit: Annotated[
        int | None, typer.Option(min=0, help="Targets per source side and label (0: all).")
    ] = None,
    pass_through: Annotated[
        PassThrough | None, typer.Option(help="Words that may be copied (unknown).")
    ] = None,
    unknown_words: Annotated[
        UnknownWords | None, typer.Option(help="Unknown words become: themselves, word_OOV, nothing (copy).")
    ] = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="Length of the n-best lists.")] = None,
    unique: Annotated[bool, typer.Option("--unique", help="n-best: one entry a string.")] = False,
    output_format: Annotated[OutputFormat, typer.Option()] = OutputFormat.text,
    raw: Annotated[
        bool, typer.Option("--raw", help="Input is raw text; tokenise and detokenise as the model says.")
    ] = False,
    derivations: Annotated[
        Path | None, typer.Option(help="Write the best derivations as JSON lines.")
    ] = None,
    forests: Annotated[
        Path | None, typer.Option(help="Write the forests, for `hiero forest` and hiero.forest.ForestFile.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    stats: Annotated[bool, typer.Option("--stats", help="Speed and cost, at the end.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no notes.")] = False,
) -> None:
    """Translates one line after the other; writes one record per line, always, in order.

    A bad input line gives an empty record and one line on stderr, and exit 1 at the end.
    """
    if (model is None) == (not grammar) or (model is not None and lm):
        raise typer.BadParameter("give either --model, or --grammar and --lm")
    if model is not None and (goal is not None or copy_label or glue_label):
        raise typer.BadParameter(
            "--goal, --copy-label and --glue-label go with --grammar: a model has its own"
        )
    if nbest is None and output_format is OutputFormat.nbest:
        raise typer.BadParameter("--output-format nbest needs --nbest K")
    nist = input_format is InputFormat.nist
    if nist and output_format is not OutputFormat.text:
        raise typer.BadParameter("--input-format nist is for text, not for other output formats")
    settings = {
        "pop_limit": pop_limit,
        "span_limit": span_limit,
        "beam_size": beam_size,
        "beam_threshold": beam_threshold,
        "ttable_limit": ttable_limit,
        "pass_through": pass_through.value if pass_through else None,
        "unknown_words": unknown_words.value if unknown_words else None,
    }
    chosen = {name: value for name, value in settings.items() if value is not None}
    started = time.perf_counter()
    if model is not None:
        loaded = Model.load(model, weights=weights)
    else:
        loaded = Model.assemble(
            grammar or [],
            lm or [],
            weights,
            goal=goal,
            copy_labels=copy_label or (),
            glue_labels=glue_label or (),
        )
    overridden = {**loaded.weights, **dict(_assignment(text) for text in set_weight or [])}
    decoder = Decoder(loaded, **chosen).with_weights(overridden)
    ready = time.perf_counter()
    if not quiet:
        _note_unweighted(decoder)

    keep: Keep = "forest" if nbest is not None or forests is not None else "none"
    tally = _Tally()
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(input.open("rb")) if input else sys.stdin.buffer
        # A set is written at the end, in one piece.
        target = stack.enter_context(replacing(output)) if output and nist else output
        sink = stack.enter_context(target.open("wb")) if target else sys.stdout.buffer
        extra = stack.enter_context(derivations.open("wb")) if derivations else None
        archive = stack.enter_context(ForestWriter(forests, _made_by(decoder))) if forests else None
        name = str(input) if input else "input"
        srcset = _source_set(source.read(), name) if nist else None
        lines = _Lines(source, name, raw) if srcset is None else _segments(srcset, name, raw)
        advance = stack.enter_context(_progress(input, lines, quiet))
        translations = []
        results = decoder.translate_iter(lines, threads=threads, keep=keep)
        for number, result in enumerate(results):
            record = _record(lines, number, result, nbest, unique, decoder.model.text.target)
            if nist:
                translations.append(record.texts[0])
            else:
                sink.write(format_record(record, output_format.value).encode())
                sink.flush()
            if extra:
                extra.write(derivation_record(record).encode())
            if archive:
                forest = None if isinstance(result, Failure) else result.forest
                archive.write(NO_FOREST if forest is None else forest)
            tally.add(result, record)
            advance()
        if srcset is not None:
            language = target_language or decoder.model.text.target.language
            sink.write(write_tstset(srcset, translations, language, system).encode())
    if stats:
        tally.report(ready - started, time.perf_counter() - ready)
    if tally.failures:
        raise typer.Exit(1)


def _made_by(decoder: Decoder) -> dict[str, object]:
    """What an archive of forests says of the rule tables: their checksums by owner."""
    owners, tables = decoder.model.core.owners, decoder.model.tables
    files = [(owner, Path(table.path)) for owner, table in zip(owners, tables, strict=False)]
    return {"tables": {owner: sha256(path) for owner, path in files if path.is_file()}}


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


class _Lines:
    """Input lines, as text if `raw`, else as tokens; remembers, by position, those that are not UTF-8."""

    def __init__(self, source: Iterable[bytes], name: str, raw: bool, places: Sequence[str] = ()) -> None:
        self.source = source
        self.name = name
        self.raw = raw
        self.places = places
        self.invalid: set[int] = set()

    def place(self, number: int) -> str:
        """A line as messages name it."""
        return f"{self.name}:{self.places[number] if self.places else number + 1}"

    def __iter__(self) -> Iterator[str | list[str]]:
        for number, line in enumerate(self.source):
            try:
                text = line.rstrip(b"\n").decode("utf-8")
            except UnicodeDecodeError:
                self.invalid.add(number)
                text = ""
            yield text if self.raw else split(text)


def _source_set(content: bytes, name: str) -> SegmentSet:
    found = [each for each in parse_sets(content, name) if each.kind == "srcset"]
    if len(found) != 1:
        raise FormatError(f"{name}: {len(found)} srcsets, expected one")
    return found[0]


def _segments(source: SegmentSet, name: str, raw: bool) -> _Lines:
    segments = list(source)
    places = [f" document {document!r}: segment {number}" for document, number, _ in segments]
    return _Lines([text.encode() for _, _, text in segments], name, raw, places)


def _record(
    lines: _Lines,
    number: int,
    result: Translation | Failure,
    nbest: int | None,
    unique: bool,
    target: TextSide,
) -> Record:
    error = None
    if isinstance(result, Failure):
        error = " ".join(str(result.error).split()) or type(result.error).__name__
    elif number in lines.invalid:
        error = "invalid UTF-8"
    elif result.source and not result.has_parse:
        error = "no derivation covers the sentence"
    if error is not None:
        print(f"{lines.place(number)}: {error}", file=sys.stderr)
        return Record(number, None, [], [""], error)
    assert isinstance(result, Translation)
    hypotheses = result.kbest(nbest, unique=unique) if nbest is not None else []
    texts = [target.text(h.tokens) if lines.raw else h.text for h in hypotheses] or [result.text]
    return Record(number, result, hypotheses, texts, None)


@contextlib.contextmanager
def _progress(input: Path | None, lines: _Lines, quiet: bool) -> Iterator[Advance]:
    console = Console(stderr=True)
    if quiet or input is None or not console.is_terminal:
        yield lambda: None
        return
    total = len(lines.places)
    if not total:
        with input.open("rb") as file:
            total = sum(1 for _ in file)
    columns = [TextColumn("translating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("translating", total=total)
        yield lambda: progress.advance(task)


class _Tally:
    """Counts for --stats."""

    def __init__(self) -> None:
        self.sentences = self.words = self.hypotheses = self.lm_queries = self.failures = 0

    def add(self, result: Translation | Failure, record: Record) -> None:
        self.sentences += 1
        self.failures += record.error is not None
        if isinstance(result, Translation):
            self.words += len(result.source)
            self.hypotheses += result.stats.hypotheses
            self.lm_queries += result.stats.lm_queries

    def report(self, loading: float, decoding: float) -> None:
        print(
            f"loading {loading:.2f} s, decoding {decoding:.2f} s\n"
            f"{self.sentences} sentences, {self.sentences / decoding:.1f} a second; "
            f"{self.words} words, {self.words / decoding:.1f} a second\n"
            f"{self.hypotheses} hypotheses, {self.lm_queries} LM queries, "
            f"peak memory {peak_megabytes():.0f} MB",
            file=sys.stderr,
        )
