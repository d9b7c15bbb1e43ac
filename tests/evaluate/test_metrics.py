"""Tests of metrics against sacrebleu, nltk, slow versions and examples worked by hand."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from hiero._core import bleu
from hiero.evaluate import Bleu, Chrf, ChrfPlusPlus, Hypotheses, Metric, Nist, Ter, Text, tokens
from hiero.evaluate.metrics import METRICS
from support.paths import SHARED

EFFECTIVE = ("shortest", "closest", "average")


def streams(references: list[list[str]]) -> list[list[str | None]]:
    """Returns references as sacrebleu takes them: a list per translator, with None for a missing
    reference."""
    most = max(map(len, references))
    return [[s[k] if k < len(s) and s[k].strip() else None for s in references] for k in range(most)]


def ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def nist_by_definition(hypotheses: list[str], references: list[list[str]]) -> float:
    """Computes NIST (Doddington 2002) as mteval-v13a does."""
    counts: Counter[tuple[str, ...]] = Counter()
    for segment in references:
        for line in segment:
            for n in range(1, 6):
                counts += ngrams(line.split(), n)
            counts[()] += len(line.split())
    matched, totals = [0.0] * 5, [0] * 5
    length, reference_length = 0, 0.0
    for line, segment in zip(hypotheses, references, strict=True):
        filled = [r.split() for r in segment if r.split()]
        length += len(line.split())
        reference_length += sum(map(len, filled)) / len(filled)
        for n in range(1, 6):
            allowed: Counter[tuple[str, ...]] = Counter()
            for reference in filled:
                allowed |= ngrams(reference, n)
            for ngram, times in ngrams(line.split(), n).items():
                totals[n - 1] += times
                if ngram in allowed:
                    information = math.log2(counts[ngram[:-1]] / counts[ngram])
                    matched[n - 1] += min(times, allowed[ngram]) * information
    if length == 0:
        return 0.0
    beta = math.log(0.5) / math.log(1.5) ** 2
    penalty = math.exp(beta * math.log(min(1, length / reference_length)) ** 2)
    return penalty * sum(m / max(t, 1) for m, t in zip(matched, totals, strict=True))


def random_set(rng: random.Random, most_references: int = 4) -> tuple[list[str], list[list[str]]]:
    """Makes short lines of few words, so that many n-grams match; some references and hypotheses are
    empty."""
    words = ["a", "b", "c", "the", "Of", "."][: rng.randint(2, 6)]

    def line(least: int) -> str:
        return " ".join(rng.choices(words, k=rng.randint(least, 9)))

    count, references = rng.randint(1, 4), rng.randint(1, most_references)
    return [line(0) for _ in range(count)], [
        [line(1), *(line(0) for _ in range(references - 1))] for _ in range(count)
    ]


def total(metric: Metric, lines: list[str]) -> float:
    return float(metric.score(metric.statistics(lines).sum(axis=0)))


@pytest.mark.parametrize("count", [600, pytest.param(3000, marks=pytest.mark.slow)])
def test_bleu_is_sacrebleus(count: int) -> None:
    rng = random.Random(1)
    for _ in range(count):
        lines, references = random_set(rng)
        theirs = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(lines, streams(references))
        assert total(Bleu(references), lines) == pytest.approx(theirs.score, rel=1e-12)
        counts = Bleu(references).statistics(lines).sum(axis=0)
        assert counts[2:].tolist() == [*theirs.totals, *theirs.counts]
        one = sacrebleu.BLEU(tokenize="none", effective_order=True)
        segments = Bleu(references).segment_scores(Bleu(references).statistics(lines))
        for line, segment, score in zip(lines, references, segments.tolist(), strict=True):
            filled = [r for r in segment if r.strip()]
            assert score == pytest.approx(one.sentence_score(line, filled).score, rel=1e-12)


@pytest.mark.parametrize("tokenizer", ["none", "13a", "intl", "char", "zh"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_tokenizers_are_sacrebleus(tokenizer: str, lowercase: bool) -> None:
    lines = ["Hello, World! It's $3.50 (or so).", "他说 Yes。 ", "\u3000Ünder\u00a0The&amp;"]
    references = [["hello, world: it is $3.50 , or so ."], ["他说 yes ！"], ["ünder the&amp;", ""]]
    text = Text(tokenizer, lowercase)  # type: ignore[arg-type]
    theirs = sacrebleu.BLEU(tokenize=tokenizer, lowercase=lowercase).corpus_score(lines, streams(references))
    assert total(Bleu(references, text), lines) == pytest.approx(theirs.score, rel=1e-12)
    version = "" if tokenizer == "none" else f"|sacrebleu:{sacrebleu.__version__}"
    assert f"|tok:{tokenizer}{version}|eff" in Bleu(references, text).signature
    assert ("case:lc" in Bleu(references, text).signature) == lowercase


def test_chrf_and_ter_are_sacrebleus() -> None:
    rng = random.Random(2)
    for _ in range(100):
        lines, references = random_set(rng)
        for lowercase in (False, True):
            text = Text(lowercase=lowercase)
            chrf = sacrebleu.CHRF(lowercase=lowercase).corpus_score(lines, streams(references))
            plus = sacrebleu.CHRF(word_order=2, lowercase=lowercase).corpus_score(lines, streams(references))
            assert total(Chrf(references, text), lines) == pytest.approx(chrf.score)
            assert total(ChrfPlusPlus(references, text), lines) == pytest.approx(plus.score)
            ter = sacrebleu.TER(case_sensitive=not lowercase).corpus_score(lines, streams(references))
            assert total(Ter(references, text), lines) == pytest.approx(ter.score)


def test_nist_is_counted_by_definition() -> None:
    rng = random.Random(3)
    for _ in range(1000):
        lines, references = random_set(rng)
        assert total(Nist(references), lines) == pytest.approx(nist_by_definition(lines, references))


def test_nist_is_nltks_with_one_reference() -> None:
    from nltk.translate.nist_score import corpus_nist  # which takes two seconds

    rng = random.Random(4)
    checked = 0
    while checked < 300:
        lines, references = random_set(rng, most_references=1)
        # nltk divides by zero for a set that is too short to have n-grams.
        if sum(max(len(line.split()) - 4, 0) for line in lines) == 0:
            continue
        theirs = corpus_nist([[r.split() for r in s] for s in references], [h.split() for h in lines], n=5)
        assert total(Nist(references), lines) == pytest.approx(theirs)
        checked += 1


def test_nist_with_several_references_by_hand() -> None:
    # References a b, a c and (missing); hypothesis a b b. Four reference words: information of a is
    # log2(4/2) = 1, of b log2(4/1) = 2, of "a b" log2(2/1) = 1. b matches once. 3 unigrams, 2 bigrams;
    # length 3 is over the mean of 2, so that there is no penalty.
    assert total(Nist([["a b", "a c", ""]]), ["a b b"]) == pytest.approx((1 + 2) / 3 + 1 / 2)
    # Hypothesis a: 1 of mean length 2, ratio 1/2.
    penalty = math.exp(math.log(0.5) * (math.log(2) / math.log(1.5)) ** 2)
    assert total(Nist([["a b", "a c", ""]]), ["a"]) == pytest.approx(1 * penalty)
    # At two thirds of the length the penalty is a half (Doddington 2002).
    assert total(Nist([["x y z", "x y w"]]), ["x y"]) == pytest.approx(0.5 * math.log2(3))
    # An n-gram may be as often as in the one reference that has it most often: a a b matches a twice, b once.
    assert total(Nist([["a a", "a b"]]), ["a a b a"]) == pytest.approx(
        (2 * math.log2(4 / 3) + math.log2(4)) / 4 + (math.log2(3) + math.log2(3)) / 3
    )


def test_effective_lengths_by_hand() -> None:
    references = [["a b c d e", "a b c d e f g", ""], ["x", "x y z"]]
    lengths = {
        kind: Bleu(references, effective_length=kind).statistics(["a b c d e f", "x y"])[:, 1].tolist()
        for kind in EFFECTIVE
    }
    assert lengths == {"shortest": [5, 1], "closest": [5, 1], "average": [6, 2]}
    assert Bleu(references).statistics(["a " * 8, "x " * 4])[:, 1].tolist() == [7, 3]
    # BLEU of 8 words with 8, 7, 6 and 5 matches of n words, and a brevity penalty by length.
    hypothesis, long, longer = "a b c d e f g h", "a b c d e f g h i j", "a b c d e f g h i j k l"
    for kind, length in zip(EFFECTIVE, (10, 10, 11), strict=True):
        metric = Bleu([[longer, long]], effective_length=kind)  # type: ignore[arg-type]
        assert total(metric, [hypothesis]) == pytest.approx(100 * math.exp(1 - length / 8))
        assert f"length:{kind}" in metric.signature


def test_differences_from_mteval() -> None:
    """Checks the column of hiero in the table of docs/evaluation.md; comments have the result of
    mteval-v13a."""
    # Two words, one of which matches, of three: (1/2 1/2)^(1/4) exp(-1/2) of 1, also as a set.
    short = Bleu([["a b c"]])
    rows = short.statistics(["a x"])
    assert float(short.segment_scores(rows)[0]) == pytest.approx(100 * (1 / 4) ** (1 / 2) * math.exp(-1 / 2))
    assert total(short, ["a x"]) == 0
    # (1/8 1/12 1/16 1/16)^(1/4), and nothing but an error.
    none = Bleu([["a b c d"]])
    assert float(none.segment_scores(none.statistics(["w x y z"]))[0]) == 0
    assert total(none, [""]) == total(Nist([["a b c d"]]), [""]) == 0
    # Lengths 0 and 5/2.
    assert Bleu([["a b c d e", ""]]).statistics(["a b"])[0, 1] == 5
    assert Nist([["a b c d e", ""]]).statistics(["a b"])[0, 1] == 5
    # Of "0 a" log2(4/1).
    zero = Nist([["0 a", "0 b"]])
    assert total(zero, ["0 a"]) == pytest.approx((math.log2(4 / 2) + math.log2(4)) / 2 + math.log2(2 / 1))
    # Ä as it is; with the international rules οδοσ, and &.
    assert Text("13a", lowercase=True).tokens(["ÄB &amp;"]) == [["äb", "&"]]
    assert Text("intl", lowercase=True).tokens(["ΟΔΟΣ &amp;"]) == [["οδος", "&", "amp", ";"]]


@given(st.lists(st.text("ab \t\u00a0\u3000\x1c", max_size=12), min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_white_space_is_sacrebleus(lines: list[str], data: st.DataObject) -> None:
    reference = st.text("ab \u00a0\u3000", max_size=12).filter(str.strip)
    references = [[data.draw(reference)] for _ in lines]
    theirs = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(lines, streams(references))
    assert total(Bleu(references), lines) == pytest.approx(theirs.score, rel=1e-12)


def test_lists_of_hypotheses() -> None:
    references = [["a b c"], ["d e", "d d"]]
    hypotheses = Hypotheses.from_tokens([["a", "b"], ["d"], ["d", "d"], []])
    assert hypotheses.texts() == ["a b", "d", "d d", ""]
    for kind in METRICS.values():
        metric = kind(references)
        rows = metric.token_statistics([0, 1, 1, 0], hypotheses)
        single = [metric.statistics(pair) for pair in (["a b", "d"], ["", "d d"])]
        assert rows.tolist() == [*single[0].tolist(), *single[1][::-1].tolist()]
        assert metric.score(rows).shape == (4,)
        assert metric.score(np.stack([rows, rows])).shape == (2, 4)


def test_tokens_with_white_space_are_several_words() -> None:
    line = "10\u00a0000 people\u3000came home"
    lists = Hypotheses.from_tokens([line.split(" "), ["people"]])
    for kind in METRICS.values():
        if kind in (Chrf, ChrfPlusPlus):
            continue  # they count characters
        metric = kind([[line]])
        rows = metric.token_statistics([0, 0], lists)
        assert rows[0].tolist() == metric.statistics([line])[0].tolist()
        assert rows[1].tolist() == metric.statistics(["people"])[0].tolist()
    rows = Ter([[line]]).token_statistics([0, 0], lists)
    assert float(Ter([[line]]).score(rows[0])) == 0


def test_bad_arrays_of_hypotheses() -> None:
    metric = Bleu([["a"]])

    def count(segments: object, words: list[int], offsets: list[int]) -> None:
        arrays = np.array(words, dtype=np.int32), np.array(offsets, dtype=np.int32)
        metric.token_statistics(segments, Hypotheses(["a"], *arrays))  # type: ignore[arg-type]

    count([0], [0, 0], [0, 1])
    for segments in ([1], [-1]):
        with pytest.raises(IndexError, match="segment"):
            count(segments, [0], [0, 1])
    # Numbers are not cut to what fits.
    for cut in ([2**32], [0.9], np.array([2**63], dtype=np.uint64), "0", [[0]], 0):
        with pytest.raises(ValueError, match="segments: "):
            count(cut, [0], [0, 1])
    with pytest.raises(IndexError, match="vocabulary"):
        count([0], [1], [0, 1])
    for offsets in ([0], [0, 2], [-1, 1], [1, 0]):
        with pytest.raises(ValueError, match="offsets"):
            count([0], [0], offsets)
    with pytest.raises(ValueError, match="2 hypotheses for 1 segments"):
        metric.statistics(["a", "b"])
    for kind in METRICS.values():
        with pytest.raises(ValueError, match="segment 1: no reference"):
            kind([["a"], ["", " "]])
    with pytest.raises(ValueError, match="shortest, closest or average"):
        Bleu([["a"]], effective_length="longest").statistics(["a"])  # type: ignore[arg-type]


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared data")
def test_real_sets() -> None:
    files = [SHARED / "ur-en" / f"test.en.{k}" for k in range(4)]
    texts = [file.read_text().splitlines() for file in files]
    lines, others = texts[0][:150], [text[:150] for text in texts[1:]]
    references = [list(segment) for segment in zip(*others, strict=True)]
    theirs = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(lines, streams(references))
    assert total(Bleu(references), lines) == pytest.approx(theirs.score, rel=1e-12)
    assert total(Nist(references), lines) == pytest.approx(nist_by_definition(lines, references))


def test_missing_tokenisers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise RuntimeError("Please install a package")

    monkeypatch.setattr(sacrebleu, "BLEU", missing)
    tokens._tokenizer.cache_clear()
    with pytest.raises(ValueError, match="tokeniser ja-mecab: Please install"):
        Bleu([["a"]], Text("ja-mecab"))
    with pytest.raises(ValueError, match="unknown tokeniser '13b': expected one of none, 13a"):
        Text("13b")  # type: ignore[arg-type]


def test_bleu_by_definition() -> None:
    """Compares the formula of the core with brevity penalty times geometric mean of precisions."""
    rng = np.random.default_rng(1)
    counts = np.concatenate([rng.uniform(1, 30, (50, 6)), rng.uniform(0, 1, (50, 4))], axis=1)
    counts[:, 6:] *= counts[:, 2:6]
    for orders in range(1, 5):
        expected = [
            math.exp(min(0.0, 1 - row[1] / row[0]))
            * math.prod(row[6 : 6 + orders] / row[2 : 2 + orders]) ** (1 / orders)
            for row in counts
        ]
        assert bleu(counts, orders) == pytest.approx(expected)
        assert bleu(counts[3], orders) == pytest.approx(expected[3])
    mixed = rng.integers(1, 5, 50)
    assert [bleu(row, n) for row, n in zip(counts, mixed, strict=True)] == bleu(counts, mixed).tolist()
    assert bleu(counts.reshape(5, 10, 10)).shape == (5, 10) and bleu(np.zeros((0, 10))).shape == (0,)
    without = counts[0].copy()
    without[9] = 0
    assert bleu(without) == 0 and bleu(without, 3) > 0
    without[[5, 9]] = 0
    assert bleu(without) == 0 == bleu(np.zeros(10))
    for bad, orders in ((np.ones(9), 4), (np.ones((2, 11)), 4), (5.0, 4), (np.ones(10), 0), (np.ones(10), 5)):
        with pytest.raises(ValueError):
            bleu(bad, orders)
    with pytest.raises(ValueError):
        bleu(np.ones((3, 10)), [4, 4])
