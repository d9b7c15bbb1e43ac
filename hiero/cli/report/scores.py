"""The parts of a report about scores and unknown words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hiero.cli.io.results import Result
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import FEW, Evaluation
from hiero.cli.report.figures import FREQUENCIES, LENGTHS, SetFigures, WordAccuracy
from hiero.cli.report.run import FinishedRun
from hiero.evaluate import Bleu
from hiero.pages.markup import count_text, escape_html
from hiero.pages.tables import (
    difference_text,
    percent_text,
    ratio_text,
    score_text,
    table,
    text_definitions,
)

# Keeps the bounds of an interval on one line.
_SPACE = "\N{NO-BREAK SPACE}"
# The number of unknown words that are listed.
_LISTED = 30


def scores_part(run: FinishedRun, figures: Mapping[str, SetFigures]) -> str:
    """Returns the tables of each test set."""
    return "".join(
        f"{'' if len(run.tests) == 1 else f'<h3>{escape_html(name)} set</h3>'}"
        f"{_scores(name, evaluation)}{_parts(name, figures[name])}{_lengths(name, figures[name])}"
        f"{_frequencies(name, evaluation.systems, figures[name].words)}"
        for name, evaluation in run.tests.items()
    )


def _scores(name: str, evaluation: Evaluation) -> str:
    rows = [row for metric in evaluation.metrics for row in _metric_rows(metric, evaluation.systems)]
    count = len(evaluation.source)
    few = ": too few to tell systems apart" if count < FEW else ""
    caption = f"Scores of the {name} set, {count_text(count, 'sentence')}{few}"
    heads = ("system", "score", "95 % interval", "difference", "p")
    first = evaluation.systems[0]
    better = "; ".join(f"{metric.metric}: {metric.better} is better" for metric in evaluation.metrics)
    note = (
        f"{better}. Differences are to the system {first}; p, by paired bootstrap, is the share of resampled"
        " test sets in which the better of the two is not better."
    )
    notes = [note, *(metric.signature for metric in evaluation.metrics)]
    lines = "".join(f'<p class="dim">{escape_html(line)}</p>\n' for line in notes)
    return table(caption, heads, rows) + lines


def _metric_rows(metric: Result, systems: Sequence[str]) -> Iterator[Sequence[str]]:
    for system, scores in zip(systems, metric.systems, strict=True):
        low, high = (score_text(bound) for bound in scores.interval)
        compared = ("", "")
        if scores.difference is not None and scores.p_bootstrap is not None:
            compared = (difference_text(scores.difference), ratio_text(scores.p_bootstrap))
        yield (
            f"{metric.metric}, {system}",
            score_text(scores.score),
            f"{low}{_SPACE}to{_SPACE}{high}",
            *compared,
        )


def _parts(name: str, figures: SetFigures) -> str:
    systems = figures.parts.values()
    rows = [
        ("length ratio", *(ratio_text(parts.length_ratio) for parts in systems)),
        ("brevity penalty", *(ratio_text(parts.brevity_penalty) for parts in systems)),
        *(
            (f"{n + 1}-grams that match", *(percent_text(parts.precisions[n]) for parts in systems))
            for n in range(Bleu.order)
        ),
    ]
    caption = f"Parts of BLEU of the {name} set; the ratio is that of translations to references"
    return table(caption, ("part", *figures.parts), rows)


def _lengths(name: str, figures: SetFigures) -> str:
    rows = [
        (words, f"{count:,}", *(score_text(scores[place]) for scores in figures.by_length.values()))
        for place, (words, count) in enumerate(zip(LENGTHS.names, figures.sentences, strict=True))
        if count
    ]
    caption = f"BLEU of the {name} set by the length of the source sentence"
    return table(caption, ("words", "sentences", *figures.by_length), rows)


def _frequencies(name: str, systems: Sequence[str], words: WordAccuracy | None) -> str:
    if words is None:
        return '<p class="dim">Words by their frequency are left out: the training text was deleted.</p>\n'
    rows = [
        (times, f"{count:,}", *(percent_text(words.f1[system][place]) for system in systems))
        for place, (times, count) in enumerate(zip(FREQUENCIES.names, words.words, strict=True))
        if any(words.f1[system][place] is not None for system in systems)
    ]
    caption = (
        f"Words of the {name} set that are translated right, by how often the training text has them: F1, the"
        " harmonic mean of precision and recall"
    )
    return table(caption, ("times in training", "words of references", *systems), rows)


def unknown_part(unknown: Mapping[str, UnknownWords]) -> str:
    """Returns the share of unknown words of each set, and the most frequent ones with their counts."""
    texts = {}
    for name, words in unknown.items():
        such = ", ".join(f"{word} ({count:,})" for word, count in words.most_frequent(_LISTED))
        share = f"{words.share} of the words ({words.count:,} of {words.words:,})"
        texts[f"{name} set"] = share + (f", most often {such}" if such else "")
    return text_definitions(texts)
