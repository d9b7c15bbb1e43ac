"""Speed, memory and quality of decoding beside the older systems, on two prepared systems.

    python benchmarks/decode.py ../shared/data [--quick]

Prints the machine and a calibration (queries a second of the `kenlm` module), then for each corpus:
score, time and BLEU by pop limit beside the published figures of cdec, Moses and Joshua, loading times,
memory, packing, threads, and long sentences. The language models are those of the prepared systems with
the rest costs that `hiero lm` gives them, which change no probability. Scores are recomputed from the rules'
text in the table and the `kenlm` module, not taken from the decoder. Times are CPU time of decoding alone on
one thread, without loading; the peers' were taken on another machine of the same kind: compare ratios.
"""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kenlm
import sacrebleu
from machine import argument_parser, disturbance_check, machine, run_python
from prepared import PREPARED, System

import hiero
from hiero.base.text import split
from hiero.cli.io.records import derivation_steps

POP_LIMITS = (2, 4, 10, 20, 30, 40, 50, 80, 100, 200, 500, 1000, 2000)
# Mean score / milliseconds a sentence: every figure a setting of ours has to match in less time.
PEERS = {
    "ja-en": {
        "cdec": "-7.0990/13.0 -6.9867/15.7 -6.9297/28.5 -6.8973/48.8 -6.8681/117 -6.8519/255",
        "Moses cube pruning": "-7.787/2.2 -7.490/3.1 -7.281/8.1 -7.192/14.9 -7.103/33.6 -7.029/64.4",
        "Moses incremental": "-7.1807/1.7 -7.0358/2.6 -6.9277/6.1 -6.9003/10.6 -6.8642/26.5 -6.8477/52.2",
        "Joshua": "-7.472/10.3 -7.283/10.7 -7.129/17.6 -7.059/28.8 -6.994/60.5 -6.954/121",
    },
    "de-en": {
        "cdec": "-19.4963/23.7 -19.4438/51.6 -19.4376/73.4 -19.4339/341",
        "Moses cube pruning": "-20.141/3.7 -19.715/9.8 -19.658/16.4",
        "Moses incremental": "-19.983/3.2 -19.4869/7.4 -19.4612/11.9 -19.4388/49.2",
        "Joshua": "-19.592/9.5 -19.475/21.5 -19.460/35.4",
    },
}


class Rescorer:
    """A scorer of derivations by the rules as the table has them and by the `kenlm` module."""

    def __init__(self, system: System, model: hiero.Model) -> None:
        self.table = model.tables[0]
        self.weights = model.weights
        self.lm = kenlm.Model(str(system.plain))
        self.rules: dict[str, dict[str, float]] = {}

    def rule_scores(self, source: str) -> dict[str, float]:
        """Returns the best weighted sum of features for each target of a source side."""
        if source not in self.rules:
            scores: dict[str, float] = {}
            for rule in self.table.lookup(source.split(" ")):
                score = sum(self.weights[name] * value for name, value in rule.features.items())
                target = " ".join(rule.target)
                scores[target] = max(score, scores.get(target, -math.inf))
            self.rules[source] = scores
        return self.rules[source]

    def score(self, result: hiero.Translation) -> float:
        total = self.weights["LM0"] * self.lm.score(result.text) * math.log(10)
        total -= self.weights["WordPenalty"] * len(result.tokens)
        for step in derivation_steps(result.derivation):
            if step["table"] == "glue":
                total += self.weights["Glue"] * (step["source"] != "[X,1]")
            elif step["table"]:
                total += self.rule_scores(str(step["source"]))[str(step["target"])]
        return total


CHILD_PACK = """
import sys, time
from hiero.base import tables
from hiero.cli.base.size import parse_memory
from hiero.base.memory import peak_megabytes
start = time.perf_counter()
tables.pack(sys.argv[1], sys.argv[2], memory=parse_memory(sys.argv[3]))
print(time.perf_counter() - start, peak_megabytes())
"""


def pack(system: System, memory: str, output: Path) -> tuple[float, float]:
    """Runs `hiero pack` in another process; returns seconds and peak megabytes."""
    command = [sys.executable, "-P", "-c", CHILD_PACK, str(system.grammar), str(output), memory]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def calibrate(data: Path, system: System) -> None:
    model = kenlm.Model(str(system.plain))
    lines = (data / "ja-en" / "train.en").read_text().splitlines()
    queries = sum(len(line.split()) + 1 for line in lines)
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        for line in lines:
            model.score(line)
        best = max(best, queries / (time.process_time() - start))
    print(f"kenlm.Model.score over ja-en/train.en: {best / 1e6:.1f} million queries a second")


def decode_all(
    system: System, model: hiero.Model, pop_limit: int
) -> tuple[float, float, list[hiero.Translation]]:
    """Translates sentences; returns milliseconds and hypotheses a sentence, and the translations."""
    decoder = hiero.Decoder(model, pop_limit=pop_limit, span_limit=15)
    tokens = [split(line) for line in system.source]
    decoder.translate(tokens[0])
    start = time.process_time()
    results = [decoder.translate(sentence) for sentence in tokens]
    milliseconds = (time.process_time() - start) * 1e3 / len(tokens)
    return milliseconds, sum(r.stats.hypotheses for r in results) / len(results), results


