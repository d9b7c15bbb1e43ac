"""`hiero run`: from two raw files to a tuned and judged system, by the other commands one after the other."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hiero import FormatError, __version__
from hiero.base.directories import run_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.lines import count_lines
from hiero.base.text import TextSide
from hiero.cli.arguments import Threads, usage
from hiero.cli.files import Writes, on_interrupt
from hiero.cli.report import Evaluation, report_page
from hiero.cli.sets import read_files
from hiero.cli.settings import Given, SettingOptions, VariantOptions
from hiero.cli.stages import Stages
from hiero.cli.train import Lowercase, Tokenize, text_processing
from hiero.evaluate import Tokenizer
from hiero.evaluate.test_sets import is_nist
from hiero.train import TrainInputs, TrainSettings, set_aside
from hiero.tune import METHODS, TuneOptions

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[tuple(METHODS)]

# Groups of options.
_DATA = "Data"
_TRAINING = "Training"
_TUNING = "Tuning"
_TRAIN_OPTIONS = SettingOptions(
    TrainSettings,
    # Lines are not those of the bitext when sets are drawn from it.
    without=("text", "owner", "span_limit", "seed", "phrase_lines", "hierarchical_lines"),
    renamed={"lm_binary": "lm_type"},
    group=_TRAINING,
)
# What is set aside, each.
_SHARE = 20
_MOST = 1000
_SIZE = f"(1 in {_SHARE}, at most {_MOST})"
# How sacrebleu separates the words of languages that are written without spaces.
_TOKENIZERS: dict[str, Tokenizer] = {"zh": "zh", "ja": "char"}


def run(
    *,
    source: Annotated[Path, typer.Option(help="Source side of the bitext.", rich_help_panel=_DATA)],
    target: Annotated[Path, typer.Option(help="Target side, line by line.", rich_help_panel=_DATA)],
    output: Annotated[
        Path, Writes(), typer.Option("-o", "--output", help="Directory for all of it.", rich_help_panel=_DATA)
    ],
    tokenize: Tokenize = None,
    lowercase: Lowercase = False,
    dictionary: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="SOURCE TARGET", help="Entries, line by line.", rich_help_panel=_DATA),
    ] = None,
    mono: Annotated[
        list[Path] | None, typer.Option(help="More text of the target language.", rich_help_panel=_DATA)
    ] = None,
    lm: Annotated[
        list[Path] | None,
        typer.Option(help="Language models that are there already.", rich_help_panel=_DATA),
    ] = None,
    tune_source: Annotated[
        Path | None,
        typer.Option(help="Tuning set (pairs that are set aside from the bitext).", rich_help_panel=_DATA),
    ] = None,
    tune_references: Annotated[
        list[Path] | None, typer.Option(help="Of the tuning set.", rich_help_panel=_DATA)
    ] = None,
    tune_size: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs to set aside for it {_SIZE}.", rich_help_panel=_DATA)
    ] = None,
    test_source: Annotated[
        Path | None,
        typer.Option(help="Test set (pairs that are set aside from the bitext).", rich_help_panel=_DATA),
    ] = None,
    test_references: Annotated[
        list[Path] | None, typer.Option(help="Of the test set.", rich_help_panel=_DATA)
    ] = None,
    test_size: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs to set aside for it {_SIZE}.", rich_help_panel=_DATA)
    ] = None,
    training: Annotated[TrainSettings, _TRAIN_OPTIONS],
    method: Annotated[
        MethodName,
        typer.Option(help="How weights are chosen, see docs/tuning.md.", rich_help_panel=_TUNING),
    ] = "mert",
    tuning: Annotated[Given, VariantOptions(METHODS, group=_TUNING)],
    seed: Annotated[int, typer.Option(min=0, max=(1 << 32) - 1, help="Of all that is random.")] = 1,
    threads: Threads = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress; scores alone.")] = False,
) -> None:
    """Trains a model, tunes it, translates a test set before and after, judges both, and reports on all.

    Other commands do it, and are printed. What is interrupted goes on where it stopped when run again.
    OUTPUT/report.html is to be looked at, OUTPUT/tuned-model is for hiero-decode --model.

        hiero run --source all.de --target all.en --tokenize de:moses en:moses --truecase -o my-system
    """
    sets = {
        "tune": _own_set("tune", tune_source, tune_references, tune_size),
        "test": _own_set("test", test_source, test_references, test_size),
    }
    text = text_processing(tokenize, lowercase)
    inputs = TrainInputs(source, target, dictionary, mono or [], None, lm or [])
    with usage():
        TuneOptions(method, seed=seed, **tuning)
        training.model_copy(update={"text": text}).check(inputs)
    inputs.check()
    given = _TRAIN_OPTIONS.given(training)
    usual = min(_MOST, max(1, count_lines(source) // _SHARE))
    asked = {"tune": tune_size, "test": test_size}
    sizes = {name: asked[name] or usual for name, own in sets.items() if own is None}
    more = {"dictionary": list(dictionary or ()), "mono": mono or [], "lm": lm or []}
    data = {"source": [source], "target": [target], **more}
    data |= {name: [own.source, *own.references] for name, own in sets.items() if own is not None}
    known = {
        "program": __version__,
        "data": {name: [sha256(path) for path in paths] for name, paths in data.items()},
        "sizes": sizes,
        "text": [*(tokenize or ()), lowercase],
        "training": given,
        "method": method,
        "tuning": dict(tuning),
        "seed": seed,
    }
    kept = f"run it again to go on; {output} has what is done"
    with run_directory(output, "run.json", known), on_interrupt(kept):
        bitext = (source, target)
        if sizes:
            try:
                bitext = _set_aside(output / "sets", bitext, sizes, seed, quiet)
            except FormatError:
                # Who corrects what is wrong has another run, to which this one would say no.
                (output / "sets").rmdir()
                (output / "run.json").unlink()
                raise
        tune_set, test_set = (own or _Set.aside(output / "sets", name) for name, own in sets.items())
        system = _System(output, Stages(output, quiet), {"threads": threads, "quiet": quiet})
        system.train(bitext, **more, tokenize=tokenize, lowercase=lowercase, **given, seed=seed)
        system.translate("before", "model", test_set)
        system.tune(tune_set, method=method, **tuning, seed=seed)
        system.translate("after", "tuned-model", test_set)
        scores = system.judge(test_set, _tokenizer(text.target), lowercase)
        page = report_page(output, scores, system.stages)
        write_atomically(output / "report.html", page)
    print(*scores.summary(), f"{output / 'report.html'} shows more", sep="\n")


@dataclass(frozen=True)
class _Set:
    """Sentences with references, for tuning or testing."""

    source: Path
    references: Sequence[Path]

    @classmethod
    def aside(cls, folder: Path, name: str) -> _Set:
        """One that was set aside."""
        return cls(folder / f"{name}.source", [folder / f"{name}.target"])


@dataclass(frozen=True)
class _System:
    """A model on its way from training to judgement, in a folder."""

    folder: Path
    stages: Stages
    common: dict[str, Any]

    def train(self, bitext: tuple[Path, Path], **settings: Any) -> None:
        model = self.folder / "model"
        words = _options(source=bitext[0], target=bitext[1], output=model, quiet=self.common["quiet"])
        self.stages.run("train", model, "train", *words, *_options(**settings))

    def translate(self, name: str, model: str, test_set: _Set) -> None:
        made = self.translations(test_set)[name]
        words = _options(model=self.folder / model, input=test_set.source, output=made, **self.common)
        self.stages.run(f"translate {name}", made, "decode", *words)

    def translations(self, test_set: _Set) -> dict[str, Path]:
        """The files of both, NIST's where the source is."""
        suffix = ".xml" if is_nist(test_set.source) else ".txt"
        return {name: self.folder / f"{name}{suffix}" for name in ("before", "after")}

    def tune(self, tune_set: _Set, **settings: Any) -> None:
        made = self.folder / "tuned-model"
        words = _options(source=tune_set.source, references=tune_set.references, **settings)
        words += _options(output=self.folder / "tuned", save=made, **self.common)
        self.stages.run("tune", made, "tune", str(self.folder / "model"), *words)

    def judge(self, test_set: _Set, tokenizer: Tokenizer, lowercase: bool) -> Evaluation:
        translations, made = self.translations(test_set), self.folder / "evaluation.json"
        words = _options(references=test_set.references, hypothesis=translations["before"])
        words += _options(compare=translations["after"], metric=["bleu", "chrf++"])
        words += _options(tokenize=tokenizer, lowercase=lowercase, output_format="json", output=made)
        self.stages.run("judge", made, "eval", *words)
        return Evaluation.read(made, test_set.source, test_set.references, translations, lowercase)


