"""Learning from corrections: simulated post-editing of test sets (Denkowski et al. 2014).

    python benchmarks/learning.py ../shared/data SCRATCH [--quick]

For four language pairs, a model is trained on the bitext and tuned by MERT. Then `hiero adapt` translates the
test set line by line, and learns from the first reference of each line before the next one: nothing, its
rules, a step of the weights, or both. BLEU is that of the translations made before their reference was seen,
against that reference and against all; p is by approximate randomisation against learning nothing. Where the
default step was chosen on the beginning of a test set, the rest is judged by itself, too. At last 500
corrections are timed one by one. SCRATCH keeps what is made, and the benchmark goes on where it was
interrupted.

    python benchmarks/learning.py ../shared/data SCRATCH --steps

tries steps of the weights on the lines that the default was chosen on.

    python benchmarks/learning.py ../shared/data SCRATCH --kills

kills the learning of both on de-en 50 times at random, and checks that nothing acknowledged is lost, and that
the weights and rules at the end are the same as without kills.
"""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from machine import argument_parser, command, machine, run

import hiero
from hiero.adapt import AdaptSettings, Session, adapted_decoder
from hiero.adapt.session import context_path, read_corrections
from hiero.base.lines import read_lines
from hiero.evaluate import Bleu, Runs, approximate_randomization


@dataclass(frozen=True)
class Task:
    """A language pair, its tuning and test sets, the number of its references, and the number of lines of the
    test set that the default step was chosen on."""

    name: str
    source: str
    dev: str
    test: str
    references: int
    seen: int

    def files(self, data: Path, name: str) -> tuple[Path, list[Path]]:
        """Returns the source and the references of a set."""
        folder = data / self.name
        ends = [""] if self.references == 1 else [f".{k}" for k in range(self.references)]
        return folder / f"{name}.{self.source}", [folder / f"{name}.en{end}" for end in ends]


TASKS = (
    Task("de-en", "de", "dev", "test2016", 1, 500),
    Task("ur-en", "ur", "dev", "test", 4, 605),
    Task("es-en", "es", "dev", "test", 4, 600),
    Task("ja-en", "ja", "dev", "test", 1, 0),
)
WAYS = {
    "nothing": ["--no-rules", "--no-weights"],
    "rules": ["--rules", "--no-weights"],
    "weights": ["--no-rules", "--weights"],
    "both": ["--rules", "--weights"],
}


def prepare(task: Task, data: Path, scratch: Path) -> Path:
    """Trains and tunes a model, and returns its directory."""
    model, tuned = scratch / task.name, scratch / f"{task.name}-tuned"
    if not model.exists():
        sides = ["--source", data / task.name / f"train.{task.source}"]
        run("hiero", "train", *sides, "--target", data / task.name / "train.en", "-o", model, "--threads", 2)
    if not tuned.exists():
        source, references = task.files(data, task.dev)
        sets = ["--source", source, "--references", *references, "-o", scratch / f"{task.name}-tuning"]
        run("hiero", "tune", model, "--method", "mert", *sets, "--save", tuned, "--threads", 2)
    return tuned


def lines_of(path: Path) -> list[str]:
    return list(read_lines(path))


def learn(
    task: Task, model: Path, data: Path, scratch: Path, way: str, lines: int | None, context: str = ""
) -> list[str]:
    """Learns a test set in one of the ways, prints the time of a line, and returns the translations."""
    output = scratch / f"{task.name}.{way}"
    source, references = task.files(data, task.test)
    files = []
    for name, path in (("source", source), ("reference", references[0])):
        files.append(scratch / f"{task.name}.{name}")
        files[-1].write_text("".join(f"{line}\n" for line in lines_of(path)[:lines]), encoding="utf-8")
    words = ["--source", files[0], "--references", files[1], "--tokens", "-o", output, "--quiet"]
    if not output.exists():
        start = time.monotonic()
        run("hiero", "adapt", model, "--context", context or way, *words, *WAYS[way])
        seconds = (time.monotonic() - start) / len(lines_of(output))
        print(f"{task.name} {way}: {seconds:.3f} s a line, with loading", flush=True)
    return lines_of(output)


def judge(task: Task, data: Path, translations: dict[str, list[str]]) -> None:
    """Prints BLEU of the ways, with p against learning nothing."""
    _, paths = task.files(data, task.test)
    count = len(translations["nothing"])
    references = [lines_of(path)[:count] for path in paths]
    worded = [number for number, line in enumerate(references[0]) if line.split()]
    parts = {
        "": worded,
        f" from line {task.seen + 1} on": worded[len([n for n in worded if n < task.seen]) :],
    }
    kinds = {"the reference": references[:1], "all references": references}
    for (part, kept), (name, sets) in itertools.product(parts.items(), kinds.items()):
        if not kept or (part and not task.seen) or (name == "all references" and len(paths) == 1):
            continue
        metric = Bleu([[one[k] for one in sets if one[k].split()] for k in kept])
        runs = {}
        for way, lines in translations.items():
            runs[way] = Runs.of(metric, metric.statistics([lines[k] for k in kept])[None])
            p = approximate_randomization(metric, runs["nothing"], runs[way])
            change = runs[way].mean - runs["nothing"].mean
            print(
                f"{task.name}{part}, {name}: {way} {runs[way].mean:.2f} ({change:+.2f}, p {p:.3f})",
                flush=True,
            )


