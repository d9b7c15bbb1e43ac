"""Corpora for experiments, and `hiero experiment` on them.

A corpus is a bitext with sets to tune and to test on, and a set that is held out of one of these.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from experiment_times import print_times
from machine import argument_parser, command, machine

from hiero.base.lines import read_lines
from hiero.train import leave_out

DEMO = Path(__file__).parents[1] / "data" / "demo"

# Writes the configuration of an experiment; called with the folder of all data, a corpus and a path.
Configure = Callable[[Path, str, Path], None]
Held = Literal["bitext", "tuning set", "generator"]


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus.

    ``bitext``, ``tuning`` and ``test`` are files in ``folder``; "" is the folder of the demo corpus.
    ``held`` says where the held-out set comes from: the last ``held_lines`` lines of the bitext or of the
    tuning set, or the demo corpus' generator. ``parses`` says whether the source sides have parses;
    ``training`` are options of `hiero train`.
    """

    folder: str
    bitext: tuple[str, str]
    held: Held
    held_lines: int
    tuning: list[str]
    test: list[str]
    languages: str
    parses: bool = False
    training: list[str] = field(default_factory=list)

    def data(self, every: Path) -> Path:
        """Returns the folder of the files."""
        return every / self.folder if self.folder else DEMO


CORPORA = {
    "en-de": Corpus(
        "de-en",
        ("train.en", "train.de"),
        "bitext",
        1000,
        ["dev.en", "dev.de"],
        ["test2016.en", "test2016.de"],
        "en:de",
        parses=True,
    ),
    "de-en": Corpus(
        "de-en",
        ("train.de", "train.en"),
        "bitext",
        1000,
        ["dev.de", "dev.en"],
        ["test2016.de", "test2016.en"],
        "de:en",
    ),
    "demo": Corpus(
        "",
        ("train.zh", "train.en"),
        "generator",
        400,
        ["dev.zh", *(f"dev.en.{k}" for k in range(4))],
        ["test.zh", *(f"test.en.{k}" for k in range(4))],
        "zh:en",
        parses=True,
    ),
    "ja-en": Corpus(
        "ja-en",
        ("train.ja", "train.en"),
        "bitext",
        500,
        ["dev.ja", "dev.en"],
        ["test.ja", "test.en"],
        "ja:en",
        training=["--unaligned-edges"],
    ),
    "ur-en": Corpus(
        "ur-en",
        ("train.ur", "train.en"),
        "tuning set",
        100,
        ["dev.ur", *(f"dev.en.{k}" for k in range(4))],
        ["test.ur", *(f"test.en.{k}" for k in range(4))],
        "ur:en",
        training=["--dictionary", "dict.ur", "dict.en", "--mono", "mono.en.gz"],
    ),
}


def run(
    experiment: str,
    text: str | None,
    used: Sequence[str],
    configure: Configure,
    after: Callable[[Path, Path], None] = lambda configuration, results: None,
) -> None:
    """Runs an experiment on the corpora that the command line names, out of ``used``, and prints its times.

    This is the main program of a benchmark with the docstring ``text``. Results are in
    OUTPUT/CORPUS/EXPERIMENT; ``after`` measures more, called with the configuration and the results.
    """
    parser = argument_parser(text, "data", "output")
    parser.add_argument("--corpora", nargs="+", choices=used, default=used)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(machine(), flush=True)
    for name in arguments.corpora:
        folder = arguments.output / name
        _prepare(arguments.data, name, folder)
        path = folder / f"{experiment}.toml"
        configure(arguments.data, name, path)
        options = ["-o", folder / experiment, "--threads", arguments.threads]
        subprocess.run(command("hiero", "experiment", experiment, path, *options), check=True)
        print_times(folder / experiment)
        after(path, folder / experiment)


def _prepare(data: Path, name: str, folder: Path) -> None:
    """Makes sets and a model in a folder, unless it has them; ``data`` has all corpora."""
    if (folder / "model").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    corpus = CORPORA[name]
    _divide(corpus.data(data), corpus, folder)
    _train(corpus.data(data), name, corpus, folder)


def _divide(data: Path, corpus: Corpus, folder: Path) -> None:
    """Writes the bitext, ``train.source`` and ``train.target``, and the sets that are no files of the
    corpus."""
    sides = dict(zip(("source", "target"), corpus.bitext, strict=True))
    lines = {side: list(read_lines(data / name)) for side, name in sides.items()}
    held = {}
    if corpus.held == "bitext":
        held = {f"held-out.{side}": each[-corpus.held_lines :] for side, each in lines.items()}
        lines = {side: each[: -corpus.held_lines] for side, each in lines.items()}
    elif corpus.held == "tuning set":
        for k, name in enumerate(corpus.tuning):
            every = list(read_lines(data / name))
            held[name_of("held-out", k)] = every[-corpus.held_lines :]
            _write(folder / name_of("tuning", k), every[: -corpus.held_lines])
    else:
        subprocess.run([sys.executable, DEMO / "generate.py", "--seed", "2", "--output", folder], check=True)
        for k, name in enumerate(corpus.tuning):
            more = [folder / name, folder / name.replace("dev", "test")]
            held[name_of("held-out", k)] = [line for path in more for line in read_lines(path)]
        more = [folder / "dev.zh.parse", folder / "test.zh.parse"]
        held["held-out.parse"] = [line for path in more for line in read_lines(path)]
    for name, each in held.items():
        _write(folder / name, each)
    _write(folder / "rest.source", lines["source"])
    leave_out(folder / "rest.source", folder / "train.source", held["held-out.source"])
    _write(folder / "train.target", lines["target"])
    if corpus.parses and "held-out.parse" not in held:
        files = ["-i", folder / "held-out.source", "-o", folder / "held-out.parse"]
        subprocess.run(command("hiero", "parse", "--tokens", "--quiet", *files), check=True)


def name_of(set_name: str, k: int) -> str:
    """Returns the name of the file of a set's source, 0, or of one of its references."""
    return (
        f"{set_name}.source" if k == 0 else f"{set_name}.target" if k == 1 else f"{set_name}.target.{k - 1}"
    )


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _train(data: Path, name: str, corpus: Corpus, folder: Path) -> None:
    options = [data / part if (data / part).is_file() else part for part in corpus.training]
    if name == "demo":
        # A second language model, as the paper has one of other text.
        lm = folder / "short.binary"
        subprocess.run(
            command("hiero", "lm", folder / "train.target", "--order", 2, "-o", lm, "--quiet"), check=True
        )
        options += ["--lm", lm]
    sides = ["--source", folder / "train.source", "--target", folder / "train.target"]
    trained = folder / "trained"
    subprocess.run(command("hiero", "train", *sides, *options, "-o", trained, "--quiet"), check=True)
    numbers = ["--numbers", corpus.languages, "-o", folder / "model"]
    subprocess.run(command("hiero", "features", trained, *numbers), check=True)
