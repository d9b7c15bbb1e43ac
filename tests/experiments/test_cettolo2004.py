"""`hiero experiment cettolo2004`: its working points are decodings, and its table has the best of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import read_weights
from hiero.evaluate import Bleu, Nist
from hiero.experiments import laboratory
from hiero.experiments.cettolo2004 import Cettolo2004, Cettolo2004Options, Point, table
from hiero.experiments.systems import LabelledSet
from hiero.tune.run.results import Iteration, TuneResult
from support.commands import call, one_error_line
from support.paths import FRENCH
from support.tuning import without_times


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a tuning set and a test set with two references."""
    folder = tmp_path_factory.mktemp("cettolo")
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(folder / "model")
    lines = [line for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "WordPenalty": 0.5})
    for name, part in (("tuning", lines[::2]), ("test", lines[1::2])):
        (folder / f"{name}.fr").write_text("".join(f"{line}\n" for line in part))
        for number, decoder in enumerate([hiero.Decoder(model), other]):
            texts = [result.text for result in decoder.translate_batch(part)]
            # References of both systems differ, also where these agree.
            (folder / f"{name}.{number}").write_text("".join(f"{text}{' !' * number}\n" for text in texts))
    return folder


def arguments(folder: Path, output: Path, *more: object) -> list[str]:
    tuning = ("--source", folder / "tuning.fr", "--references", folder / "tuning.0", folder / "tuning.1")
    test = (
        *("--test-source", folder / "test.fr"),
        *("--test-references", folder / "test.0", folder / "test.1"),
    )
    command = ("experiment", "cettolo2004", folder / "model", *tuning, *test, "--output", output, *more)
    return [str(part) for part in command]


def decoded(folder: Path, weights: Mapping[str, float], scale: float, **settings: float) -> Point:
    """Decodes the test set with weights times a scale, apart from the experiment."""
    model = hiero.Model.load(folder / "model")
    scaled = {name: weight * scale for name, weight in weights.items()}
    lines = (folder / "test.fr").read_text().splitlines()
    results = hiero.Decoder(model, **settings).with_weights(scaled).translate_batch(lines)
    references = list(zip(*((folder / f"test.{k}").read_text().splitlines() for k in (0, 1)), strict=True))
    scores = []
    for kind in (Bleu, Nist):
        metric = kind([list(lines) for lines in references])
        statistics = metric.statistics([" ".join(result.tokens) for result in results])
        scores.append(float(metric.score(statistics.sum(axis=0))))
    return Point(scale, sum(result.stats.hypotheses for result in results), *scores)


def experiment(
    model: hiero.Model, tuning: LabelledSet, test: LabelledSet, folder: Path, options: Cettolo2004Options
) -> Cettolo2004:
    return Cettolo2004(model=model, tuning=tuning, tests=[test], folder=folder, options=options)


def rows(path: Path) -> list[tuple[str, Point]]:
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return [(name, Point(float(s), int(g), float(b), float(n))) for name, s, g, b, n in lines]


def test_the_experiment(folder: Path, tmp_path: Path) -> None:
    more = ("--decodings", 5, "--pop-limit", 20, "--beam-threshold", 3)
    done = call("hiero", *arguments(folder, tmp_path / "out", *more))
    assert (done.returncode, done.stderr) == (0, b""), done
    # Uniform weights are of size 1, in the directions of the model's.
    weights = hiero.Model.load(folder / "model").weights
    equal = {name: float(np.sign(weight)) for name, weight in weights.items()}
    loosest = 2.0**-3
    start = read_weights(tmp_path / "out" / "bleu-tuned" / "run-1" / "iteration-000" / "weights.txt")
    assert {name: w / loosest for name, w in start.items() if w} == {n: w for n, w in equal.items() if w}
    # Tuned weights are as long as these, in the same features.
    tuned = read_weights(tmp_path / "out" / "nist-tuned" / "run-1" / "weights.txt")
    assert sum(map(abs, tuned.values())) == pytest.approx(loosest * sum(map(abs, equal.values())))
    assert all(equal.get(name, 0) != 0 for name, weight in tuned.items() if weight != 0)
    points = rows(tmp_path / "out" / "curves.tsv")
    assert len(points) == 5 * 13
    settings = {"pop_limit": 20, "beam_threshold": 3}
    curve = [point for name, point in points if name == "uniform"]
    assert [point.scale for point in curve] == [2.0 ** (half / 2) for half in range(-6, 7)]
    assert curve == [decoded(folder, equal, point.scale, **settings) for point in curve]
    scaled = {name: weight / loosest for name, weight in tuned.items()}
    others = [point for name, point in points if name == "NIST-tuned"]
    assert others[4] == decoded(folder, scaled, others[4].scale, **settings)
    # A larger scale prunes more.
    assert curve[0].generated > curve[-1].generated
    # The table is of the best points.
    printed = done.stdout.decode()
    assert printed.endswith((tmp_path / "out" / "table.txt").read_text())
    best = max(point.bleu for point in curve)
    cheapest = min(point.generated for point in curve if point.bleu == best)
    (line,) = [line for line in printed.splitlines() if line.startswith("uniform")]
    nist = max(point.nist for point in curve)
    assert line.split() == ["uniform", f"{best:.2f}", f"{nist:.4f}", f"{cheapest:,}"]
    for number in (1, 2):
        assert (tmp_path / "out" / f"figure-{number}.png").read_bytes().startswith(b"\x89PNG")

    # Interrupted and started again it comes to the same.
    for path in (tmp_path / "out" / "bleu-tuned-on-test").glob("scale-*.json"):
        path.unlink()
    (tmp_path / "out" / "nist-tuned" / "run-1" / "weights.txt").unlink()
    before = (tmp_path / "out" / "curves.tsv").read_bytes()
    again = call("hiero", *arguments(folder, tmp_path / "out", *more, "--threads", 2))
    assert again.stdout == done.stdout and (tmp_path / "out" / "curves.tsv").read_bytes() == before
    (tmp_path / "out" / "uniform" / "scale-0.125.json").write_text('{"weights": {}, "point": {"scale": 1}}')
    damaged = call("hiero", *arguments(folder, tmp_path / "out", *more))
    assert "scale-0.125.json: damaged: point.generated" in one_error_line(damaged, 1)
    other = call("hiero", *arguments(folder, tmp_path / "out", *more, "--seed", 2))
    assert "uniform has begun with other settings, see row.json, seed;" in one_error_line(other, 1)
    swapped = arguments(folder, tmp_path / "out", *more)
    swapped[swapped.index("--source") + 1] = str(folder / "test.fr")
    assert "holds another run, see experiment.json, origin.sets" in one_error_line(call("hiero", *swapped), 1)


