"""The steps from a model and its bitext to a second stage; see ``train_second_stage``."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hiero import __version__
from hiero._core import Error, FormatError
from hiero.base.files import temporary_name
from hiero.base.lines import PathLike, read_lines
from hiero.base.ownership import MANIFEST
from hiero.base.progress import Report
from hiero.decode.decoder import Decoder, Failure
from hiero.decode.model import Model
from hiero.features.protocols import LocalFeatures
from hiero.features.trees import iterate_trees
from hiero.generators.protocol import RuleGenerator
from hiero.rerank.checks import check_second_stage
from hiero.rerank.examples import example_files
from hiero.rerank.jackknife import (
    MODEL,
    Bitext,
    folds,
    sentences_of,
    settings_of,
    train_without,
    write_forests,
)
from hiero.rerank.learning import (
    RERANKER,
    SHARES,
    TRAINED,
    Learning,
    SecondStageOptions,
    forests_file,
    left_out_file,
)
from hiero.rerank.reranker import Reranker
from hiero.train import align, prepare_corpus, prepare_text
from hiero.train.alignment import AlignSettings, import_alignment, memory_setting
from hiero.train.settings import DEFAULT_MEMORY, TrainInputs, TrainSettings
from hiero.train.steps import Journal, Step, open_journal

# Sentences that are decoded first, to see whether any can be.
_TRIED = 3


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
            memory = memory_setting(self.source, self.target, self.settings.aligner, self.memory)
            self._step("align", sides, [self.bitext.alignment], self._align, **memory)
        else:
            links = {**sides, "alignment": Path(self.inputs.alignment)}
            self._step("align", links, [self.bitext.alignment], self._import_alignment)
        archives = [self._fold(k) for k in range(self.options.folds)]
        forests = {**sides, **{path.name: path for path in archives}}
        outputs = example_files(self.work, self.options.folds)
        settings = self._forest_settings | self._options("folds", "sentences", "seed", "order", "least_count")
        self._step("examples", forests, outputs, self._learning.prepare, **settings)
        settings |= self._options("variance", "steps")
        examples = {path.name: path for path in outputs}
        trained = {TRAINED: self.work / TRAINED}
        self._step("train", examples, [*trained.values()], self._learning.train, **settings)
        if self.options.share is None:
            trained[SHARES] = self._choose_share(examples, settings)
        share = self._options("share")
        self._step("share", trained, [self.work / RERANKER], self._learning.multiply, **share)
        return Reranker.load(self.work / RERANKER)

    def _choose_share(self, examples: Mapping[str, Path], settings: Mapping[str, Any]) -> Path:
        """Chooses the share by cross-validation, and returns the file with the choice."""
        folds = [left_out_file(self.work, k) for k in range(self.options.folds)]
        for k, path in enumerate(folds):
            self._step(f"left out {k}", examples, [path], lambda k=k: self._learning.leave_out(k), **settings)  # type: ignore[misc]
        inputs = {path.name: path for path in folds}
        self._step("shares", inputs, [self.work / SHARES], self._learning.choose_share)
        return self.work / SHARES

    @cached_property
    def _learning(self) -> Learning:
        texts = list(read_lines(self.target))
        references = [[[texts[i]] for i in fold] for fold in self._folds[1]]
        return Learning(
            self.work,
            self.model.weights,
            self.options,
            references,
            self.threads,
            lambda line: self.journal.report(f"{self.step}: {line}"),
            self._count,
        )

    def _options(self, *names: str) -> dict[str, Any]:
        return self.options.model_dump(include=set(names))

    @property
    def _forest_settings(self) -> dict[str, Any]:
        """The settings that the forest of a sentence depends on, beside those of the fold's model."""
        settings = {"weights": dict(self.model.weights), "decoding": dict(self.decoding)}
        return {**settings, **self._options("edges"), "program": __version__}

    def _fold(self, k: int) -> Path:
        """Trains the model of a fold and translates the fold's sentences, and returns the archive of their
        forests."""
        inputs = {"corpus source": self.source, "corpus target": self.target, "model": self.manifest}
        texts = {"alignment": self.bitext.alignment}
        texts |= {f"mono {i}": path for i, path in enumerate(self.bitext.mono)}
        folder = self.work / f"fold-{k}"
        model, archive = folder / MODEL, forests_file(self.work, k)
        manifest = model / MANIFEST
        settings = self._options("folds", "seed")
        self._step(f"model {k}", inputs | texts, [manifest], lambda: self._train_fold(k, folder), **settings)
        self._discard_all_but(model)
        inputs["model of the fold"] = manifest
        if self.parses is not None:
            inputs["parses"] = self.parses
        settings |= self._forest_settings | self._options("sentences")
        self._step(f"fold {k}", inputs, [archive], lambda: self._decode_fold(k, inputs, archive), **settings)
        return archive

    def _step(
        self,
        name: str,
        inputs: Mapping[str, Path],
        outputs: Sequence[Path],
        run: Callable[[], object],
        **settings: Any,
    ) -> None:
        self.step = name
        names = [str(path.relative_to(self.work)) for path in outputs]
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
            processes=self.threads,
            progress=self._count("sentence pairs"),
        )
        self.journal.report(f"corpus: {report}")

    def _align(self) -> None:
        align(
            [(self.source, self.target)],
            [self.bitext.alignment],
            **self.settings.model_dump(include=set(AlignSettings.model_fields)),
            memory=self.memory,
            threads=self.threads,
            report=lambda line: self.journal.report(f"align: {line}"),
            progress=self._count("iterations"),
        )

    def _import_alignment(self) -> None:
        assert self.inputs.alignment is not None
        import_alignment(self.inputs.alignment, self.source, self.target, self.bitext.alignment)

    def _text(self) -> None:
        progress, side = self._count("sentences"), self.model.text.target
        prepare_text(self.inputs.mono, self.work / "mono", side, progress, self.threads)

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
            # All of a smaller sample are in a larger one, so that their forests are kept.
            random.Random(options.seed).shuffle(numbers)
            numbers = numbers[: options.sentences]
        drawn = set(numbers)
        return all_folds, [[i for i in fold if i in drawn] for fold in all_folds]

    def _train_fold(self, k: int, folder: Path) -> None:
        train_without(
            self.model,
            self.bitext,
            self._folds[0][k],
            folder,
            memory=self.memory,
            report=lambda line: self.journal.report(f"model {k}: {line}"),
            progress=self.progress,
        )

    def _decode_fold(self, k: int, inputs: Mapping[str, Path], archive: Path) -> None:
        model = self.model.with_grammar(Model.load(inputs["model of the fold"].parent))
        drawn = self._folds[1][k]
        checksums = {label: self.journal.checksum(path) for label, path in inputs.items()}
        problems = write_forests(
            Decoder(model, **self.decoding),
            self.bitext,
            drawn,
            archive,
            edges=self.options.edges,
            made_from={"inputs": checksums, "settings": self._forest_settings},
            threads=self.threads,
            progress=self._count("sentences", len(drawn)),
        )
        without = f", {len(problems):,} without a translation: {problems[0]}" if problems else ""
        self.journal.report(f"fold {k}: {len(drawn):,} sentences{without}")

    def _discard_all_but(self, model: Path) -> None:
        """Removes what the finished step of training a fold's model leaves beside the model. Folders are
        renamed first: if the process is killed then, no half of a folder is left for training to refuse, and
        the rest is removed when the journal is opened."""
        for path in model.parent.iterdir():
            if path.is_dir() and path != model:
                leftover = temporary_name(self.work / path.name)
                path.rename(leftover)
                shutil.rmtree(leftover)
            elif path != model:
                path.unlink()
