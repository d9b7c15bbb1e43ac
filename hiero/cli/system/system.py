"""The system that `hiero run` makes, step by step, in a directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero.base.ownership import MANIFEST
from hiero.cli.base.warnings import warn
from hiero.cli.io.results import Result, read_results
from hiero.cli.io.tuned import TUNED, read_record
from hiero.cli.system.data import HELD_OUT, RunData, SetFiles
from hiero.cli.system.stages import Stages
from hiero.decode.model_directory import WEIGHTS_FILE
from hiero.evaluate import Tokenizer
from hiero.text import TextSide
from hiero.tune import METHODS

# The name of the system before tuning. Others have the names of their methods.
BEFORE = "before"
# Directories of models: as trained, with rules for numbers and names if there are any, and the final one.
MODELS = _TRAINED, _WITH_RULES, _FINAL = "model", "model-with-rules", "tuned-model"
# Tuned weights that make the held-out set worse, with a smaller p value than this, are not taken.
_CHANCE = 0.05
# Tokenisers of sacrebleu for languages that are written without spaces.
_TOKENIZERS: dict[str, Tokenizer] = {"zh": "zh", "ja": "char"}


@dataclass(frozen=True)
class System:
    """A model that is trained, tuned by several methods and judged by other commands; ``common`` are options
    of all that take long."""

    folder: Path
    stages: Stages
    common: Mapping[str, Any]

    @property
    def model(self) -> Path:
        """The model before tuning, which has the rules for numbers and names if there are any."""
        with_rules = self.folder / _WITH_RULES
        return with_rules if with_rules.exists() else self.folder / _TRAINED

    @property
    def tuned_model(self) -> Path:
        """The final model."""
        return self.folder / _FINAL

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The methods that weights have been tuned by so far, with their settings."""
        settings = self.stages.settings.items()
        return {title.removeprefix("tune "): dict(of) for title, of in settings if title.startswith("tune ")}

    def train(self, data: RunData, rules: Mapping[str, Any], **settings: Any) -> None:
        """Trains a model, and adds the ``rules`` for numbers and names, options of `hiero features`, to a
        copy of it."""
        model = self.folder / _TRAINED
        words = _options(source=data.source, target=data.target, mono=data.mono, **settings)
        words += _options(output=model, **self.common)
        self.stages.run("train", model / MANIFEST, "train", words)
        if rules:
            output = self.folder / _WITH_RULES
            words = [*_options(**rules, output=output), *_behind_options(model)]
            self.stages.run("add rules", output / MANIFEST, "features", words, [model / MANIFEST])

    def tune(self, method: str, tuning_set: SetFiles, settings: Mapping[str, Any], seed: int) -> None:
        """Tunes the model by a method, in a directory of the method's name. Fewer iterations or less patience
        than a run had that is there change nothing of it, and are not taken."""
        output = self.tuning(method)
        has_run = (output / TUNED).exists()
        settings = _not_less(method, settings, self.methods.get(method, {})) if has_run else settings
        words = _options(source=tuning_set.source, references=tuning_set.references, method=method)
        words += _options(**settings, seed=seed, output=output, **self.common)
        words += _behind_options(self.model)
        self.stages.run(
            *(f"tune {method}", output / TUNED, "tune", words, [self.model / MANIFEST]),
            settings=settings,
            continues=has_run,
        )

    def tuning(self, method: str) -> Path:
        """Returns the directory of tuning by a method."""
        return self.folder / "tuned" / method

    def translate(self, system: str, name: str, files: SetFiles) -> None:
        """Translates the set ``name`` with the model before tuning or with the weights of a method."""
        output, sources = self.translations(system, name, files), [self.model / MANIFEST]
        output.parent.mkdir(parents=True, exist_ok=True)
        words = _options(source=files.source, output=output, **self.common)
        if system != BEFORE:
            weights = self.tuning(system)
            words += _options(weights=weights)
            sources = [weights / TUNED]
        words += _behind_options(self.model)
        self.stages.run(f"translate {name} {system}", output, "decode", words, sources)

    def translations(self, system: str, name: str, files: SetFiles) -> Path:
        """Returns the file of a system's translations of the set ``name``."""
        return self.folder / "translations" / name / f"{system}{files.suffix}"

    def judge(self, name: str, files: SetFiles, target: TextSide) -> list[Result]:
        """Scores the translations of all systems, normalised as the text of ``target``. Returns BLEU and
        chrF++, whose first system is that before tuning, followed by one for each of the methods."""
        before, *others = (self.translations(system, name, files) for system in (BEFORE, *self.methods))
        output = self.folder / "translations" / name / "scores.json"
        words = _options(references=files.references, hypothesis=before, compare=others)
        words += _options(metric=["bleu", "chrf++"], tokenize=bleu_tokenizer(target))
        words += _options(lowercase=target.lowercase, model=self.model, output_format="json", output=output)
        systems = {"systems": [BEFORE, *self.methods]}
        self.stages.run(f"judge {name}", output, "eval", words, [before, *others], settings=systems)
        return read_results(output)

    def choose(self, results: Mapping[str, list[Result]]) -> str:
        """Makes the final model, with the weights that ``chosen`` says. Returns their system."""
        system = chosen(self.methods, results.get(HELD_OUT), self._tuning_scores())
        weights, source = self.tuning(system), self.tuning(system) / TUNED
        if system == BEFORE:
            weights, source = self.model / WEIGHTS_FILE, self.model / MANIFEST
        words = [*_options(output=self.tuned_model), *_behind_options(self.model), str(weights)]
        output = self.tuned_model / MANIFEST
        self.stages.run("choose", output, "weights", words, [source], settings={"system": system})
        return system

    def _tuning_scores(self) -> dict[str, float]:
        return {method: read_record(self.tuning(method)).score for method in self.methods}


