"""`hiero adapt`: learns from corrected translations, line by line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from hiero import FormatError
from hiero.adapt import AdaptSettings, Correction, Session
from hiero.adapt.adapted_decoder import tokens_of
from hiero.adapt.session import read_corrections, write_bitext
from hiero.base.lines import read_lines
from hiero.base.text import split
from hiero.cli.base.files import Output, Writes, on_interrupt, writing
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.progress import progress_line
from hiero.cli.base.settings import SettingOptions
from hiero.cli.options.common import ModelPath, NoProgress, Tokens
from hiero.cli.options.training import SIDES

# A source and its correct translation: raw text, or tokens.
_Pair = tuple[Any, Any]
# What a new context begins with, by setting.
_DEFAULTS = {
    name: f"{'on' if info.default is True else info.default}, or the context's"
    for name, info in AdaptSettings.model_fields.items()
}


@dataclass(frozen=True, kw_only=True)
class Document:
    """The options of a text with its correct translations."""

    source: Annotated[Path | None, typer.Option("-i", "--source", help="Text to translate.")] = None
    references: Annotated[
        Path | None, typer.Option("-r", "--references", help="Its correct translations, line by line.")
    ] = None
    tokens: Tokens = False

    def pairs(self) -> list[_Pair] | None:
        """Returns the lines of both files, or None without files.

        Raises BadParameter if one of them is missing, FormatError for different numbers of lines."""
        if (self.source is None) != (self.references is None):
            raise typer.BadParameter("--source and --references come together")
        if self.source is None or self.references is None:
            return None
        pairs: list[_Pair] = []
        for text, reference in zip_longest(read_lines(self.source), read_lines(self.references)):
            if text is None or reference is None:
                raise FormatError(f"{self.source} and {self.references} have different numbers of lines")
            pairs.append((split(text), split(reference)) if self.tokens else (text, reference))
        return pairs


def adapt(
    *,
    model: ModelPath,
    context: Annotated[str, typer.Option(help="Name of what is learned; it lies in MODEL.contexts.")],
    document: Document,
    settings: Annotated[OptionValues, SettingOptions(AdaptSettings, overrides="", overriding=_DEFAULTS)],
    undo: Annotated[int | None, typer.Option(min=1, help="Forget the correction with this number.")] = None,
    export: Annotated[
        tuple[Path, Path] | None,
        Writes(),
        typer.Option(metavar=SIDES, help="Write the corrections as a bitext, to train on."),
    ] = None,
    output: Output = None,
    quiet: NoProgress = False,
) -> None:
    """Translates line by line, and learns from the correct translation of each line before the next one.

    What was learned from a line is on the disk before the next one is translated. An interrupted run goes on
    when it is started again. Lines without a reference are only translated. Without a source, the command
    says how much the context has learned.

        hiero adapt my-model --context report --source report.de --references report.en -o report.mt.en
    """
    pairs = document.pairs()
    if export is not None and pairs is None and undo is None:
        write_bitext(read_corrections(model, context), *export)
        return
    note = f"run it again to go on; the context {context} has what is done"
    with Session.open(model, context, settings, report=lambda line: _say(line, quiet)) as session:
        if undo is not None:
            session.undo(undo)
        if pairs is not None:
            with on_interrupt(note):
                _learn(session, pairs, output, quiet)
        if export is not None:
            session.write_bitext(*export)
        count = len(session.corrections)
        _say(f"context {context}: {count:,} corrections, {session.rule_count:,} rules", quiet)


def _say(line: str, quiet: bool) -> None:
    if not quiet:
        print(f"hiero: {line}", file=sys.stderr)


def _learn(session: Session, pairs: Sequence[_Pair], output: Path | None, quiet: bool) -> None:
    """Translates and learns what is left of a document, and writes the translations of all lines."""
    text = session.model.text
    has_words = [
        [bool(tokens_of(source, text.source)), bool(tokens_of(target, text.target))]
        for source, target in pairs
    ]
    worded = [pair for pair, sides in zip(pairs, has_words, strict=True) if all(sides)]
    done = iter(_learned_before(session.corrections, worded))
    with progress_line(quiet) as progress, writing(output) as stream:
        for number, ((source, reference), sides) in enumerate(zip(pairs, has_words, strict=True), start=1):
            if all(sides):
                translation = (next(done, None) or session.correct(source, reference)).translation
            else:
                translation = session.translate(source).text if sides[0] else ""
            stream.write(f"{translation}\n".encode())
            if stream is sys.stdout.buffer:
                stream.flush()
            if progress is not None:
                progress("lines", number, len(pairs))


def _learned_before(corrections: Sequence[Correction], pairs: Sequence[_Pair]) -> Sequence[Correction]:
    """Returns the last corrections, as many as are the first pairs of a document: those of a run that was
    interrupted."""
    learned = [(correction.source, correction.target) for correction in corrections]
    for count in range(min(len(learned), len(pairs)), 0, -1):
        if learned[-count:] == list(pairs[:count]):
            return corrections[-count:]
    return ()
