"""Tuning runs that are killed at random moments, against one that is left alone.

    python benchmarks/kills.py [--kills 20] [--seed 1] [--only risk train-reranker]

trains on the demo corpus and tunes by every method with one thread, by online MIRA with 1, 4 and 20 workers,
by the methods that learn from lists search-aware as well, by minimum risk on lists and with annealing too,
and trains a second stage; then again with one thread, two or four, killing the process (SIGKILL) at random
moments and starting it again, until it has been killed so often. When a run comes to its end before that, the
next one begins. Every one that ended must have the same weights, translations and scores of all iterations,
the same forests of the bitext and the same progress of risk, bit for bit. Prints for each method how many
kills fell into how many runs, and fails where a byte differs.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from pathlib import Path

from machine import argument_parser, command, machine

from hiero.tune import METHODS

DEMO = Path(__file__).parent.parent / "data" / "demo"
# Methods with options.
TUNED = [[method] for method in METHODS if method != "mira"]
TUNED += [["mira", "--workers", workers] for workers in ("1", "4", "20")]
TUNED += [[method, "--search-aware", "guided"] for method in ("mert", "pro", "mira-batch")]
TUNED += [["risk", "--space", "nbest"], ["risk", "--annealing", "--edges", "300"]]
SECOND = "train-reranker"


def tuning(model: Path, method_options: list[str], output: Path, threads: int) -> list[str]:
    method, *more = method_options
    if method == SECOND:
        bitext = ["--source", DEMO / "train.zh", "--target", DEMO / "train.en"]
        size = ["--folds", 2, "--sentences", 500, "--steps", 10, "--pop-limit", 50]
        options = ["--output", output, "--threads", threads, "--quiet"]
        return command("hiero", SECOND, model, *bitext, *size, *options)
    references = [DEMO / f"dev.en.{k}" for k in range(4)]
    sets = ["--source", DEMO / "dev.zh", "--references", *references]
    lists = ["-k", 30] if "k" in type(METHODS[method]).model_fields else []
    size = [*lists, "--iterations", 4, "--pop-limit", 50]
    options = ["--method", method, "--output", output, "--threads", threads, "--quiet"]
    return command("hiero", "tune", model, *sets, *size, *more, *options)


def results(run: Path) -> dict[str, bytes]:
    """Reads the files of a run that do not depend on how long it took."""
    patterns = (
        "*.txt",
        "*/*.txt",
        "*/scores.json",
        "risk-*.tsv",
        "reranker.json",
        "fold-*.forests",
        "examples*",
        "left-out-*.json",
        "shares.json",
    )
    paths = sorted(path for pattern in patterns for path in run.glob(pattern))
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--kills", type=int, default=20, help="of each method")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=[*METHODS, SECOND], help="of all methods")
    arguments = parser.parse_args()
    every = [method for method in (*TUNED, [SECOND]) if method[0] in (arguments.only or method)]
    print(machine())
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bitext = ["--source", DEMO / "train.zh", "--target", DEMO / "train.en"]
        subprocess.run(command("hiero", "train", *bitext, "-o", folder / "model", "--quiet"), check=True)
        labels = [" ".join(method) for method in every]
        for method, label in zip(every, labels, strict=True):
            begin = time.monotonic()
            whole = folder / label
            subprocess.run(tuning(folder / "model", method, whole, 1), check=True, stdout=subprocess.DEVNULL)
            lasted = time.monotonic() - begin
            kills, runs = 0, 0
            while kills < arguments.kills:
                part = folder / f"{label}-{runs}"
                while True:
                    threads = rng.choice([1, 2, 4])
                    process = subprocess.Popen(
                        tuning(folder / "model", method, part, threads), stdout=subprocess.DEVNULL
                    )
                    # Late enough that something is left behind, mostly.
                    delay = rng.uniform(0.5, 0.5 + lasted / 3) if kills < arguments.kills else None
                    try:
                        if process.wait(delay) != 0:
                            raise SystemExit(f"{label} failed")
                        break
                    except subprocess.TimeoutExpired:
                        process.kill()
                        process.wait()
                        kills += 1
                runs += 1
                if results(part) != results(whole):
                    raise SystemExit(f"{label}: a run that was killed differs, see the weights:\n{part}")
            result = f"{kills} kills in {runs} runs: all weights and scores the same"
            print(f"{label:{max(map(len, labels))}} {result}", flush=True)


if __name__ == "__main__":
    main()
