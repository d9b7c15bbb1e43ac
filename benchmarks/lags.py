"""The effect of the lag of online MIRA's workers on translations.

    python benchmarks/lags.py CORPUS OUTPUT [--lags 0 1 2 4 8] [--runs 3] [--threads 2]

CORPUS is a folder that benchmarks/chiang2008.py has made. Tunes MIRA with all features with each lag and
prints BLEU of all sets. Started again, it goes on where it was interrupted. Times are those of
benchmarks/mira_pass.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from machine import machine, parser

from hiero.cli.experiment import read_chiang2008
from hiero.evaluate import Runs
from hiero.experiments.chiang2008 import FULL


def main() -> None:
    arguments = parser(__doc__, "corpus", "output")
    arguments.add_argument("--lags", type=int, nargs="+", default=[0, 1, 2, 4, 8])
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    chosen = arguments.parse_args()
    configuration = chosen.corpus / "chiang2008.toml"
    laboratory = read_chiang2008(configuration, folder=chosen.output, threads=chosen.threads)
    laboratory.options = laboratory.options.model_copy(update={"runs": chosen.runs})
    chosen.output.mkdir(exist_ok=True)
    print(machine(), flush=True)
    print(f"lag  passes  tuning set  {'  '.join(f'{one.name:>14}' for one in laboratory.sets)}")
    for lag in chosen.lags:
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