def curve(system: System, limits: tuple[int, ...]) -> list[tuple[int, float, float]]:
    model = system.model()
    rescorer = Rescorer(system, model)
    points = []
    print("pop limit   mean score      ms   hypotheses   LM queries    BLEU   decoder's own score")
    for limit in limits:
        milliseconds, hypotheses, results = decode_all(system, model, limit)
        score = sum(map(rescorer.score, results)) / len(results)
        reported = sum(result.score for result in results) / len(results)
        queries = sum(result.stats.lm_queries for result in results) / len(results)
        bleu = sacrebleu.corpus_bleu(
            [r.text for r in results], [system.reference], tokenize="none", force=True
        ).score
        print(
            f"{limit:9}   {score:10.4f}  {milliseconds:6.2f}   {hypotheses:10.0f}   {queries:10.0f}"
            f"   {bleu:5.2f}   {reported:.4f}"
        )
        points.append((limit, score, milliseconds))
    return points


def compare(corpus: str, points: list[tuple[int, float, float]]) -> None:
    print("Each peer's point, and our quickest setting with at least its score:")
    for peer, figures in PEERS[corpus].items():
        for figure in figures.split():
            score, milliseconds = map(float, figure.split("/"))
            ours = [(ms, limit, s) for limit, s, ms in points if s >= score]
            if not ours:
                print(f"  {peer:20} {score:9.4f} {milliseconds:6.1f} ms   -- no limit tried reaches it")
                continue
            ms, limit, s = min(ours)
            verdict = "" if ms <= milliseconds else "   SLOWER"
            print(
                f"  {peer:20} {score:9.4f} {milliseconds:6.1f} ms   pop limit {limit:4}: {s:9.4f} "
                f"{ms:6.2f} ms, {milliseconds / ms:5.1f} times as fast{verdict}"
            )


CHILD_LOADING = """
import sys, time, hiero
from hiero.base.memory import peak_megabytes
from time import perf_counter as now
table_path, lm_path, weights_path, source = sys.argv[1:]
start = now(); table = hiero.RuleTable.open(table_path); opened = now() - start
start = now(); lm = hiero.LanguageModel.load(lm_path); lm_time = now() - start
weights = hiero.read_weights(weights_path)
start = now(); model = hiero.Model([table], [lm], weights); mapping = now() - start
decoder = hiero.Decoder(model, pop_limit=200, span_limit=15)
for line in open(source):
    decoder.translate(line)
peak = peak_megabytes()
print(f"opening the table {opened * 1e3:.2f} ms, LM binary {lm_time * 1e3:.1f} ms, LM words and "
      f"estimates {mapping * 1e3:.0f} ms, peak resident memory {peak:.0f} MB")
"""


def memory_and_loading(system: System) -> None:
    run_python(CHILD_LOADING, system.packed, system.binary, system.weights, system.source_file)


def threads(system: System) -> None:
    """Prints sentences a second of one thread, two threads of a process, and two processes of one thread."""
    model = system.model()
    decoder = hiero.Decoder(model, pop_limit=200, span_limit=15)
    context = multiprocessing.get_context("fork")

    def by_threads(count: int) -> None:
        decoder.translate_batch(system.source * count, threads=count)

    def by_processes() -> None:
        processes = [context.Process(target=by_threads, args=(1,)) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()

    def rate(work: Callable[[], None], times: int) -> float:
        start = time.perf_counter()
        work()
        return times * len(system.source) / (time.perf_counter() - start)

    # In turns, so that a slow moment is not one way's alone.
    rounds = [
        (rate(lambda: by_threads(1), 1), rate(lambda: by_threads(2), 2), rate(by_processes, 2)) for _ in "123"
    ]
    one, two, processes = map(max, zip(*rounds, strict=True))
    print(
        f"sentences a second: one thread {one:.1f}, two threads {two:.1f} ({two / one:.2f} times), "
        f"two processes {processes:.1f} (threads: {two / processes:.2f} of them)"
    )


CHILD_LONG = """
import sys, time, hiero
from hiero.base.memory import peak_megabytes
model = hiero.Model.assemble([sys.argv[1]], [sys.argv[2]], sys.argv[3])
decoder = hiero.Decoder(model)
words = open(sys.argv[4]).read().split()[:600]
decoder.translate(words[:20])
for length in 20, 40, 80, 160, 300, 600:
    parts = [words[begin : begin + length] for begin in range(0, 600, length)]
    start = time.process_time()
    for part in parts:
        decoder.translate(part)
    seconds = time.process_time() - start
    print(f"{length} words at the defaults: {seconds * 1e3 / 600:.2f} ms a word, {peak_megabytes():.0f} MB")
"""


def long_sentences(system: System) -> None:
    """Prints time a word and peak memory for growing parts of the test set's first 600 words."""
    run_python(CHILD_LONG, system.packed, system.binary, system.weights, system.source_file)


def main() -> None:
    parser = argument_parser(__doc__, "data")
    parser.add_argument("--quick", action="store_true", help="pop limits up to 100 only")
    arguments = parser.parse_args()
    limits = tuple(n for n in POP_LIMITS if n <= 100) if arguments.quick else POP_LIMITS
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        systems = [System(arguments.data, corpus, Path(name)) for corpus in PREPARED]
        calibrate(arguments.data, systems[0])
        for system in systems:
            print(f"\n== {system.corpus}: {len(system.source)} sentences, span limit 15")
            seconds, megabytes = pack(system, "320M", system.packed)
            small = system.packed.with_suffix(".small")
            small_seconds, small_megabytes = pack(system, "64M", small)
            same = "the same file" if small.read_bytes() == system.packed.read_bytes() else "ANOTHER FILE"
            print(
                f"packing {seconds:.1f} s, {megabytes:.0f} MB; with 64M {small_seconds:.1f} s, "
                f"{small_megabytes:.0f} MB, {same}"
            )
            memory_and_loading(system)
            with disturbance_check():
                compare(system.corpus, curve(system, limits))
            with disturbance_check():
                threads(system)
            long_sentences(system)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
