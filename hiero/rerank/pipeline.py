"""The steps from a model and its bitext to a second stage; see ``train_second_stage``."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hiero import __version__
from hiero._core import Error, Forest, FormatError
from hiero.base.files import temporary_name, write_atomically
from hiero.base.json_files import read_json
from hiero.base.lines import PathLike, read_lines
from hiero.base.ownership import MANIFEST
from hiero.base.progress import Report
from hiero.base.text import split
from hiero.decode.decoder import Decoder, Failure
from hiero.decode.model import Model
from hiero.features.protocols import LocalFeatures
from hiero.features.trees import iterate_trees
from hiero.forest.files import ForestFile
from hiero.forest.losses import BleuColumns
from hiero.generators.protocol import RuleGenerator
from hiero.rerank.checks import check_second_stage
from hiero.rerank.features import NgramFeatures, frequent_ngrams
from hiero.rerank.jackknife import Bitext, folds, sentences_of, settings_of, train_without, write_forests
from hiero.rerank.reranker import Reranker
from hiero.rerank.training import Examples, RerankerOptions, prepare, train_reranker
from hiero.train import align, prepare_corpus, prepare_text
from hiero.train.alignment import import_alignment
from hiero.train.settings import DEFAULT_MEMORY, TrainInputs, TrainSettings
from hiero.train.steps import Journal, Step, open_journal
from hiero.tune.methods.risk.annealing import Minimum

# The name of the file with the second stage.
RERANKER = "reranker.json"
# Sentences that are decoded first, to see whether any can be.
_TRIED = 3


class SecondStageOptions(RerankerOptions):
    """Settings of a second stage and of the forests that it is trained on."""

    folds: int = Field(5, ge=2, description="folds of the bitext, each translated by a model of the others")
    sentences: int = Field(0, ge=0, description="sentences to learn from, drawn from the bitext; 0: all")
    seed: int = Field(1, ge=0, lt=1 << 32, description="seed of the folds and of drawing sentences")


class _Prepared(BaseModel):
    """The content of ``examples.json``: the parts of ``Examples`` that are not in files of their own."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ngrams: list[str]
    offsets: list[int] = Field(min_length=1)
    statistics: list[float] = Field(min_length=BleuColumns.WIDTH, max_length=BleuColumns.WIDTH)
    variances: list[float]

    @model_validator(mode="after")
    def _of_all_features(self) -> Self:
        if len(self.variances) != 1 + len(self.ngrams):
            raise ValueError(f"{len(self.variances)} variances of {len(self.ngrams)} n-grams and a score")
        return self


def train_second_stage(
    directory: PathLike,
    inputs: TrainInputs,
    output: PathLike,
    options: SecondStageOptions | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    local_features: Sequence[LocalFeatures] = (),
    generators: Sequence[RuleGenerator] = (),
    decoding: Mapping[str, Any] | None = None,
    parses: PathLike | None = None,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[str], object] = lambda _: None,
    progress: Report | None = None,
) -> Reranker:
    """Trains a second stage for the model in ``directory`` on the bitext that the model was trained on, and
    writes it to ``reranker.json`` in ``output``, beside the files of each step. Steps that are done are not
    done again.

    The model is opened with ``weights``, ``local_features`` and ``generators`` as by ``Model.load``.
    ``inputs`` has the bitext, dictionary and alignment that ``train`` had, as models of parts of them are
    trained, and monolingual text if one language model was trained on all text; other language models are
    taken from the model. ``decoding`` has settings in place of the model's, ``memory`` is that of ``train``.
    Raises what ``check_second_stage`` raises, before the first step, and what ``train`` raises.
    """
    model = Model.load(directory, weights=weights, local_features=local_features, generators=generators)
    check_second_stage(model, inputs, decoding=decoding, memory=memory)
    with open_journal(Path(output), report) as journal:
        return _Pipeline(
            journal,
            Path(directory) / MANIFEST,
            model,
            settings_of(model),
            inputs,
            options or SecondStageOptions(),
            dict(decoding or {}),
            None if parses is None else Path(parses),
            threads,
            memory,
            progress,
        ).run()


def read_examples(folder: Path) -> Examples:
    """Reads the examples that a second stage was trained on from its folder. Raises FormatError, OSError."""
    record = read_json(folder / "examples.json", _Prepared)
    return Examples(
        folder / "examples.forests",
        folder / "examples.counts",
        NgramFeatures([tuple(ngram.split(" ")) for ngram in record.ngrams]),
        np.array(record.offsets),
        np.array(record.statistics),
        np.array(record.variances),
    )


