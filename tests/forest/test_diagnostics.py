"""Tests of the statistics of `hiero forest stats`, against all derivations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Forest
from hiero._core import bleu
from hiero.forest import LogLinear
from hiero.forest.diagnostics import distribution_stats
from hiero.forest.expectations import variance
from support.brute_force_forest import derivations
from support.commands import call


def test_stats(french: Path, tmp_path: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    model.save(tmp_path / "model")
    lines = [*(french / "input.fr").read_text().splitlines()[:4], ""]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in lines))
    texts = [["i do not see the cat", "i understand"], ["the cat", "", "you", "no .", ""]]
    texts[0] += ["a", "b", "c"]
    paths = [tmp_path / "r0", tmp_path / "r1"]
    for path, lines_of_reference in zip(paths, texts, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines_of_reference))
    archive = tmp_path / "all.forests"
    decode = ("hiero-decode", "--model", tmp_path / "model", "--tokens", "--input", tmp_path / "source")
    assert call(*decode, "--forests", archive).returncode == 0
    command = ("hiero", "forest", "stats", archive, "--gamma", 0.4, "--top", 2, "--references", *paths)
    done = call(*command)
    assert (done.returncode, done.stderr) == (0, b"")
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    assert [entry["words"] for entry in entries] == [len(line.split()) for line in lines]
    assert "entropy" not in entries[4]
    for number, entry in enumerate(entries[:4]):
        forest = hiero.Decoder(model).translate(lines[number], keep="forest").forest
        scores = 0.4 * forest.scores(model.weights)
        every = [forest.derivation(d, scores) for d in derivations(forest)]
        p = np.exp([d.score for d in every])
        p /= p.sum()
        lengths = np.array([len(d.tokens) for d in every])
        rows = np.array([forest.features.toarray()[d.edges].sum(axis=0) for d in every])
        variances = p @ np.square(rows - p @ rows)
        assert entry["entropy"] == pytest.approx(float(-(p @ np.log(p))), abs=1e-4)
        assert entry["length"] == pytest.approx(float(p @ lengths), abs=1e-4)
        spread = float(p @ np.square(lengths - p @ lengths))
        assert entry["length_variance"] == pytest.approx(spread, abs=1e-4)
        most = sorted(zip(variances, forest.feature_names, strict=True), key=lambda pair: -pair[0])[:2]
        assert list(entry["feature_variances"]) == [name for _, name in most]
        values = list(entry["feature_variances"].values())
        assert values == pytest.approx([v for v, _ in most], rel=1e-3)
        references = [reference_lines[number].split() for reference_lines in texts]
        counts = np.zeros(10)
        for derivation, mass in zip(every, p, strict=True):
            words = derivation.tokens
            counts[0] += mass * len(words)
            for n in range(1, 5):
                grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
                reference_grams = {tuple(r[i : i + n]) for r in references for i in range(len(r) - n + 1)}
                counts[1 + n] += mass * len(grams)
                counts[5 + n] += mass * sum(gram in reference_grams for gram in grams)
        own_lengths = [len(r) for r in references if r]
        counts[1] = min(own_lengths, key=lambda n: (abs(n - round(counts[0])), n))
        assert entry["expected_bleu"] == pytest.approx(100 * float(bleu(counts)), abs=0.01)
    bare = json.loads(call("hiero", "forest", "stats", archive).stdout.splitlines()[0])
    assert "expected_bleu" not in bare and len(bare["feature_variances"]) == 3
    assert bare["entropy"] < entries[0]["entropy"]
    for gamma in (0, "nan", "inf"):
        wrong = call("hiero", "forest", "stats", archive, "--gamma", gamma)
        assert wrong.returncode == 2 and b"--gamma must be finite and greater than 0" in wrong.stderr
    weights = tmp_path / "weights"
    weights.write_text("LM0 1e200\n")
    bad = call("hiero", "forest", "stats", archive, "--weights", weights)
    assert bad.returncode == 1 and f"{archive}: sentence 0: ".encode() in bad.stderr
    (tmp_path / "r0").write_text("one line\n")
    short = call(*command)
    assert short.returncode == 1 and b"r0: 1 lines for the 5 forests" in short.stderr


def test_features_that_do_not_vary_are_not_told(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    forest = (
        hiero.Decoder(model)
        .translate((french / "input.fr").read_text().splitlines()[0], keep="forest")
        .forest
    )
    best = forest.prune(model.weights, edges=1)
    stats = distribution_stats(LogLinear(best, model.weights), top=99)
    assert (stats["feature_variances"], stats["entropy"]) == ({}, 0)


def test_a_variance_is_not_below_zero() -> None:
    """Rounding could make it negative if all lengths are the same."""
    scores = np.random.default_rng(7).normal(size=3)
    forest = Forest.from_arrays(
        edge_offsets=[0, 3],
        tail_offsets=[0] * 4,
        tails=[],
        edge_targets=[0, 1, 2],
        target_offsets=[0, 3, 6, 9],
        target_symbols=[0, 1, 1] * 3,
        words=["a", "b"],
        features=scores[:, None],
        feature_names=["f"],
    )
    model = LogLinear(forest, {"f": 1.0})
    assert variance(model.p, forest.target_words) < 0
    assert json.dumps(distribution_stats(model)["length_variance"]) == "0.0"
