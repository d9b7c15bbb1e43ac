"""The system that `hiero run` makes, step by step, in a directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hiero.base.ownership import MANIFEST
from hiero.cli.system.data import RunData, SetFiles
from hiero.cli.system.report import Evaluation
from hiero.cli.system.stages import Stages
from hiero.evaluate import Tokenizer
from hiero.evaluate.evaluation_sets import is_nist
from hiero.text import TextSide

# Tokenisers of sacrebleu for languages that are written without spaces.
_TOKENIZERS: dict[str, Tokenizer] = {"zh": "zh", "ja": "char"}


@dataclass(frozen=True)
class System:
    """A model that is trained, tuned and judged by other commands; ``common`` are options of all of them."""

    folder: Path
    stages: Stages
    common: dict[str, Any]

    def train(self, data: RunData, **settings: Any) -> None:
        """Trains ``model`` in the directory."""
        words = _options(source=data.source, target=data.target, mono=data.mono, **settings)
        words += _options(output=self.folder / "model", quiet=self.common["quiet"])
        self.stages.run("train", self._manifest("model"), "train", words)

    def translate(self, name: str, model: str, test_set: SetFiles) -> None:
        """Translates the test set with a model; ``name`` is that of the translations."""
        output = self.translations(test_set)[name]
        words = _options(source=test_set.source, output=output, **self.common)
        words += _behind_options(self.folder / model)
        self.stages.run(f"translate {name}", output, "decode", words, [self._manifest(model)])

    def translations(self, test_set: SetFiles) -> dict[str, Path]:
        """Returns the files of the translations before and after tuning, in NIST's format if the source
        is."""
        suffix = ".xml" if is_nist(test_set.source) else ".txt"
        return {name: self.folder / f"{name}{suffix}" for name in ("before", "after")}

    def tune(self, tuning_set: SetFiles, **settings: Any) -> None:
        """Tunes ``model``, and makes ``tuned-model`` in the directory."""
        words = _options(source=tuning_set.source, references=tuning_set.references, **settings)
        words += _options(output=self.folder / "tuned", save=self.folder / "tuned-model", **self.common)
        words += _behind_options(self.folder / "model")
        self.stages.run("tune", self._manifest("tuned-model"), "tune", words, [self._manifest("model")])

    def judge(self, test_set: SetFiles, target: TextSide) -> Evaluation:
        """Scores the translations before and after tuning, all normalised as the text of ``target``."""
        translations, output = self.translations(test_set), self.folder / "evaluation.json"
        words = _options(references=test_set.references, hypothesis=translations["before"])
        words += _options(compare=translations["after"], metric=["bleu", "chrf++"])
        words += _options(tokenize=bleu_tokenizer(target), lowercase=target.lowercase)
        words += _options(model=self.folder / "model", output_format="json", output=output)
        self.stages.run("judge", output, "eval", words, list(translations.values()))
        return Evaluation.read(output, test_set.source, test_set.references, translations, target)

    def _manifest(self, model: str) -> Path:
        """Returns the file of a model that is written last."""
        return self.folder / model / MANIFEST


def bleu_tokenizer(target: TextSide) -> Tokenizer:
    """Chooses the tokeniser for BLEU of translations: none where text consists of tokens."""
    return "none" if target.scheme == "none" else _TOKENIZERS.get(target.language, "13a")


def _behind_options(path: Path) -> list[str]:
    """Returns a positional argument, whose name may look like an option."""
    return ["--", str(path)]


def _options(**values: Any) -> list[str]:
    """Returns options of a command from their names and values, without those that are None, False or []."""
    words: list[str] = []
    for name, value in values.items():
        if value is None or value is False or value == []:
            continue
        words.append(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        if value is not True:
            words += map(str, value) if isinstance(value, list | tuple) else [str(value)]
    return words