def chosen(
    methods: Mapping[str, object], held_out: list[Result] | None, tuning_scores: Mapping[str, float]
) -> str:
    """Returns the method whose weights have the best BLEU of the held-out set, and of the tuning set if there
    is no held-out set. It is the system before tuning that is chosen if BLEU of the held-out set was better
    with it, and not by chance."""
    if held_out is None:
        return max(methods, key=lambda method: tuning_scores[method])
    systems = dict(zip(methods, held_out[0].systems[1:], strict=True))
    best = max(systems, key=lambda method: systems[method].score)
    difference, p = systems[best].difference, systems[best].p_bootstrap
    assert difference is not None and p is not None
    return BEFORE if difference < 0 and p < _CHANCE else best


def _not_less(method: str, settings: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings of a method with those of a run ``before`` where that went on for longer by them."""
    defaults, chosen = METHODS[method], dict(settings)
    for name in ("iterations", "patience"):
        had = before.get(name, getattr(defaults, name))
        if settings.get(name, getattr(defaults, name)) < had:
            warn(f"{name} of {method}: the run that is there has {had}, which is more, and stays as it is")
            chosen.pop(name, None)
            chosen |= {name: had} if name in before else {}
    return chosen


def bleu_tokenizer(target: TextSide) -> Tokenizer:
    """Chooses the tokeniser for BLEU of translations: none where text consists of tokens."""
    return "none" if target.scheme == "none" else _TOKENIZERS.get(target.language, "13a")


def _behind_options(path: Path) -> list[str]:
    """Returns a positional argument, whose name may look like an option."""
    return ["--", str(path)]


def _options(**options: Any) -> list[str]:
    """Returns options of a command from their names and values, without those that are None, False or []."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False or value == []:
            continue
        option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        values = list(map(str, value)) if isinstance(value, list | tuple) else [str(value)]
        if value is True:
            words.append(option)
        elif any(text.startswith("-") for text in values) and not isinstance(value, tuple):
            # One word each, as such a value looks like an option.
            words += [f"{option}={text}" for text in values]
        else:
            words += [option, *values]
    return words
