"""The cost and the gain of a hundred thousand features: the word pairs of rules.

    python benchmarks/word_pairs.py cost CORPUS
    python benchmarks/word_pairs.py gain CORPUS OUTPUT [--runs 3] [--threads 2]

CORPUS is a folder that benchmarks/chiang2008.py has made, whose model and sets are used. A feature counts how
often a source and a target word stand in one rule of a derivation, for the pairs that most rules have.

`cost` decodes the first sentences of the tuning set, forests kept, and takes them through MIRA, with the same
entries of rules over an index of 1,000, 100,000 and 1,000,000 names, in turns on one thread. Prints
milliseconds of processor time a sentence, the least of three rounds.

`gain` tunes by MIRA with the features of the paper's last row and 100,000 word pairs, and compares with the
experiment's runs of that row. Started again, it goes on where it was interrupted.
"""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse
from machine import argument_parser, disturbance_check, machine
from mira_pass import mira_pass

import hiero
from hiero.cli.experiment import read_chiang2008
from hiero.evaluate import Bleu, Runs, paired_bootstrap
from hiero.experiments.chiang2008 import FULL, Chiang2008
from hiero.tune import ModelDecoder

IntArray = npt.NDArray[np.int64]
NONTERMINAL = re.compile(r"\[.+,\d\]").fullmatch
PAIRS = 100_000
SIZES = (1_000, 100_000, 1_000_000)
SENTENCES, ROUNDS = 100, 3


class WordPairs:
    """Local features that count pairs of a source and a target word in a rule.

    ``counts`` has a row for every rule of the model's first table, and one of zeros for rules of others.
    """

    def __init__(self, names: Sequence[str], counts: scipy.sparse.csr_array) -> None:
        self.names = names
        self._counts = counts

    @classmethod
    def of(cls, table: hiero.RuleTable) -> WordPairs:
        number: dict[str, int] = {}
        words, sizes = array("q"), array("q")
        for rule in map(table.rule, range(table.rule_count)):
            for side in (rule.source, rule.target):
                ids = [number.setdefault(token, len(number)) for token in side if not NONTERMINAL(token)]
                words.extend(ids)
                sizes.append(len(ids))
        keys, rules = _pairs(np.asarray(words), np.asarray(sizes).reshape(-1, 2), len(number))
        distinct, columns, counts = np.unique(keys, return_inverse=True, return_counts=True)
        frequent = np.sort(np.argsort(-counts, kind="stable")[:PAIRS])
        place = np.full(len(distinct), -1)
        place[frequent] = np.arange(len(frequent))
        keep = place[columns] >= 0
        entries = np.ones(keep.sum()), (rules[keep], place[columns[keep]])
        matrix = scipy.sparse.csr_array(entries, shape=(table.rule_count + 1, len(frequent)))
        text = list(number)
        pairs = zip(*np.divmod(distinct[frequent], len(number)), strict=True)
        return cls([f"Pair_{text[source]}_{text[target]}" for source, target in pairs], matrix)

    def over(self, size: int) -> WordPairs:
        """Returns the same entries with an index of another size."""
        counts = self._counts
        entries = (counts.data, counts.indices % size, counts.indptr)
        return WordPairs(
            [f"Pair_{k}" for k in range(size)],
            scipy.sparse.csr_array(entries, shape=(counts.shape[0], size)),
        )

    def by_rule(self, sentence: hiero.Sentence, batch: hiero.ApplicationBatch) -> scipy.sparse.csr_array:
        is_first = batch.applications.tables[batch.application] == 0
        return self._counts[np.where(is_first, batch.rules, self._counts.shape[0] - 1)]


def _pairs(words: IntArray, sizes: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Returns all pairs of words of each rule, as source * count + target, and the rules of these pairs.

    ``words`` has the source words and the target words of one rule after the other, ``sizes`` how many there
    are of both, shape (rules, 2).
    """
    begins = np.cumsum(np.append(0, sizes.ravel())[:-1]).reshape(-1, 2)
    pairs = sizes.prod(axis=1)
    rules = np.repeat(np.arange(len(sizes)), pairs)
    within = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    source, target = np.divmod(within, sizes[rules, 1])
    return words[begins[rules, 0] + source] * count + words[begins[rules, 1] + target], rules


def cost(laboratory: Chiang2008) -> None:
    """Prints milliseconds a sentence of decoding and of a pass of MIRA by the size of the index."""
    sentences = laboratory.tuning.sentences[:SENTENCES]
    metric = Bleu(laboratory.tuning.references[:SENTENCES])
    pairs = WordPairs.of(laboratory.model.tables[0])
    models = {"none": laboratory.model}
    models |= {f"{size:,}": laboratory.model.with_features([pairs.over(size)]) for size in SIZES}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            decoder, start = hiero.Decoder(model), model.weight_vector(model.weights)
            begin = time.process_time()
            list(ModelDecoder(decoder, sentences).forests(start, lambda _, forest: None))
            decoded = time.process_time()
            mira_pass(decoder, sentences, metric, start)
            times[name].append((decoded - begin, time.process_time() - decoded))
    print("names        decoding   a pass of MIRA (ms a sentence)")
    for name, rounds in times.items():
        decoding, learning = 1000 * np.min(rounds, axis=0) / len(sentences)
        print(f"{name:>9} {decoding:11.2f} {learning:16.2f}", flush=True)


def gain(laboratory: Chiang2008, output: Path, runs: int, threads: int) -> None:
    """Prints BLEU of all sets without and with word pairs."""
    laboratory.options = laboratory.options.model_copy(update={"runs": runs})
    laboratory.threads, laboratory.progress = threads, lambda line: print(line, flush=True)
    pairs = WordPairs.of(laboratory.model.tables[0])
    laboratories = {"without": laboratory, "with": replace(laboratory, folder=output, added_features=[pairs])}
    rows = {name: one.outcome(FULL) for name, one in laboratories.items()}
    for name, row in rows.items():
        learnt = [sum(run[pair] != 0 for pair in pairs.names if pair in run) for run in row.weights]
        counts = ", ".join(f"{count:,}" for count in learnt)
        passes = np.mean(row.iterations)
        print(f"{name} word pairs (that have a weight, by run: {counts}), passes {passes:.1f}")
        print(f"  tuning set {np.mean(row.tuning):.2f}")
    for one in laboratory.sets:
        metric = laboratory.metrics[one.name]
        without, added = (Runs.of(metric, row.statistics[one.name]) for row in rows.values())
        p = paired_bootstrap(metric, without, added)
        scores = [f"{each.mean:.2f} ±{each.deviation:.2f}" for each in (without, added)]
        print(f"{one.name}: {scores[0]} without, {scores[1]} with word pairs, p by bootstrap {p:.3f}")


def main() -> None:
    parser = argument_parser(__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    for part in ("cost", "gain"):
        command = parts.add_parser(part)
        command.add_argument("corpus", type=Path)
        if part == "gain":
            command.add_argument("output", type=Path)
            command.add_argument("--runs", type=int, default=3)
            command.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    laboratory = read_chiang2008(arguments.corpus / "chiang2008.toml", folder=arguments.corpus / "chiang2008")
    print(machine(), flush=True)
    if arguments.part == "cost":
        with disturbance_check():
            cost(laboratory)
    else:
        gain(laboratory, arguments.output, arguments.runs, arguments.threads)


if __name__ == "__main__":
    main()