def speed(task: Task, model: Path, data: Path, lines: int) -> None:
    """Prints the seconds of corrections: of the median, the 99th percentile, and the slowest."""
    source, references = task.files(data, task.test)
    pairs = zip(lines_of(source)[:lines], lines_of(references[0])[:lines], strict=True)
    session = Session(hiero.Model.load(model))
    seconds = []
    for text, reference in pairs:
        if text.split() and reference.split():
            start = time.monotonic()
            session.correct(text.split(), reference.split())
            seconds.append(time.monotonic() - start)
    seconds.sort()
    middle, high = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    rules = f"{session.rule_count:,} rules"
    print(
        f"{task.name}: {len(seconds)} corrections, {rules}: {middle:.3f} s, {high:.3f} s, {seconds[-1]:.3f} s"
    )


def kill(model: Path, data: Path, scratch: Path, kills: int) -> None:
    """Kills the learning of de-en at random, and compares with learning without kills."""
    task = TASKS[0]
    scratch.mkdir(exist_ok=True)
    expected = learn(task, model, data, scratch, "both", 150, "whole")
    files = [scratch / f"{task.name}.{name}" for name in ("source", "reference")]
    words = ["--source", files[0], "--references", files[1], "--tokens"]
    context_path(model, "killed").unlink(missing_ok=True)
    rng, done, printed = random.Random(1), 0, 0
    while done < kills:
        process = subprocess.Popen(
            command("hiero", "adapt", model, "--context", "killed", *words, *WAYS["both"]),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        # From the first moment on, and later and later into the document.
        seconds = rng.uniform(0, 1.5)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = process.communicate()[0].split("\n")[:-1]
        done += process.returncode == -signal.SIGKILL
        printed = max(printed, len(lines))
        path = context_path(model, "killed")
        kept = [one.translation for one in read_corrections(model, "killed")] if path.exists() else []
        if lines != expected[: len(lines)] or len(kept) < printed or kept != expected[: len(kept)]:
            raise SystemExit(f"after {done} kills: {len(kept)} corrections kept, {printed} acknowledged")
        if process.returncode == 0:
            path.unlink()
            printed = 0
    run("hiero", "adapt", model, "--context", "killed", *words, "--quiet")
    with Session.open(model, "killed") as session, Session.open(model, "whole") as other:
        same = session.weights == other.weights and session.rule_count == other.rule_count
        print(f"{done} kills: nothing lost; the same weights and rules as without kills: {same}")


def steps(task: Task, model: Path, data: Path) -> None:
    """Prints BLEU of weights alone on the lines that the default step was chosen on, by the sum of the
    absolute weights while a step is taken, and by the largest step as a share of it."""
    source, references = task.files(data, task.test)
    pairs = zip(lines_of(source)[: task.seen], lines_of(references[0]), strict=False)
    tokens = [(text.split(), reference.split()) for text, reference in pairs]
    tokens = [pair for pair in tokens if all(pair)]
    metric = Bleu([[" ".join(reference)] for _, reference in tokens])
    usual = adapted_decoder._SCALE
    for scale, share in itertools.product((5.0, 15.0, 45.0), (2e-5, 6e-5, 2e-4)):
        adapted_decoder._SCALE = scale
        session = Session(hiero.Model.load(model), AdaptSettings(rules=False, c=scale * share))
        lines = [session.correct(text, reference).translation for text, reference in tokens]
        bleu = Runs.of(metric, metric.statistics(lines)[None]).mean
        print(f"{task.name} {scale:g} {share:g}: {bleu:.2f}", flush=True)
    adapted_decoder._SCALE = usual


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__, "data", "scratch")
    parser.add_argument("--quick", action="store_true", help="200 lines of each test set")
    parser.add_argument("--steps", action="store_true", help="try steps of the weights")
    parser.add_argument("--kills", action="store_true", help="kill the learning of de-en at random")
    arguments = parser.parse_args()
    scratch = arguments.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    print(machine())
    if arguments.kills:
        kill(prepare(TASKS[0], arguments.data, scratch), arguments.data, scratch / "kills", 50)
        return
    lines = 200 if arguments.quick else None
    for task in TASKS:
        model = prepare(task, arguments.data, scratch)
        if arguments.steps:
            if task.seen:
                steps(task, model, arguments.data)
            continue
        translations = {way: learn(task, model, arguments.data, scratch, way, lines) for way in WAYS}
        judge(task, arguments.data, translations)
        speed(task, model, arguments.data, 500)


if __name__ == "__main__":
    main()