@dataclass
class _Pipeline:
    """The steps, each with a method that makes its files."""

    journal: Journal
    manifest: Path
    model: Model
    settings: TrainSettings
    inputs: TrainInputs
    options: SecondStageOptions
    decoding: Mapping[str, Any]
    parses: Path | None
    threads: int
    memory: int
    progress: Report | None
    step: str = ""

    @property
    def work(self) -> Path:
        return self.journal.directory

    @property
    def source(self) -> Path:
        return self.work / "corpus.source"

    @property
    def target(self) -> Path:
        return self.work / "corpus.target"

    def run(self) -> Reranker:
        self._check_parses()
        texts = {"source": Path(self.inputs.source), "target": Path(self.inputs.target)}
        for name, path in zip(("source", "target"), self.inputs.dictionary or (), strict=False):
            texts[f"dictionary {name}"] = Path(path)
        self._step("corpus", {**texts, "model": self.manifest}, [self.source, self.target], self._corpus)
        mono = {f"text {i}": Path(path) for i, path in enumerate(self.inputs.mono)}
        if mono:
            self._step("text", {**mono, "model": self.manifest}, [self.work / "mono"], self._text)
        self._check_sentences()
        sides = {"corpus source": self.source, "corpus target": self.target}
        if self.inputs.alignment is None:
            self._step("align", sides, [self.bitext.alignment], self._align)
        else:
            links = {**sides, "alignment": Path(self.inputs.alignment)}
            self._step("align", links, [self.bitext.alignment], self._import_alignment)
        inputs = {**sides, "alignment": self.bitext.alignment, "model": self.manifest}
        inputs |= {f"mono {i}": path for i, path in enumerate(self.bitext.mono)}
        if self.parses is not None:
            inputs["parses"] = self.parses
        settings = {"weights": dict(self.model.weights), "decoding": dict(self.decoding)}
        settings |= self.options.model_dump(include={"folds", "sentences", "seed", "edges"})
        archives = [self.work / f"fold-{k}.forests" for k in range(self.options.folds)]
        for k, path in enumerate(archives):
            self._step(f"fold {k}", inputs, [path], lambda k=k: self._fold(k), **settings)  # type: ignore[misc]
            self._discard(self.work / f"fold-{k}")
        forests = {**sides, **{path.name: path for path in archives}}
        outputs = [self.work / f"examples.{end}" for end in ("forests", "counts", "json")]
        settings |= self.options.model_dump(include={"order", "least_count"})
        self._step("examples", forests, outputs, self._examples, **settings)
        settings |= self.options.model_dump(include={"variance", "steps"})
        examples = {path.name: path for path in outputs}
        self._step("train", examples, [self.work / RERANKER], self._train, **settings)
        return Reranker.load(self.work / RERANKER)

    def _step(
        self,
        name: str,
        inputs: Mapping[str, Path],
        outputs: Sequence[Path],
        run: Callable[[], object],
        **settings: Any,
    ) -> None:
        self.step = name
        names = [path.name for path in outputs]
        self.journal.run(Step(name, inputs, {**settings, "program": __version__}, names, run))

    def _count(self, unit: str, total: int | None = None) -> Callable[..., object] | None:
        if (progress := self.progress) is None:
            return None
        what = f"{self.step}: {unit}"
        return lambda done, total=total: progress(what, done, total)

    def _check_parses(self) -> None:
        if self.parses is not None:
            trees = sum(1 for _ in iterate_trees(self.parses))
            if trees != self.bitext.pairs:
                raise FormatError(f"{self.parses}: {trees} trees for {self.bitext.pairs} sentences")

    def _check_sentences(self) -> None:
        """Raises ValueError for fewer sentences than folds, and Error if the first sentences cannot be
        decoded, for example because a feature needs their parses."""
        numbers = sorted(itertools.chain(*self._folds[1]))[:_TRIED]
        decoder = Decoder(self.model, **self.decoding)
        results = [decoder.attempt(sentence) for sentence in sentences_of(self.bitext, numbers)]
        failures = [result for result in results if isinstance(result, Failure)]
        if len(failures) == len(numbers):
            raise Error(f"{os.fspath(self.inputs.source)}:{numbers[0] + 1}: {failures[0].error}")

    def _corpus(self) -> None:
        report = prepare_corpus(
            self.inputs.bitexts(),
            self.source,
            self.target,
            text=self.model.text,
            max_length=self.settings.max_length,
            max_ratio=self.settings.max_ratio,
            progress=self._count("sentence pairs"),
        )
        self.journal.report(f"corpus: {report}")

    def _align(self) -> None:
        align(
            [(self.source, self.target)],
            [self.bitext.alignment],
            heuristic=self.settings.heuristic,
            seed=self.settings.seed,
            progress=self._count("iterations"),
        )

    def _import_alignment(self) -> None:
        assert self.inputs.alignment is not None
        import_alignment(self.inputs.alignment, self.source, self.target, self.bitext.alignment)

    def _text(self) -> None:
        prepare_text(self.inputs.mono, self.work / "mono", self.model.text.target, self._count("sentences"))

    @cached_property
    def bitext(self) -> Bitext:
        return Bitext(
            self.source,
            self.target,
            sum(1 for _ in read_lines(self.inputs.source)),
            self.work / "alignment",
            [self.work / "mono"] if self.inputs.mono else [],
            self.parses,
        )

    @cached_property
    def _folds(self) -> tuple[list[list[int]], list[list[int]]]:
        """The sentences of each fold, and those of each fold that are learnt from."""
        options = self.options
        all_folds = folds(self.source, self.bitext.pairs, options.folds, options.seed)
        numbers = sorted(itertools.chain(*all_folds))
        if 0 < options.sentences < len(numbers):
            numbers = random.Random(options.seed).sample(numbers, options.sentences)
        drawn = set(numbers)
        return all_folds, [[i for i in fold if i in drawn] for fold in all_folds]

    def _fold(self, k: int) -> None:
        fold, drawn = (parts[k] for parts in self._folds)
        folder = self.work / f"fold-{k}"
        report = self.journal.report
        model = train_without(
            self.model,
            self.bitext,
            fold,
            folder,
            memory=self.memory,
            report=lambda line: report(f"fold {k}: {line}"),
            progress=self.progress,
        )
        problems = write_forests(
            Decoder(model, **self.decoding),
            self.bitext,
            drawn,
            self.work / f"fold-{k}.forests",
            edges=self.options.edges,
            threads=self.threads,
            progress=self._count("sentences", len(drawn)),
        )
        without = f", {len(problems):,} without a translation: {problems[0]}" if problems else ""
        report(f"fold {k}: {len(drawn):,} sentences{without}")

    @staticmethod
    def _discard(folder: Path) -> None:
        """Removes the folder that a finished step worked in. It is renamed first: if the process is killed
        then, no half of the folder is left for training to refuse, and the rest is removed when the journal
        is opened."""
        if folder.exists():
            leftover = temporary_name(folder)
            folder.rename(leftover)
            shutil.rmtree(leftover)

    def _examples(self) -> None:
        options = self.options
        order = list(itertools.chain(*self._folds[1]))
        texts = list(read_lines(self.target))
        references = [[texts[i]] for i in order]
        ngrams = frequent_ngrams((split(line) for (line,) in references), options.order, options.least_count)
        examples = prepare(
            self._forests(),
            self.model.weights,
            references,
            NgramFeatures(ngrams),
            self.work,
            threads=self.threads,
            progress=self._count("forests", len(order)),
        )
        record = _Prepared(
            ngrams=list(map(" ".join, ngrams)),
            offsets=examples.offsets.tolist(),
            statistics=examples.statistics.tolist(),
            variances=examples.variances.tolist(),
        )
        write_atomically(self.work / "examples.json", record.model_dump_json() + "\n")
        self.journal.report(
            f"examples: {len(order):,} forests, {len(ngrams):,} n-grams, {examples.offsets[-1]:,} edges"
        )

    def _forests(self) -> Iterator[Forest]:
        for k in range(self.options.folds):
            with ForestFile(self.work / f"fold-{k}.forests") as archive:
                yield from archive

    def _train(self) -> None:
        examples = read_examples(self.work)

        def report(minimum: Minimum) -> None:
            means = f"R {minimum.risk:.4f}, H {minimum.entropy:.3f}, |gradient| {minimum.gradient:.2g}"
            self.journal.report(f"train: {means} after {minimum.evaluations} passes")

        reranker = train_reranker(
            examples, self.model.weights, self.options, threads=self.threads, report=report
        )
        reranker.save(self.work / RERANKER)
