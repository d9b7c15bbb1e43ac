"""From bitext to a model directory, step by step; see ``train``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from hiero import __version__
from hiero._core import LanguageModel
from hiero.base.files import replacing
from hiero.base.lines import PathLike, count_lines, read_lines
from hiero.base.ownership import MANIFEST
from hiero.base.progress import Report
from hiero.base.text import TextSide, looks_untokenised
from hiero.base.weights import read_weights, write_weights
from hiero.decode.model import Model
from hiero.decode.model_directory import WEIGHTS, check_output, read_config, read_made_from
from hiero.decode.model_files import is_arpa
from hiero.decode.settings import DecodingSettings
from hiero.features.distortion import DistortionStatistics
from hiero.train.alignment import align, import_alignment
from hiero.train.corpus import prepare_corpus, prepare_text, read_pairs
from hiero.train.lm import estimate_lm
from hiero.train.rules import extract_rules, score_rules
from hiero.train.settings import DEFAULT_MEMORY, TrainInputs, TrainSettings
from hiero.train.steps import Journal, Step, open_journal
from hiero.train.truecaser import train_truecaser
from hiero.train.weights import weights_by_length

_ALL = tuple(TrainSettings.model_fields)
# How many lines are looked at for whether they are tokens.
_LOOKED_AT = 1000


def train(
    inputs: TrainInputs,
    output: PathLike,
    *,
    settings: TrainSettings | None = None,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[str], object] = lambda line: None,
    progress: Report | None = None,
) -> Model:
    """Trains a model and writes it as the directory ``output``.

    The steps leave their files in the directory ``OUTPUT.train`` beside it: prepared corpus, alignment,
    counted rules, rule table, language models, and ``log.jsonl`` with times and peak memory. Run again,
    only steps are done that are not done already or whose inputs or settings have changed. The model is
    the same, byte for byte, however often training was interrupted.

    A dictionary is aligned and used for rules as if it stood at the end of the bitext; language models leave
    it out. Language models that are there already (ARPA or KenLM binaries of the target's tokens) come after
    those that are estimated. An alignment file has a line of links for each pair of bitext and dictionary.
    ``memory`` (bytes) bounds the sorting of rules and n-grams; word alignment holds the corpus in memory.
    ``report`` is told what is done in lines, ``progress`` how far a step has come.
    Raises FormatError naming file and line, OSError, also where ``output`` is something else than a model,
    ValueError.
    """
    settings = settings or TrainSettings()
    settings.check(inputs, memory)
    inputs.check()
    check_output(output)
    work = Path(output).with_name(Path(output).name + ".train")
    with open_journal(work, report) as journal:
        return _Pipeline(journal, inputs, Path(output), settings, memory, progress).run()


class _Pipeline:
    """The steps of one training run; each method makes the outputs of one."""

    def __init__(
        self,
        journal: Journal,
        inputs: TrainInputs,
        output: Path,
        settings: TrainSettings,
        memory: int,
        progress: Report | None,
    ) -> None:
        self.journal = journal
        self.inputs = inputs
        self.output = output
        self.settings = settings
        self.memory = memory
        self.progress = progress
        self.report = journal.report
        self.work = journal.directory
        self.step = ""
        self.lms: list[str] = []
        self.text = settings.text

    def run(self) -> Model:
        files = {"source": self.inputs.source, "target": self.inputs.target}
        if self.inputs.dictionary:
            files |= dict(
                zip(("dictionary source", "dictionary target"), self.inputs.dictionary, strict=True)
            )
        truecasers = self._truecasers() if self.settings.truecase else []
        files |= self._files(*truecasers)
        prepared = ["corpus.source", "corpus.target"]
        self._step("corpus", files, prepared, self._corpus, "text", "max_length", "max_ratio")
        self._texts()
        estimated = len(self.lms)
        for path in self.inputs.lms:
            self._given_lm(len(self.lms), path)
        corpus = self._files("corpus.source", "corpus.target")
        if self.inputs.alignment is None:
            self._step("align", corpus, ["alignment"], self._align, "heuristic", "seed")
        else:
            given = {"alignment": self.inputs.alignment}
            self._step("align", {**corpus, **given}, ["alignment"], self._import_alignment)
        aligned = {**corpus, **self._files("alignment")}
        self._step("extract", aligned, ["rules.counts", "distortion.json"], self._extract, "extract")
        self._step("score", {**corpus, **self._files("rules.counts")}, ["rules.hrt"], self._score, "score")
        for k in range(estimated):
            self._language_model(k)
        weighed = {**corpus, **self._files("rules.hrt", *self.lms)}
        self._step("weights", weighed, ["weights.txt"], self._weights, "extract", "seed")
        made = self._files("rules.hrt", "distortion.json", *self.lms, *truecasers, "weights.txt")
        model_files = ["manifest.json", "rules0.hrt", *(f"lm{k}.binary" for k in range(len(self.lms)))]
        place = os.path.relpath(self.output, self.work)
        self._step("model", made, [os.path.join(place, name) for name in model_files], self._model, *_ALL)
        return Model.load(self.output)

    def _step(
        self,
        name: str,
        inputs: Mapping[str, PathLike],
        outputs: Sequence[str],
        run: Callable[[], object],
        *settings: str,
    ) -> None:
        self.step = name
        used = self.settings.model_dump(mode="json", include=set(settings))
        used["program"] = __version__
        self.journal.run(Step(name, {label: Path(p) for label, p in inputs.items()}, used, outputs, run))

    def _files(self, *names: str) -> dict[str, PathLike]:
        return {name: self.work / name for name in names}

    def _count(self, unit: str, total: Callable[[], int] | None = None) -> Callable[..., object] | None:
        """A progress function of one count, of the step that runs."""
        if (progress := self.progress) is None:
            return None
        what = f"{self.step}: {unit}"
        known = None if total is None else total()
        return lambda done, total=known: progress(what, done, total)

    def _truecasers(self) -> list[str]:
        """Those of both sides; the files' names."""
        return [
            self._truecaser("source", self.inputs.source, self.text.source),
            self._truecaser("target", self.inputs.target, self.text.target),
        ]

    def _truecaser(self, name: str, text: PathLike, side: TextSide) -> str:
        file = f"truecaser.{name}"

        def learn() -> None:
            words = train_truecaser(
                [text], self.work / file, side, self._count("sentences", partial(count_lines, text))
            )
            self.report(f"truecaser {name}: {words:,} words with case")

        self._step(f"truecaser {name}", {name: text}, [file], learn, "text")
        if (self.work / file).stat().st_size:  # where there is no case there is none to undo
            self.text = replace(self.text, **{name: replace(side, truecaser=str(self.work / file))})
        return file

    def _corpus(self) -> None:
        report = prepare_corpus(
            self.inputs.bitexts(),
            self.work / "corpus.source",
            self.work / "corpus.target",
            text=self.text,
            max_length=self.settings.max_length,
            max_ratio=self.settings.max_ratio,
            progress=self._count(
                "sentence pairs", lambda: count_lines(*(s for s, _ in self.inputs.bitexts()))
            ),
        )
        self.report(f"corpus: {report}")
        for path, side in ((self.inputs.source, self.text.source), (self.inputs.target, self.text.target)):
            if side.scheme == "none" and looks_untokenised(islice(read_lines(path), _LOOKED_AT)):
                self.report(
                    f"warning: {os.fspath(path)}: looks like raw text, but is taken for tokens: most lines "
                    "have words that end in punctuation; see --tokenize, such as --tokenize de:moses en:moses"
                )

    def _align(self) -> None:
        align(
            [(self.work / "corpus.source", self.work / "corpus.target")],
            [self.work / "alignment"],
            heuristic=self.settings.heuristic,
            seed=self.settings.seed,
            progress=self._count("iterations"),
        )

    def _import_alignment(self) -> None:
        assert self.inputs.alignment is not None
        import_alignment(
            self.inputs.alignment,
            self.work / "corpus.source",
            self.work / "corpus.target",
            self.work / "alignment",
        )

    def _extract(self) -> None:
        progress = self._count("sentence pairs", partial(count_lines, self.work / "corpus.source"))
        statistics = extract_rules(
            self.work / "corpus.source",
            self.work / "corpus.target",
            self.work / "alignment",
            self.work / "rules.counts",
            settings=self.settings.extract,
            memory=self.memory,
            progress=progress and (lambda pairs, rules: progress(pairs)),
        )
        DistortionStatistics.of(statistics).save(self.work / "distortion.json")
        self.report(f"extract: {statistics.occurrences:,} rule occurrences, {statistics.rules:,} rules")

    def _score(self) -> None:
        statistics = score_rules(
            self.work / "rules.counts",
            self.work / "rules.hrt",
            settings=self.settings.score,
            bitext=(self.work / "corpus.source", self.work / "corpus.target"),
            progress=self._count("rules"),
        )
        self.report(f"score: {statistics.kept:,} of {statistics.read:,} rules kept")

    def _texts(self) -> None:
        """The texts of the language models: the target side (not of the dictionary), monolingual text.

        They come before what takes long, so that what is wrong with them is said at once.
        """
        texts: list[list[PathLike]] = [[self.inputs.target], list(self.inputs.mono)]
        if self.settings.lms == "together":
            texts = [[*texts[0], *texts[1]]]
        elif self.settings.lms == "given":
            texts = []
        for k, files in enumerate(group for group in texts if group):
            self._text(k, files)
            self.lms.append(f"lm{k}.binary")

    def _text(self, k: int, files: Sequence[PathLike]) -> None:
        text = f"lm{k}.text"
        named = {f"text {i}": path for i, path in enumerate(files)}
        if self.text.target.truecaser:
            named["truecaser"] = self.text.target.truecaser

        def prepare() -> None:
            progress = self._count("sentences", partial(count_lines, *files))
            lines = prepare_text(files, self.work / text, self.text.target, progress)
            self.report(f"text {k}: {lines:,} sentences")

        self._step(f"text {k}", named, [text], prepare, "text")

    def _language_model(self, k: int) -> None:
        text, binary = f"lm{k}.text", self.lms[k]

        def estimate() -> None:
            made = estimate_lm(
                [self.work / text],
                self.work / binary,
                order=self.settings.lm_order,
                memory=self.memory,
                binary=self.settings.lm_binary,
                quantize=self.settings.lm_quantize,
                progress=self._count("sentences", partial(count_lines, self.work / text)),
            )
            if made.fallback_orders:
                orders = ", ".join(map(str, made.fallback_orders))
                self.report(f"warning: lm {k}: too little text for Kneser-Ney discounts of order {orders}")

        self._step(f"lm {k}", self._files(text), [binary], estimate, "lm_order", "lm_binary", "lm_quantize")

    def _given_lm(self, k: int, path: PathLike) -> None:
        """A language model that is there already, as a KenLM binary. Like texts it comes before what takes
        long."""
        binary = f"lm{k}.binary"

        def take() -> None:
            with replacing(self.work / binary) as temporary:
                if is_arpa(Path(path)):
                    LanguageModel.write_binary(os.fspath(path), str(temporary))
                else:
                    LanguageModel.load(os.fspath(path))  # it is one
                    shutil.copyfile(path, temporary)
            self.report(f"lm {k}: {os.fspath(path)}")

        self._step(f"lm {k}", {"given": path}, [binary], take)
        self.lms.append(binary)

    def _weights(self) -> None:
        """The default weights, with a WordPenalty by which translations of the bitext are as long as it."""
        bitext = sum(1 for _ in read_lines(self.inputs.source))  # without the dictionary
        pairs = read_pairs(self.work / "corpus.source", self.work / "corpus.target")
        weights, found = weights_by_length(
            self._assembled(), islice(pairs, bitext), self.settings.seed, self._count("sentences")
        )
        if found is not None:
            self.report(
                f"weights: WordPenalty {found.word_penalty:g}, lengths {found.ratio:.3f} times references'"
            )
        write_weights(self.work / "weights.txt", weights)

    def _assembled(
        self, weights: PathLike | None = None, made_from: Mapping[str, Any] | None = None
    ) -> Model:
        return Model.assemble(
            [self.work / "rules.hrt"],
            [self.work / name for name in self.lms],
            weights,
            settings=DecodingSettings(span_limit=self.settings.extract.max_phrase),
            text=self.text,
            distortion=DistortionStatistics.load(self.work / "distortion.json"),
            made_from=made_from,
        )

    def _model(self) -> None:
        model = self._assembled(self.work / "weights.txt", self._provenance())
        model = self._with_kept_weights(model)
        model.save(self.output, scratch=self.work)

    def _with_kept_weights(self, model: Model) -> Model:
        """With the weights that were put into the model which is to be replaced, as by tuning."""
        if not (self.output / MANIFEST).is_file():
            return model
        origin = read_made_from(self.output).get(WEIGHTS)
        if origin is None:
            return model
        weights = read_weights(self.output / read_config(self.output).weights)
        if list(weights) != list(model.feature_names):
            self.report("warning: the tuned weights are lost, as the model has other features now")
            return model
        self.report("model: keeps its weights, which were not training's")
        return model.with_weights(weights, origin)

    def _provenance(self) -> dict[str, Any]:
        """Describes for the manifest how the model was made; without time, host or place."""
        inputs = dict(self.journal.inputs_of("corpus"))
        estimated = len(self.lms) - len(self.inputs.lms)
        for k in range(len(self.lms)):
            made_from = self.journal.inputs_of(f"text {k}" if k < estimated else f"lm {k}")
            inputs |= {f"lm{k} {label}": value for label, value in made_from.items()}
        settings = self.settings.model_dump(mode="json")
        sizes = {"sentence pairs": _sentences(self.work / "corpus.source")}
        for k in range(estimated):
            sizes[f"sentences for LM{k}"] = _sentences(self.work / f"lm{k}.text")
        program = f"hiero {__version__}"
        return {"program": program, "settings": settings, "inputs": inputs, "sizes": sizes}


def _sentences(path: Path) -> int:
    return sum(1 for line in read_lines(path) if line)
