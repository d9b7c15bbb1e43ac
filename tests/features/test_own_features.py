"""Tests of the example features in docs/features.md: their values for a sentence, and that they change its
score."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import Rule, Sentence, Tree
from support.paths import DOCS

EXAMPLES = DOCS / "features.md"


@pytest.fixture(scope="module")
def examples() -> dict[str, Any]:
    blocks = re.findall(
        r"<!-- by \w+ -->\n```python\n(.*?)^```$", EXAMPLES.read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 3
    names: dict[str, Any] = {"__name__": "docs"}
    for code in blocks:
        exec(compile(code, "docs/features.md", "exec"), names)
    return names


def test_they_say_what_they_are_said_to(examples: dict[str, Any]) -> None:
    spans = np.array([[0, 1], [1, 3], [1, 4], [0, 4]], dtype=np.int32)
    quoted = examples["InQuotes"]().by_span(Sentence(tokens=["a", '"', "b", '"']), spans)
    assert quoted.tolist() == [[0], [1], [0], [0]]
    table = examples["FarReordering"]().by_gap()
    assert not table[:, 0].any() and table[[0, 2, 3, 19], 1, 0].tolist() == [0, 0, 1, 17]


def test_derivations_have_them(examples: dict[str, Any]) -> None:
    local = [examples[name]() for name in ("InQuotes", "FarReordering", "VerbFirst")]
    rules = [
        Rule("[X] ||| a [X,1] ||| [X,1] A ||| ||| 0-1"),
        Rule("[X] ||| slept in a bed ||| B"),
        Rule('[X] ||| " ||| "'),
    ]
    weights = {"HalfQuoted": -1.0, "FarReordering": -0.5, "VerbFirst": 2.0}
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [], weights, local_features=local)
    tree = Tree.read('(S (NP (DT a)) (VP (VBD slept) (IN in) (NP (DT a) (NN bed))) (PU "))')
    sentence = Sentence('a slept in a bed "', parse=tree)
    result = hiero.Decoder(model, pass_through="none").translate(sentence)
    assert result.text == 'B A "'
    features = {name: result.features.get(name, 0.0) for name in weights}
    # The gap of four words is reordered and begins with a verb. The word that glue adds is one of two quotes.
    assert features == {"HalfQuoted": 1.0, "FarReordering": 1.0, "VerbFirst": 1.0}
    assert result.score == pytest.approx(-1.0 - 0.5 + 2.0)
    with pytest.raises(hiero.Error, match=r"^local features VerbFirst: no parse$"):
        hiero.Decoder(model).translate("a slept")
