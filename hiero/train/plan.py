"""Estimates of the time, memory and disk that a training will take, before it starts.

Two samples of the input are trained on, so that the figures are of this text, with these settings, on this
machine. What each step took grows with the number of pairs as the step does:

- word alignment: pairs times sweeps, which become fewer with the root of the number of pairs;
- default weights: translations of a fixed number of sentences;
- all other steps: the number of pairs, besides what they take for none.

Files grow with the power of the number of pairs that the samples show, as text repeats itself. Memory grows
from sample to sample as well, up to the memory that steps may take.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hiero.base.directories import temporary_folder
from hiero.base.lines import PathLike, count_lines, read_lines
from hiero.base.ownership import STEPS
from hiero.base.processes import elsewhere
from hiero.train.pipeline import train
from hiero.train.settings import DEFAULT_MEMORY, TrainInputs, TrainSettings

# Sentence pairs of the samples. In the smaller one, what a step takes for any input shows.
_SAMPLES = (1000, 4000)


@dataclass(frozen=True)
class StepPlan:
    """The expectation for a step: seconds, and bytes of memory and of the files that it leaves."""

    name: str
    seconds: float
    memory: float
    disk: float


def plan_training(
    inputs: TrainInputs,
    output: PathLike,
    *,
    settings: TrainSettings | None = None,
    memory: int = DEFAULT_MEMORY,
    threads: int = 1,
    report: Callable[[str], object] = lambda line: None,
) -> list[StepPlan]:
    """Estimates what ``train`` will take with the same arguments, step by step, in some seconds.

    Samples are in a folder beside ``output`` meanwhile; nothing else is written. Raises what ``train`` raises
    for the samples.
    """
    settings = settings or TrainSettings()
    settings.check(inputs, memory)
    inputs.check()
    pairs = count_lines(inputs.source, *(source for source, _ in inputs.more))
    sizes = sorted({min(pairs, size) for size in _SAMPLES})
    with temporary_folder(Path(output).absolute()) as folder:
        measure = _Measure(inputs, folder, settings, memory, threads)
        measured = [elsewhere(measure, size / pairs) for size in sizes]
        report(f"planned by trainings on {' and '.join(f'{size:,}' for size in sizes)} of {pairs:,} pairs")
    few, many = measured[0], measured[-1]
    return [
        _planned(few.get(name, step), step, sizes[0], sizes[-1], pairs, settings, memory)
        for name, step in many.items()
    ]


@dataclass(frozen=True)
class _Measure:
    """Trains on a share of the input, and returns what each step took. In a process of its own it begins with
    no memory of other trainings."""

    inputs: TrainInputs
    folder: Path
    settings: TrainSettings
    memory: int
    threads: int

    def __call__(self, share: float) -> dict[str, StepPlan]:
        folder = self.folder / f"{share}"
        folder.mkdir()
        inputs = _sample(self.inputs, folder, share)
        model = folder / "model"
        train(inputs, model, settings=self.settings, memory=self.memory, threads=self.threads)
        work = folder / "model.train"
        records = json.loads((work / STEPS).read_text(encoding="utf-8"))
        steps = {}
        for line in (work / "log.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            name = entry["step"]
            disk = sum((work / output).stat().st_size for output in records[name]["outputs"])
            steps[name] = StepPlan(name, entry["seconds"], entry["peak_megabytes"] * 1e6, disk)
        return steps


def _sample(inputs: TrainInputs, folder: Path, share: float) -> TrainInputs:
    """Writes a share of the lines of each input text to a folder."""

    def sampled(name: str, path: PathLike) -> Path:
        # Both sides of a bitext have the same number of lines, and so the same lines of the sample.
        rng = random.Random(1)
        kept = (line for line in read_lines(path) if rng.random() < share)
        return _write(folder / name, kept)

    dictionary = inputs.dictionary and (
        sampled("dictionary.source", inputs.dictionary[0]),
        sampled("dictionary.target", inputs.dictionary[1]),
    )
    return replace(
        inputs,
        source=sampled("source", inputs.source),
        target=sampled("target", inputs.target),
        dictionary=dictionary,
        more=[
            (sampled(f"more{k}.source", source), sampled(f"more{k}.target", target))
            for k, (source, target) in enumerate(inputs.more)
        ],
        mono=[sampled(f"mono{k}", path) for k, path in enumerate(inputs.mono)],
        alignment=inputs.alignment and _sample_links(inputs, folder / "links", share),
    )


def _sample_links(inputs: TrainInputs, output: Path, share: float) -> Path:
    """Writes the links of the lines of the bitext, further ones and the dictionary that are in the sample."""
    assert inputs.alignment is not None

    def kept() -> Iterator[str]:
        links = read_lines(inputs.alignment or "")
        bitext, *dictionary = inputs.bitexts()
        for source, _ in [bitext, *inputs.more, *dictionary]:
            rng = random.Random(1)
            for _, line in zip(read_lines(source), links, strict=False):
                if rng.random() < share:
                    yield line

    return _write(output, kept())


def _write(path: Path, lines: Iterable[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def _planned(
    few: StepPlan,
    many: StepPlan,
    small: int,
    large: int,
    pairs: int,
    settings: TrainSettings,
    memory: int,
) -> StepPlan:
    """Extrapolates from what a step took with ``small`` and with ``large`` numbers of pairs."""
    if pairs <= large:
        return many
    x, y, z = (_work(many.name, number, settings) for number in (small, large, pairs))
    seconds = _line(few.seconds, many.seconds, x, y, z)
    held = _line(few.memory, many.memory, small, large, pairs)
    power = min(1.0, math.log(max(many.disk, 1) / max(few.disk, 1)) / math.log(large / small))
    disk = many.disk * (pairs / large) ** max(power, 0.0)
    return StepPlan(many.name, seconds, min(held, many.memory + memory), disk)


def _line(a: float, b: float, x: float, y: float, z: float) -> float:
    """Returns the value at z on the line through (x, a) and (y, b), if that rises with z; else b."""
    slope = (b - a) / (y - x) if y > x else 0.0
    return b + max(slope, 0.0) * (z - y)


def _work(step: str, pairs: float, settings: TrainSettings) -> float:
    """Returns the work of a step for a number of pairs, in a unit of its own."""
    if step == "weights":
        return 1.0
    if step != "align" or settings.aligner != "hiero":
        return pairs
    last = max(2, round(5000 / math.sqrt(max(pairs, 1))))
    return pairs * (last + max(2, last // 4) + max(1, last // 4))
