"""The default of WordPenalty, which training chooses by length, compared with other values on test sets.

    python benchmarks/default_weights.py ../shared/data FOLDER

Trains a model of every corpus, of two the other way round and of parts of the demo corpus too, into the
folder, where started again it goes on; prints what each chose, and length and BLEU of its test set.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from machine import argument_parser, machine

import hiero
from hiero.evaluate import Bleu
from hiero.train import TrainInputs, train
from train import CORPORA

DEMO = Path(__file__).parent.parent / "data" / "demo"
PENALTIES = (-1.4, -1.3, -1.2, -1.1, -1.0, -0.9, -0.8, -0.6)


def systems(data: Path, folder: Path) -> Iterator[tuple[str, TrainInputs, Path, list[Path]]]:
    """Yields name, training data, source and references of each test."""
    for corpus, (options, (source, *references)) in CORPORA.items():
        home = data / corpus
        files = [home / option for option in options if not option.startswith("--")]
        inputs = TrainInputs(files[0], files[1])
        if corpus == "ur-en":
            inputs = TrainInputs(files[0], files[1], (files[2], files[3]), files[4:])
        yield corpus, inputs, home / source, [home / name for name in references]
        if len(references) == 1:
            other = "-".join(reversed(corpus.split("-")))
            yield other, TrainInputs(files[1], files[0]), home / references[0], [home / source]
    for size in (300, 1000, 2500, 5000):
        sides = []
        for side in ("zh", "en"):
            sides.append(folder / f"demo-{size}.{side}")
            lines = (DEMO / f"train.{side}").read_text().splitlines(keepends=True)
            sides[-1].write_text("".join(lines[:size]))
        yield f"demo-{size}", TrainInputs(*sides), DEMO / "test.zh", [DEMO / "test.en.0"]


def main() -> None:
    arguments = argument_parser(__doc__, "data", "folder").parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(machine())
    for name, inputs, source, references in systems(arguments.data, arguments.folder):
        model = train(inputs, arguments.folder / name)
        decoder = hiero.Decoder(model)
        lines = [line.split() for line in source.read_text().splitlines()]
        texts = [path.read_text().splitlines() for path in references]
        bleu = Bleu([list(segment) for segment in zip(*texts, strict=True)])
        print(f"\n{name}: WordPenalty {model.weights['WordPenalty']:g}")
        for penalty in PENALTIES:
            weighted = decoder.with_weights({**model.weights, "WordPenalty": penalty})
            results = weighted.translate_batch(lines, threads=2)
            counts = bleu.statistics([" ".join(result.tokens) for result in results]).sum(axis=0)
            print(f"{penalty:5.1f}  BLEU {float(bleu.score(counts)):6.2f} {bleu.details(counts)}", flush=True)


if __name__ == "__main__":
    main()
