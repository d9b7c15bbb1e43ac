"""The span limit that `hiero tune` chooses, and keeps in the records of its runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hiero import Decoder, FormatError, Sentence
from hiero.base.json_files import read_json
from hiero.cli.base.progress import progress_line
from hiero.evaluate import Metric
from hiero.tune import ModelDecoder, SpanLimitChoice, TriedLimit, choose_span_limit
from hiero.tune.run.loop import RUN_RECORD
from hiero.tune.run.model_decoder import NoneDecodedError
from hiero.tune.run.objective import maximised_name


class _Tried(BaseModel):
    span_limit: int
    score: float
    generated: float


class _Decoding(BaseModel):
    span_limit: int


class _Origin(BaseModel):
    sets: str | None = None
    model: str | None = None
    decoding: _Decoding | None = None
    span_limits: list[_Tried] = []


class _Run(BaseModel):
    """The part of a tuning run's record with the limits that were tried, and the one that was chosen. Records
    of other runs, such as those of Python programs, have other origins."""

    origin: _Origin = _Origin()


def chosen_span_limit(
    decoder: Decoder,
    sentences: Sequence[Sentence],
    metric: Metric,
    start: Mapping[str, float],
    output: Path,
    origin: Mapping[str, str],
    threads: int,
    quiet: bool,
) -> SpanLimitChoice:
    """Chooses the span limit for a tuning set, by the weights that tuning starts from, and prints what others
    would give and cost; or returns the choice that the directory ``output`` was begun with, if that run has
    the same ``origin``, a checksum of the sets and of the model. Sentences that cannot be decoded are left to
    the first iteration, which reports them. Raises FormatError for a directory with another run, OSError."""

    def decoder_with(limit: int) -> ModelDecoder:
        return ModelDecoder(with_span_limit(decoder, limit), sentences, threads, lambda number, error: None)

    choice = _recorded(output, origin)
    if choice is None:
        vector, own = decoder.model.weight_vector(start), decoder.settings.span_limit
        try:
            with progress_line(quiet) as progress:
                choice = choose_span_limit(decoder_with, metric, vector, own, progress=progress)
        except NoneDecodedError:
            choice = SpanLimitChoice([], own)
    if not quiet:
        for line in _lines(choice, maximised_name(metric)):
            print(f"hiero: {line}", file=sys.stderr)
    return choice


def with_span_limit(decoder: Decoder, span_limit: int) -> Decoder:
    """Returns a decoder with another span limit."""
    return Decoder(decoder.model, **{**decoder.settings.model_dump(), "span_limit": span_limit})


def _recorded(output: Path, origin: Mapping[str, str]) -> SpanLimitChoice | None:
    """Returns the choice in the record of a directory's first run; None if there is none. Raises FormatError
    if that run has another origin."""
    records = [path for path in (output / RUN_RECORD, output / "run-1" / RUN_RECORD) if path.is_file()]
    if not records:
        return None
    known = read_json(records[0], _Run).origin
    if known.decoding is None or not known.span_limits:
        return None
    if changed := [name for name, value in origin.items() if getattr(known, name) != value]:
        where = ", ".join(f"origin.{name}" for name in changed)
        raise FormatError(
            f"{output}: holds another run, see {records[0].relative_to(output)}, {where}; choose another"
            " directory or remove it"
        )
    tried = [TriedLimit(each.span_limit, each.score, each.generated) for each in known.span_limits]
    return SpanLimitChoice(tried, known.decoding.span_limit)


def tried_limits(choice: SpanLimitChoice | None) -> list[dict[str, Any]]:
    """Returns the limits that were tried as a run records them."""
    tried = [] if choice is None else map(asdict, choice.tried)
    return [{name: value for name, value in each.items() if name != "seconds"} for each in tried]


def _lines(choice: SpanLimitChoice, score_name: str) -> Iterator[str]:
    """Yields a line for each limit, with its score and its cost, if this process has tried it, also in
    time."""
    for each in choice.tried:
        time = f", {1000 * each.seconds:.1f} ms" if each.seconds else ""
        mark = " *" if each.span_limit == choice.span_limit else ""
        yield (
            f"span limit {each.span_limit}: {score_name} {each.score:.4f}, {each.generated:,.0f} hypotheses"
            f"{time} a sentence{mark}"
        )
