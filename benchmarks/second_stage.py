"""The gain of a second stage by the variance of its prior, and on a fold of its bitext that was left out.

    python benchmarks/second_stage.py OUTPUT/CORPUS [--variances 1 0.003] [--threads 2]

Of what `benchmarks/li2009.py` left there. Prints for each run BLEU of the first stage, of the second stage,
and of others trained on the same forests with these variances, on all sets; whether the runs of the second
stage together differ from those of the first; and of the first run's forests BLEU of the first sentences of
four folds, which a second stage was trained on, and of the fifth. Files are in tokens.
"""

from __future__ import annotations

import itertools
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import argument_parser, machine

import hiero
from hiero import Derivation, Forest
from hiero.base.lines import read_lines
from hiero.base.parallel import ordered_map
from hiero.base.text import split
from hiero.evaluate import Bleu, Runs, paired_bootstrap
from hiero.forest.files import ForestFile
from hiero.rerank import NgramFeatures, Reranker, RerankerOptions, frequent_ngrams
from hiero.rerank.examples import prepare, read_examples
from hiero.rerank.learning import RERANKER
from hiero.rerank.training import train_reranker

SHOWN = 1500  # sentences of the bitext that BLEU is of
Choice = Callable[[Forest], Derivation | None]


@dataclass(frozen=True)
class DecodedSet:
    """The forests of a set, and its metric."""

    forests: Sequence[Forest]
    metric: Bleu
    threads: int

    def statistics(self, choose: Choice) -> Any:
        def text(forest: Forest) -> str:
            best = choose(forest) if forest.root >= 0 else None
            return "" if best is None else " ".join(best.tokens)

        return self.metric.statistics(list(ordered_map(text, self.forests, self.threads)))

    def bleu(self, choose: Choice) -> str:
        return f"{Runs.of(self.metric, self.statistics(choose)[None]).mean:.2f}"


def sets_of(folder: Path) -> Iterator[tuple[str, list[list[str]], Bleu]]:
    """Yields name, sentences and metric of the sets of an experiment."""
    configuration = tomllib.loads((folder / "li2009.toml").read_text(encoding="utf-8"))
    for one in (configuration["tuning"], *configuration["test"]):
        texts = [list(read_lines(path)) for path in one["references"]]
        references = list(map(list, zip(*texts, strict=True)))
        yield one["name"], [split(line) for line in read_lines(one["source"])], Bleu(references)


def best_by(weights: Mapping[str, float]) -> Choice:
    return lambda forest: forest.viterbi(weights)


def compare(folder: Path, variances: Sequence[float], threads: int) -> None:
    configuration = tomllib.loads((folder / "li2009.toml").read_text(encoding="utf-8"))
    model = hiero.Model.load(folder / "model")
    sets = list(sets_of(folder))
    statistics: dict[str, list[tuple[Any, Any]]] = {name: [] for name, *_ in sets}
    for run in sorted((folder / "li2009" / "risk-large").glob("run-?")):
        second = Reranker.load(run / RERANKER)
        decoder = hiero.Decoder(model, **configuration["decoding"]).with_weights(
            model.weight_vector(second.weights)
        )
        decoded = []
        for name, sentences, metric in sets:
            results = decoder.translate_batch(sentences, threads=threads, keep="forest")
            decoded.append(DecodedSet([r.forest for r in results], metric, threads))
            first = best_by(second.weights)
            statistics[name].append((decoded[-1].statistics(first), decoded[-1].statistics(second.choose)))
        rows: list[tuple[str, Choice]] = [("first stage", first), ("second stage", second.choose)]
        examples = read_examples(run)
        for variance in variances:
            options = RerankerOptions(variance=variance)
            other = train_reranker(examples, second.weights, options, threads=threads)
            rows.append((f"variance {variance:g}", other.choose))
        for label, choose in rows:
            cells = (f"{name} {one.bleu(choose)}" for (name, *_), one in zip(sets, decoded, strict=True))
            print(f"{run.name}, {label}: {', '.join(cells)}", flush=True)
    for name, _, metric in sets:
        before, after = (Runs.of(metric, each) for each in zip(*statistics[name], strict=True))
        p = paired_bootstrap(metric, before, after)
        print(f"{name}: {before.mean:.2f} to {after.mean:.2f} (p bootstrap {p:.3f})", flush=True)


def left_out(folder: Path, variances: Sequence[float], threads: int) -> None:
    run = folder / "li2009" / "risk-large" / "run-1"
    weights = Reranker.load(run / RERANKER).weights
    sides = (read_lines(run / f"corpus.{side}") for side in ("source", "target"))
    target_of = {tuple(split(source)): target for source, target in zip(*sides, strict=True)}
    archives = [ForestFile(path) for path in sorted(run.glob("fold-?.forests"))]
    *folds, last = ([forest for forest in archive if forest.root >= 0] for archive in archives)
    trained = list(itertools.chain.from_iterable(folds))
    references = [[target_of[tuple(forest.source)]] for forest in trained]
    seen = DecodedSet(trained[:SHOWN], Bleu(references[:SHOWN]), threads)
    unseen = DecodedSet(
        last[:SHOWN], Bleu([[target_of[tuple(forest.source)]] for forest in last[:SHOWN]]), threads
    )
    rows: list[tuple[str, Choice]] = [("first stage", best_by(weights))]
    with tempfile.TemporaryDirectory() as scratch:
        features = NgramFeatures(frequent_ngrams((split(text) for (text,) in references), 2, 2))
        examples = prepare(trained, weights, references, features, Path(scratch), threads=threads)
        for variance in (RerankerOptions().variance, *variances):
            options = RerankerOptions(variance=variance)
            second = train_reranker([examples], weights, options, threads=threads)
            rows.append((f"variance {variance:g}", second.choose))
    sizes = f"{len(seen.forests):,} sentences of four folds, {len(unseen.forests):,} of the fifth"
    for label, choose in rows:
        print(f"{sizes}, {label}: {seen.bleu(choose)}, {unseen.bleu(choose)}", flush=True)


def main() -> None:
    parser = argument_parser(__doc__, "folder")
    parser.add_argument("--variances", type=float, nargs="*", default=[1.0, 0.003])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(machine())
    compare(arguments.folder, arguments.variances, arguments.threads)
    left_out(arguments.folder, arguments.variances, arguments.threads)


if __name__ == "__main__":
    main()
