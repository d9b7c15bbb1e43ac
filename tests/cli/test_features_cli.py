"""`hiero features`, and Model.with_features behind it: other local features, another base of logarithms."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import hiero
from hiero.features import CoarseDistortion, CoarseSyntax, DistortionStatistics, FineDistortion, FineSyntax
from support.commands import call, one_error_line
from support.decoding import input_lines
from support.paths import FRENCH

STATISTICS = DistortionStatistics(range(1, 11), range(11, 21))


@pytest.fixture
def model(french: Path, tmp_path: Path) -> Path:
    weights = hiero.read_weights(french / "weights.txt") | {"Syntax_Match": 0.5}
    parts = [french / "grammar.txt"], [french / "lm.arpa"], weights
    made = hiero.Model.assemble(*parts, local_features=[CoarseSyntax()], distortion=STATISTICS)
    made.save(tmp_path / "model")
    return tmp_path / "model"


def test_features_are_put_into_a_model(model: Path, tmp_path: Path) -> None:
    trees = tmp_path / "trees"
    trees.write_text("(S (NP (DT a) (NN b)) (VP (VB c) (NP (NN d))))\n\n(TOP (S (NP (NN a))))\n")
    before = hiero.Model.load(model)
    more = ("--syntax", "fine", "--labels-from", trees, "--more-than", 1, "--distortion", "coarse", "--glue")
    assert call("hiero", "features", model, "-o", tmp_path / "new", *more).returncode == 0
    found = hiero.Model.load(tmp_path / "new")
    expected = [
        FineSyntax(labels=("NP", "S"), glue=True),
        CoarseDistortion.from_statistics(STATISTICS, glue=True),
    ]
    assert list(found.local_features) == expected and found.log_base is None
    assert found.weights == {n: w for n, w in before.weights.items() if n != "Syntax_Match"}
    assert found.distortion == before.distortion and found.settings == before.settings
    assert hiero.Model.load(model).local_features == before.local_features
    # In place, and without any.
    assert call("hiero", "features", model, "--syntax", "coarse", "--distortion", "fine").returncode == 0
    again = hiero.Model.load(model)
    assert list(again.local_features) == [CoarseSyntax(), FineDistortion()]
    assert again.weights == before.weights
    assert call("hiero", "features", model, "--syntax", "fine", "--labels", "NP,PRP$").returncode == 0
    kept = [FineDistortion(), FineSyntax(labels=("NP", "PRP$"))]
    assert list(hiero.Model.load(model).local_features) == kept
    assert call("hiero", "features", model).returncode == 0
    assert list(hiero.Model.load(model).local_features) == kept
    assert call("hiero", "features", model, "--syntax", "none").returncode == 0
    assert list(hiero.Model.load(model).local_features) == kept[:1]
    assert call("hiero", "features", model, "--distortion", "none").returncode == 0
    assert hiero.Model.load(model).local_features == ()


def test_what_no_option_speaks_of_stays(model: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("anna\tanne\n")
    command = ("hiero", "features", model)
    names = ("--names", tmp_path / "names.txt")

    def now() -> tuple[list[str], list[str], float | None]:
        found = hiero.Model.load(model)
        return (
            [type(each).__name__ for each in found.local_features],
            [each.name for each in found.generators],
            found.log_base,
        )

    for options, expected in (
        (("--log-base", 100), (["CoarseSyntax"], [], 100)),
        (("--numbers", "fr:en"), (["CoarseSyntax"], ["numbers"], 100)),
        (names, (["CoarseSyntax"], ["numbers", "names"], 100)),
        (("--distortion", "fine"), (["CoarseSyntax", "FineDistortion"], ["numbers", "names"], 100)),
        (("--numbers", "none"), (["CoarseSyntax", "FineDistortion"], ["names"], 100)),
        (("--names", "none"), (["CoarseSyntax", "FineDistortion"], [], 100)),
        (("--log-base", 0), (["CoarseSyntax", "FineDistortion"], [], None)),
    ):
        assert call(*command, *options).returncode == 0
        assert now() == expected, options
    weights = hiero.Model.load(model).weights
    assert weights["Syntax_Match"] == 0.5 and weights["LM0"] == pytest.approx(
        hiero.read_weights(FRENCH / "weights.txt")["LM0"]
    )


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--labels", "NP"), 2, "labels are for soft syntax"),
        (("--syntax", "none", "--labels", "NP"), 2, "labels are for soft syntax"),
        (
            ("--syntax", "fine", "--labels", "NP", "--labels-from", "trees"),
            2,
            "labels are given, or taken from trees",
        ),
        (("--syntax", "fine", "--labels", "NP,,VP"), 2, "labels"),
        (("--syntax", "fine", "--labels", "NP,NP"), 2, "NP occurs twice"),
        (("--syntax", "fine", "--labels", "NP-SBJ"), 2, "'NP-SBJ' is not a label"),
        (("--syntax", "fine", "--labels", "NP,(NP"), 2, "'(NP' is not a label"),
        (("--glue",), 2, "--glue is of features that are put in"),
        (("--syntax", "none", "--glue"), 2, "--glue is of features that are put in"),
        (("--syntax", "fine", "--more-than", "3"), 2, "--more-than is of labels in trees"),
        (("--log-base", "1"), 2, "the base of logarithms must be more than 1"),
        (("--log-base", "nan"), 2, "the base of logarithms must be more than 1"),
        (("--syntax", "fine", "--labels-from", "trees"), 1, "trees: no label occurs more than 100 times"),
    ],
)
def test_bad_usage(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trees").write_text("(S (NP (NN a)))\n")
    done = call("hiero", "features", model, *more)
    assert done.returncode == code and message in " ".join(done.stderr.decode().split())
    assert list(hiero.Model.load(model).local_features) == [CoarseSyntax()]


def test_no_statistics(french: Path, tmp_path: Path) -> None:
    hiero.Model.assemble([french / "grammar.txt"], [], {}).save(tmp_path / "m")
    done = call("hiero", "features", tmp_path / "m", "--distortion", "coarse")
    assert "training counted no distortion" in one_error_line(done)


def test_another_base_translates_the_same(french: Path, tmp_path: Path, model: Path) -> None:
    loaded = hiero.Model.load(model)
    local = [CoarseDistortion.from_statistics(STATISTICS)]
    natural = loaded.with_features(local)
    natural = natural.with_weights({**natural.weights, "Distortion": 0.75})
    natural.save(tmp_path / "natural")
    command = ("hiero", "features", tmp_path / "natural", "-o", tmp_path / "hundred")
    assert call(*command, "--distortion", "coarse", "--log-base", 100).returncode == 0
    hundred = hiero.Model.load(tmp_path / "hundred")
    assert hundred.log_base == 100 and "log_base = 100.0\n" in (tmp_path / "hundred/model.toml").read_text()
    logs = {"LM0", "Distortion"} | {"PhraseFE", "PhraseEF", "LexFE", "LexEF"} & set(natural.feature_names)
    assert len(logs) > 3
    for name, weight in natural.weights.items():
        assert hundred.weights[name] == pytest.approx(weight * (math.log(100) if name in logs else 1))
    for line in input_lines(french):
        one, other = (hiero.Decoder(each).translate(line, keep="forest") for each in (natural, hundred))
        lists = [result.kbest(5) for result in (one, other)]
        for a, b in zip(*lists, strict=True):
            assert a.text == b.text and a.score == pytest.approx(b.score)
            for name, value in a.features.items():
                assert b.features[name] == pytest.approx(value / (math.log(100) if name in logs else 1))
    # And back.
    back = hundred.with_features(local)
    assert back.weights == pytest.approx(natural.weights) and back.log_base is None


def test_which_features_are_logarithms_is_a_setting(tmp_path: Path) -> None:
    table = hiero.RuleTable.from_rules([hiero.Rule("[X] ||| a ||| b ||| PhraseFE=-2 Mine=-3")])
    weights = {"PhraseFE": 1.0, "Mine": 1.0}
    model = hiero.Model([table], [], weights, log_base=10, log_features=["Mine"])
    features = hiero.Decoder(model).translate("a").features
    assert features["PhraseFE"] == -2 and features["Mine"] == pytest.approx(-3 / math.log(10))
    model.save(tmp_path / "m")
    loaded = hiero.Model.load(tmp_path / "m")
    assert (loaded.log_base, loaded.log_features) == (10, ("Mine",))
    with pytest.raises(hiero.FormatError, match="features that are logarithms: the model has no feature Min"):
        hiero.Model([table], [], {}, log_base=10, log_features=["Min"])
    with pytest.raises(ValueError, match="log_features needs log_base"):
        hiero.Model([table], [], {}, log_features=["Mine"])
    with pytest.raises(TypeError, match="log_features: expected a list of features, not the string"):
        hiero.Model([table], [], {}, log_base=10, log_features="Mine")
