"""`hiero run`: from two raw files to a tuned and judged system, by the other commands one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hiero import __version__
from hiero.base.directories import run_directory
from hiero.base.files import sha256, write_atomically
from hiero.base.lines import count_lines
from hiero.base.ownership import MANIFEST
from hiero.base.text import TextSide
from hiero.cli.base.arguments import Threads, usage
from hiero.cli.base.files import Writes, on_interrupt
from hiero.cli.base.settings import Given, SettingOptions, VariantOptions
from hiero.cli.system.data import RunData, SetFiles, own_set, prepare
from hiero.cli.system.report import Evaluation, report_page
from hiero.cli.system.stages import Stages
from hiero.cli.train import Lowercase, Tokenize, text_processing
from hiero.decode.model_directory import check_output
from hiero.evaluate import Tokenizer
from hiero.evaluate.evaluation_sets import is_nist
from hiero.train import TrainInputs, TrainSettings
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
    without=("text", "owner", "span_limit", "seed"),
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
        Path,
        Writes(),
        typer.Option(
            "-o", "--output", metavar="DIRECTORY", help="For all that is made.", rich_help_panel=_DATA
        ),
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
    quiet: Annotated[bool, typer.Option("--quiet", help="Nothing but the scores, and warnings.")] = False,
) -> None:
    """Trains a model, tunes it, translates a test set before and after, judges both, and reports on all.

    Other commands do it, and are printed. What is interrupted goes on where it stopped when run again.
    OUTPUT/report.html is to be looked at, OUTPUT/tuned-model is for hiero-decode.

        hiero run --source all.de --target all.en --tokenize de:moses en:moses --truecase -o my-system
    """
    own = {
        "tune": own_set("tune", tune_source, tune_references, tune_size),
        "test": own_set("test", test_source, test_references, test_size),
    }
    text = text_processing(tokenize, lowercase)
    inputs = TrainInputs(source, target, dictionary, mono or [], None, lm or [])
    with usage(tuning):
        TuneOptions(method, seed=seed, **tuning)
    with usage():
        training.model_copy(update={"text": text}).check(inputs)
    if tuning.get("search_aware") == "partial-span":
        raise typer.BadParameter(
            "--search-aware partial-span learns from word links of the tuning set, which hiero tune"
            " --alignments takes"
        )
    inputs.check()
    for model in ("model", "tuned-model"):
        check_output(output / model)
    given = _TRAIN_OPTIONS.given(training)
    usual = min(_MOST, max(1, count_lines(source) // _SHARE))
    asked = {"tune": tune_size, "test": test_size}
    sizes = {name: asked[name] or usual for name in own if own[name] is None}
    data = {"source": [source], "target": [target], "mono": mono or []}
    data |= {name: [one.source, *one.references] for name, one in own.items() if one is not None}
    more = {"dictionary": list(dictionary or ()), "lm": lm or []}
    known = {
        "program": __version__,
        "data": {name: [sha256(path) for path in paths] for name, paths in (data | more).items()},
        "sizes": sizes,
        "text": [*(tokenize or ()), lowercase],
        "training": given,
        "method": method,
        "tuning": dict(tuning),
        "seed": seed,
    }
    stages = Stages(output, quiet)
    kept = f"run it again to go on; {output} has what is done"
    begun = (output / "model").exists
    with run_directory(output, "run.json", known, begun), on_interrupt(kept):
        stages.restore()
        sets = prepare(output / "sets", (source, target), mono or [], own, sizes, known, seed, quiet)
        system = _System(output, stages, {"threads": threads, "quiet": quiet})
        system.train(sets, **more, tokenize=tokenize, lowercase=lowercase, **given, seed=seed)
        system.translate("before", "model", sets.test)
        system.tune(sets.tune, method=method, **tuning, seed=seed)
        system.translate("after", "tuned-model", sets.test)
        scores = system.judge(sets.test, _tokenizer(text.target), lowercase)
        page = report_page(output, scores, stages)
        write_atomically(output / "report.html", page)
    print(*scores.summary(), sep="\n")
    if not quiet:
        print(f"{output / 'report.html'} shows more")


@dataclass(frozen=True)
class _System:
    """A model on its way from training to judgement, in a folder."""

    folder: Path
    stages: Stages
    common: dict[str, Any]

    def train(self, sets: RunData, **settings: Any) -> None:
        words = _options(source=sets.source, target=sets.target, mono=sets.mono, **settings)
        words += _options(output=self.folder / "model", quiet=self.common["quiet"])
        self.stages.run("train", self._manifest("model"), "train", words)

    def translate(self, name: str, model: str, test_set: SetFiles) -> None:
        made = self.translations(test_set)[name]
        words = _options(source=test_set.source, output=made, **self.common)
        words += _behind_options(self.folder / model)
        self.stages.run(f"translate {name}", made, "decode", words, [self._manifest(model)])

    def translations(self, test_set: SetFiles) -> dict[str, Path]:
        """The files of both, NIST's where the source is."""
        suffix = ".xml" if is_nist(test_set.source) else ".txt"
        return {name: self.folder / f"{name}{suffix}" for name in ("before", "after")}

    def tune(self, tune_set: SetFiles, **settings: Any) -> None:
        words = _options(source=tune_set.source, references=tune_set.references, **settings)
        words += _options(output=self.folder / "tuned", save=self.folder / "tuned-model", **self.common)
        words += _behind_options(self.folder / "model")
        self.stages.run("tune", self._manifest("tuned-model"), "tune", words, [self._manifest("model")])

    def judge(self, test_set: SetFiles, tokenizer: Tokenizer, lowercase: bool) -> Evaluation:
        translations, made = self.translations(test_set), self.folder / "evaluation.json"
        words = _options(references=test_set.references, hypothesis=translations["before"])
        words += _options(compare=translations["after"], metric=["bleu", "chrf++"])
        words += _options(tokenize=tokenizer, lowercase=lowercase, output_format="json", output=made)
        self.stages.run("judge", made, "eval", words, list(translations.values()))
        return Evaluation.read(made, test_set.source, test_set.references, translations, lowercase)

    def _manifest(self, model: str) -> Path:
        """The last file of a model that is written."""
        return self.folder / model / MANIFEST


def _tokenizer(target: TextSide) -> Tokenizer:
    """Chooses the tokeniser for BLEU of translations; none where text is in tokens."""
    return "none" if target.scheme == "none" else _TOKENIZERS.get(target.language, "13a")


def _behind_options(path: Path) -> list[str]:
    """An argument of a command, whose name may look like an option."""
    return ["--", str(path)]


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
