"""Tests of soft syntax and structural distortion on hand-made examples, and of invalid tables of features."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Rule, Sentence, Tree
from hiero.features import CoarseDistortion, CoarseSyntax, DistortionStatistics, FineDistortion, FineSyntax
from support.structured_features_twin import STATISTICS, Walk, reordering_flags

# --- match and cross, by hand --------------------------------------------------------------------------

BRACKETS = (
    "(TOP (S (NP (DT the) (NN man)) (VP (VBZ is) (VP (VBG selling) (NP (NNS books))))"
    " (ADVP (RB here)) (. .)))"
)


@pytest.mark.parametrize(
    ("span", "fired"),
    [
        ((0, 2), "NP_Match Match"),  # equal
        ((0, 1), ""),  # inside
        ((0, 7), "S_Match Match"),  # equal, at both edges; TOP is no label
        ((2, 5), "VP_Match Match"),  # holds VP and NP
        ((3, 5), "VP_Match Match"),  # the inner one
        ((4, 5), "NP_Match Match"),
        ((5, 6), "ADVP_Match Match"),
        ((1, 3), "NP_Cross VP_Cross Cross"),  # the end of one and the beginning of the next
        ((0, 3), "VP_Cross Cross"),  # from the sentence's edge, overlaps on the right
        ((3, 7), "VP_Cross Cross"),  # to the sentence's edge, overlaps on the left; the inner VP lies in it
        ((4, 6), "VP_Cross Cross"),  # two VPs cross, which counts once
        ((5, 7), ""),  # side by side
        ((2, 6), ""),  # contains all that it meets
        ((1, 2), ""),
    ],
)
def test_match_and_cross(span: tuple[int, int], fired: str) -> None:
    sentence = Sentence(tokens=[], parse=Tree.read(BRACKETS))
    fired_names = []
    for features in (FineSyntax(), CoarseSyntax()):
        (row,) = features.by_span(sentence, np.array([span], dtype=np.int32))
        assert set(row.tolist()) <= {0.0, 1.0}
        fired_names += [name for name, value in zip(features.names, row, strict=True) if value]
    assert sorted(fired_names) == sorted(f"Syntax_{name}" for name in fired.split())


def test_unary_chains_match_all_their_labels() -> None:
    sentence = Sentence(tokens=[], parse=Tree.read("(S (VP (NP (PP (IN up)) (NN b)) (NP (QP (CD 2)))))"))
    features = FineSyntax()

    def fired(begin: int, end: int) -> list[str]:
        row = features.by_span(sentence, np.array([[begin, end]], dtype=np.int32))[0]
        return [name for name, value in zip(features.names, row, strict=True) if value]

    assert fired(2, 3) == ["Syntax_NP_Match", "Syntax_QP_Match"]
    assert fired(0, 3) == ["Syntax_S_Match", "Syntax_VP_Match"]
    # The span crosses one NP and contains another.
    assert fired(1, 3) == ["Syntax_NP_Cross"]


def test_label_sets_are_settings() -> None:
    assert FineSyntax(labels=("NP",)).names == ["Syntax_NP_Match", "Syntax_NP_Cross"]
    sentence = Sentence(tokens=[], parse=Tree.read(BRACKETS))
    spans = np.array([[0, 2], [2, 5]], dtype=np.int32)
    assert CoarseSyntax(labels=("VP",)).by_span(sentence, spans).tolist() == [[0, 0], [1, 0]]
    for labels in ((), ("N P",), ("",)):
        with pytest.raises(ValueError, match="labels"):
            FineSyntax(labels=labels)
    with pytest.raises(TypeError, match="labels"):
        FineSyntax(labels="NP")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="NP"):
        FineSyntax(labels=("NP", "VP", "NP"))


def test_numbers_of_features() -> None:
    """The numbers are those of Table 1 of the paper, without its 12 basic features."""
    statistics = CoarseDistortion.from_statistics(STATISTICS)
    counts = [len(f.names) for f in (CoarseSyntax(), FineSyntax(), statistics, FineDistortion())]
    assert counts == [2, 22, 1, 22]


# --- distortion, by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "flags"),
    [
        ("[X] ||| il dit [X,1] ||| he said [X,1] ||| ||| 0-0 1-1", [False]),  # (12) of the paper
        ("[X] ||| il dit [X,1] ||| [X,1] he said ||| ||| 0-1 1-2", [True]),  # (13): crosses links
        ("[X] ||| il dit [X,1] ||| [X,1] he said |||", [False]),  # unaligned words cross nothing
        ("[X] ||| [X,1] [X,2] ||| [X,2] [X,1] |||", [True, True]),  # each other
        ("[X] ||| [X,1] a [X,2] ||| [X,1] [X,2] b ||| ||| 1-2", [False, True]),
        ("[X] ||| a [X,1] b ||| c [X,1] d ||| ||| 0-2 2-0", [True]),
        ("[X] ||| a [X,1] b ||| c [X,1] d ||| ||| 0-0 2-2", [False]),
        ("[X] ||| a [X,1] [X,2] ||| [X,1] [X,2] c ||| ||| 0-2", [True, True]),
    ],
)
def test_reordered(rule: str, flags: list[bool]) -> None:
    model = hiero.Model([hiero.RuleTable.from_rules([Rule(rule)])], [], {}, local_features=[FineDistortion()])
    assert reordering_flags(Rule(rule)) == flags
    sentence_rules = [Rule(f"[X] ||| v{i} ||| v{i}") for i in range(3)]
    tokens, number = [], 0
    for token in Rule(rule).source:
        if "," in token:
            tokens += [f"v{i}" for i in range(number, number + 1)]
            number += 1
        else:
            tokens.append(token)
    weights = {"RulePenalty": 1.0}
    result = hiero.Decoder(model.with_weights(weights)).translate(
        Sentence(tokens=tokens, rules=sentence_rules)
    )
    expected = Counter(
        f"Distortion_{'Reordered' if flag else 'Monotone'}_{size}" for flag in flags for size in "1*"
    )
    assert {n: v for n, v in result.features.items() if n.startswith("Distortion")} == expected


def test_sizes_of_gaps() -> None:
    """Sizes are 1 to 9, and 10 or more. A size is the number of words that a nonterminal covers."""
    rules = [Rule("[X] ||| a [X,1] ||| [X,1] A ||| ||| 0-1"), Rule("[S] ||| [X,1] ||| [X,1]")]
    local = [FineDistortion(), CoarseDistortion.from_statistics(STATISTICS)]
    for size in (1, 2, 3, 4, 9, 10, 11, 30):
        sentence_rules = [Rule(f"[X] ||| {' '.join('b' * size)} ||| B")]
        model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], {}, local_features=local)
        result = hiero.Decoder(model, span_limit=50).translate(
            Sentence(tokens=[*"a" * 1, *"b" * size], rules=sentence_rules)
        )
        distortion = Walk(model, "(X b)").gap_features(size, True)
        expected = {"RulePenalty": 2.0, "WordPenalty": -2.0} | dict(distortion)
        assert result.features == pytest.approx(expected)


def test_probabilities_are_those_of_the_statistics() -> None:
    assert CoarseDistortion.from_statistics(STATISTICS).by_gap()[2].tolist() == [
        [math.log(31 / 39)],
        [math.log(8 / 39)],
    ]
    unseen = CoarseDistortion.from_statistics(DistortionStatistics([0] * 10, [0] * 10))
    assert np.exp(unseen.by_gap()).tolist() == pytest.approx(np.full((10, 2, 1), 0.5))
    for bad in ({"monotone": [1] * 9}, {"monotone": [-1] * 10}):
        with pytest.raises(ValueError, match="monotone"):
            CoarseDistortion(**({"reordered": [0] * 10} | bad))  # type: ignore[arg-type]


# --- invalid tables ------------------------------------------------------------------------------------


class Table:
    names = ("A", "B")

    def __init__(self, answer: object) -> None:
        self.by_gap = lambda: answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            np.zeros((3, 2, 1)),
            r"features A, B: expected an array .* shape .*'sizes', 2, 2.* got .*\(3, 2, 1\)",
        ),
        (np.zeros((0, 2, 2)), r"got one of shape \(0, 2, 2\)"),
        (np.zeros((3, 3, 2)), r"got one of shape \(3, 3, 2\)"),
        (np.zeros((3, 4)), r"got one of shape \(3, 4\)"),
        (np.full((1, 2, 2), np.inf), "local feature A: expected finite values, got inf"),
        (np.zeros((1, 2, 2), dtype=complex), "got one of complex128"),
        ("text", "got one of <U4"),
    ],
)
def test_bad_tables_by_gap(answer: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hiero.Model([], [], {}, local_features=[Table(answer)])  # type: ignore[list-item]


def test_a_table_by_gap_that_raises_is_named() -> None:
    class Raises:
        names = ("A",)

        def by_gap(self) -> np.ndarray:
            raise ZeroDivisionError("nothing there")

    with pytest.raises(hiero.Error, match=r"^local features A: ZeroDivisionError: nothing there$"):
        hiero.Model([], [], {}, local_features=[Raises()])


class Spans:
    names = ("A",)

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def by_span(self, sentence: Sentence, spans: np.ndarray) -> object:
        assert spans.dtype == np.int32 and list(sentence.tokens) == ["le", "chat"]
        assert len({tuple(span) for span in spans.tolist()}) == len(spans)
        return self.answer(len(spans)) if callable(self.answer) else self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda n: np.zeros((n, 2)),
            r"features A: expected a matrix of numbers of shape .*, spans by features",
        ),
        (lambda n: np.zeros((n + 1, 1)), "spans by features, got one of shape"),
        (lambda n: np.full((n, 1), np.nan), "local feature A: expected finite values, got nan"),
        (None, "spans by features, got"),
    ],
)
def test_bad_tables_by_span(french: Path, answer: object, message: str) -> None:
    features: list[hiero.LocalFeatures] = [Spans(answer)]  # type: ignore[list-item]
    model = hiero.Model.assemble([french / "grammar.txt"], [], {}, local_features=features)
    with pytest.raises(ValueError, match=message):
        hiero.Decoder(model).translate("le chat")
