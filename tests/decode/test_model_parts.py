"""The parts of a model: each is kept where a model is copied, changed elsewhere, pickled or saved."""

from __future__ import annotations

import pickle
from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest

import hiero
from hiero._core import RuleCounts
from hiero.base.files import sha256
from hiero.decode.learning import Learning
from hiero.decode.parts import ModelParts
from hiero.features import DistortionStatistics, FineDistortion
from hiero.generators import NumberRules
from hiero.text import TextProcessing, TextSide
from hiero.train import align, extract_rules
from support.files import write
from support.paths import FRENCH

# A value of its own for every part besides tables and language models.
PARTS = {
    "weights": {"LM0": 0.5, "Distortion_Monotone_1": 0.25},
    "owners": ("mine",),
    "local_features": (FineDistortion(),),
    "generators": (NumberRules(source="fr", target="en"),),
    "log_base": 100.0,
    "log_features": ("PhraseFE",),
    "goal": "X",
    "copy_labels": ("X",),
    "glue_labels": ("X",),
    "settings": hiero.DecodingSettings(pop_limit=7),
    "text": TextProcessing(source=TextSide(scheme="moses", language="fr")),
    "distortion": DistortionStatistics([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
    "made_from": {"sizes": {"pairs": 3}},
}


def model_with(**changes: object) -> hiero.Model:
    values = {**PARTS, **changes}
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], **values)  # type: ignore[arg-type]


def values_of(model: ModelParts) -> dict[str, object]:
    values = {
        field.name: repr(getattr(model, field.name))
        for field in fields(ModelParts)
        if field.name not in ("tables", "lms", "estimates")
    }
    if model.learning is not None:  # its files are copied
        values["learning"] = repr(model.learning.renamed(lambda _, file: sha256(Path(file))))
    return values


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> hiero.Model:
    folder = tmp_path_factory.mktemp("learning")
    bitext = folder / "f", folder / "e"
    for path in bitext:
        write(path, ["a b", "b a"])
    align([bitext], [folder / "a"], save=folder / "links")
    extract_rules(*bitext, folder / "a", folder / "counts")
    RuleCounts(str(folder / "counts")).save_words(str(folder / "words"))
    files = {"alignment": str(folder / "links"), "words": str(folder / "words")}
    return model_with(goal="S", learning=Learning(**files, heuristic="union", extraction={"min_gap": 2}))


def test_every_part_has_a_value_of_its_own() -> None:
    names = {field.name for field in fields(ModelParts)} - {"tables", "lms", "estimates", "learning"}
    assert names == set(PARTS)
    for field in fields(ModelParts):
        if field.name in PARTS:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            assert PARTS[field.name] != default, field.name


def test_parts_are_kept(model: hiero.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    for other in (
        replace(model),
        pickle.loads(pickle.dumps(model)),
        hiero.Model.load(tmp_path / "m"),
        model.with_weights({}),
    ):
        assert values_of(other) == values_of(model)
        assert other.core.scales == model.core.scales and list(other.feature_names) == list(
            model.feature_names
        )
    assert hiero.Model.load(tmp_path / "m").estimates == (str(tmp_path / "m" / "rules0.statics"),)
    other = replace(model, learning=None).with_grammar(hiero.Model.load(tmp_path / "m"))
    assert other.estimates[0].endswith("rules0.statics")
    assert other.learning == hiero.Model.load(tmp_path / "m").learning is not None


def test_replacing_one_part_keeps_the_others(model: hiero.Model) -> None:
    other = replace(model, settings=hiero.DecodingSettings(pop_limit=8), weights={"LM0": 2.0})
    assert other.settings.pop_limit == 8 and dict(other.weights) == {"LM0": 2.0}
    same = values_of(model).keys() - {"settings", "weights"}
    assert {name: values_of(other)[name] for name in same} == {name: values_of(model)[name] for name in same}
    natural = replace(model, log_base=None, log_features=())
    assert set(natural.core.scales) == {1.0} and len(set(model.core.scales)) == 2
    with pytest.raises(hiero.FormatError, match="Nonsense"):
        replace(model, weights={"Nonsense": 1.0})
    with pytest.raises(TypeError):
        replace(model, nonsense=1)
