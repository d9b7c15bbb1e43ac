"""Tests of models with rule generators: decoding, saving, tuning, the command that adds them, and a user's
generator."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero import Failure, FormatError, Rule, Sentence
from hiero.generators import NameRules, NumberRules
from hiero.tune.run.model_decoder import ModelDecoder
from support.commands import call, one_error_line
from support.paths import ROOT
from support.synthetic_decoder import whole_forest

NUMBERS = NumberRules(source="fr", target="en")
LINE = "le chat de anna schmidt dort le 24/12/2008 : 1234,5"
ENGLISH = "12/24/2008 : 1234.5"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.txt"
    path.write_text("anna schmidt\tAnna Schmidt\n")
    return path


@pytest.fixture
def plain(french: Path) -> hiero.Model:
    return hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")


@pytest.fixture
def model(plain: hiero.Model, names: Path) -> hiero.Model:
    return plain.with_features(generators=[NUMBERS, NameRules(dictionary=names)])


def test_a_number_and_a_name_that_no_table_knows(plain: hiero.Model, model: hiero.Model) -> None:
    before = hiero.Decoder(plain).translate(LINE)
    assert before.text.endswith("24/12/2008 : 1234,5") and before.features["Identity"] == 6
    after = hiero.Decoder(model).translate(LINE, keep="forest")
    assert after.text.endswith(ENGLISH) and "Anna Schmidt" in after.text
    # "de" and ":" are copied.
    assert [after.features[name] for name in ("NumberRule", "NameRule", "Identity")] == [2, 1, 2]
    (best,) = after.kbest(1)
    assert best.features == after.features
    assert {"NumberRule", "NameRule"} <= set(after.forest.feature_names)
    # Their features have weights as others, and the forest has other ways to write a number.
    weights = {**model.weights, "NumberRule": 2.0, "WordPenalty": -10.0}
    again = hiero.Decoder(model).translate(LINE, weights=weights)
    assert "12 / 24 / 2008" in again.text and again.features["NumberRule"] == 2


def test_rules_of_the_sentence_stay(model: hiero.Model) -> None:
    sentence_rule = Rule("[X] ||| 1234,5 ||| many ||| NameRule=5")
    result = hiero.Decoder(model.with_weights({"NameRule": 1.0})).translate(
        Sentence("1234,5", rules=[sentence_rule])
    )
    assert (result.text, result.features["NameRule"]) == ("many", 5)


def test_a_saved_model_gives_the_same(model: hiero.Model, names: Path, tmp_path: Path) -> None:
    expected = hiero.Decoder(model).translate(LINE)
    model.save(tmp_path / "m")
    names.write_text("anna schmidt\tsomeone else\n")
    loaded = hiero.Model.load(tmp_path / "m")
    loaded.save(tmp_path / "again")
    for loaded_model in (loaded, hiero.Model.load(tmp_path / "again"), pickle.loads(pickle.dumps(loaded))):
        result = hiero.Decoder(loaded_model).translate(LINE)
        assert (result.text, result.features, result.score) == (
            expected.text,
            expected.features,
            expected.score,
        )
    done = call("hiero-decode", "--model", tmp_path / "m", "--quiet", stdin=f"{LINE}\n")
    assert done.stdout.decode() == expected.text + "\n"
    described = call("hiero", "info", tmp_path / "m").stdout.decode()
    assert (
        'rule generators  numbers {"source": "fr", "target": "en"}, names {"dictionary": "names1"}\n'
        in described
    )
    assert call("hiero", "check", tmp_path / "m").returncode == 0
    (tmp_path / "m" / "names1").write_text("anna schmidt\tAnne Schmidt\n")
    assert f"{tmp_path / 'm' / 'names1'}: wrong checksum" in one_error_line(
        call("hiero", "check", tmp_path / "m")
    )
    # A generator that is passed replaces the one with the same name in the directory.
    generator = NumberRules(source="fr", target="de")
    other = hiero.Model.load(tmp_path / "again", generators=[generator])
    assert [loaded_generator.name for loaded_generator in other.generators] == [
        "numbers",
        "names",
    ] and other.generators[0] is generator


class Shouted:
    """A generator that translates words in capitals to words in small letters."""

    name = "shouted"
    features = ("ShoutedRule",)

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        for token in sentence.tokens:
            if token == "BAD":
                raise KeyError("bad word")
            if token.isupper():
                yield Rule(f"[X] ||| {token} ||| {token.lower()} ||| ShoutedRule=1")


class Wrong:
    """A generator that returns a given answer."""

    name = "wrong"

    def __init__(self, answer: object, features: Sequence[str] = ()) -> None:
        self.answer, self.features = answer, features

    def rules(self, sentence: Sentence) -> Iterable[Rule]:
        return self.answer  # type: ignore[return-value]


def test_a_generator_of_ones_own(plain: hiero.Model, tmp_path: Path) -> None:
    model = plain.with_features(generators=[NUMBERS, Shouted()])
    model = model.with_weights({**model.weights, "ShoutedRule": 0.5})
    result = hiero.Decoder(model).translate("le chat WUG 3,5")
    assert result.text == "the cat wug 3.5" and result.features["ShoutedRule"] == 1
    path = tmp_path / "m"
    model.save(path)
    message = f"{path}: needs rule generators in Python, shouted: pass them to hiero.Model.load"
    with pytest.raises(FormatError, match=message):
        hiero.Model.load(path)
    for command in (("hiero", "check"), ("hiero-decode", "--quiet", "--model")):
        assert message in one_error_line(call(*command, path), 1)
    described = call("hiero", "info", path).stdout.decode()
    assert ", (given from Python: shouted)\n" in described and "ShoutedRule=0.5" in described
    loaded = hiero.Model.load(path, generators=[Shouted()])
    assert hiero.Decoder(loaded).translate("le chat WUG 3,5").features == result.features


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ends_its_sentence_alone(plain: hiero.Model, threads: int) -> None:
    decoder = hiero.Decoder(plain.with_features(generators=[Shouted()]))
    results = list(decoder.translate_iter(["chat", "chat BAD", "CHAT"], threads=threads))
    texts = [None if isinstance(result, Failure) else result.text for result in results]
    assert texts == ["cat", None, "chat"] and isinstance(results[1], Failure)
    assert isinstance(results[1].error, hiero.Error)
    assert str(results[1].error) == "rule generator shouted: KeyError: 'bad word'"


def test_an_error_names_the_line(model: hiero.Model, tmp_path: Path) -> None:
    """The line is that of the dictionary, which is read once, not for each sentence."""
    model.save(tmp_path / "m")
    (tmp_path / "m" / "names1").write_text("# names\nanna schmidt\n")
    (tmp_path / "in").write_text("le chat\n\nle chat dort\n")
    done = call("hiero-decode", "--model", tmp_path / "m", "--quiet", "-i", tmp_path / "in")
    reason = "expected a source phrase, a tab and a target phrase"
    assert one_error_line(done).endswith(f": {tmp_path / 'm' / 'names1'}:2: {reason}\n")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "rule generator wrong: TypeError: 'NoneType' object is not iterable"),
        (["[X] ||| a ||| b"], r"rule generator wrong: TypeError: expected rules, found '\[X\]"),
        ([Rule("[Z] ||| a ||| b")], r"no nonterminal \[Z\]"),
        ([Rule("[X] ||| a ||| b ||| Unheard=1")], 'no feature "Unheard"'),
    ],
)
def test_bad_answers(plain: hiero.Model, answer: object, message: str) -> None:
    decoder = hiero.Decoder(plain.with_features(generators=[Wrong(answer)]))
    with pytest.raises(hiero.Error, match=message):
        decoder.translate("a")


def test_bad_features(plain: hiero.Model) -> None:
    with pytest.raises(TypeError, match="rule generator wrong: features: expected a list, not a string"):
        plain.with_features(generators=[Wrong([], "Own")])
    with pytest.raises(FormatError, match="Own feature"):
        plain.with_features(generators=[Wrong([], ["Own feature"])])


def test_the_command(plain: hiero.Model, names: Path, tmp_path: Path) -> None:
    plain.save(tmp_path / "m")
    command = ("hiero", "features", tmp_path / "m")
    assert call(*command, "-o", tmp_path / "n", "--numbers", "fr:en", "--names", names).returncode == 0
    loaded = hiero.Model.load(tmp_path / "n")
    lowercase = NUMBERS.model_copy(update={"lowercase": True})
    assert list(loaded.generators) == [lowercase, NameRules(dictionary=tmp_path / "n" / "names1")]
    assert loaded.weights == plain.weights and not hiero.Model.load(tmp_path / "m").generators
    # The model is changed in place; generators that stay have their files in the model.
    assert call("hiero", "features", tmp_path / "n", "--numbers", "none").returncode == 0
    assert list(hiero.Model.load(tmp_path / "n").generators) == [
        NameRules(dictionary=tmp_path / "n" / "names0")
    ]
    # A damaged or missing dictionary is reported once, when the model is loaded.
    dictionary = (tmp_path / "n" / "names0").read_bytes()
    (tmp_path / "n" / "names0").unlink()
    with pytest.raises(FileNotFoundError, match="names0"):
        hiero.Model.load(tmp_path / "n")
    for text, message in (("a b\n", "names0:1: expected a source phrase"), ("#\n", "names0: no names")):
        (tmp_path / "n" / "names0").write_text(text)
        with pytest.raises(FormatError, match=message):
            hiero.Model.load(tmp_path / "n")
    (tmp_path / "n" / "names0").write_bytes(dictionary)
    assert call("hiero", "features", tmp_path / "n", "--names", "none").returncode == 0
    assert hiero.Model.load(tmp_path / "n").generators == ()
    assert not (tmp_path / "n" / "names0").exists()
    assert not (tmp_path / "n" / "names1").exists()
    for bad in ("fr", "fr-en", "fr:xx", ":en"):
        done = call(*command, "--numbers", bad)
        assert done.returncode == 2 and "Input should be 'ar', 'de'" in done.stderr.decode()
    names.write_text("anna schmidt\n")
    assert f"{names}:1: expected a source phrase" in one_error_line(call(*command, "--names", names))
    names.write_text("# none\n")
    assert f"{names}: no names" in one_error_line(call(*command, "--names", names))
    table = hiero.RuleTable.from_rules([Rule("[NP] ||| a ||| b"), Rule("[S] ||| [NP,1] ||| [NP,1]")])
    hiero.Model([table], [], {}).save(tmp_path / "np")
    done = call("hiero", "features", tmp_path / "np", "--numbers", "fr:en")
    assert f"{tmp_path / 'np'}: has no label X" in one_error_line(done)


@pytest.mark.parametrize(("word", "expected"), [("cat", "december 24"), ("Cat", "December 24")])
def test_numbers_are_in_lower_case_where_all_is(word: str, expected: str, tmp_path: Path) -> None:
    table = hiero.RuleTable.from_rules([Rule(f"[X] ||| chat [X,1] ||| {word} [X,1]")])
    hiero.Model([table], [], {"Identity": -1.0}).save(tmp_path / "m")
    assert call("hiero", "features", tmp_path / "m", "--numbers", "fr:en").returncode == 0
    result = hiero.Decoder(hiero.Model.load(tmp_path / "m")).translate("24 décembre")
    assert result.text == expected


def test_tuning_sees_them(model: hiero.Model) -> None:
    column = model.feature_names.index("NumberRule")
    decoder = ModelDecoder(hiero.Decoder(model), ["le chat 20000", "le chat"])
    weights = model.weight_vector(model.weights)
    first, second = decoder.kbest(weights, 20)
    assert first.features[:, [column]].toarray().all() and not second.features[:, [column]].count_nonzero()
    forests = list(decoder.forests(weights, whole_forest))
    assert forests[0] is not None and {"20000", "20,000"} <= set(forests[0].words)


@pytest.fixture(scope="module")
def example() -> hiero.RuleGenerator:
    page = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- rules -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"hiero": hiero}
    exec(compile(code, "docs/features.md", "exec"), names)
    generator: hiero.RuleGenerator = names["Currencies"]()
    return generator


def test_the_example(plain: hiero.Model, example: hiero.RuleGenerator) -> None:
    model = plain.with_features(generators=[example])
    model = model.with_weights({**model.weights, "CurrencyRule": 2.0})
    result = hiero.Decoder(model).translate("le chat 20 €")
    assert result.text == "the cat € 20" and result.features["CurrencyRule"] == 1
