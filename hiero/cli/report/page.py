"""The page of a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hiero import Decoder, Model
from hiero.base.lines import read_lines
from hiero.cli.describe.models import describe_model
from hiero.cli.report.advice import advice
from hiero.cli.report.examples import LEAST_WORDS, Examples
from hiero.cli.report.figures import SetFigures, SetWords, set_figures, training_frequencies
from hiero.cli.report.run import FinishedRun
from hiero.cli.report.scores import scores_part, unknown_part
from hiero.cli.report.tuning import tuning_part
from hiero.pages.details import Details
from hiero.pages.forest import derivation_anchor, derivation_sections
from hiero.pages.markup import count_text, escape_html, page, section
from hiero.pages.sentences import ShownSentence, browser_html, sentence_data, sentence_html
from hiero.pages.tables import (
    commands,
    definitions,
    megabytes_text,
    seconds_text,
    table,
    text_definitions,
)
from hiero.train.held_out import LEFT_OUT

# Derivations of longer sentences are left out: they are hard to read, and megabytes in size.
_MOST_WORDS = 300
_OVERVIEW = "overview"
_METRIC = "chrF++"


def report_page(run: FinishedRun) -> str:
    """Returns the report of a finished run as a page."""
    model = Model.load(run.model)
    words = {name: SetWords.of(one, model.text) for name, one in run.tests.items()}
    frequencies = training_frequencies(run.training / "corpus.target", words.values())
    figures = {name: set_figures(one, words[name], frequencies) for name, one in run.tests.items()}
    details, decoder = Details(model.weights), Decoder(model)
    sets = [_Set(run, place, name, figures[name]) for place, name in enumerate(run.tests)]
    derivations = [section for one in sets for section in one.derivations(decoder, details)]
    parts = {
        "What to do next": _advice(advice(run, figures)),
        "Scores": scores_part(run, figures),
        "Unknown words": unknown_part(run.unknown),
        "Sentences": "".join(one.part() for one in sets),
        "Tuning": tuning_part(run),
        "Model": _facts(run),
        "Time and memory": _stages(run),
        "Commands": commands(run.commands),
    }
    content = _contents(parts) + "".join(
        f'<h2 id="{_anchor(title)}">{title}</h2>\n{part}' for title, part in parts.items()
    )
    overview = section(_OVERVIEW, run.title, "", "", f'<div class="report">\n{content}</div>\n')
    data = {**details.data(), "sets": [one.data() for one in sets]}
    return page(run.title, [overview, *derivations], data, more=["report"])


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _contents(titles: Iterable[str]) -> str:
    links = "".join(f'<li><a href="#{_anchor(title)}">{title}</a></li>\n' for title in titles)
    return f'<ul class="contents" aria-label="contents">\n{links}</ul>\n'


def _advice(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape_html(one)}</li>\n" for one in sentences)
    return f'<ul class="next">\n{items}</ul>\n'


class _Set:
    """The sentences of a test set: examples with their derivations by the final system, and all to browse."""

    def __init__(self, run: FinishedRun, place: int, name: str, figures: SetFigures) -> None:
        self._final, self._place, self._name = run.final, place, name
        self._evaluation = run.tests[name]
        self._lengths = figures.lengths.tolist()
        self._examples = Examples.choose(self._evaluation.by_segment[run.final], self._lengths)
        self._prefix = f"t{place}-" if len(run.tests) > 1 else ""
        self._explained: set[int] = set()

    def derivations(self, decoder: Decoder, details: Details) -> list[str]:
        """Translates the examples again, and returns a section for each derivation."""
        found, texts, confidence = {}, {}, {}
        for number in self._examples.all:
            result = decoder.translate(self._evaluation.source[number], keep="forest")
            if len(result.derivation.edges) > 0 and len(result.source) <= _MOST_WORDS:
                name = f"{self._name} set, {self._final}"
                found[number] = {name: result.derivation}
                confidence[number] = {name: result.confidence()}
                texts[number] = definitions(self._sentence(number).text)
        self._explained = set(found)
        weights = decoder.model.weights
        return derivation_sections(found, weights, details, _OVERVIEW, self._prefix, texts, confidence)

    def part(self) -> str:
        """Returns the examples, and the form for all sentences."""
        name, by = escape_html(self._name), escape_html(self._final)
        least = f"of at least {LEAST_WORDS} words"
        groups = {
            f"The worst of the {name} set": (self._examples.worst, f"Lowest {_METRIC} of {by} {least}."),
            f"The best of the {name} set": (self._examples.best, f"Highest {_METRIC} of {by} {least}."),
            f"A sample of the {name} set": (
                self._examples.sample,
                "Drawn at random from all sentences; the same in each report.",
            ),
        }
        parts = []
        for title, (numbers, note) in groups.items():
            sentences = "".join(sentence_html(self._sentence(number), _METRIC) for number in numbers)
            parts.append(f'<h3>{title}</h3>\n<p class="dim">{note}</p>\n{sentences}')
        form = browser_html(self._place, self._evaluation.systems, self._final)
        note = '<p class="dim">Sentences are numbered from 0, as the lines of the set.</p>\n'
        return "".join(parts) + f"<h3>All of the {name} set</h3>\n{note}{form}"

    def data(self) -> dict[str, Any]:
        """Returns all sentences for the script."""
        numbers = range(len(self._evaluation.source))
        rows = [sentence_data(self._sentence(number)) for number in numbers]
        return {"systems": self._evaluation.systems, "metric": _METRIC, "rows": rows}

    def _sentence(self, number: int) -> ShownSentence:
        one = self._evaluation
        return ShownSentence(
            number=number,
            words=self._lengths[number],
            source=one.source[number],
            references=one.references[number],
            translations={name: lines[number] for name, lines in one.translations.items()},
            scores={name: scores[number] for name, scores in one.by_segment.items()},
            anchor=derivation_anchor(number, 1, self._prefix) if number in self._explained else "",
        )


def _facts(run: FinishedRun) -> str:
    """Returns facts about data and model."""
    uses = {"train": "for training", "tune": "for tuning", LEFT_OUT: LEFT_OUT}
    counts = {"train": run.pairs["train"], **run.pairs}  # that for training first
    pairs = (
        f"{count_text(count, 'pair')} {uses.get(name, f'for the {name} set')}"
        for name, count in counts.items()
    )
    facts: dict[str, object] = {"bitext": ", ".join(pairs)}
    if problems := [line.removeprefix("problems: ") for line in run.problems.lines()]:
        facts["problems of pairs"] = "; ".join(problems)
    model = describe_model(run.model)
    names = ("source", "target", "trained", "rule tables", "language models", "tuned")
    return text_definitions(facts | {name: model[name] for name in names if name in model})


def _stages(run: FinishedRun) -> str:
    rows: list[Sequence[str]] = []
    steps = _training_steps(run.training / "log.jsonl")
    for title, seconds in run.seconds.items():
        peak = run.peak_megabytes.get(title)
        if title == "train" and steps:
            # A killed attempt has left its finished steps.
            seconds = max(seconds, sum(step["seconds"] for step in steps.values()))
            peak = max(peak or 0.0, *(step["peak_megabytes"] for step in steps.values()))
        rows.append((title, seconds_text(seconds), "" if peak is None else megabytes_text(peak)))
        if title == "train":
            rows += [
                (
                    f"\N{NO-BREAK SPACE} {name}",
                    seconds_text(step["seconds"]),
                    megabytes_text(step["peak_megabytes"]),
                )
                for name, step in steps.items()
            ]
    caption = "Stages, and the steps of training; memory is that of the process, which runs all stages"
    return table(caption, ("stage", "time", "peak memory"), rows)


def _training_steps(log: Path) -> Mapping[str, Mapping[str, Any]]:
    """Reads the last record of each step of training; empty if the log was deleted."""
    return {step["step"]: step for step in map(json.loads, read_lines(log) if log.exists() else ())}
