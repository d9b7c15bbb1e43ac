"""Messages in Python for wrong arguments: one line, of the right class, that tells what is expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import hiero
from hiero import Decoder, DecodingSettings, Model, Rule, Sentence
from hiero.evaluate import Bleu, Chrf, Nist, Ter
from hiero.features import FineSyntax
from hiero.forest.decisions import Decision
from hiero.generators import NameRules, NumberRules
from hiero.rerank import Reranker, SecondStageOptions
from hiero.train import CorpusSettings, TrainSettings
from hiero.tune import METHODS, TuneOptions
from support.paths import FRENCH

FILES = ([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")
MODEL = Model.assemble(*FILES)
DECODER = Decoder(MODEL)
LINE = "le chat dort ."
PLAIN = DECODER.translate(LINE)
KEPT = DECODER.translate(LINE, keep="forest")
CHART = DECODER.translate(LINE, keep="splits").chart
TABLE, LM = MODEL.tables[0], MODEL.lms[0]
NO_MODEL = "expected a hiero.Model, as hiero.Model.load(path) returns one, not "
NO_SENTENCE = "expected a sentence (raw text, a list of tokens or a hiero.Sentence), not "
NO_WEIGHTS = "weights: expected a mapping by names or a vector, not "
NO_TREE = "parse: expected a hiero.Tree, as hiero.Tree.read(text) returns one, not the string '(S a)'"
NO_SEGMENTS = "references: expected a list of segments, each a list of references, not "
HYPOTHESES = "hypotheses: expected a list of lines of text, one for each segment, not "
NEGATIVE = "Input should be greater than or equal to 0"
NOT_OF_MIRA = "mira takes no search_aware, which is an option of mert, pro"
RULES = "rules: expected a list of hiero.Rule, such as hiero.Rule(text), not "
REFERENCES = "segment 0: expected a list of references, each a line of text, not "
# Some calls are meant to have types that checkers refuse.
ANY: Any = None
ANY_MODEL: Any = MODEL
with_weights: Any = DECODER.with_weights
translate_batch: Any = DECODER.translate_batch
number_rules: Any = NumberRules
name_rules: Any = NameRules
train_settings: Any = TrainSettings
decoder: Any = Decoder
assemble: Any = Model.assemble
model: Any = Model
sentence: Any = Sentence
translate: Any = DECODER.translate

Call = Callable[[], object]
WRONG_TYPES: list[tuple[Call, str]] = [
    (lambda: decoder("demo-model"), f"{NO_MODEL}the string"),
    (lambda: decoder(Path("demo")), f"{NO_MODEL}the path"),
    (lambda: decoder(None), f"{NO_MODEL}None"),
    (lambda: assemble("a.hrt", "lm"), "grammars: expected a list of files, not the string 'a.hrt'"),
    (lambda: assemble(Path("a.hrt")), "grammars: expected a list of files, not the path 'a.hrt'"),
    (lambda: assemble(FILES[0], "lm"), "lms: expected a list of files, not the string 'lm'"),
    (lambda: assemble([3]), "grammars: expected a list of files, not one with int 3"),
    (lambda: model(["a.hrt"], [], {}), "tables: expected a list of hiero.RuleTable, not one with the string"),
    (lambda: model(TABLE, [], {}), "tables: expected a list of hiero.RuleTable, not RuleTable"),
    (
        lambda: model([TABLE], ["lm"], {}),
        "lms: expected a list of hiero.LanguageModel, not one with the string",
    ),
    (lambda: model([TABLE], [LM], "w.txt"), "weights: expected a mapping by names, not the string 'w.txt'"),
    (
        lambda: Model([TABLE], [LM], {}, copy_labels="X"),
        "copy_labels: expected a list of labels, not the string",
    ),
    (
        lambda: Model([TABLE], [LM], {}, glue_labels="X"),
        "glue_labels: expected a list of labels, not the string",
    ),
    (
        lambda: Model([TABLE], [LM], {}, log_base=2.0, log_features="A"),
        "log_features: expected a list of features",
    ),
    (lambda: ANY_MODEL.with_weights("w.txt"), "weights: expected a mapping by names, not the string 'w.txt'"),
    (lambda: with_weights("w.txt"), f"{NO_WEIGHTS}the string"),
    (lambda: with_weights(ANY), f"{NO_WEIGHTS}None"),
    (lambda: translate(LINE, weights=Path("w")), f"{NO_WEIGHTS}the path"),
    (lambda: translate(None), f"{NO_SENTENCE}None"),
    (lambda: translate(3), f"{NO_SENTENCE}int 3"),
    (lambda: translate(b"le"), f"{NO_SENTENCE}bytes"),
    (lambda: translate([1, 2]), "tokens: expected a list of tokens, not one with int 1"),
    (lambda: translate({"le": 1}), "tokens: expected a list of tokens, not dict {'le': 1}"),
    (lambda: translate_batch(LINE), "expected lines, not the string 'le chat dort .': translate() takes"),
    (lambda: translate_batch(Sentence(LINE)), "expected lines, not Sentence"),
    (lambda: translate_batch(ANY), "expected lines, not None: translate() takes one sentence"),
    (lambda: sentence(["le"]), "text: expected a string, or tokens passed as tokens=[...], not list ['le']"),
    (lambda: sentence(b"le"), "text: expected a string, or tokens passed as tokens=[...], not bytes b'le'"),
    (lambda: sentence(tokens=b"le"), "tokens: expected a list of tokens, not bytes b'le'"),
    (lambda: sentence(tokens=[None]), "tokens: expected a list of tokens, not one with None"),
    (lambda: sentence(LINE, rules=["[X] ||| a ||| b"]), f"{RULES}one with the string '[X] ||| a ||| b'"),
    (lambda: sentence(LINE, rules="[X] ||| a ||| b"), f"{RULES}the string '[X] ||| a ||| b'"),
    (lambda: sentence(LINE, rules=Rule("[X] ||| a ||| b")), f"{RULES}Rule("),
    (lambda: sentence(LINE, parse="(S a)"), NO_TREE),
    (lambda: Bleu("a b"), f"{NO_SEGMENTS}the string 'a b'"),
    (lambda: Bleu(["a b"]), f"{REFERENCES}the string 'a b'"),
    *(
        (lambda kind=kind: kind([[["a", "b"]]]), f"{REFERENCES}one with list ['a', 'b']")
        for kind in (Bleu, Nist, Ter, Chrf)
    ),
    *(
        (lambda kind=kind: kind([["a"]]).statistics([["a", "b"]]), f"{HYPOTHESES}one with list ['a', 'b']")
        for kind in (Bleu, Nist, Ter, Chrf)
    ),
    (lambda: Decoder(MODEL, pop_limit=ANY), "pop_limit: Input should be a valid integer"),
    (lambda: name_rules(dictionary=3), "dictionary: Input is not a valid path"),
    (lambda: number_rules(source="de"), "target: Field required"),
]
MISSPELT: list[tuple[Callable[..., object], str, str]] = [
    (
        lambda **v: Decoder(MODEL, **v),
        "pop_limt",
        "pop_limt: no such name: is it pop_limit",
    ),
    (DecodingSettings, "pop_limt", "pop_limt: no such name: is it pop_limit"),
    (TrainSettings, "maxphrase", "maxphrase: no such name: is it extract.max_phrase?"),
    (CorpusSettings, "zzz", "zzz: no such name: is it max_length, max_ratio?"),
    (type(METHODS["mert"]), "itrations", "itrations: no such name: is it iterations"),
    (number_rules, "sorce", "sorce: no such name: is it source?"),
    (TuneOptions, "itrations", "no method has an option 'itrations': is it iterations"),
    (FineSyntax, "lables", "lables: no such name: is it labels?"),
    (Decision, "decison", "decison: no such name: is it decision"),
    (SecondStageOptions, "flds", "flds: no such name: is it folds?"),
    (Reranker, "weigths", "weigths: no such name: is it weights?"),
]
WRONG_VALUES: list[tuple[Call, type[Exception], str]] = [
    (lambda: KEPT.kbest(-1), ValueError, "k: expected 0 or more, not -1"),
    (lambda: KEPT.forest.kbest(-1, MODEL.weights), ValueError, "k: expected 0 or more, not -1"),
    (lambda: KEPT.forest.kbest_arrays(-2, MODEL.weights), ValueError, "k: expected 0 or more, not -2"),
    (lambda: CHART.outside("top-down", k=-1), ValueError, "k: expected 0 or more, not -1"),
    (lambda: CHART.outside("guided", [["a"]], beam=-1), ValueError, "beam: expected 0 or more, not -1"),
    (lambda: PLAIN.chart, AttributeError, 'no chart was kept: translate with keep="chart" or keep="splits"'),
    (lambda: KEPT.chart, AttributeError, 'no chart was kept: translate with keep="chart" or keep="splits"'),
    (lambda: PLAIN.forest, AttributeError, 'no forest was kept: translate with keep="forest"'),
    (lambda: MODEL.rule(0, -1), IndexError, f"no rule -1, there are {TABLE.rule_count}"),
    (lambda: MODEL.rule(0, 1 << 33), IndexError, f"no rule {1 << 33}, there are {TABLE.rule_count}"),
    (lambda: MODEL.rule(-1, 0), IndexError, "no table -1, there are 2"),
    (lambda: MODEL.rule("pt", -1), IndexError, f"no rule -1, there are {TABLE.rule_count}"),
    (lambda: TABLE.rule(-1), IndexError, f"no rule -1, there are {TABLE.rule_count}"),
    (lambda: TABLE.rule(TABLE.rule_count), IndexError, f"no rule {TABLE.rule_count}, there are"),
    (lambda: Decoder(MODEL, pop_limit=-3), ValueError, f"pop_limit: {NEGATIVE}"),
    (lambda: DecodingSettings(pop_limit=-3), ValueError, f"pop_limit: {NEGATIVE}"),
    (lambda: FineSyntax(labels=("NP", "NP")), ValueError, "labels: NP occurs twice"),
    (lambda: Decision(gamma=2.0), ValueError, "gamma "),
    (lambda: Reranker(weights={}, score=1.0, ngrams={"a  b": 1.0}), ValueError, "ngrams: n-gram 'a  b'"),
    (lambda: TuneOptions("mira", search_aware="guided"), ValueError, NOT_OF_MIRA),
    (
        lambda: train_settings(extract={"maxphrase": 3}),
        ValueError,
        "extract.maxphrase: no such name: is it max_phrase?",
    ),
]


def one_line(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text and "Value error" not in text and "pydantic" not in text
    assert not isinstance(error, ValidationError)
    return text


@pytest.mark.parametrize(("wrong", "said"), WRONG_TYPES, ids=[said for _, said in WRONG_TYPES])
def test_wrong_types(wrong: Call, said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)) as raised:
        wrong()
    assert one_line(raised.value).startswith(said)


@pytest.mark.parametrize(("wrong", "name", "said"), MISSPELT, ids=[said for *_, said in MISSPELT])
def test_misspelt_settings(wrong: Callable[..., object], name: str, said: str) -> None:
    kind = TypeError if wrong is TuneOptions else ValueError
    with pytest.raises(kind, match=re.escape(said)) as raised:
        wrong(**{name: 3})
    assert one_line(raised.value).startswith(said)


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG_VALUES, ids=[said for *_, said in WRONG_VALUES])
def test_wrong_values(wrong: Call, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=re.escape(said)) as raised:
        wrong()
    assert one_line(raised.value).startswith(said) and type(raised.value) is kind


def test_what_is_right_is_taken() -> None:
    """Iterators, arrays of strings and nothing are no mistakes."""
    assert translate(iter(LINE.split())).text == PLAIN.text
    assert DECODER.translate(()).tokens == [] and Sentence(None).is_blank
    assert KEPT.kbest(0) == [] and KEPT.forest.kbest(0, MODEL.weights) == []
    assert TABLE.rule(TABLE.rule_count - 1) == MODEL.rule("pt", TABLE.rule_count - 1)
    assert getattr(PLAIN, "chart", None) is None is getattr(PLAIN, "forest", None)


def test_files_say_what_is_near(tmp_path: Path) -> None:
    """Settings in files raise FormatError, with the names that are near, where they stand."""
    MODEL.save(tmp_path / "m")
    config = tmp_path / "m" / "model.toml"
    config.write_text(config.read_text().replace("pop_limit", "pop_limt"))
    with pytest.raises(hiero.FormatError) as raised:
        Model.load(tmp_path / "m")
    said = one_line(raised.value)
    assert said == f"{config}: decoding.pop_limt: no such name: is it pop_limit, span_limit?"


def test_weights_by_name_are_merged() -> None:
    """Models and decoders keep the weights of features that are not named. A vector has all weights."""
    changed = {"LM0": 2.0, "Identity": -1.0}
    merged = {**MODEL.weights, **changed}
    assert MODEL.with_weights(changed).weights == merged == DECODER.with_weights(changed).weights
    again = DECODER.with_weights(changed).with_weights({"Glue": 3.0})
    assert again.weights == {**merged, "Glue": 3.0}
    vector = MODEL.weight_vector({"LM0": 1.0})
    assert DECODER.with_weights(vector).weights == dict(
        zip(MODEL.feature_names, vector.tolist(), strict=True)
    )
    after = DECODER.with_weights(vector).with_weights({"Glue": 3.0}).weights
    assert after == DECODER.with_weights(vector).weights | {"Glue": 3.0}
    with pytest.raises(hiero.FormatError, match="no such feature: Nonsense"):
        MODEL.with_weights({"Nonsense": 1.0})
    # As they are used, also for one call.
    expected = DECODER.with_weights(MODEL.weight_vector(merged)).translate(LINE)
    for result in (
        DECODER.with_weights(changed).translate(LINE),
        DECODER.translate(LINE, weights=changed),
        Decoder(MODEL.with_weights(changed)).translate(LINE),
    ):
        assert (result.text, result.score) == (expected.text, expected.score)
    assert DECODER.translate(LINE).score == PLAIN.score != expected.score


@pytest.mark.parametrize("text", ["ab", b"ab", type("Text", (str,), {})("ab")])
def test_text_is_no_list(text: object) -> None:
    with pytest.raises(ValueError, match=r"expected a sequence of feature names, got b?'ab'"):
        hiero.FeatureNames(text)  # type: ignore[arg-type]
