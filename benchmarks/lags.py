"""The effect of the lag of online MIRA's workers on translations.

    python benchmarks/lags.py CORPUS OUTPUT [--lags 0 1 2 4 8] [--runs 3] [--threads 2]

CORPUS is a folder that benchmarks/chiang2008.py has made. Tunes with the features of the paper's last row by
MIRA with each lag and prints BLEU of all sets. What is done is kept. benchmarks/mira_pass.py has times.
"""

from __future__ import annotations

import numpy as np
from machine import machine, parser

from hiero.cli.experiment import read_chiang2008
from hiero.evaluate import Runs
from hiero.experiments.chiang2008_laboratory import Chiang2008Laboratory
from hiero.experiments.chiang2008_systems import ALL, System


def main() -> None:
    arguments = parser(__doc__, "corpus", "output")
    arguments.add_argument("--lags", type=int, nargs="+", default=[0, 1, 2, 4, 8])
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    chosen = arguments.parse_args()
    given = read_chiang2008(chosen.corpus / "chiang2008.toml")
    chosen.output.mkdir(exist_ok=True)
    laboratory = Chiang2008Laboratory(
        given.model,
        given.tuning,
        given.held_out,
        given.tests,
        chosen.output,
        given.options.model_copy(update={"runs": chosen.runs}),
        chosen.threads,
    )
    print(machine(), flush=True)
    print(f"lag  passes  tuning set  {'  '.join(f'{one.name:>14}' for one in laboratory.sets)}")
    for lag in chosen.lags:
        found = laboratory.outcome(System(f"lag {lag}", "mira", ALL, (("lag", lag),)))
        scores = [
            Runs.of(laboratory.metrics[one.name], found.statistics[one.name]) for one in laboratory.sets
        ]
        cells = "  ".join(f"{each.mean:7.2f} ± {each.deviation:4.2f}" for each in scores)
        print(f"{lag:3}  {np.mean(found.passes):6.1f}  {np.mean(found.tuning):10.2f}  {cells}", flush=True)


if __name__ == "__main__":
    main()
