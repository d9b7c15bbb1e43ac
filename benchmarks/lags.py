"""The effect of the lag of online MIRA's workers on translations.

    python benchmarks/lags.py CORPUS OUTPUT [--lags 0 1 2 4 8] [--runs 3] [--threads 2]

CORPUS is a folder that benchmarks/chiang2008.py has made. Tunes MIRA with all features with each lag and
prints BLEU of all sets. Started again, it goes on where it was interrupted. Times are those of
benchmarks/mira_pass.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from machine import argument_parser, machine

from hiero.cli.experiment import read_chiang2008
from hiero.evaluate import Runs
from hiero.experiments.chiang2008 import FULL


def main() -> None:
    parser = argument_parser(__doc__, "corpus", "output")
    parser.add_argument("--lags", type=int, nargs="+", default=[0, 1, 2, 4, 8])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    configuration = arguments.corpus / "chiang2008.toml"
    laboratory = read_chiang2008(configuration, folder=arguments.output, threads=arguments.threads)
    laboratory.options = laboratory.options.model_copy(update={"runs": arguments.runs})
    print(machine(), flush=True)
    print(f"lag  passes  tuning set  {'  '.join(f'{one.name:>14}' for one in laboratory.sets)}")
    for lag in arguments.lags:
        system = replace(FULL, name=f"lag {lag}", slug=f"mira-all-lag-{lag}", settings=(("lag", lag),))
        outcome = laboratory.outcome(system)
        scores = [
            Runs.of(laboratory.metrics[one.name], outcome.statistics[one.name]) for one in laboratory.sets
        ]
        cells = "  ".join(f"{each.mean:7.2f} ± {each.deviation:4.2f}" for each in scores)
        print(
            f"{lag:3}  {np.mean(outcome.iterations):6.1f}  {np.mean(outcome.tuning):10.2f}  {cells}",
            flush=True,
        )


if __name__ == "__main__":
    main()
