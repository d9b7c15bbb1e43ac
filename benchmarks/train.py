"""Time and memory of rule extraction and of whole trainings, on three corpora.

    python benchmarks/train.py ../shared/data [--extraction]

Prints the machine, then extraction and scoring beside the published times of Moses' extract-rules (extraction
alone, one core, on a machine of the same kind), and unless `--extraction` is given, `hiero train` with its
defaults: time and peak memory of every step, rules, and BLEU of the test set with default weights. Every run
is a process of its own. Times are wall clock; trainings have all processors.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import sacrebleu
from machine import argument_parser, command, disturbance_check, machine, run_python

import hiero

# What `hiero train` takes, and the test set with its references.
CORPORA: dict[str, tuple[list[str], list[str]]] = {
    "ja-en": (["--source", "train.ja", "--target", "train.en"], ["test.ja", "test.en"]),
    "de-en": (["--source", "train.de", "--target", "train.en"], ["test2016.de", "test2016.en"]),
    "ur-en": (
        [
            *("--source", "train.ur", "--target", "train.en", "--dictionary", "dict.ur", "dict.en"),
            *("--mono", "mono.en.gz"),
        ],
        ["test.ur", *(f"test.en.{k}" for k in range(4))],
    ),
}
MOSES = {"ja-en": "7.2 million rule lines, 32 s", "de-en": "15.3 million rule lines, 98 s"}
MEASURED = """
import sys, time
from hiero.base.memory import peak_megabytes
from hiero.train import ExtractSettings, extract_rules, score_rules
folder, memory, settings, threads = sys.argv[1:]
files = [f"{folder}/{name}" for name in ("corpus.source", "corpus.target", "alignment")]
options = {"settings": ExtractSettings.model_validate_json(settings), "memory": int(memory) << 20}
threads = int(threads)
start = time.perf_counter()
counts = extract_rules(*files, f"{folder}/b.counts", threads=threads, **options)
extracted = time.perf_counter()
score_rules(f"{folder}/b.counts", f"{folder}/b.hrt", threads=threads)
scored = time.perf_counter()
print(f"{counts.occurrences / 1e6:6.2f} million occurrences, {counts.rules / 1e6:5.2f} million rules: "
      f"{threads} threads: extraction {extracted - start:5.1f} s, scoring {scored - extracted:5.1f} s, "
      f"peak {peak_megabytes():5.0f} MB", flush=True)
"""
EXTRACTIONS = [
    ("ja-en", {"max_phrase": 10, "min_gap": 2}, 4096),
    ("ja-en", {"max_phrase": 10, "min_gap": 2, "unaligned_edges": True}, 4096),
    ("de-en", {"max_phrase": 10, "min_gap": 2}, 4096),
    ("de-en", {"max_phrase": 10, "min_gap": 2, "unaligned_edges": True}, 4096),
    ("de-en", {"max_phrase": 15, "min_gap": 1}, 1024),
]


def prepare(data: Path, corpus: str, scratch: Path) -> Path:
    """Returns a folder with the corpus and its word alignment, which are made unless they are there."""
    folder = scratch / corpus
    if not folder.exists():
        folder.mkdir()
        pair = [data / corpus / name for name in CORPORA[corpus][0][1:4:2]]
        files = [folder / name for name in ("corpus.source", "corpus.target", "alignment")]
        bitext = ["--source", pair[0], "--target", pair[1], "--quiet"]
        subprocess.run(command("hiero", "corpus", *bitext, "-o", *files[:2]), check=True)
        tokens = ["--source", files[0], "--target", files[1], "--quiet"]
        subprocess.run(command("hiero", "align", *tokens, "-o", files[2]), check=True)
    return folder


def extraction(data: Path, scratch: Path) -> None:
    for corpus, settings, megabytes in EXTRACTIONS:
        folder = prepare(data, corpus, scratch)
        named = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in settings.items())
        print(f"{corpus}, {named}, memory {megabytes} MB (Moses at 10, 2: {MOSES[corpus]})", flush=True)
        for threads in (1, 2):
            run_python(MEASURED, folder, megabytes, json.dumps(settings), threads)


def training(data: Path, corpus: str, scratch: Path) -> None:
    options, (source, *references) = CORPORA[corpus]
    folder, model = data / corpus, scratch / f"{corpus}-model"
    paths = [option if option.startswith("--") else str(folder / option) for option in options]
    subprocess.run(command("hiero", "train", *paths, "-o", model, "--quiet"), check=True)
    print(f"\n== hiero train {' '.join(options)}")
    total = 0.0
    for line in (scratch / f"{corpus}-model.train" / "log.jsonl").read_text().splitlines():
        step = json.loads(line)
        total += step["seconds"]
        print(f"{step['step']:8} {step['seconds']:6.1f} s  {step['peak_megabytes']:5} MB")
    loaded = hiero.Model.load(model)
    decoder = hiero.Decoder(loaded)
    results = decoder.translate_batch((folder / source).read_text().splitlines(), threads=2)
    texts = [(folder / name).read_text().splitlines() for name in references]
    bleu = sacrebleu.corpus_bleu([result.text for result in results], texts, tokenize="none", force=True)
    rules = loaded.tables[0].rule_count
    print(f"total    {total:6.1f} s; {rules:,} rules; {source}, default weights: {bleu}", flush=True)


def main() -> None:
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--extraction", action="store_true", help="only extraction and scoring")
    arguments = parser.parse_args()
    print(machine())
    with disturbance_check(), tempfile.TemporaryDirectory() as name:
        extraction(arguments.data, Path(name))
        for corpus in () if arguments.extraction else CORPORA:
            training(arguments.data, corpus, Path(name))


if __name__ == "__main__":
    main()
