"""Measures what the length of initial phrases and the decoder's span limit do to translations.

    python benchmarks/span_limits.py ../shared/data OUTPUT [--corpora ja-en ur-en] [--threads 1]

Trains a model of each corpus with initial phrases of at most 10, 15 and 20 words, all from one alignment, and
translates the tuning set and the test set with rules that span at most 10, 15 and 20 words, with default
weights. Prints BLEU of both sets, and the milliseconds of processor time for each sentence of the tuning set.
Goes on where it was interrupted.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from defaults import CORPORA, Corpus, corpora_parser, side_of, test_set
from machine import machine

import hiero
from hiero.base.files import write_atomically
from hiero.base.lines import read_lines
from hiero.evaluate import Bleu, Text
from hiero.text import TextProcessing, TextSide
from hiero.train import ExtractSettings, TrainInputs, TrainSettings, train

LENGTHS = (10, 15, 20)


def model_of(data: Path, corpus: Corpus, folder: Path, length: int) -> hiero.Model:
    """Trains a model with initial phrases of this length, or takes the one that is there. The first model
    makes the alignment of the others."""
    path = folder / f"phrases-{length}"
    if not (path / "manifest.json").exists():
        first = folder / f"phrases-{LENGTHS[0]}.train" / "alignment"
        files = {option: [data / name for name in names.split()] for option, names in corpus.files}
        dictionary = files.get("--dictionary")
        inputs = TrainInputs(
            data / f"{corpus.train}.{corpus.source}",
            data / f"{corpus.train}.{corpus.target}",
            (dictionary[0], dictionary[1]) if dictionary else None,
            files.get("--mono", ()),
            None if length == LENGTHS[0] else first,
        )
        text = TextProcessing(
            *(
                TextSide("moses", language) if corpus.is_raw else TextSide()
                for language in (corpus.source, corpus.target)
            )
        )
        settings = TrainSettings(
            text=text, truecase=corpus.is_raw, extract=ExtractSettings(max_phrase=length)
        )
        train(inputs, path, settings=settings, report=lambda line: print(f"    {line}", flush=True))
    return hiero.Model.load(path)


def measure(
    data: Path, corpus: Corpus, model: hiero.Model, limit: int, path: Path, threads: int
) -> dict[str, float]:
    """Translates both sets with a span limit, or reads the results that are there."""
    if not path.exists():
        decoder, found = hiero.Decoder(model, span_limit=limit), {}
        for name in ("dev", "test"):
            source, *_ = corpus.paths(data, name)
            lines = list(read_lines(source))
            started = time.process_time()
            results = decoder.translate_batch(lines, threads=threads)
            found[f"{name} ms"] = 1000 * (time.process_time() - started) / len(lines)
            kept, references = test_set(data, corpus, name)
            side = side_of(corpus)
            metric = Bleu(references, Text("13a" if corpus.is_raw else "none"))
            texts = [side.normalised(results[k].text or "") for k in kept]
            found[f"{name} BLEU"] = float(metric.score(metric.statistics(texts).sum(axis=0)))
        write_atomically(path, json.dumps(found))
    return dict(json.loads(path.read_text()))


def main() -> None:
    """Runs the benchmark."""
    arguments = corpora_parser(__doc__).parse_args()
    print(machine())
    for name in arguments.corpora:
        folder = arguments.output / name
        folder.mkdir(parents=True, exist_ok=True)
        print(name, flush=True)
        for length in LENGTHS:
            model = model_of(arguments.data, CORPORA[name], folder, length)
            for limit in LENGTHS:
                path = folder / f"phrases-{length}-limit-{limit}.json"
                found = measure(arguments.data, CORPORA[name], model, limit, path, arguments.threads)
                numbers = ", ".join(f"{what} {value:.2f}" for what, value in found.items())
                print(f"  phrases of {length}, rules span {limit}: {numbers}", flush=True)


if __name__ == "__main__":
    main()
