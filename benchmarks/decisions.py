"""BLEU of decisions by the best derivation, by minimum Bayes risk and by variational n-gram models.

    python benchmarks/decisions.py MODEL TUNING.src TEST.src --tuning REFERENCES --test REFERENCES

decodes both sets, and chooses on the tuning set gamma, whether linear BLEU has its usual parameters or those
of the tuning set's best translations, and how much the score counts beside the n-gram models; prints BLEU of
both sets, and how significant the difference to the best derivation is on the test set. Files are in tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from machine import argument_parser, machine

import hiero
from hiero.base.lines import read_lines
from hiero.base.parallel import ordered_map
from hiero.evaluate import Bleu, Runs, approximate_randomization, paired_bootstrap
from hiero.forest.decisions import Decision
from hiero.forest.losses import LinearBleu

GAMMAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


class Set:
    """A set with the forests of its sentences."""

    def __init__(
        self, decoder: hiero.Decoder, source: Path, references: Sequence[Path], threads: int
    ) -> None:
        lines = [line.split() for line in read_lines(source)]
        self.weights = decoder.weights
        results = decoder.translate_batch(lines, threads=threads, keep="forest")
        self.forests = [result.forest for result in results]
        texts = [list(read_lines(path)) for path in references]
        self.metric = Bleu(list(map(list, zip(*texts, strict=True))))
        self.threads = threads

    def decided(self, decision: Decision) -> Runs:
        def text(forest: hiero.Forest) -> str:
            best = decision.choose(forest, self.weights)
            return "" if best is None else " ".join(best.tokens)

        lines = list(ordered_map(text, self.forests, self.threads))
        return Runs.of(self.metric, self.metric.statistics(lines)[None])


def main() -> None:
    parser = argument_parser(__doc__, "model", "tuning_source", "test_source")
    parser.add_argument("--tuning", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, nargs="+", required=True)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(machine())
    decoder = hiero.Decoder(hiero.Model.load(arguments.model, weights=arguments.weights))
    tuning = Set(decoder, arguments.tuning_source, arguments.tuning, arguments.threads)
    test = Set(decoder, arguments.test_source, arguments.test, arguments.threads)
    plain = Decision()
    baseline, tuned = test.decided(plain), tuning.decided(plain)
    print(f"viterbi: tuning {tuned.mean:.2f}, test {baseline.mean:.2f}")
    estimate = LinearBleu.estimate(tuned.statistics[0].sum(axis=0))
    estimated = {"precision": estimate.precision, "ratio": estimate.ratio}
    print(f"the tuning set's precision {estimate.precision:.3f}, ratio {estimate.ratio:.3f}")
    for name, variants in (
        ("mbr", {"": {}, "/own": estimated}),
        ("variational", {"": {}, "/score": {"score_share": 0.5}}),
    ):
        choices = {
            f"{gamma:g}{label}": Decision(decision=name, gamma=gamma, **settings)
            for gamma in GAMMAS
            for label, settings in variants.items()
        }
        scores = {label: tuning.decided(choice).mean for label, choice in choices.items()}
        best = max(scores, key=scores.__getitem__)
        result = test.decided(choices[best])
        p = (
            paired_bootstrap(test.metric, baseline, result),
            approximate_randomization(test.metric, baseline, result),
        )
        print(f"{name}: tuning by gamma {', '.join(f'{label} {x:.2f}' for label, x in scores.items())}")
        print(
            f"{name}: gamma {best}: tuning {scores[best]:.2f}, test {result.mean:.2f}"
            f" (p bootstrap {p[0]:.3f}, randomisation {p[1]:.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
