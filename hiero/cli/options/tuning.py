"""Options of `hiero tune`: the method, the sets, and the weights to start from and to write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hiero import Decoder, DecodingSettings, Model
from hiero._core import FeatureNames
from hiero.base.directories import check_working_directory
from hiero.cli.base.commands import usage
from hiero.cli.base.files import Writes
from hiero.cli.base.loading import load_model
from hiero.cli.base.option_groups import OptionValues
from hiero.cli.base.settings import SettingOptions, VariantOptions
from hiero.cli.io.lines import Format
from hiero.cli.io.sets import Set, read_set, with_sentence_features
from hiero.cli.io.tuned import read_tuned
from hiero.cli.options.common import INPUT_FORMAT, PARSES, Tokens
from hiero.decode.model_directory import check_output
from hiero.evaluate import Bleu, EffectiveLength, Metric
from hiero.evaluate.metrics import METRICS, metric_named
from hiero.features.glossary import Glossary
from hiero.tune import METHODS, Mix, TuneOptions
from hiero.tune.run.limits import run_limits

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[tuple(METHODS)]

# The settings of decoding that replace those of the model.
TunedDecoding = Annotated[
    OptionValues,
    SettingOptions(
        DecodingSettings,
        overrides="the model's",
        without=("confidence_temperature",),
        overriding={"pop_limit": "an eighth of the model's", "span_limit": "chosen on the tuning set"},
        group="Search",
    ),
]
# Tuning decodes its set again and again. Fewer hypotheses take less time, and the weights translate as well
# (benchmarks/results/tuning.md).
_SHARE_OF_POP_LIMIT = 8
# Groups of options.
_SETS = "Sets"
_METHOD = "Method"
_WEIGHTS = "Weights"


def tuning_decoder(model: Model, decoding: OptionValues) -> Decoder:
    """Returns the decoder of a tuning set: with the model's settings but for those of ``decoding``, and
    an eighth of the model's pop limit and no exact search unless they have others. A limit of 0, which is
    none, stays."""
    pop_limit = math.ceil(model.settings.pop_limit / _SHARE_OF_POP_LIMIT)
    return Decoder(model, **{"pop_limit": pop_limit, "exact": 0, **decoding})


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """The method that chooses weights, its settings, and the metric that it maximises."""

    method: Annotated[
        MethodName,
        typer.Option(help="Method that chooses weights, see docs/tuning.md.", rich_help_panel=_METHOD),
    ]
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.", rich_help_panel=_METHOD)] = 1
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=SHARE]",
            help=f"Metric to maximise: {', '.join(METRICS)}; repeatable, for a mix by shares (default:"
            " bleu).",
            rich_help_panel=_METHOD,
        ),
    ] = None
    effective_length: Annotated[
        EffectiveLength,
        typer.Option(help="Reference length for the brevity penalty of BLEU.", rich_help_panel=_METHOD),
    ] = "closest"
    settings: Annotated[OptionValues, VariantOptions(METHODS, group=_METHOD)]
    runs: Annotated[
        int, typer.Option(min=1, help="Number of runs, each with another seed.", rich_help_panel=_METHOD)
    ] = 1

    def __post_init__(self) -> None:
        is_bleu = list(self._shares) == ["bleu"]
        if METHODS[self.method].metric is Bleu and not is_bleu:
            raise typer.BadParameter(f"--method {self.method} learns from BLEU alone")
        if self.settings.get("search_aware") and not is_bleu:
            raise typer.BadParameter("--search-aware learns from BLEU alone")
        self.tune_options()

    @property
    def needs_alignments(self) -> bool:
        return self.settings.get("search_aware") == "partial-span"

    def tune_options(self, weights: WeightOptions | None = None) -> TuneOptions:
        """Returns the options of tuning. Raises BadParameter for settings that the method does not have."""
        fixed, bounds = ((), {}) if weights is None else (weights.fix or (), weights.bounds)
        with usage(self.settings):
            return TuneOptions(self.method, seed=self.seed, fixed=fixed, bounds=bounds, **self.settings)

    def metric_for(self, references: list[list[str]]) -> Metric:
        """Returns the metric, or the mix of metrics, for references by segment."""
        parts = [
            (share, metric_named(name, references, effective_length=self.effective_length))
            for name, share in self._shares.items()
        ]
        return parts[0][1] if len(parts) == 1 else Mix(parts)

    @cached_property
    def _shares(self) -> dict[str, float]:
        """The shares of metrics by name. Raises BadParameter."""
        shares: dict[str, float] = {}
        for text in self.metric or ["bleu"]:
            name, equals, share = text.partition("=")
            if name not in METRICS:
                raise typer.BadParameter(f"--metric {text}: expected one of {', '.join(METRICS)}")
            if name in shares:
                raise typer.BadParameter(f"--metric {text}: named twice")
            try:
                shares[name] = float(share) if equals else 1.0
            except ValueError:
                raise typer.BadParameter(f"--metric {text}: expected NAME or NAME=SHARE") from None
            if not 0 < shares[name] < math.inf:
                raise typer.BadParameter(f"--metric {text}: a share is more than 0 and finite")
        return shares


@dataclass(frozen=True, kw_only=True)
class TuningSets:
    """The tuning set, and a held-out set if there is one."""

    source: Annotated[
        Path,
        typer.Option(
            help="Source side of the tuning set: text, .jsonl, or NIST's .xml or .sgm.", rich_help_panel=_SETS
        ),
    ]
    references: Annotated[
        list[Path],
        typer.Option(help="References of the tuning set, one file or several.", rich_help_panel=_SETS),
    ]
    held_out_source: Annotated[
        Path | None,
        typer.Option(
            help="Source side of a held-out set, by which the best iteration is chosen.",
            rich_help_panel=_SETS,
        ),
    ] = None
    held_out_references: Annotated[
        list[Path] | None,
        typer.Option(help="References of the held-out set, one file or several.", rich_help_panel=_SETS),
    ] = None
    held_out_parses: Annotated[
        Path | None, typer.Option(help=f"{PARSES[:-1]}, of the held-out set.", rich_help_panel=_SETS)
    ] = None
    input_format: Annotated[
        Format | None, typer.Option(help=f"Format of the sources {INPUT_FORMAT}", rich_help_panel=_SETS)
    ] = None
    tokens: Tokens = False
    parses: Annotated[Path | None, typer.Option(help=PARSES, rich_help_panel=_SETS)] = None
    terms: Annotated[
        Path | None,
        typer.Option(
            help="Glossary, as of hiero decode, whose terms may also be translated otherwise: weighs the"
            " features Markup and MarkupProbability.",
            rich_help_panel=_SETS,
        ),
    ] = None
    alignments: Annotated[
        list[Path] | None,
        typer.Option(
            help="Word links (0-0 1-2) between the source and each reference, a file for each; for"
            " --search-aware partial-span.",
            rich_help_panel=_SETS,
        ),
    ] = None

    def __post_init__(self) -> None:
        if (self.held_out_source is None) != (not self.held_out_references):
            raise typer.BadParameter("a held-out set has --held-out-source and --held-out-references")

    def read(self, model: Model) -> tuple[list[tuple[Path, Set]], Model]:
        """Reads the tuning set and, if there is one, the held-out set; each with the path of its source, and
        with the terms of the glossary marked. Returns them and the model with the features that their
        sentences bring. Raises FormatError, OSError."""
        files = [(self.source, self.references, self.parses)]
        if self.held_out_source is not None:
            files.append((self.held_out_source, self.held_out_references or [], self.held_out_parses))
        glossary = Glossary([]) if self.terms is None else Glossary.read(self.terms)
        glossary.check(model.text, sorted({*model.core.labels} - {model.goal}))
        sets = []
        for source, texts, parses in files:
            sentences, references = read_set(source, texts, self.tokens, model, self.input_format, parses)
            side = model.text.source
            marked = [glossary.marked(sentence, side, "inclusive") for sentence in sentences]
            sets.append((source, (marked, references)))
        return sets, with_sentence_features(model, [one for _, one in sets])


@dataclass(frozen=True, kw_only=True)
class WeightOptions:
    """The weights to start from, how far they may change, and where the tuned weights are written."""

    output: Annotated[
        Path,
        Writes(),
        typer.Option(
            "-o",
            "--output",
            help="Directory for weights.txt and all iterations.",
            rich_help_panel=_WEIGHTS,
        ),
    ]
    weights: Annotated[
        Path | None,
        typer.Option(
            help="Weights file, or directory of hiero tune, to start from (default: the model's weights).",
            rich_help_panel=_WEIGHTS,
        ),
    ] = None
    start_scale: Annotated[
        float,
        typer.Option(
            help="Factor of the weights to start from; less than 1 makes threshold pruning looser.",
            rich_help_panel=_WEIGHTS,
        ),
    ] = 1.0
    fix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Feature whose weight stays; repeatable.", rich_help_panel=_WEIGHTS
        ),
    ] = None
    bound: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH",
            help="Least and greatest weight of a feature, either of which may be empty; repeatable.",
            rich_help_panel=_WEIGHTS,
        ),
    ] = None
    save: Annotated[
        Path | None,
        Writes(over=True),
        typer.Option(help="Directory for the model with the tuned weights.", rich_help_panel=_WEIGHTS),
    ] = None

    def __post_init__(self) -> None:
        if not 0 < self.start_scale < math.inf:
            raise typer.BadParameter(f"--start-scale {self.start_scale}: expected more than 0, and finite")
        _ = self.bounds

    def check_output(self, record: str) -> None:
        """Raises OSError or FormatError if a run with this record cannot be in the output directory, or if no
        model can be saved where it is asked for."""
        check_working_directory(self.output, record)
        if self.save is not None:
            check_output(self.save)

    def load(self, path: Path, load: Sequence[str] | None) -> Model:
        """Opens a model with the weights to start from, and with the span limit that these were tuned with.
        Raises as ``load_model`` does."""
        model = load_model(path, load)
        if self.weights is None:
            return model
        weights, settings = read_tuned(self.weights)
        return model.with_weights(weights).with_settings(**settings)

    def start(self, model: Model) -> dict[str, float]:
        """Returns the weights to start from, of all features; ``model`` has those of the file. Raises
        FormatError or ValueError for fixed and bound features that a run would refuse."""
        weights = {name: 0.0 for name in model.feature_names} | dict(model.weights)
        names = FeatureNames(model.feature_names)
        run_limits(names.vector(weights), names, tuple(self.fix or ()), self.bounds)
        return {name: weight * self.start_scale for name, weight in weights.items()}

    @cached_property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The least and greatest weights by feature. Raises BadParameter."""
        return _bounds(self.bound or ())


def _bounds(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    bounds: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, interval = _bound(text)
        if name in bounds:
            raise typer.BadParameter(f"--bound {text}: {name} is bound twice")
        bounds[name] = interval
    return bounds


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    """Reads a bound as ``NAME=LOW:HIGH``. Raises BadParameter."""
    name, equals, interval = text.rpartition("=")
    low, colon, high = interval.partition(":")
    try:
        if equals and colon:
            return name, (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        pass
    raise typer.BadParameter(f"--bound {text}: expected NAME=LOW:HIGH")
