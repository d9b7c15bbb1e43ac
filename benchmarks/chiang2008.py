"""`hiero experiment chiang2008` on four corpora.

    python benchmarks/chiang2008.py ../shared/data OUTPUT [--corpora en-de] [--threads 2]

trains a model for each corpus and runs the experiment; its tables are in OUTPUT/CORPUS/experiment/tables.md.
Sets that are held out are the last pairs of the bitext where there is one reference, else the last sentences
of the tuning set, and on the demo corpus others of the same grammar. Parses of held-out English are by
`hiero parse`. What is done is kept: started again, it goes on where it was interrupted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from machine import machine, parser
from train import command

from hiero.base.lines import read_lines
from hiero.train import leave_out

# A third of the time of 200, for 0.04 less of the model's score a sentence on en-de.
POP_LIMIT = 50
DEMO = Path(__file__).parents[1] / "data" / "demo"


Held = Literal["bitext", "tuning set", "generator"]


@dataclass(frozen=True)
class Corpus:
    """Files in a folder: bitext, tuning and test set, of which the last lines may be held out, or the demo
    corpus, of which there can be more. Small tuning sets need more passes. ``parses`` says whether there are
    some."""

    folder: str
    bitext: tuple[str, str]
    held: Held
    held_lines: int
    tuning: list[str]
    test: list[str]
    languages: str
    parses: bool = False
    training: list[str] = field(default_factory=list)
    options: dict[str, object] = field(default_factory=dict)
    mira: dict[str, object] = field(default_factory=dict)


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
    "demo": Corpus(
        "",
        ("train.zh", "train.en"),
        "generator",
        400,
        ["dev.zh", *(f"dev.en.{k}" for k in range(4))],
        ["test.zh", *(f"test.en.{k}" for k in range(4))],
        "zh:en",
        parses=True,
        options={
            "coarse_labels": ["NP", "VP", "IP", "PP", "QP", "ADJP", "DP", "CP"],
            "fine_labels": ["NP", "VP", "IP", "PP", "QP", "ADJP", "DP", "CP", "LCP", "ADVP", "DNP"],
        },
        mira={"iterations": 40, "patience": 8},
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
        mira={"iterations": 20, "patience": 5},
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
        mira={"iterations": 30, "patience": 5},
    ),
}


def divide(data: Path, corpus: Corpus, folder: Path) -> None:
    """Files to train on, ``train.source`` and ``train.target``, and of the sets that are no files of the
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
            held[_name("held-out", k)] = every[-corpus.held_lines :]
            _write(folder / _name("tuning", k), every[: -corpus.held_lines])
    else:
        subprocess.run([sys.executable, DEMO / "generate.py", "--seed", "2", "--output", folder], check=True)
        for k, name in enumerate(corpus.tuning):
            more = [folder / name, folder / name.replace("dev", "test")]
            held[_name("held-out", k)] = [line for path in more for line in read_lines(path)]
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


def _name(held: str, k: int) -> str:
    """Of a set's source, or a reference of several."""
    return f"{held}.source" if k == 0 else f"{held}.target" if k == 1 else f"{held}.target.{k - 1}"


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def train(data: Path, name: str, corpus: Corpus, folder: Path) -> None:
    options = [data / part if (data / part).is_file() else part for part in corpus.training]
    if name == "demo":
        # A second language model, as the paper has one of other text.
        lm = folder / "short.binary"
        subprocess.run(
            command("hiero", "lm", folder / "train.target", "--order", 2, "-o", lm, "--quiet"), check=True
        )
        options += ["--lm", lm]
    sides = ["--source", folder / "train.source", "--target", folder / "train.target"]
    subprocess.run(command("hiero", "train", *sides, *options, "-o", folder / "model", "--quiet"), check=True)
    subprocess.run(command("hiero", "features", folder / "model", "--numbers", corpus.languages), check=True)


def configure(data: Path, corpus: Corpus, folder: Path) -> Path:
    """The configuration of the experiment."""
    path = folder / "experiment.toml"
    own = folder.absolute()
    tuning = [data.absolute() / name for name in corpus.tuning]
    if corpus.held == "tuning set":
        tuning = [own / _name("tuning", k) for k in range(len(tuning))]
    held_out = [own / _name("held-out", k) for k in range(len(tuning))]
    sets = {
        "[tuning]": ("tuning", tuning, f"{tuning[0]}.parse"),
        "[held_out]": (
            "held out",
            held_out[: 2 if corpus.held == "bitext" else None],
            own / "held-out.parse",
        ),
        "[[test]]": (
            "test",
            [data.absolute() / name for name in corpus.test],
            data.absolute() / f"{corpus.test[0]}.parse",
        ),
    }
    with path.open("w", encoding="utf-8") as file:
        file.write('model = "model"\n')
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in corpus.options.items())
        if corpus.mira:
            file.write("\n[mira]\n")
            file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in corpus.mira.items())
        file.write(f"\n[decoding]\npop_limit = {POP_LIMIT}\n")
        for head, (name, (source, *references), trees) in sets.items():
            file.write(f"\n{head}\nname = {json.dumps(name)}\nsource = {json.dumps(str(source))}\n")
            file.write(f"references = {json.dumps([str(path) for path in references])}\n")
            if corpus.parses:
                file.write(f"parses = {json.dumps(str(trees))}\n")
    return path


def main() -> None:
    parsed = parser(__doc__, "data", "output")
    parsed.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parsed.add_argument("--threads", type=int, default=1)
    arguments = parsed.parse_args()
    print(machine(), flush=True)
    for name in arguments.corpora:
        corpus, folder = CORPORA[name], arguments.output / name
        data = arguments.data / corpus.folder if corpus.folder else DEMO
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "experiment.toml"
        if not path.exists():
            divide(data, corpus, folder)
            train(data, name, corpus, folder)
            path = configure(data, corpus, folder)
        options = ["-o", folder / "experiment", "--threads", arguments.threads]
        subprocess.run(command("hiero", "experiment", "chiang2008", path, *options), check=True)


if __name__ == "__main__":
    main()
