"""Finished runs to make reports of: a small French system, and test sets with translations."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hiero
from hiero.cli.io.results import Result, System
from hiero.cli.io.unknown_words import UnknownWords
from hiero.cli.report.evaluation import Evaluation
from hiero.cli.report.run import FinishedRun
from hiero.text import TextSide
from hiero.train.problems import ProblemReport
from support.files import write
from support.paths import FRENCH

SYSTEMS = ("before", "mert", "pro")
_SUBJECTS = ("le chat", "le chien", "je", "il", "madame dubois")
_PLACES = ("", "dans la maison ", "dans la voiture bleue ", "dans la maison bleue et dans la voiture ")


def results(*scores: tuple[float, float, float] | float, metric: str = "BLEU") -> Result:
    """Returns the result of a metric: the score of the first system, then for each other system its score,
    the difference, and p."""
    systems = [
        System("file", one[0], (one[0] - 1, one[0] + 1), 1, 0.0, one[1], one[2], one[2])
        if isinstance(one, tuple)
        else System("file", one, (one - 1, one + 1), 1, 0.0)
        for one in scores
    ]
    return Result(metric, "higher", "", f"{metric}|signature", systems)


def evaluation(
    source: Sequence[str],
    references: Sequence[Sequence[str]],
    translations: Mapping[str, Sequence[str]],
    metrics: Sequence[Result] = (),
) -> Evaluation:
    """Returns a test set of tokens."""
    return Evaluation(metrics, source, references, translations, TextSide(), "none")


def save_french(folder: Path) -> Path:
    """Saves the French model, and returns its directory."""
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(folder / "model")
    return folder / "model"


def unknown_words(model: Path, lines: Sequence[str]) -> UnknownWords:
    """Counts the words of lines that a model does not know."""
    return UnknownWords.of(hiero.Decoder(hiero.Model.load(model)), lines)


def finished_run(model: Path, tests: Mapping[str, Evaluation], **changes: Any) -> FinishedRun:
    """Returns a run with these test sets, whose systems are those of the first of them."""
    systems = next(iter(tests.values())).systems
    given: dict[str, Any] = {
        "title": "run",
        "tests": tests,
        "weights": dict.fromkeys(systems, hiero.Model.load(model).weights),
        "tuning": {},
        "final": systems[-1],
        "model": model,
        "training": model.parent / "model.train",
        "problems": ProblemReport(),
        "unknown": {},
        "pairs": {"train": 10},
        "seconds": {},
        "peak_megabytes": {},
        "commands": [],
    }
    return FinishedRun(**given | changes)


def random_set(seed: int, count: int, model: Path) -> Evaluation:
    """Returns a test set of French sentences, with one or two references, and three systems: that before
    tuning, one that is like it, and the one that the references are translations of."""
    rng = random.Random(seed)
    decoder = hiero.Decoder(hiero.Model.load(model))
    source = [
        f"{rng.choice(_SUBJECTS)} ne mange pas {rng.choice(_PLACES)} .".replace("  ", " ")
        for _ in range(count)
    ]
    known = {line: decoder.translate(line).text for line in set(source)}
    after = [known[line] for line in source]
    before = [
        " ".join(rng.choices((word, "wrong"), (8, 1))[0] for word in line.split() if rng.random() > 0.2)
        for line in after
    ]
    references = [[line] if rng.random() < 0.5 else [line, before[n] or "a"] for n, line in enumerate(after)]
    metrics = [
        results(40.125, (40.0, -0.125, 0.4), (50.0, 9.875, 0.001), metric=name) for name in ("BLEU", "chrF++")
    ]
    return evaluation(source, references, dict(zip(SYSTEMS, (before, before, after), strict=True)), metrics)


def write_training(folder: Path, corpus: Sequence[str], scores: Sequence[float]) -> None:
    """Writes what training and tuning by pro leave, as far as reports read it."""
    (folder / "model.train").mkdir()
    write(folder / "model.train" / "corpus.target", corpus)
    log = '{"step": "align", "seconds": 61.25, "peak_megabytes": 1234}'
    write(folder / "model.train" / "log.jsonl", [log])
    (folder / "tuned").mkdir()
    rows = [f"{number}\t{score}" for number, score in enumerate(scores)]
    write(folder / "tuned" / "iterations.tsv", ["iteration\tscore", *rows])
