"""Forests of a bitext from models that were trained on the rest of it (jackknifing).

A model translates its training sentences far better than others, by rules that were extracted from just these
sentences. A second stage that learns from such forests would trust these rules. The bitext is therefore
divided into folds, and each fold is translated by a rule table and language model that were trained on the
other folds.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero._core import Forest, ForestError
from hiero.base.files import replacing
from hiero.base.lines import PathLike, read_lines
from hiero.base.parallel import spread_map
from hiero.base.text import one_line, split
from hiero.decode.decoder import Decoder, Failure
from hiero.decode.model import Model
from hiero.features.sentence import Sentence
from hiero.features.trees import read_tree
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter, PackedForest, pack_forest
from hiero.text import TextProcessing
from hiero.train import TrainInputs, TrainSettings, train

# The entry of a model's manifest with its training settings.
_SETTINGS = "settings"
# The folder of a fold's model, in the folder that it is trained in.
MODEL = "model"
# Sentences that go to a place of a cluster together.
_TOGETHER = 4


@dataclass(frozen=True)
class Bitext:
    """The files of a bitext in tokens, line by line: its two sides, of which the first ``pairs`` lines are
    sentences and the others a dictionary, and their word links; further text for a language model of all
    text; and parses of the source sentences."""

    source: Path
    target: Path
    pairs: int
    alignment: Path
    mono: Sequence[Path] = ()
    parses: Path | None = None


def settings_of(model: Model) -> TrainSettings:
    """Returns the settings with which a model was trained. Raises ValueError if its manifest has none."""
    if _SETTINGS not in model.made_from:
        raise ValueError("the model does not say how it was trained: jackknifing wants one of hiero train's")
    # Models were aligned by sil-thot before settings had an aligner.
    return TrainSettings.model_validate({"aligner": "sil-thot", **model.made_from[_SETTINGS]})


def folds(source: PathLike, pairs: int, count: int, seed: int) -> list[list[int]]:
    """Divides sentences into folds, and returns the rising line numbers of each. Equal sentences are in the
    same fold, blank ones in none. Raises ValueError for fewer different sentences than folds."""
    numbers_of: dict[str, list[int]] = {}
    for number, line in enumerate(read_lines(source)):
        if number < pairs and line:
            numbers_of.setdefault(line, []).append(number)
    if len(numbers_of) < count:
        raise ValueError(f"{len(numbers_of)} different sentences cannot be divided into {count} folds")
    lines = list(numbers_of)
    random.Random(seed).shuffle(lines)
    return [sorted(i for line in lines[k::count] for i in numbers_of[line]) for k in range(count)]


def train_without(model: Model, bitext: Bitext, fold: Sequence[int], folder: Path, **report: Any) -> Model:
    """Trains a model as the given one was trained, but without a fold, and gives it the same weights and
    features. The folder, which is made if it is not there, keeps the files of training; ``report`` is passed
    to ``train``."""
    folder.mkdir(exist_ok=True)
    left_out = set(fold)
    parts = {}
    for side, path in (("source", bitext.source), ("target", bitext.target)):
        lines = ["" if i in left_out else line for i, line in enumerate(read_lines(path))]
        for name, part in ((side, lines[: bitext.pairs]), (f"dictionary.{side}", lines[bitext.pairs :])):
            parts[name] = folder / name
            _write(parts[name], part)
    settings = settings_of(model)
    estimated = {"separate": 1, "together": 1, "given": 0}[settings.lms]
    dictionary = (parts["dictionary.source"], parts["dictionary.target"])
    inputs = TrainInputs(
        parts["source"],
        parts["target"],
        dictionary if dictionary[0].stat().st_size else None,
        bitext.mono,
        bitext.alignment,
        [lm.path for lm in model.lms[estimated:]],
    )
    settings = settings.model_copy(update={"text": TextProcessing(), "truecase": False})
    return model.with_grammar(train(inputs, folder / MODEL, settings=settings, **report))


def _write(path: Path, lines: Sequence[str]) -> None:
    with replacing(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@dataclass(frozen=True)
class _PackForest:
    """Translates a sentence, and packs the best edges of its forest, or no forest with a message that says
    why. Such a part of a forest is small enough to come back from a cluster."""

    decoder: Decoder
    edges: int

    def __call__(self, sentence: Sentence) -> tuple[PackedForest, str]:
        result = self.decoder.attempt(sentence, keep="forest")
        if isinstance(result, Failure):
            return pack_forest(NO_FOREST), one_line(result.error)
        if not result.has_parse:
            return pack_forest(NO_FOREST), "no derivation covers the sentence"
        return pack_forest(result.forest.prune(self.decoder.weights, edges=self.edges)), ""


def write_forests(
    decoder: Decoder,
    bitext: Bitext,
    sentences: Sequence[int],
    path: Path,
    *,
    edges: int,
    made_from: Mapping[str, Any],
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> list[str]:
    """Translates sentences of the bitext, given by rising numbers, and writes an archive of their forests,
    pruned to the best ``edges``. Returns a message for each sentence that failed or has no translation.

    ``made_from`` says in values of JSON what forests depend on. Forests of an archive that was made from the
    same are taken from it, so that only other sentences are translated.
    """
    made_from = json.loads(json.dumps(made_from))
    kept = _kept_forests(path, made_from)
    # Read twice, so that forests that are kept never leave this machine.
    missing = [number for number in sentences if kept(number) is None]
    lines = (sentence for _, sentence in zip(missing, sentences_of(bitext, missing), strict=True))
    made = spread_map(_PackForest(decoder, edges), lines, threads, _TOGETHER)
    problems = []
    about = {"weights": decoder.weights, "made_from": made_from, "sentences": list(sentences)}
    with ForestWriter(path, about) as writer:
        for done, number in enumerate(sentences, start=1):
            known = kept(number)
            forest, problem = next(made) if known is None else (pack_forest(known), "")
            writer.add(forest)
            if problem:
                problems.append(problem)
            if progress is not None:
                progress(done)
    return problems


def _kept_forests(path: Path, made_from: Mapping[str, Any]) -> Callable[[int], Forest | None]:
    """Returns a function that returns the forest of a sentence, given by its number, in an archive that was
    made from the same. It returns None for a sentence without a derivation, whose problem is not in the
    archive, and for damaged forests."""
    places: dict[int, int] = {}
    with suppress(OSError, ForestError):
        archive = ForestFile(path)
        if archive.about.get("made_from") == made_from:
            places = {number: place for place, number in enumerate(archive.about["sentences"])}

    def kept(number: int) -> Forest | None:
        if number in places:
            with suppress(ForestError):
                forest: Forest = archive[places[number]]
                return forest if forest.root >= 0 else None
        return None

    return kept


def sentences_of(bitext: Bitext, numbers: Sequence[int]) -> Iterator[Sentence]:
    """Yields the sentences of the bitext with these numbers, in its order, with their parses."""
    wanted = set(numbers)
    parses = itertools.repeat("") if bitext.parses is None else read_lines(bitext.parses)
    # Entries of the dictionary, which follow the sentences, have no parses.
    for number, (line, parse) in enumerate(zip(read_lines(bitext.source), parses, strict=False)):
        if number in wanted:
            yield Sentence(tokens=split(line), parse=read_tree(parse))
