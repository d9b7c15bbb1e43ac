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
from hiero.train.problems import PROBLEMS_FILE, ProblemReport

# The probability below which a difference is not taken for chance.
_CHANCE = 0.05
# A word in fifty: about one in every second sentence.
_MANY_UNKNOWN = 0.02
# At 0.97 the brevity penalty takes 3 % of BLEU. Translations that are longer by as much lose precision.
_SHORT, _LONG = 0.97, 1.03
# Sentences with more words are long; both they and the others must be so many.
_LONG_SENTENCE, _ENOUGH = 30, 30


def advice(run: FinishedRun, figures: Mapping[str, SetFigures]) -> list[str]:
    """Returns what to do next, a sentence or two for each finding."""
    found = list(_problems(run.problems))
    span_limit = Decoder(Model.load(run.model)).settings.span_limit
    for key, evaluation in run.tests.items():
        name = f"the {key} set"
        found += _size(name, evaluation)
        found += _tuning(run, name, evaluation)
        found += _lengths(run.final, name, figures[key])
        found += _long_sentences(run.final, name, evaluation, figures[key], span_limit)
        found += _empty(run.final, name, evaluation)
    found += _unknown(run.unknown)
    found += _untrained(figures)
    return found or ["No figure of this report asks for a change. More training text usually helps most."]


def _problems(problems: ProblemReport) -> Iterator[str]:
    for kind in problems.frequent:
        share = percent_text(problems.counts[kind] / problems.pairs)
        yield (
            f"Look at the training text first: {share} of its pairs are {kind} (“Model” has an example,"
            f" model.train/{PROBLEMS_FILE} all). Are these the right files? With --leave-out {kind},"
            " training goes without them."
        )


def _size(name: str, evaluation: Evaluation) -> Iterator[str]:
    count = len(evaluation.source)
    if count < FEW:
        yield (
            f"Test on more sentences: {name} has {count_text(count, 'sentence')}, too few to tell"
            f" systems apart. Take at least {FEW}, better 1,000."
        )


def _tuning(run: FinishedRun, name: str, evaluation: Evaluation) -> Iterator[str]:
    """Yields what tuning has changed by the first metric: by the method of the final system, or by the best
    one where the weights of training were kept."""
    metric = evaluation.metrics[0]
    by_system = dict(zip(evaluation.systems, metric.systems, strict=True))
    first, *tuned = evaluation.systems
    is_kept = run.final == first
    method = max(tuned, key=lambda each: by_system[each].score) if is_kept else run.final
    before, after = by_system[first], by_system[method]
    if after.difference is None or after.p_bootstrap is None:
        return
    figure = (
        f"{metric.metric} of {name} is {score_text(before.score)} before and {score_text(after.score)} after"
        f" ({difference_text(after.difference)}, p = {ratio_text(after.p_bootstrap)})"
    )
    kept = ", and the final model has the weights of training" if is_kept else ""
    if after.p_bootstrap >= _CHANCE:
        scores = tuning_scores(run.tuning.get(method))
        rise = f"; it rose by {score_text(max(scores) - scores[0])} on the tuning set" if scores else ""
        yield (
            f"Tuning by {method} changed no more than chance would: {figure}{rise}{kept}. Tune on more"
            f" sentences, or on sentences that are more like {name}."
        )
    elif after.difference > 0 and is_kept:
        yield f"Tuning by {method} helped here, but not on the held-out set: {figure}{kept}."
    elif after.difference > 0:
        yield f"Use the weights tuned by {method}: {figure}."
    elif is_kept:
        yield (
            f"Tuning did harm, also by {method}, the best method here: {figure}{kept}. Check that the"
            f" references of the tuning set are translations of its sentences, and tune on text like {name}."
        )
    else:
        yield (
            f"Do not use the weights tuned by {method} for text such as {name}: {figure}."
            " Tune on text that is more like it."
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


def _empty(system: str, name: str, evaluation: Evaluation) -> Iterator[str]:
    pairs = zip(evaluation.source, evaluation.translations[system], strict=True)
    count = sum(bool(source.strip()) and not translation.strip() for source, translation in pairs)
    if count:
        yield (
            f"{count_text(count, 'translation')} of {name} by {system} {'is' if count == 1 else 'are'}"
            " empty. They are among the first sentences below, sorted from the worst; `hiero decode` says why"
            " a line fails."
        )


def _unknown(sets: Mapping[str, UnknownWords]) -> Iterator[str]:
    """Yields what to do about unknown words, with the figures of all sets that have many."""
    many = {name: words for name, words in sets.items() if words.count >= _MANY_UNKNOWN * max(words.words, 1)}
    if not many:
        return
    shares = []
    for name, words in many.items():
        such = ", ".join(word for word, _ in words.most_frequent(3))
        shares.append(
            f"{words.share} of the {name} set ({words.count:,} of {words.words:,}, most often {such})"
        )
    much = [name for name, words in many.items() if words.is_much]
    kind = " More than a tenth means too little training text, or text of another kind." if much else ""
    yield (
        "Train on more text such as you translate, or give a dictionary (--dictionary). Unknown words:"
        f" {'; '.join(shares)}.{kind}"
    )


def _untrained(figures: Mapping[str, SetFigures]) -> Iterator[str]:
    """Yields how many words of references training has not seen, for all sets that have many of them."""
    shares = {name: one.words.untrained for name, one in figures.items() if one.words is not None}
    many = [
        f"{percent_text(share)} of the {name} set" for name, share in shares.items() if share >= _MANY_UNKNOWN
    ]
    if many:
        yield (
            "Train on more text in the target language, too. Words of references that are not in the training"
            f" text: {', '.join(many)}. Only what is copied or made by rules for numbers and names can be"
            " right there."
        )