def _own_set(name: str, source: Path | None, references: list[Path] | None, size: int | None) -> _Set | None:
    """A set of the user's own; None if it is to be set aside. What is wrong with it is said before all work.
    Raises BadParameter, FormatError, OSError."""
    if (source is None) != (not references):
        raise typer.BadParameter(f"a {name} set of one's own has --{name}-source and --{name}-references")
    if source is None:
        return None
    if size is not None:
        raise typer.BadParameter(f"--{name}-size is of a set from the bitext, not of --{name}-source")
    read_files(source, references or [])
    return _Set(source, references or [])


def _set_aside(
    folder: Path, bitext: tuple[Path, Path], sizes: dict[str, int], seed: int, quiet: bool
) -> tuple[Path, Path]:
    """Draws sets from a bitext, once; the files of the rest."""
    done = folder / "counts.json"
    if not done.exists():
        folder.mkdir(exist_ok=True)
        counts = set_aside(*bitext, folder, sizes, seed)
        write_atomically(done, json.dumps(counts, indent=1) + "\n")
        if not quiet:
            drawn = ", ".join(f"{count:,} to {name}" for name, count in counts.items())
            print(f"hiero: sentence pairs: {drawn}", file=sys.stderr)
    return folder / "train.source", folder / "train.target"


def _tokenizer(target: TextSide) -> Tokenizer:
    """What separates the words of translations for BLEU; nothing where text is in tokens."""
    return "none" if target.scheme == "none" else _TOKENIZERS.get(target.language, "13a")


def _options(**values: Any) -> list[str]:
    """Options of a command by their names; those that are None, False or empty are left out."""
    words: list[str] = []
    for name, value in values.items():
        if value is None or value is False or value == []:
            continue
        words.append(f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        if value is not True:
            words += map(str, value) if isinstance(value, list | tuple) else [str(value)]
    return words
