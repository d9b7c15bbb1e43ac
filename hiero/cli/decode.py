"""`hiero decode` (also `hiero-decode`): translates lines of text."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Annotated

import typer

from hiero import Decoder, DecodingSettings
from hiero.cli.base.cluster import on_cluster
from hiero.cli.base.commands import Version
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.settings import SettingOptions
from hiero.cli.io.lines import SentenceParses
from hiero.cli.io.sentences import Forcing, Prefixes, SentenceRules
from hiero.cli.io.sets import warn_of_repeated
from hiero.cli.io.translation import Translator, showing_progress, translate_lines
from hiero.cli.options.decoding import (
    DecodingModel,
    DecodingOutput,
    DecodingRun,
    Selection,
)
from hiero.cli.options.decoding_input import DecodingInput
from hiero.decode.decoder import Keep


def decode(
    *,
    model: DecodingModel,
    text: DecodingInput,
    output: DecodingOutput,
    search: Annotated[OptionValues, SettingOptions(DecodingSettings, overrides="", group="Search")],
    selection: Selection,
    run: DecodingRun,
    version: Version = False,
) -> None:
    """Translates text line by line, and writes one record for each line, in order.

    A line that cannot be translated gets an empty record and one line on stderr, and the exit code is 1.

        hiero-decode my-model --source new.de -o new.en
        hiero-decode my-model --nbest 10 --output-format nbest < new.de
    """
    _check_together(text, output, selection)
    reranker = selection.load_reranker()
    started = time.perf_counter()
    decoder = Decoder(model.open(), **search)
    rules = SentenceRules(text.rules)
    parses = SentenceParses(text.parses)
    prefixes = Prefixes(text.prefixes, text.tokens)
    decoder = model.weight(decoder, rules, may_have_rules=text.may_have_rules)
    if reranker is not None:
        reranker.check(decoder.weights)
    ready = time.perf_counter()
    if not run.quiet:
        _note_unweighted(decoder)
    warn_of_repeated(text.references or [])
    with on_cluster(run.cluster), contextlib.ExitStack() as stack:
        lines, segments = text.open(stack)
        forcing = None
        if text.references:
            forcing = Forcing(text.references, segments, text.tokens, decoder.model.text.target)
        choose = selection.choice(reranker)
        has_forests = output.nbest is not None or output.forests or choose or output.confidence
        keep: Keep = "forest" if has_forests else "none"
        lists = output.nbest, output.unique, output.confidence
        terms = text.read_terms(decoder.model)
        translator = Translator(decoder, rules, parses, prefixes, terms, forcing, choose, *lists, keep)
        sinks = output.sinks(stack, segments, decoder, rules)
        # Translations on a terminal would stand among the progress.
        quiet = run.quiet or (output.output is None and sys.stdout.isatty())
        advance = stack.enter_context(showing_progress(text.source, lines, quiet))
        tally = translate_lines(lines, translator, sinks, run.threads, advance)
    if not run.quiet:
        tally.warn(text.source)
    if run.stats:
        tally.report(ready - started, time.perf_counter() - ready)
    if tally.failures:
        raise typer.Exit(1)


def _check_together(text: DecodingInput, output: DecodingOutput, selection: Selection) -> None:
    """Raises BadParameter for options that exclude each other."""
    if selection.needs_forests and (output.nbest is not None or text.references):
        raise typer.BadParameter(
            "--decision and --reranker are of one translation, without --nbest and --references"
        )
    if text.format == "nist" and output.output_format != "text":
        raise typer.BadParameter("NIST's sets are translated as text, not in other output formats")


def _note_unweighted(decoder: Decoder) -> None:
    missing = [name for name in decoder.model.feature_names if name not in decoder.weights]
    if missing:
        print(f"hiero: features without a weight count 0: {', '.join(missing)}", file=sys.stderr)
