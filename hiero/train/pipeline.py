"""Training of a model directory from a bitext, step by step; see ``train``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from hiero import __version__
from hiero.base.files import replacing, write_atomically
from hiero.base.json_files import read_json
from hiero.base.lines import PathLike, count_lines, read_lines
from hiero.base.progress import Report
from hiero.base.weights import write_weights
from hiero.decode.learning import Learning
from hiero.decode.model import Model
from hiero.decode.model_directory import check_output
from hiero.decode.settings import DecodingSettings
from hiero.features.distortion import DistortionStatistics
from hiero.text import TextSide
from hiero.train.alignment import AlignSettings, align, import_alignment, memory_setting
from hiero.train.corpus import count_sentences, prepare_corpus, read_pairs, text_warnings
from hiero.train.extraction import extract_rules
from hiero.train.held_out import LEFT_OUT, LeftOutExample, set_aside
from hiero.train.lm_steps import LmSteps
from hiero.train.problems import PROBLEM_COUNTS, PROBLEMS_FILE, AlignedCorpus, ProblemReport, write_problems
from hiero.train.rules import ExtractSettings
from hiero.train.scoring import score_rules
from hiero.train.settings import DEFAULT_MEMORY, TrainInputs, TrainSettings
from hiero.train.step_context import StepContext
from hiero.train.steps import open_journal
from hiero.train.truecaser import train_truecaser
from hiero.train.tuned_weights import keep_tuned_weights
from hiero.train.weights import weights_by_length

_ALL_SETTINGS = tuple(TrainSettings.model_fields)
# The file with the settings of extraction, with those that were chosen, and all outputs of that step.
_EXTRACT_SETTINGS = "extract.json"
# What hiero's own aligner has learned.
_ALIGNMENT_MODEL = "alignment.model"
_EXTRACTED = ["rules.counts", "distortion.json", _EXTRACT_SETTINGS]


def train(
    inputs: TrainInputs,
    output: PathLike,
    *,
    settings: TrainSettings | None = None,
    memory: int = DEFAULT_MEMORY,
    threads: int = 1,
    report: Callable[[str], object] = lambda line: None,
    progress: Report | None = None,
) -> Model:
    """Trains a model and writes it to the directory ``output``.

    The steps write their files to the directory ``OUTPUT.train``: the prepared corpus, the alignment, rule
    counts, the rule table, language models, and ``log.jsonl`` with times and peak memory. If training runs
    again, it repeats only the steps that are not done, or whose inputs or settings have changed. The model is
    the same, byte for byte, even if training was interrupted.

    - ``inputs``: the input files. A dictionary is appended to the bitext for alignment and rules, but not for
      language models. Existing language models (ARPA files or KenLM binaries of target tokens) come
      after the estimated ones. An alignment file has one line of links for each pair of the bitext
      and the dictionary.
    - ``output``: the model directory. An existing model is replaced.
    - ``settings``: the settings; by default, those of ``TrainSettings()``.
    - ``memory``: the maximum number of bytes for sorting rules and n-grams, and for the counts of word
      alignment, which learns from as many pairs as it has room for.
    - ``threads``: the number of threads, which changes nothing but the time.
    - ``report``: called with lines that say what was done.
    - ``progress``: called with the progress of a step.

    Raises FormatError naming file and line; OSError, also if ``output`` exists and is not a model;
    ValueError.
    """
    settings = settings or TrainSettings()
    settings.check(inputs, memory)
    inputs.check()
    check_output(output)
    work = Path(output).with_name(Path(output).name + ".train")
    with open_journal(work, report) as journal:
        context = StepContext(journal, settings, memory, threads, progress)
        return _Pipeline(context, inputs, Path(output)).run()


@dataclass
class _Pipeline:
    """The steps of one training run. Each method makes the outputs of one step."""

    context: StepContext
    inputs: TrainInputs
    output: Path
    corpus: tuple[str, str, str] = ("corpus.source", "corpus.target", "alignment")

    def __post_init__(self) -> None:
        self.settings = self.context.settings
        self.report = self.context.report
        self.work = self.context.folder
        self.text = self.settings.text
        self.lms = LmSteps(self.context)

    def run(self) -> Model:
        for message in self.inputs.repeated():
            self.report(f"warning: {message}")
        if self.inputs.more:
            self._join_bitexts()
        if self.inputs.without:
            self._leave_out_sets()
        truecasers = self._train_truecasers() if self.settings.truecase else []
        files = {**self.inputs.sides(), **self.context.paths(*truecasers)}
        outputs = ["corpus.source", "corpus.target"]
        self.context.run("corpus", files, outputs, self._prepare_corpus, "text", "max_length", "max_ratio")
        self.lms.prepare(self.inputs.target, self.inputs.mono, self.text.target)
        for path in self.inputs.lms:
            self.lms.copy(path)
        corpus = self.context.paths("corpus.source", "corpus.target")
        if self.inputs.alignment is None:
            learned = [_ALIGNMENT_MODEL] if self._can_learn() else []
            outputs, settings = ["alignment", *learned], AlignSettings.model_fields
            memory = memory_setting(*self._corpus_paths()[:2], self.settings.aligner, self.context.memory)
            self.context.run("align", corpus, outputs, self._align, *settings, **memory)
        else:
            given = {**corpus, "alignment": self.inputs.alignment}
            self.context.run("align", given, ["alignment"], self._import_alignment)
        self._find_problems()
        self.context.run("extract", self.context.paths(*self.corpus), _EXTRACTED, self._extract, "extract")
        corpus = self.context.paths(*self.corpus[:2])
        self.context.run(
            "score", {**corpus, **self.context.paths("rules.counts")}, ["rules.hrt"], self._score, "score"
        )
        self.lms.estimate()
        inputs = {**corpus, **self.context.paths("rules.hrt", _EXTRACT_SETTINGS, *self.lms.binaries)}
        self.context.run("weights", inputs, ["weights.txt"], self._write_weights, "seed")
        parts = self.context.paths(
            "rules.hrt",
            "distortion.json",
            _EXTRACT_SETTINGS,
            *self.lms.binaries,
            *truecasers,
            "weights.txt",
            *([_ALIGNMENT_MODEL, "rules.counts"] if self._can_learn() else []),
        )
        model_files = [
            "manifest.json",
            "rules0.hrt",
            *(f"lm{k}.binary" for k in range(len(self.lms.binaries))),
        ]
        folder = os.path.relpath(self.output, self.work)
        outputs = [os.path.join(folder, name) for name in model_files]
        self.context.run("model", parts, outputs, self._save_model, *_ALL_SETTINGS)
        return Model.load(self.output)

    def _join_bitexts(self) -> None:
        """Goes on with one bitext of the lines of all. Raises FormatError for sides of different lengths."""
        bitexts = [(self.inputs.source, self.inputs.target), *self.inputs.more]
        files = {
            f"bitext {k} {name}": path
            for k, pair in enumerate(bitexts)
            for name, path in zip(("source", "target"), pair, strict=True)
        }
        outputs = "joined.source", "joined.target"

        def join() -> None:
            with ExitStack() as stack:
                source, target = (
                    stack.enter_context(
                        stack.enter_context(replacing(self.work / name)).open(
                            "w", encoding="utf-8", newline="\n"
                        )
                    )
                    for name in outputs
                )
                for pair in bitexts:
                    for line, translation in read_pairs(*pair):
                        source.write(f"{line}\n")
                        target.write(f"{translation}\n")

        self.context.run("join", files, outputs, join)
        self.inputs = replace(self.inputs, source=self.work / outputs[0], target=self.work / outputs[1])

    def _leave_out_sets(self) -> None:
        """Goes on with a bitext without the sentences of sets that are not to be trained on."""
        bitext = self.inputs.source, self.inputs.target
        sets = {f"set {k}": path for k, path in enumerate(self.inputs.without)}
        outputs = ["train.source", "train.target"]

        def leave_out() -> None:
            sentences, example = chain.from_iterable(map(read_lines, sets.values())), LeftOutExample()
            counts = set_aside(*bitext, self.work, {}, 0, sentences, example)
            self.report(f"sets: {counts[LEFT_OUT]:,} sentence pairs left out{example}")

        self.context.run("sets", {"source": bitext[0], "target": bitext[1], **sets}, outputs, leave_out)
        self.inputs = replace(
            self.inputs, source=self.work / "train.source", target=self.work / "train.target"
        )

    def _train_truecasers(self) -> list[str]:
        """Trains the truecasers of both sides. Returns the names of their files."""
        return [
            self._train_truecaser("source", self.inputs.source, self.text.source),
            self._train_truecaser("target", self.inputs.target, self.text.target),
        ]

    def _train_truecaser(self, name: str, text: PathLike, side: TextSide) -> str:
        file = f"truecaser.{name}"

        def run() -> None:
            words = train_truecaser(
                [text],
                self.work / file,
                side,
                self.context.progress("sentences", partial(count_lines, text)),
                self.context.threads,
            )
            self.report(f"truecaser {name}: {words:,} words with case")

        self.context.run(f"truecaser {name}", {name: text}, [file], run, "text")
        if (self.work / file).stat().st_size:  # an empty file: the text has no capital letters
            self.text = replace(self.text, **{name: replace(side, truecaser=str(self.work / file))})
        return file

    def _prepare_corpus(self) -> None:
        report = prepare_corpus(
            self.inputs.bitexts(),
            self.work / "corpus.source",
            self.work / "corpus.target",
            text=self.text,
            max_length=self.settings.max_length,
            max_ratio=self.settings.max_ratio,
            processes=self.context.threads,
            progress=self.context.progress(
                "sentence pairs", lambda: count_lines(*(s for s, _ in self.inputs.bitexts()))
            ),
        )
        self.report(f"corpus: {report}")
        prepared = self.work / "corpus.source", self.work / "corpus.target"
        for warning in text_warnings((self.inputs.source, self.inputs.target), prepared, self.text):
            self.report(f"warning: {warning}")

    def _align(self) -> None:
        align(
            [(self.work / "corpus.source", self.work / "corpus.target")],
            [self.work / "alignment"],
            **self.settings.model_dump(include=set(AlignSettings.model_fields)),
            memory=self.context.memory,
            threads=self.context.threads,
            save=self.work / _ALIGNMENT_MODEL if self._can_learn() else None,
            report=lambda line: self.report(f"align: {line}"),
            progress=self.context.progress("iterations"),
        )

    def _import_alignment(self) -> None:
        assert self.inputs.alignment is not None
        source, target, links = (self.work / name for name in ("corpus.source", "corpus.target", "alignment"))
        import_alignment(self.inputs.alignment, source, target, links)

    def _find_problems(self) -> None:
        """Lists the sentence pairs that may be wrong, and leaves out those that the settings name."""
        leave_out = self.settings.leave_out
        kept = ("kept.source", "kept.target", "kept.alignment") if leave_out else ()

        def find() -> None:
            pairs = self._bitext_lines()
            report = write_problems(
                AlignedCorpus(*self._corpus_paths(), pairs),
                self.work / PROBLEMS_FILE,
                leave_out=leave_out,
                kept=[self.work / name for name in kept],
                progress=self.context.progress("sentence pairs", lambda: pairs),
            )
            write_atomically(self.work / PROBLEM_COUNTS, report.model_dump_json(indent=1))

        outputs = [PROBLEMS_FILE, PROBLEM_COUNTS, *kept]
        self.context.run("problems", self.context.paths(*self.corpus), outputs, find, "leave_out")
        for line in read_json(self.work / PROBLEM_COUNTS, ProblemReport).lines():
            self.report(line)
        self.corpus = kept or self.corpus

    def _extract(self) -> None:
        settings = self.settings.extract.chosen(
            self._corpus_paths()[2], self._bitext_lines(), lambda line: self.report(f"extract: {line}")
        )
        write_atomically(self.work / _EXTRACT_SETTINGS, settings.model_dump_json() + "\n")
        progress = self.context.progress("sentence pairs", partial(count_lines, self.work / "corpus.source"))
        statistics = extract_rules(
            *self._corpus_paths(),
            output=self.work / "rules.counts",
            settings=settings,
            memory=self.context.memory,
            threads=self.context.threads,
            progress=progress and (lambda pairs, rules: progress(pairs)),
        )
        DistortionStatistics.from_extraction(statistics).save(self.work / "distortion.json")
        self.report(f"extract: {statistics.occurrences:,} rule occurrences, {statistics.rules:,} rules")

    def _can_learn(self) -> bool:
        """Returns whether the model can align and learn from corrections: if hiero's aligner aligned it."""
        return self.inputs.alignment is None and self.settings.aligner == "hiero"

    def _score(self) -> None:
        statistics = score_rules(
            self.work / "rules.counts",
            self.work / "rules.hrt",
            settings=self.settings.score,
            bitext=self._corpus_paths()[:2],
            threads=self.context.threads,
            progress=self.context.progress("rules"),
        )
        self.report(f"score: {statistics.kept:,} of {statistics.read:,} rules kept")

    def _write_weights(self) -> None:
        """Writes default weights, with a WordPenalty for which translations are as long as references."""
        pairs = read_pairs(*self._corpus_paths()[:2])
        weights, fit = weights_by_length(
            self._assemble(),
            islice(pairs, self._bitext_lines()),
            self.settings.seed,
            self.context.progress("sentences"),
            self.context.threads,
        )
        if fit is not None:
            self.report(
                f"weights: WordPenalty {fit.word_penalty:g}, lengths {fit.ratio:.3f} times references'"
            )
        write_weights(self.work / "weights.txt", weights)

    def _corpus_paths(self) -> tuple[Path, Path, Path]:
        """Returns the files that rules are extracted from: source, target and links."""
        source, target, links = self.corpus
        return self.work / source, self.work / target, self.work / links

    def _bitext_lines(self) -> int:
        """Returns the number of lines of the bitext, without the dictionary, with which the corpus begins."""
        return count_lines(self.inputs.source)

    def _extract_settings(self) -> ExtractSettings:
        """Reads the settings that rules were extracted with, which have a ``max_phrase``."""
        return read_json(self.work / _EXTRACT_SETTINGS, ExtractSettings)

    def _learning(self) -> Learning | None:
        if not self._can_learn():
            return None
        return Learning(
            alignment=str(self.work / _ALIGNMENT_MODEL),
            words=str(self.work / "rules.counts"),
            heuristic=self.settings.heuristic,
            extraction=self._extract_settings().model_dump(exclude={"phrase_lines", "hierarchical_lines"}),
        )

    def _assemble(self, weights: PathLike | None = None, made_from: Mapping[str, Any] | None = None) -> Model:
        span_limit = self._extract_settings().max_phrase
        assert span_limit is not None
        return Model.assemble(
            [self.work / "rules.hrt"],
            [self.work / name for name in self.lms.binaries],
            weights,
            settings=DecodingSettings(span_limit=span_limit),
            text=self.text,
            distortion=DistortionStatistics.load(self.work / "distortion.json"),
            learning=self._learning(),
            made_from=made_from,
        )

    def _save_model(self) -> None:
        model = self._assemble(self.work / "weights.txt", self._provenance())
        keep_tuned_weights(model, self.output, self.report).save(self.output, scratch=self.work)

    def _provenance(self) -> dict[str, Any]:
        """Returns a description of how the model was made, without time, host or paths."""
        joined = self.context.journal.inputs_of("join") if self.inputs.more else {}
        sets = self.context.journal.inputs_of("sets") if self.inputs.without else {}
        inputs = {**joined, **sets, **self.context.journal.inputs_of("corpus")}
        for k in range(len(self.lms.binaries)):
            step = f"text {k}" if k < self.lms.estimated else f"lm {k}"
            made_from = self.context.journal.inputs_of(step)
            inputs |= {f"lm{k} {label}": value for label, value in made_from.items()}
        used = self.settings.model_copy(update={"extract": self._extract_settings()}).model_dump(mode="json")
        sizes = {"sentence pairs": count_sentences(self.work / self.corpus[0])}
        for k in range(self.lms.estimated):
            sizes[f"sentences for LM{k}"] = count_sentences(self.work / f"lm{k}.text")
        return {"program": f"hiero {__version__}", "settings": used, "inputs": inputs, "sizes": sizes}
