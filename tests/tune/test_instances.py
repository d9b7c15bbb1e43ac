"""Spans as instances of tuning: their choice, their statistics, and runs with them that are killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import hiero
from hiero.evaluate import Bleu, EffectiveLength
from hiero.tune import TuneOptions
from hiero.tune.pool.candidates import WHOLE
from hiero.tune.pool.instances import SearchAware, SpanInstances, scaled_lengths
from hiero.tune.pool.span_references import AlignedBleu, aligned_span
from support.paths import TESTS
from support.search_aware_runs import FRENCH, SPANS, run, sentences
from support.search_aware_twin import Twin, bleu_plus_one
from support.seeds import each_seed


def test_defaults_are_the_paper_s() -> None:
    """The defaults are those of Zhai et al. (2015), section 4: beam 30, 50 recovered, and the choice of
    spans."""
    assert SearchAware().model_dump() == {
        **{"search_aware": None, "beam": 30, "recovered": 50, "margin": 0.0},
        **{"short_sentence": 20, "span_share": 0.75, "span_words": 18},
    }


def test_the_choice_of_spans() -> None:
    options = SearchAware()
    for words in (1, 7, 19, 20, 25, 40):
        every = [(i, j) for i in range(words) for j in range(i + 1, words + 1)]
        expected = [
            (i, j)
            for i, j in every
            if (i, j) != (0, words) and (j - i > 0.75 * words if words < 20 else j - i >= 18)
        ]
        assert [span for span in every if options.is_instance(words, *span)] == expected
    assert (
        not options.is_instance(8, 0, 6) and options.is_instance(8, 1, 8) and not options.is_instance(8, 0, 8)
    )
    with pytest.raises(ValueError, match="beam is for search-aware tuning"):
        TuneOptions("mert", beam=10)
    assert TuneOptions("mert", beam=10, search_aware="guided").settings.beam == 10  # type: ignore[attr-defined]
    with pytest.raises(
        ValueError, match="hypergraph-mert takes no search_aware, which is an option of mert, pro"
    ):
        TuneOptions("hypergraph-mert", search_aware="guided")


@each_seed(range(200))
def test_aligned_spans_against_all_spans(seed: int) -> None:
    rng = random.Random(seed)
    length, target = rng.randint(1, 5), rng.randint(1, 6)
    pairs = [(s, t) for s in range(length) for t in range(target)]
    links = rng.sample(pairs, rng.randint(0, min(5, len(pairs))))
    for begin in range(length):
        for end in range(begin + 1, length + 1):
            consistent = []
            for first in range(target):
                for past in range(first + 1, target + 1):
                    sides = [(begin <= s < end, first <= t < past) for s, t in links]
                    if all(a == b for a, b in sides) and any(a for a, _ in sides):
                        consistent.append((first, past))
            longest = max(consistent, key=lambda span: span[1] - span[0], default=None)
            found = aligned_span(links, begin, end, target)
            assert found == longest
            assert sum(p - f == longest[1] - longest[0] for f, p in consistent) == 1 if longest else True


@pytest.mark.parametrize("length", ["average", "closest", "shortest"])
def test_scaled_reference_lengths(length: EffectiveLength) -> None:
    metric = Bleu([["a b c d e f", "a b c", "", "a b c d e"]], effective_length=length)
    for share in (0.2, 0.5, 0.9):
        hypotheses = np.array([0.0, 1.0, 2.0, 3.0, 7.0])
        lengths = [n * share for n in (6, 3, 5)]
        expected = {
            "average": [sum(lengths) / 3] * 5,
            "shortest": [min(lengths)] * 5,
            "closest": [min(lengths, key=lambda n: (abs(n - h), n)) for h in hypotheses],
        }[length]
        assert scaled_lengths(metric, 0, hypotheses, share).tolist() == pytest.approx(expected)


def test_bad_alignments() -> None:
    for alignments, message in (
        ([], "alignments of 0 segments, there are 1"),
        ([[[]]], "segment 0: 1 alignments of 2 references"),
        ([[[], [(0, 1)]]], "segment 0: a link beyond a reference of 1 tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            AlignedBleu([["a b", "c"]], alignments)
    one = AlignedBleu([["a b"]], [[[(0, 0)]]])
    assert one.checksum != AlignedBleu([["a b"]], [[[(0, 1)]]]).checksum != Bleu([["a b"]]).checksum


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


MEASURES = ["guided", "top-down", "concatenation", "partial-full", "partial-span"]


@pytest.mark.parametrize("measure", MEASURES)
def test_instances_against_a_twin(model: hiero.Model, measure: str) -> None:
    lines, references = sentences(model)
    rng = random.Random(3)

    def linked(words: int, text: str) -> list[tuple[int, int]]:
        return [(s, rng.randrange(len(text.split()))) for s in range(words) if rng.random() < 0.7]

    links = [[linked(len(line), text) for text in both] for line, both in zip(lines, references, strict=True)]
    metric = AlignedBleu(references, links, effective_length="average")
    options = SearchAware.model_validate(
        {**SPANS, "search_aware": measure, "beam": 2, "recovered": 4, "margin": np.inf}
    )
    # With one translation the guided backtrace finds better ones.
    k = 1 if measure == "guided" else 7
    instances = SpanInstances(metric, k, options)
    decoder = hiero.Decoder(model, pop_limit=3)
    spans = reached = left_out = most = 0
    for number, line in enumerate(lines):
        chart = decoder.translate(line, keep="splits").chart
        assert chart is not None
        found = instances.candidates(number, chart)
        tokens = [text.split() for text in references[number]]
        twin = Twin(chart, tokens, k, 2, 4)
        if measure == "top-down":
            twin.top_down()
        elif measure == "guided":
            twin.guided_backtrace()
        assert found.best == " ".join(twin.e(twin.final[0]))
        expected = {}
        for span in [(0, len(line)), *(s for s in chart.spans if options.is_instance(len(line), *s))]:
            whole = span == (0, len(line))
            trees = twin.final if whole else twin.b(span)
            if measure in ("top-down", "guided") and span not in twin.strings:
                trees = trees[:1]
            trees = trees + [good.tree for good in twin.recovered.get(span, [])]
            most = max(most, len(twin.recovered.get(span, [])))
            left, right = twin.strings.get(span) or twin.concatenation(span)
            if whole or measure.startswith("partial"):
                left = right = ()
            strings = [" ".join((*left, *twin.e(tree), *right)) for tree in trees]
            judge: Bleu = metric
            if measure == "partial-span" and not whole:
                parts = metric.span_references(number, span)
                if not parts:
                    left_out += 1
                    continue
                judge = Bleu([[" ".join(part) for part in parts]], effective_length="average")
            at = 0 if judge is not metric else number
            alone = Bleu([judge_lines(judge, at)], effective_length="average")
            rows = np.array([alone.statistics([string])[0] for string in strings])
            if measure == "partial-full" and not whole:
                rows[:, 1] *= (span[1] - span[0]) / len(line)
            expected[WHOLE if whole else span] = rows
            spans += 1
            reached += len(trees) > 1
        assert [candidates.span for candidates in found.instances] == list(expected)
        for candidates in found.instances:
            np.testing.assert_allclose(candidates.statistics, expected[candidates.span])
            assert candidates.features.shape == (len(candidates.statistics), len(model.feature_names))
        assert found.best_statistics.tolist() == expected[WHOLE][0].tolist()
    assert spans > 20 and reached > 10 and most == (4 if measure == "guided" else 0)
    assert (left_out > 3) == (measure == "partial-span")


def test_what_is_recovered_depends_on_the_effective_length(model: hiero.Model) -> None:
    lines, references = sentences(model)
    decoder = hiero.Decoder(model, pop_limit=3)
    sizes = {}
    for length in get_args(EffectiveLength):
        metric = Bleu(references, effective_length=length)
        instances = SpanInstances(
            metric, 1, SearchAware(search_aware="guided", short_sentence=0, span_words=1, margin=0.5)
        )
        sizes[length] = [0, 0]
        for number, line in enumerate(lines):
            chart = decoder.translate(line, keep="splits").chart
            assert chart is not None
            found = instances.candidates(number, chart).instances
            outside = chart.outside(
                "guided", metric.references[number], k=1, margin=0.5, effective_length=length
            )
            sizes[length][0] += sum(len(candidates.statistics) for candidates in found)
            sizes[length][1] += sum(len(outside.candidates(*span)) for span in chart.spans)
    assert all(own == expected for own, expected in sizes.values())
    assert sizes["closest"] != sizes["average"]


def judge_lines(metric: Bleu, segment: int) -> list[str]:
    return [" ".join(tokens) for tokens in metric.references[segment]]


def test_a_sentence_without_translation_is_an_empty_instance(model: hiero.Model) -> None:
    instances = SpanInstances(Bleu([["a b"]]), 5, SearchAware(search_aware="guided"))
    nothing = hiero.Decoder(model, pass_through="none").translate("unknown", keep="splits").chart
    for chart in (None, nothing):
        found = instances.candidates(0, chart)
        assert [c.span for c in found.instances] == [WHOLE] and len(found.instances[0].statistics) == 0
        assert found.best == "" and found.best_statistics.tolist() == [0, 2, *[0] * 8]
    with pytest.raises(ValueError, match="partial-span wants the alignments"):
        SpanInstances(Bleu([["a b"]]), 5, SearchAware(search_aware="partial-span"))


@pytest.mark.parametrize("method", ["mert", "pro", "mira-batch"])
def test_tuning_with_instances(model: hiero.Model, tmp_path: Path, method: str) -> None:
    one = run(model, tmp_path / "one", method)
    assert one.score > one.iterations[0].score
    assert run(model, tmp_path / "two", method, threads=2) == one
    # A run is taken up again.
    (tmp_path / "one" / "weights.txt").unlink()
    assert run(model, tmp_path / "one", method) == one
    lines, _ = sentences(model)
    with np.load(tmp_path / "one" / "iteration-000" / "new.npz") as found:
        assert len(found["instances"]) > 2 * len(lines)
        assert found["offsets"][-1] == one.iterations[0].new


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import hiero
from support.search_aware_runs import FRENCH, run
model = hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
run(model, Path({directory!r}), {method!r}, {threads})
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mert", "mira-batch"])
def test_killed_at_random_moments(model: hiero.Model, tmp_path: Path, method: str) -> None:
    whole = run(model, tmp_path / "whole", method)
    rng = random.Random(7)
    for kill in range(5):
        tests = str(TESTS)
        code = KILLED.format(
            tests=tests, directory=str(tmp_path / "part"), method=method, threads=1 + kill % 2
        )
        child = subprocess.Popen([sys.executable, "-P", "-c", code])
        try:
            child.wait(rng.uniform(0.5, 1.5))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
    assert run(model, tmp_path / "part", method, threads=2) == whole
    weights = [(tmp_path / name / "weights.txt").read_bytes() for name in ("whole", "part")]
    assert weights[0] == weights[1]


def test_bleu_plus_one() -> None:
    """One is added to matches and totals of n > 1 alone (Lin and Och 2004)."""
    assert bleu_plus_one(["a", "b"], [["a", "b"]], "closest") == 1.0
    assert bleu_plus_one(["a", "x"], [["a", "b"]], "closest") == pytest.approx((1 / 2 * 1 / 2) ** 0.25)
    assert bleu_plus_one(["x"], [["a"]], "closest") == 0.0
