"""The steps from the forests of all folds to a second stage."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from hiero.base.files import write_atomically
from hiero.base.json_files import read_json
from hiero.base.text import split
from hiero.evaluate.bleu import Bleu
from hiero.forest.files import ForestFile
from hiero.rerank.examples import prepare, read_examples, write_examples
from hiero.rerank.features import Ngram, NgramFeatures, frequent_ngrams
from hiero.rerank.reranker import Reranker
from hiero.rerank.shares import LeftOut, ShareChoice, choose_share, left_out_statistics
from hiero.rerank.training import RerankerOptions, train_reranker, train_weights
from hiero.tune.methods.risk.annealing import Minimum

# Names of files: the second stage, the shares that were tried, and the second stage before weights of n-grams
# are multiplied by the share.
RERANKER = "reranker.json"
SHARES = "shares.json"
TRAINED = "trained.json"


class SecondStageOptions(RerankerOptions):
    """Settings of a second stage and of the forests that it is trained on."""

    folds: int = Field(5, ge=2, description="folds of the bitext, each translated by a model of the others")
    sentences: int = Field(0, ge=0, description="sentences to learn from, drawn from the bitext; 0: all")
    seed: int = Field(1, ge=0, lt=1 << 32, description="seed of the folds and of drawing sentences")
    share: float | None = Field(
        None,
        ge=0,
        description="factor of the trained weights of n-grams (default: that of 0, 0.1, ... 1.2 with the"
        " highest BLEU of folds that are left out of training)",
    )


def forests_file(folder: Path, k: int) -> Path:
    """Returns the archive with the forests of a fold."""
    return folder / f"fold-{k}.forests"


def left_out_file(folder: Path, k: int) -> Path:
    """Returns the file with the statistics of a fold that was left out of training."""
    return folder / f"left-out-{k}.json"


@dataclass(frozen=True)
class Learning:
    """Steps that write their files into the folder ``work``. ``weights`` are those of the first stage,
    ``references`` those of the sentences of each fold, as lines of tokens. ``report`` is called with a line
    for what was done; ``count`` makes of a unit and a number the function that a step reports progress to."""

    work: Path
    weights: Mapping[str, float]
    options: SecondStageOptions
    references: Sequence[Sequence[Sequence[str]]]
    threads: int
    report: Callable[[str], object]
    count: Callable[[str, int], Callable[..., object] | None]

    def _frequent(self, folds: Iterable[Sequence[Sequence[str]]]) -> list[Ngram]:
        """Returns the n-grams that the references of these folds have often enough."""
        texts = (split(line) for (line,) in itertools.chain.from_iterable(folds))
        return frequent_ngrams(texts, self.options.order, self.options.least_count)

    def prepare(self) -> None:
        """Annotates the forests of all folds with n-grams."""
        ngrams = self._frequent(self.references)
        features, examples = NgramFeatures(ngrams), []
        for k, references in enumerate(self.references):
            with ForestFile(forests_file(self.work, k)) as archive:
                fold = prepare(
                    archive,
                    self.weights,
                    references,
                    features,
                    self.work,
                    k,
                    threads=self.threads,
                    progress=self.count(f"forests of fold {k}", len(references)),
                )
            examples.append(fold)
        write_examples(self.work, examples)
        forests, edges = sum(map(len, self.references)), sum(fold.offsets[-1] for fold in examples)
        self.report(f"{forests:,} forests, {len(ngrams):,} n-grams, {edges:,} edges")

    def _report_minimum(self, minimum: Minimum) -> None:
        means = f"R {minimum.risk:.4f}, H {minimum.entropy:.3f}, |gradient| {minimum.gradient:.2g}"
        self.report(f"{means} after {minimum.evaluations} passes")

    def train(self) -> None:
        """Trains on all folds."""
        reranker = train_reranker(
            read_examples(self.work),
            self.weights,
            self.options,
            threads=self.threads,
            report=self._report_minimum,
        )
        reranker.save(self.work / TRAINED)

    def leave_out(self, k: int) -> None:
        """Trains on all folds but one, and writes the statistics of that fold by every share."""
        examples, references = read_examples(self.work), self.references
        others = [i for i in range(len(examples)) if i != k]
        if not any(examples[i].offsets[-1] for i in others):
            raise ValueError(
                f"only fold {k} has derivations, so that no share can be chosen: give more sentences to learn"
                " from (--sentences), or a share (--share)"
            )
        weights = train_weights(
            [examples[i] for i in others],
            self.options,
            ngrams=self._frequent(references[i] for i in others),
            threads=self.threads,
            report=self._report_minimum,
        )
        statistics = left_out_statistics(examples[k], weights, references[k], self.threads)
        record = LeftOut(statistics=statistics.tolist())
        write_atomically(left_out_file(self.work, k), record.model_dump_json() + "\n")

    def choose_share(self) -> None:
        """Chooses the share by the folds that were left out."""
        files = [left_out_file(self.work, k) for k in range(len(self.references))]
        statistics = [np.array(read_json(file, LeftOut).statistics) for file in files]
        choice = choose_share(statistics, Bleu(list(itertools.chain(*self.references))))
        choice.save(self.work / SHARES)
        scores = ", ".join(f"{each.bleu:.2f} with {each.share:g}" for each in choice.tried)
        self.report(f"{choice.share:g} of the weights of n-grams; BLEU of folds left out is {scores}")

    def multiply(self) -> None:
        """Writes the second stage, whose weights of n-grams are multiplied by the share."""
        share = self.options.share
        if share is None:
            share = ShareChoice.load(self.work / SHARES).share
        Reranker.load(self.work / TRAINED).with_share(share).save(self.work / RERANKER)
