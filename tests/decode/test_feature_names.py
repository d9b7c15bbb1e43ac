"""The index of feature names that a model, its forests and archives share."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import FeatureNames, FormatError
from hiero.forest import ForestFile, ForestWriter
from hiero.tune import ModelDecoder
from support.decoding import input_lines

NAMES = ["LM0", "WordPenalty", "é", "a=b"]


@pytest.fixture
def model(french: Path) -> hiero.Model:
    return hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")


def test_names_are_a_sequence() -> None:
    names = FeatureNames(NAMES)
    assert isinstance(names, Sequence) and len(names) == 4
    assert list(names) == NAMES and names == NAMES and names == tuple(NAMES) and tuple(NAMES) == names
    assert hash(names) == hash(tuple(NAMES)) and tuple(NAMES) in {names}
    assert names != NAMES[::-1] and names != NAMES[:3] and names != "LM0"
    assert [names[i] for i in (0, 3, -1, -4)] == ["LM0", "a=b", "a=b", "LM0"]
    assert names[1:3] == ("WordPenalty", "é") and names[::-2] == ("a=b", "WordPenalty")
    for index in (4, -5):
        with pytest.raises(IndexError):
            names[index]
    assert "é" in names and "e" not in names and 1 not in names
    assert names.index("é") == 2 and names.count("é") == 1 and names.count("x") == 0
    with pytest.raises(ValueError, match="x is no feature"):
        names.index("x")
    assert repr(names) == "FeatureNames(features=4)"


def test_names_that_are_none() -> None:
    with pytest.raises(FormatError, match="feature a stands there twice"):
        FeatureNames(["a", "b", "a"])
    with pytest.raises(ValueError, match="expected a sequence of feature names"):
        FeatureNames([1, 2])  # type: ignore[list-item]


def test_the_fingerprint_is_of_names_in_their_order() -> None:
    names = FeatureNames(NAMES)
    assert len(names.fingerprint) == 16 and int(names.fingerprint, 16) >= 0
    assert FeatureNames(NAMES).fingerprint == names.fingerprint
    others = [NAMES[::-1], NAMES[:3], [*NAMES, "x"], ["LM", "0WordPenalty", *NAMES[2:]], []]
    assert len({FeatureNames(each).fingerprint for each in (NAMES, *others)}) == 6
    assert hash(FeatureNames(NAMES)) == hash(names)
    for other in (pickle.loads(pickle.dumps(names)), copy.deepcopy(names), FeatureNames(names)):
        assert other == names and other.fingerprint == names.fingerprint


def test_ids_and_vectors() -> None:
    names = FeatureNames(NAMES)
    assert names.ids(["é", "LM0", "é"]).tolist() == [2, 0, 2] and names.ids([]).dtype == np.int32
    assert names.vector({"a=b": 2, "LM0": np.float64(0.5)}).tolist() == [0.5, 0, 0, 2]
    with pytest.raises(FormatError, match=r"no such feature: x, y \(features: LM0, WordPenalty, é, a=b\)"):
        names.vector({"y": 1, "LM0": 1, "x": 1})
    with pytest.raises(FormatError, match="no such feature: x "):
        names.ids(["LM0", "x"])
    with pytest.raises(FormatError, match=r"no such feature: x \(features: 101\)"):
        FeatureNames([f"f{i}" for i in range(101)]).vector({"x": 1})


def test_a_model_and_its_forests_share_one(model: hiero.Model, french: Path) -> None:
    decoder = hiero.Decoder(model)
    forests = [decoder.translate(line, keep="forest").forest for line in input_lines(french)[:3]]
    assert all(forest is not None and forest.feature_names is model.feature_names for forest in forests)
    assert hiero.Forest.union([forests[0], forests[0]]).feature_names is model.feature_names
    arrays = {
        name: getattr(forests[0], name) for name in ("edge_offsets", "tail_offsets", "tails", "features")
    }
    assert hiero.Forest.from_arrays(**arrays, feature_names=model.feature_names).feature_names is (
        model.feature_names
    )


def test_an_archive_holds_names_once(model: hiero.Model, french: Path, tmp_path: Path) -> None:
    decoder = hiero.Decoder(model)
    forests = [decoder.translate(line, keep="forest").forest for line in input_lines(french)[:3]]
    with ForestWriter(tmp_path / "all") as writer:
        for forest in forests:
            writer.write(forest)
    text = (tmp_path / "all").read_bytes()
    assert text.count(json.dumps(list(model.feature_names), ensure_ascii=False).encode()) == 1
    assert text.count(b'"PhraseFE"') == 1
    with ForestFile(tmp_path / "all") as found:
        assert found[0].feature_names == model.feature_names
        assert found[0].feature_names is found[2].feature_names


def test_a_list_of_one_has_the_row_of_what_it_says(model: hiero.Model, french: Path) -> None:
    decoder = hiero.Decoder(model)
    sentences = input_lines(french)[:3]
    vector = model.weight_vector(model.weights)
    for sentence, found in zip(sentences, ModelDecoder(decoder, sentences).kbest(vector, 1), strict=True):
        expected = model.feature_names.vector(decoder.translate(sentence).features)
        assert found.features.shape == (1, len(vector))
        assert np.array_equal(found.features.toarray()[0], expected)
