"""Advice on what to do next with a system, in sentences that follow from the figures of its report.

Each sentence names its figure. A rule speaks only where the figure says more than chance would, or where it
bounds what any system of this training text can reach.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from hiero import Decoder, Model
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import FEW, Evaluation
from hiero.cli.report.figures import SetFigures
from hiero.cli.report.run import FinishedRun
from hiero.evaluate import Runs, confidence_interval
from hiero.pages.markup import count_text
from hiero.pages.tables import difference_text, percent_text, ratio_text, score_text

# The probability below which a difference is not taken for chance.
_CHANCE = 0.05
# A word in fifty: about one in every second sentence.
_MANY_UNKNOWN = 0.02
# At 0.97 the brevity penalty takes 3 % of BLEU. Translations that are longer by as much lose precision.
_SHORT, _LONG = 0.97, 1.03
# Sentences with more words are long; both they and the others must be so many.
_LONG_SENTENCE, _ENOUGH = 30, 30


def advice(run: FinishedRun, figures: Mapping[str, SetFigures]) -> list[str]:
    """Returns what to do next, a sentence or two for each finding, for each test set."""
    found: list[str] = []
    span_limit = Decoder(Model.load(run.model)).settings.span_limit
    for key, evaluation in run.tests.items():
        name = f"the {key} set"
        found += _size(name, evaluation)
        found += _tuning(run, name, evaluation)
        found += _lengths(run.final, name, figures[key])
        found += _long_sentences(run.final, name, evaluation, figures[key], span_limit)
        found += _untrained(name, figures[key])
        found += _empty(run.final, name, evaluation)
    for name, words in run.unknown.items():
        found += _unknown(f"the {name} set", words)
    return found or ["No figure of this report asks for a change. More training text usually helps most."]


def _size(name: str, evaluation: Evaluation) -> Iterator[str]:
    count = len(evaluation.source)
    if count < FEW:
        yield (
            f"Test on more sentences: {name} has {count_text(count, 'sentence')}, too few to tell"
            f" systems apart. Take at least {FEW}, better 1,000."
        )


def _tuning(run: FinishedRun, name: str, evaluation: Evaluation) -> Iterator[str]:
    """Yields what tuning has changed: the final system against the first, by the first metric."""
    if run.final == run.systems[0]:
        return
    metric = evaluation.metrics[0]
    before, after = metric.systems[0], metric.systems[evaluation.systems.index(run.final)]
    if after.difference is None or after.p_bootstrap is None:
        return
    figure = (
        f"{metric.metric} of {name} is {score_text(before.score)} before and {score_text(after.score)} after"
        f" ({difference_text(after.difference)}, p = {ratio_text(after.p_bootstrap)})"
    )
    if after.p_bootstrap < _CHANCE and after.difference > 0:
        yield f"Use the weights tuned by {run.final}: {figure}."
    elif after.p_bootstrap < _CHANCE:
        yield (
            f"Do not use the weights tuned by {run.final} for text such as {name}: {figure}."
            " Tune on text that is more like it."
        )
    else:
        scores = tuning_scores(run.tuning.get(run.final))
        rise = f"; it rose by {score_text(max(scores) - scores[0])} on the tuning set" if scores else ""
        yield (
            f"Tuning by {run.final} changed no more than chance would: {figure}{rise}. Tune on more"
            f" sentences, or on sentences that are more like {name}."
        )


def tuning_scores(folder: Path | None) -> list[float]:
    """Reads the metric of the tuning set by iteration; empty if the directory of tuning was deleted."""
    path = None if folder is None else folder / "iterations.tsv"
    if path is None or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [float(row["score"]) for row in csv.DictReader(file, delimiter="\t")]


def _lengths(system: str, name: str, figures: SetFigures) -> Iterator[str]:
    parts = figures.parts[system]
    ratio = ratio_text(parts.length_ratio)
    if parts.length_ratio < _SHORT:
        lost = percent_text(1 - parts.brevity_penalty)
        yield (
            f"Translations of {name} by {system} are too short: their length ratio is {ratio}, which costs"
            f" {lost} of BLEU. Tune on text of such lengths, or change the weight WordPenalty."
        )
    elif parts.length_ratio > _LONG:
        yield (
            f"Translations of {name} by {system} are too long: their length ratio is {ratio}, which costs"
            " n-gram precision. Tune on text of such lengths, or change the weight WordPenalty."
        )


def _long_sentences(
    system: str, name: str, evaluation: Evaluation, figures: SetFigures, span_limit: int
) -> Iterator[str]:
    rows, bleu = evaluation.statistics[system], evaluation.bleu
    is_long = figures.lengths > _LONG_SENTENCE
    if min(is_long.sum(), (~is_long).sum()) < _ENOUGH:
        return
    long, short = (Runs.of(bleu, [rows[part]]) for part in (is_long, ~is_long))
    if confidence_interval(bleu, long)[1] >= confidence_interval(bleu, short)[0]:
        return
    yield (
        f"Long sentences of {name} are worse: BLEU is {score_text(long.mean)} for the {is_long.sum():,}"
        f" sentences of more than {_LONG_SENTENCE} words and {score_text(short.mean)} for the others, and the"
        f" 95 % intervals do not overlap. Try a span limit above {span_limit} (“Choose the span limit” in the"
        " documentation of tuning), or shorter sentences."
    )


def _untrained(name: str, figures: SetFigures) -> Iterator[str]:
    if figures.words is not None and figures.words.untrained >= _MANY_UNKNOWN:
        yield (
            f"Train on more text such as {name}: {percent_text(figures.words.untrained)} of the words of its"
            " references are not in the training text, and no rule gives them."
        )


def _empty(system: str, name: str, evaluation: Evaluation) -> Iterator[str]:
    pairs = zip(evaluation.source, evaluation.translations[system], strict=True)
    count = sum(bool(source.strip()) and not translation.strip() for source, translation in pairs)
    if count:
        yield (
            f"{count_text(count, 'translation')} of {name} by {system} {'is' if count == 1 else 'are'}"
            " empty. They are among the first sentences below, sorted from the worst; `hiero decode` says why"
            " a line fails."
        )


def _unknown(name: str, words: UnknownWords) -> Iterator[str]:
    if words.count < _MANY_UNKNOWN * max(words.words, 1):
        return
    such = ", ".join(word for word, _ in words.most_frequent(3))
    kind = " This is hardly the kind of text that was trained on." if words.is_much else ""
    yield (
        f"Train on more text such as {name}, or give a dictionary (--dictionary): {words.share} of its"
        f" words are unknown ({words.count:,} of {words.words:,}, most often {such}).{kind}"
    )
