"""The report of `hiero run`: a page with scores, weights, sizes, times, and the worst and best translations
with their derivations."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiero import Decoder, Model
from hiero.base.lines import read_lines
from hiero.cli.describe.models import describe_model
from hiero.cli.io.results import Result, read_results
from hiero.cli.io.sets import read_files
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.system.data import RunData, pairs
from hiero.cli.system.stages import Stages
from hiero.cli.system.system import System
from hiero.evaluate import ChrfPlusPlus, Text
from hiero.pages.details import Details
from hiero.pages.forest import derivation_anchor, derivation_sections
from hiero.pages.markup import count_text, escape_html, page, section
from hiero.text import TextSide
from hiero.train.held_out import LEFT_OUT

# A test set with fewer sentences cannot tell systems apart.
_FEW = 100
# Derivations of longer sentences are left out: they are hard to read, and megabytes in size.
_MOST_WORDS = 300
# The number of worst translations that are shown, and of best ones.
_EXAMPLES = 5
_OVERVIEW = "overview"


@dataclass(frozen=True)
class Evaluation:
    """The results of `hiero eval`, and the test set with its translations, before and after tuning, and their
    chrF++ by segment."""

    metrics: Sequence[Result]
    source: Sequence[str]
    references: Sequence[Sequence[str]]
    translations: Mapping[str, Sequence[str]]
    by_segment: Mapping[str, Sequence[float]]

    @classmethod
    def read(
        cls,
        metrics: Path,
        source: Path,
        references: Sequence[Path],
        translations: Mapping[str, Path],
        side: TextSide,
    ) -> Evaluation:
        """Reads the results and the texts, and scores each segment, normalised as the text of ``side``.
        Raises FormatError, OSError."""
        lines, test_set = read_files(source, references)
        texts = {name: test_set.hypotheses(path) for name, path in translations.items()}
        scorer = ChrfPlusPlus(test_set.normalised(side).references, Text(lowercase=side.lowercase))
        normalised = {name: [side.normalised(line) for line in text] for name, text in texts.items()}
        scores = {name: scorer.segment_scores(scorer.statistics(text)) for name, text in normalised.items()}
        by_segment = {name: array.tolist() for name, array in scores.items()}
        return cls(read_results(metrics), lines, test_set.references, texts, by_segment)

    def summary(self) -> Iterator[str]:
        """Yields a line for each metric, and a warning for a small test set."""
        for metric in self.metrics:
            before, after = metric.systems
            low, high = after.interval
            yield (
                f"test set: {metric.metric} {before.score:.2f} before, {after.score:.2f} after tuning "
                f"(95 %: {low:.2f} to {high:.2f}; p = {after.p_bootstrap:.3f})"
            )
        if self.few:
            yield self.few

    @property
    def few(self) -> str:
        """The warning for a small test set, whose samples are too similar for intervals, else an empty
        text."""
        count = len(self.source)
        return "" if count >= _FEW else f"{count_text(count, 'sentence')}: too few to tell systems apart"

    def examples(self) -> tuple[list[int], list[int]]:
        """Returns the worst segments after tuning, from the worst, and the best, from the best.

        No segment is in both lists. Among equal scores, longer segments are better."""
        lengths = [len(line) for line in self.source]
        order = np.lexsort((lengths, self.by_segment["after"])).tolist()
        worst = order[: min(_EXAMPLES, (len(order) + 1) // 2)]
        return worst, order[len(worst) :][-_EXAMPLES:][::-1]


def unknown_words(folder: Path, data: RunData) -> dict[str, UnknownWords]:
    """Counts the words of the tuning set and of the test set that the system in a folder does not know."""
    decoder = Decoder(Model.load(folder / "tuned-model"))
    return {name: UnknownWords.of(decoder, one.lines()[0]) for name, one in data.sets.items()}


def report_page(
    system: System,
    data: RunData,
    results: Mapping[str, Sequence[Result]],
    final: str,
    unknown: Mapping[str, UnknownWords],
    target: TextSide,
) -> str:
    """Returns the page about a finished system in the folder of its run, on the first test set, before tuning
    and with the ``final`` weights. ``unknown`` has the words of each set that it does not know."""
    folder, stages = system.folder, system.stages
    name, files = next(iter(data.tests.items()))
    paths = {w: system.translations(n, name, files) for w, n in (("before", "before"), ("after", final))}
    evaluation = Evaluation.read(
        folder / "translations" / name / "scores.json", files.source, files.references, paths, target
    )
    model = Model.load(folder / "tuned-model")
    decoder = Decoder(model)
    worst, best = evaluation.examples()
    derivations = {}
    for number in sorted([*worst, *best]):
        result = decoder.translate(evaluation.source[number])
        if len(result.derivation.edges) > 0 and len(result.source) <= _MOST_WORDS:
            derivations[number] = {"after tuning": result.derivation}

    def examples(numbers: Iterable[int]) -> str:
        return "".join(_example(evaluation, number, number in derivations) for number in numbers)

    before = Model.load(folder / "model").weights
    parts = [
        _part("Scores", _scores(evaluation)),
        _part("Unknown words", _list({name: words.describe() for name, words in unknown.items()})),
        _part("The worst translations", examples(worst)),
        _part("The best translations", examples(best)),
        _part("Tuning", _curve(folder / "tuned" / final / "iterations.tsv"), _weights(before, model.weights)),
        _part("Model", _facts(folder)),
        _part("Time", _times(folder, stages)),
        _part("Commands", _lines(stages.commands)),
    ]
    title, details = folder.resolve().name, Details(model.weights)
    overview = section(_OVERVIEW, title, "", "", f'<div class="report">\n{"".join(parts)}</div>\n')
    sections = derivation_sections(derivations, model.weights, details, _OVERVIEW)
    return page(title, [overview, *sections], details.data())


def _part(title: str, *content: str) -> str:
    return f"<h2>{title}</h2>\n{''.join(content)}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row("th", heads), *(_row("td", row) for row in rows)]
    return f'<div class="scroll"><table>\n{"".join(lines)}</table></div>\n'


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape_html(cell)}</{tag}>' for cell in cells)}</tr>\n"


def _lines(lines: Iterable[str]) -> str:
    rows = (" ".join(f"<span>{escape_html(word)}</span>" for word in line.split(" ")) for line in lines)
    return "".join(f"<pre>{row}</pre>\n" for row in rows)


def _scores(evaluation: Evaluation) -> str:
    rows = []
    for metric in evaluation.metrics:
        after = metric.systems[1]
        scores = [f"{s.score:.2f} ({s.interval[0]:.2f} to {s.interval[1]:.2f})" for s in metric.systems]
        rows.append((metric.metric, *scores, f"{after.difference:+.2f}", f"{after.p_bootstrap:.3f}"))
    heads = ("", "before tuning (95 %)", "after tuning (95 %)", "difference", "p")
    count = evaluation.few or count_text(len(evaluation.source), "sentence")
    count += "; higher is better; p by paired bootstrap."
    signatures = " ".join(metric.signature for metric in evaluation.metrics)
    return _table(heads, rows) + f'<p class="dim">{count} {escape_html(signatures)}</p>\n'


def _example(evaluation: Evaluation, number: int, linked: bool) -> str:
    score = f"chrF++ {evaluation.by_segment['after'][number]:.1f}"
    name = f"Sentence {number}"
    if linked:
        name = f'<a href="#{derivation_anchor(number, 1)}">{name}</a>'
    texts = {"source": evaluation.source[number]}
    references = [line for line in evaluation.references[number] if line.strip()]
    for k, line in enumerate(references, start=1):
        texts["reference" if len(references) == 1 else f"reference {k}"] = line
    before, after = (evaluation.translations[when][number] for when in ("before", "after"))
    texts |= {"before": before, "after": after} if before != after else {"translation": after}
    head = f'<h3>{name} <span class="dim">{score}</span></h3>\n'
    return f'<div class="example">\n{head}{_list(texts)}</div>\n'


def _list(texts: Mapping[str, object]) -> str:
    rows = (
        f'<dt>{label}</dt><dd dir="auto">{escape_html(str(text))}</dd>\n' for label, text in texts.items()
    )
    return f"<dl>\n{''.join(rows)}</dl>\n"


def _curve(path: Path) -> str:
    """Draws BLEU of the tuning set by iteration; empty if the directory of tuning was removed."""
    if not path.exists():
        return ""
    with path.open(encoding="utf-8", newline="") as file:
        scores = [float(row["score"]) for row in csv.DictReader(file, delimiter="\t")]
    low, high = min(scores), max(scores)
    width, height, left, top = 560, 180, 60, 16
    step = (width - left - 20) / max(len(scores) - 1, 1)
    points = [
        (left + k * step, top + (height - 50) * (high - score) / ((high - low) or 1.0))
        for k, score in enumerate(scores)
    ]
    line = " ".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if k == scores.index(high) else 3}">'
        f"<title>iteration {k}: {score:.2f}</title></circle>"
        for k, ((x, y), score) in enumerate(zip(points, scores, strict=True))
    ]
    labels = [f'<text x="{left - 12}" y="{top + 5}" class="end">{high:.2f}</text>']
    if low < high:
        labels.append(f'<text x="{left - 12}" y="{height - 29}" class="end">{low:.2f}</text>')
    every = -(-len(scores) // 10)
    labels += [
        f'<text x="{points[k][0]:.1f}" y="{height - 6}">{k}</text>' for k in range(0, len(scores), every)
    ]
    content = "\n".join([f'<path d="M{line}"/>', *marks, *labels])
    return (
        f'<figure><svg class="curve" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="BLEU of the tuning set by iteration">\n{content}</svg>\n'
        "<figcaption>BLEU of the tuning set by iteration</figcaption></figure>\n"
    )


def _weights(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    rows = [(name, f"{before.get(name, 0.0):.4f}", f"{weight:.4f}") for name, weight in after.items()]
    return _table(("weight", "before", "after"), rows)


def _facts(folder: Path) -> str:
    """Returns the table of facts about data and model."""
    facts: dict[str, object] = {}
    uses = {"train": "for training", "tune": "for tuning", "test": "for the test", LEFT_OUT: LEFT_OUT}
    counts = pairs(folder / "sets")
    facts["bitext"] = ", ".join(
        f"{count_text(counts[name], 'pair')} {use}" for name, use in uses.items() if name in counts
    )
    model = describe_model(folder / "tuned-model")
    names = ("source", "target", "trained", "rule tables", "language models", "tuned")
    return _list(facts | {name: model[name] for name in names if name in model})


def _times(folder: Path, stages: Stages) -> str:
    log = folder / "model.train" / "log.jsonl"
    steps = {step["step"]: step for step in map(json.loads, read_lines(log) if log.exists() else ())}
    rows = []
    for title, seconds in stages.seconds.items():
        rows.append((title, f"{seconds:,.1f} s", ""))
        if title == "train":
            rows += [
                (f"\N{NO-BREAK SPACE} {name}", f"{step['seconds']:,.1f} s", f"{step['peak_megabytes']:,} MB")
                for name, step in steps.items()
            ]
    return _table(("stage", "time", "peak memory"), rows)
