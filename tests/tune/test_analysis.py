"""Diversity of n-best lists against plain counting, and analyses of a set."""

from __future__ import annotations

import dataclasses
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero._core import bleu_plus_one as bleu_plus_one_of
from hiero.base.parallel import working_on
from hiero.evaluate import Bleu
from hiero.evaluate.diversity import diversity
from hiero.tune import ModelDecoder
from hiero.tune.analysis import Analysis, analyse
from support.commands import call
from support.paths import FRENCH
from support.places import PickledPlaces
from support.search_aware_twin import Twin, bleu_plus_one
from support.seeds import each_seed


def plain_diversity(hypotheses: list[list[str]], order: int) -> float:
    """Computes diversity by the formula, with windows of q + 1 words, q = order - 1."""

    def d(y: list[str], z: list[str]) -> int:
        q = order - 1
        return -sum(
            y[a : a + q + 1] == z[b : b + q + 1] for a in range(len(y) - q) for b in range(len(z) - q)
        )

    values = []
    for i, y in enumerate(hypotheses):
        for z in hypotheses[i + 1 :]:
            both = d(y, y) + d(z, z)
            values.append(1 - 2 * d(y, z) / both if both else float(y != z))
    return sum(values) / len(values)


@each_seed(range(100))
def test_diversity(seed: int) -> None:
    rng = random.Random(seed)
    order = rng.randint(1, 4)
    hypotheses = [rng.choices("ab", k=rng.randint(0, 7)) for _ in range(rng.randint(2, 5))]
    assert diversity(hypotheses, order) == pytest.approx(plain_diversity(hypotheses, order))


def test_diversity_of_few() -> None:
    assert diversity([]) is None and diversity([["a"]]) is None
    assert diversity([["a"], ["a"]], 1) == 0.0 and diversity([["a"], ["b"]], 1) == 1.0
    assert diversity([["a"], ["a"]]) == 0.0 and diversity([["a"], ["b"]]) == 1.0


def test_bleu_plus_one_of_rows() -> None:
    """BLEU+1 is that of Lin and Och (2004), computed row by row."""
    rows = np.array([[7, 8, 7, 6, 5, 4, 5, 3, 1, 0], [3, 2, 3, 2, 1, 0, 0, 0, 0, 0]], dtype=float)
    first = np.exp(1 - 8 / 7) * (5 / 7 * 4 / 7 * 2 / 6 * 1 / 5) ** 0.25
    assert bleu_plus_one_of(rows).tolist() == pytest.approx([first, 0.0])
    assert bleu_plus_one_of(rows[0]) == pytest.approx(first)
    with pytest.raises(ValueError, match="rows of 10 numbers"):
        bleu_plus_one_of(rows[:, :9])


def test_an_analysis_against_the_twin() -> None:
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    lines = [line.split() for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    other = hiero.Decoder(model).with_weights({**model.weights, "LM0": -1.0, "WordPenalty": -1.0})
    references = [[result.text] for result in other.translate_batch(lines)]
    # A sentence without a translation.
    lines.append(["unheard"])
    references.append(["of this"])
    metric = Bleu(references, effective_length="average")
    decoder = hiero.Decoder(model, pop_limit=3, pass_through="none")
    vector = model.weight_vector(model.weights)
    found = analyse(ModelDecoder(decoder, lines), metric, vector, k=4, beam=3, order=2)
    assert found == analyse(ModelDecoder(decoder, lines, 2), metric, vector, k=4, beam=3, order=2)
    picks: list[list[str]] = [[], [], []]
    apart, spans = [], Counter[str]()
    for line, (reference,) in zip(lines, references, strict=True):
        chart = decoder.translate(line, keep="splits").chart
        assert chart is not None
        if chart.forest.root < 0:
            for pick in picks:
                pick.append("")
            continue
        twin, top_down = Twin(chart, [reference.split()], 4, 3), Twin(chart, k=4)
        twin.guided_backtrace()
        top_down.top_down()
        strings = [twin.e(tree) for tree in twin.final]
        best = max(strings, key=lambda tokens: bleu_plus_one(tokens, [reference.split()], "average"))
        for pick, tokens in zip(picks, (strings[0], best, twin.oracle), strict=True):
            pick.append(" ".join(tokens))
        if len(strings) > 1:
            apart.append(plain_diversity([list(tokens) for tokens in strings], 2))
        spans += Counter({"all": len(chart.spans), "down": len(top_down.strings), "up": len(twin.strings)})
    scores = [float(metric.score(metric.statistics(pick).sum(axis=0))) for pick in picks]
    expected = Analysis(
        *(scores[0], scores[1], scores[2], float(np.mean(apart))),
        *(spans["down"] / spans["all"], spans["up"] / spans["all"]),
    )
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(expected))
    assert found.best < found.kbest_oracle < found.guided_oracle and found.top_down < found.guided


def test_the_command(tmp_path: Path) -> None:
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    model.save(tmp_path / "model")
    lines = [line for line in (FRENCH / "input.fr").read_text().splitlines() if line.strip()]
    texts = [result.text for result in hiero.Decoder(model).translate_batch(line.split() for line in lines)]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "references").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "flat.txt").write_text("LM0 -1\nWordPenalty -1\n")
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "references", "--tokens")
    chosen = ("--weights", tmp_path / "model" / "weights.txt", tmp_path / "flat.txt")
    picture = ("--plot", tmp_path / "beams.png", "--beams", 1, 30)
    done = call("hiero", "analyse", tmp_path / "model", *sets, *chosen, *picture, "-k", 5)
    assert (done.returncode, done.stderr) == (0, b""), done
    head, *rows = done.stdout.decode().splitlines()
    heads = ["best", "5-best oracle", "guided oracle", "diversity", "top-down reach", "guided reach"]
    assert re.split("  +", head.strip()) == heads
    assert [len(row) for row in rows[:2]] == [len(head)] * 2
    assert rows[0].split()[1] == "100.00" and float(rows[1].split()[1]) < 100
    assert rows[2].startswith(f"{tmp_path / 'model' / 'weights.txt'}: ") and rows[2].endswith(" 100.00 at 30")
    assert (tmp_path / "beams.png").read_bytes().startswith(b"\x89PNG")
    plain = call("hiero", "analyse", tmp_path / "model", *sets, "-k", 5)
    assert plain.stdout.decode().splitlines()[1].split()[2:] == rows[0].split()[1:]


def test_sentences_are_analysed_at_other_places() -> None:
    model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
    lines = (FRENCH / "input.fr").read_text().splitlines()
    references = [[f"{result.text} now"] for result in hiero.Decoder(model).translate_batch(lines)]
    metric = Bleu(references)
    decoder, weights = hiero.Decoder(model, pop_limit=3), model.weight_vector(model.weights)
    found = []
    for places in (None, PickledPlaces(2)):
        with working_on(places):
            searcher = ModelDecoder(decoder, lines)
            found.append(analyse(searcher, metric, weights, k=4, beam=3, order=2))
    assert places is not None and [len(items) for items in places.jobs] == [len(lines)]
    assert found[0] == found[1] and found[0].best > 0