@pytest.mark.slow
def test_more_decodings(folder: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(folder / "model")
    # The language model prefers what is worst, so that there is something to learn.
    weights = {name: weight * (-1 if name == "LM0" else 1) for name, weight in model.weights.items()}
    lines = (folder / "test.fr").read_text().splitlines()[:4]
    texts = [[line] for line in (folder / "test.0").read_text().splitlines()[:4]]

    def run(name: str, decodings: int) -> dict[str, list[Point]]:
        options = Cettolo2004Options(pop_limit=5, scales=(0.5, 1.0), decodings=decodings)
        one = LabelledSet("test", [hiero.Sentence(line) for line in lines], texts)
        experiment(model.with_weights(weights), one, one, tmp_path / name, options).run()
        curves: dict[str, list[Point]] = {}
        for system, point in rows(tmp_path / name / "curves.tsv"):
            curves.setdefault(system, []).append(point)
        return curves

    def files(name: str) -> dict[str, bytes]:
        paths = [path for path in (tmp_path / name).rglob("*") if path.suffix in (".json", ".txt", ".tsv")]
        paths = [path for path in paths if path.name != "times.json"]
        return {str(path.relative_to(tmp_path / name)): without_times(path) for path in paths}

    part, whole = run("part", 2), run("whole", 12)
    # Some weights have changed, and their working points with them.
    assert part["uniform"] == whole["uniform"]
    assert part["BLEU-tuned"] != whole["BLEU-tuned"]
    assert run("part", 12) == whole and files("part") == files("whole")
    assert run("part", 1) == whole and files("part") == files("whole")


def test_other_options_before_anything_has_run(folder: Path, tmp_path: Path) -> None:
    one = LabelledSet("test", [hiero.Sentence("le chat")], [["the cat"]])
    model = hiero.Model.load(folder / "model")
    model = model.with_weights(dict.fromkeys(model.feature_names, 0.0))
    for seed in (1, 2):
        with pytest.raises(ValueError, match="all features are fixed"):
            experiment(model, one, one, tmp_path / "out", Cettolo2004Options(seed=seed)).run()


def test_what_weights_are_tuned_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are tuned on their set by their metric, with the seed; features without a weight keep none."""
    model = hiero.Model.load(folder / "model")
    sets = []
    for name in ("tuning", "test"):
        lines, texts = ((folder / f"{name}.{end}").read_text().splitlines() for end in ("fr", "1"))
        sentences = [hiero.Sentence(line) for line in lines]
        sets.append(LabelledSet(name, sentences, [[text] for text in texts]))
    calls = []

    def tuned(decoder: Any, metric: Any, start: Any, directory: Path, options: Any, **_: Any) -> TuneResult:
        calls.append((directory.parent.name, metric.signature, metric.checksum, decoder._sentences))
        assert (options.method, options.seed, options.settings.iterations) == ("simplex", 5, 9)
        assert set(options.fixed) == {name for name in start if not model.weights.get(name)}
        return TuneResult([Iteration(start, 1.0, None, 1, 1)], 0, "enough")

    monkeypatch.setattr(laboratory, "tune", tuned)
    options = Cettolo2004Options(seed=5, decodings=9, pop_limit=3, scales=(1.0,))
    experiment(model, *sets, tmp_path / "out", options).run()
    assert calls == [
        (name, metric.signature, metric.checksum, one.sentences)
        for one, end in zip(sets, ("", "-on-test"), strict=True)
        for name, metric in (
            (f"bleu-tuned{end}", Bleu(one.references)),
            (f"nist-tuned{end}", Nist(one.references)),
        )
    ]


def test_table_by_hand() -> None:
    curves = {
        "uniform": [Point(1, 1000, 20.0, 5.0), Point(2, 500, 20.0, 4.0), Point(4, 100, 10.0, 3.0)],
        "BLEU-tuned": [Point(1, 900, 22.0, 4.5), Point(2, 300, 20.5, 5.5), Point(4, 90, 12.0, 3.0)],
        "NIST-tuned": [Point(1, 900, 19.0, 6.0)],
    }
    assert [line.split() for line in table(curves).splitlines()[1:4]] == [
        ["uniform", "20.00", "5.0000", "500"],
        ["BLEU-tuned", "22.00", "+10.0%", "5.5000", "+10.0%", "300"],
        ["NIST-tuned", "19.00", "-5.0%", "6.0000", "+20.0%", "never"],
    ]
    zero = {"uniform": [Point(1, 9, 0, 0)], "x": [Point(1, 9, 1, 1)]}
    assert table(zero).splitlines()[2].split() == ["x", "1.00", "1.0000", "9"]
