"""Segmentation: translating the ways in which a segmenter reads Japanese, and its best reading.

    python benchmarks/segmentation.py ../shared/data SCRATCH

Takes the spaces out of a Japanese-English corpus, trains a model whose words janome finds, and tunes it by
MERT with the best reading and with lattices of the ten best, three times each. Prints BLEU of the test set,
and the difference with p values over all three, the sizes of the lattices, and how many of the translations
took another reading than janome's best. SCRATCH keeps what is made, and the benchmark goes on where it was
interrupted.
"""

from __future__ import annotations

from pathlib import Path

from machine import argument_parser, machine, run

import hiero

READINGS = 10
SEEDS = (1, 2, 3)


def without_spaces(data: Path, scratch: Path, part: str) -> Path:
    """Writes the Japanese side of a set as people type it, and returns its path."""
    path = scratch / f"{part}.ja"
    if not path.exists():
        lines = (data / f"{part}.ja").read_text("utf-8").splitlines()
        path.write_text("".join("".join(line.split()) + "\n" for line in lines), encoding="utf-8")
    return path


def lattices(scratch: Path, part: str) -> Path:
    """Writes lattices of the best readings of a set, and returns their path."""
    path = scratch / f"{part}.plf"
    if not path.exists():
        lists = scratch / f"{part}.nbest"
        raw = (scratch / f"{part}.ja").read_text("utf-8")
        run("hiero", "tokenize", "ja:janome", "--readings", READINGS, "--output", lists, text=raw)
        run("hiero", "lattice", "--input-format", "nbest", "--source", lists, "--output", path)
    return path


def translate(data: Path, scratch: Path, kind: str, seed: int) -> Path:
    """Tunes and translates the test set with one kind of input, and returns the translations."""
    sources = [scratch / f"{part}.{'plf' if kind == 'lattices' else 'ja'}" for part in ("dev", "test")]
    tokens = ["--tokens"] if kind == "lattices" else []
    tuned, output = scratch / f"tuned-{kind}-{seed}", scratch / f"test.{kind}.{seed}.en"
    if not output.exists():
        sets = ["--source", sources[0], "--references", data / "dev.en", *tokens]
        options = ["--method", "mert", "--seed", seed, "--span-limit", 15, "-o", tuned]
        run("hiero", "tune", scratch / "model", *sets, *options)
        text = ["--source", sources[1], *tokens, "--span-limit", 15, "--weights", tuned]
        run("hiero-decode", scratch / "model", *text, "--output", output, "--quiet")
    return output


def other_paths(scratch: Path) -> None:
    """Prints the sizes of the lattices of the test set, and how many translations took another reading than
    the best one."""
    decoder = hiero.Decoder(hiero.Model.load(scratch / "model"))
    weights = hiero.read_weights(scratch / f"tuned-lattices-{SEEDS[0]}" / "weights.txt")
    side = decoder.model.text.source
    arcs, others, sentences = 0, 0, 0
    plf = (scratch / "test.plf").read_text("utf-8").splitlines()
    for raw, line in zip((scratch / "test.ja").read_text("utf-8").splitlines(), plf, strict=True):
        if not line:
            continue
        lattice = hiero.Lattice.from_plf(line)
        result = decoder.translate(hiero.Sentence(lattice=lattice), weights=weights)
        sentences += 1
        arcs += len(lattice.arcs)
        others += [result.source[arc] for arc in result.derivation.path] != side.tokens(raw)
    print(f"{sentences} lattices of {arcs / sentences:.1f} arcs; {others} took another reading than the best")


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "data", "scratch").parse_args()
    data, scratch = arguments.data / "ja-en", arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    for part in ("train", "dev", "test"):
        without_spaces(data, scratch, part)
    for part in ("dev", "test"):
        lattices(scratch, part)
    if not (scratch / "model").exists():
        sides = ["--source", scratch / "train.ja", "--target", data / "train.en"]
        text = ["--tokenize", "ja:janome", "und:none"]
        run("hiero", "train", *sides, *text, "--output", scratch / "model", "--threads", 2)
    best, lattice = (
        ",".join(str(translate(data, scratch, kind, seed)) for seed in SEEDS) for kind in ("best", "lattices")
    )
    systems = ["--hypothesis", best, "--compare", lattice]
    print(run("hiero", "eval", "--references", data / "test.en", *systems), end="")
    other_paths(scratch)


if __name__ == "__main__":
    main()
