"""Glue grammars with <s> and </s>, as Joshua and Moses have them: read as if the marks were words around the
input, and against a twin that puts them there."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import hiero
from hiero import Rule, RuleTable
from hiero.forest.derivations import derivation_tree
from support.brute_force import (
    BackoffModel,
    Derivation,
    Enumerator,
    lm_features,
    random_rules,
    same_features,
    write_arpa,
)
from support.commands import call
from support.grammars import GLUE, decoder, table, texts

HIERO_RULES = """\
[X] ||| a ||| A ||| -0.5 ||| 0-0
[X] ||| b ||| B ||| -0.25 ||| 0-0
[X] ||| b ||| BB C ||| -1 ||| 0-1
[X] ||| [X,1] b ||| B [X,1] ||| -0.125 ||| 1-0
"""
MOSES_RULES = """\
a [X] ||| A [X] ||| 0.5 ||| 0-0 ||| 1
b [X] ||| B [X] ||| 0.25 ||| 0-0 ||| 1
b [X] ||| BB C [X] ||| 0.125 ||| 0-1 ||| 1
[X][X] b [X] ||| B [X][X] [X] ||| 0.5 ||| 0-1 1-0 ||| 1
"""
MOSES_GLUE = """\
<s> [X] ||| <s> [S] ||| 1 ||| ||| 0
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 ||| 0
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0
"""
JOSHUA_GLUE = """\
[GOAL] ||| <s> ||| <s> ||| 0
[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1
[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0
"""


@pytest.mark.parametrize("system", ["moses", "joshua"])
def test_glue_files_do_what_our_glue_does(system: str, tmp_path: Path) -> None:
    if system == "moses":
        rules, glue = texts(tmp_path, rules=MOSES_RULES, glue=MOSES_GLUE)
        goal, piece = "S", math.log(2.718)
    else:
        rules, glue = texts(tmp_path, rules=HIERO_RULES, glue=JOSHUA_GLUE)
        goal, piece = "GOAL", -1.0
    model = hiero.Model.assemble([rules, glue])
    assert model.goal == goal
    theirs = decoder(model, {"tm_pt_0": 1.0, "tm_pt1_0": 0.3, "WordPenalty": 0.1, "RulePenalty": 0.2})
    # A sentence of n pieces has one use of our Glue less, and of their rules besides <s> and </s>.
    ours = decoder(
        hiero.Model.assemble([rules]),
        {"tm_pt_0": 1.0, "Glue": 0.2 + 0.3 * piece, "WordPenalty": 0.1, "RulePenalty": 0.2},
    )
    for sentence in ("a", "a b", "b c a b", "b b b a b a"):
        found = theirs.translate(sentence, keep="forest").kbest(10_000)
        expected = ours.translate(sentence, keep="forest").kbest(10_000)
        assert len(found) == len(expected) < 10_000
        for derivation, other in zip(found, expected, strict=True):
            assert derivation.score == pytest.approx(other.score + 3 * 0.2 + 0.3 * piece, abs=1e-5)
        best, other = found[0], expected[0]
        features = dict(other.features)
        pieces = features.pop("Glue", 0.0) + 1
        features["tm_pt1_0"] = pieces * piece
        features["RulePenalty"] += pieces + 2
        assert best.tokens == other.tokens
        assert same_features(best.features, features)
    done = call("hiero-decode", "--grammar", rules, "--grammar", glue, "--quiet", stdin="b a\n\nc\n")
    assert (done.stdout, done.stderr, done.returncode) == (b"B A\n\nc\n", b"", 0)


def test_goals_that_cover_the_sentence_in_one_rule() -> None:
    model = hiero.Model(
        [
            table("[NP] ||| a ||| A ||| W=1", "[NP] ||| [NP,1] b ||| B [NP,1] ||| W=1"),
            table("[Q] ||| <s> [NP,1] </s> ||| <s> [NP,1] </s> ||| G=1"),
        ],
        [],
        {},
    )
    assert model.goal == "Q"
    result = hiero.Decoder(model, span_limit=2).translate("a b", keep="forest")
    assert (result.text, result.features) == (
        "B A",
        {"WordPenalty": -2.0, "RulePenalty": 3.0, "W": 2.0, "G": 1.0},
    )
    assert not hiero.Decoder(model, span_limit=2).translate("a b b").has_parse


def test_goal_rules_with_marks_may_span_any_length() -> None:
    rules = table("[X] ||| c ||| C ||| A=1", "[X] ||| [X,1] c ||| [X,1] C ||| A=1")
    glue = table("[G] ||| <s> a [X,1] b </s> ||| <s> [X,1] </s> ||| B=1")
    assert (
        hiero.Decoder(hiero.Model([rules, glue], [], {}), span_limit=3).translate("a c c c b").text == "C C C"
    )


def test_marks_in_the_input_are_words(tmp_path: Path) -> None:
    model = hiero.Model.assemble(texts(tmp_path, rules=HIERO_RULES, glue=JOSHUA_GLUE))
    result = decoder(model, {"OOV": -10}).translate("<s> a </s> <s>")
    assert result.text == "<s> A </s> <s>"
    assert result.unknown == [0, 2, 3]
    assert result.features["OOV"] == 3


def test_marks_of_one_table_are_words_of_another() -> None:
    rules = table("[X] ||| <s> a ||| word </s> ||| A=1")
    model = hiero.Model([rules, table(*JOSHUA_GLUE.splitlines())], [], {})
    assert hiero.Decoder(model).translate("b <s> a").text == "b word </s>"


def test_saved_models_keep_goal_and_labels(tmp_path: Path) -> None:
    rules, glue = texts(tmp_path, rules=HIERO_RULES, glue=JOSHUA_GLUE)
    settings = hiero.DecodingSettings(unknown_words="mark")
    model = hiero.Model.assemble([rules, glue], copy_labels=["X", "GOAL2"], settings=settings)
    model.with_weights({"tm_pt_0": 1.0, "tm_pt1_0": 1.0}).save(tmp_path / "m")
    loaded = hiero.Model.load(tmp_path / "m")
    assert (loaded.goal, loaded.copy_labels, loaded.feature_names) == (
        "GOAL",
        ("X", "GOAL2"),
        model.feature_names,
    )
    sentence = "b new a"
    expected = hiero.Decoder(model).with_weights(loaded.weights).translate(sentence)
    found = hiero.Decoder(loaded).translate(sentence)
    assert found.text == expected.text == "B new_OOV A"
    assert (found.score, found.features) == (expected.score, expected.features)
    loaded.save(tmp_path / "n")
    assert (tmp_path / "n" / "model.toml").read_text() == (tmp_path / "m" / "model.toml").read_text()
    facts = call("hiero", "info", tmp_path / "m").stdout.decode()
    for line in (r"goal +GOAL", r"copy labels +X GOAL2", r"glue labels +\(all\)"):
        assert re.search(f"(?m)^{line}$", facts)
    assert '"unknown_words": "mark"' in facts
    glued = hiero.Model.assemble([rules], glue_labels=["X"])
    glued.save(tmp_path / "g")
    assert hiero.Model.load(tmp_path / "g").glue_labels == ("X",)


BAD = [
    (
        ["[A] ||| <s> [X,1] ||| <s> [X,1]", "[B] ||| <s> ||| <s>", "[A] ||| [A,1] </s> ||| [A,1] </s>"],
        "rules of several labels open sentences with <s>: [A] [B]",
    ),
    (
        ["[G] ||| <s> ||| <s>", "[G] ||| [G,1] </s> a ||| [G,1] </s> a"],
        "not so [G] ||| [G,1] </s> a ||| [G,1] </s> a",
    ),
    (
        ["[G] ||| <s> ||| <s>", "[G] ||| [G,1] </s> ||| </s> [G,1]"],
        "not so [G] ||| [G,1] </s> ||| </s> [G,1]",
    ),
    (["[G] ||| <s> ||| <s>", "[G] ||| [G,1] </s> ||| [G,1]"], "not so [G] ||| [G,1] </s> ||| [G,1]"),
    (["[G] ||| <s> ||| <s>", "[G] ||| a <s> ||| <s> a"], "not so [G] ||| a <s> ||| <s> a"),
    (
        ["[G] ||| <s> ||| <s>", "[X] ||| [X,1] </s> ||| [X,1] </s>"],
        "not so [X] ||| [X,1] </s> ||| [X,1] </s>",
    ),
    (["[G] ||| <s> ||| <s>", "[G] ||| <s> </s> ||| <s> </s>"], "not so [G] ||| <s> </s> ||| <s> </s>"),
    (["[G] ||| <s> ||| <s>", "[G] ||| [G,1] [X,2] ||| [G,1] [X,2]"], "but none closes them with </s>"),
    (
        ["[G] ||| <s> ||| <s>", "[G] ||| [G,1] </s> ||| [G,1] </s>", "[X] ||| a [G,1] ||| [G,1]"],
        "the goal [G] opens sentences with <s>, but rules have it elsewhere than first",
    ),
]


@pytest.mark.parametrize(("rules", "message"), BAD)
def test_marks_in_odd_places_are_errors(rules: list[str], message: str) -> None:
    with pytest.raises(hiero.FormatError) as caught:
        hiero.Model([table("[X] ||| a ||| A ||| W=1"), table(*(rule + " ||| " for rule in rules))], [], {})
    assert message in str(caught.value)


def test_marks_are_words_where_another_goal_is_named(tmp_path: Path) -> None:
    """The rules are what `hiero extract` makes of text with such words in it."""
    rules = ["[X] ||| <s> ||| <s> ||| -1", "[X] ||| a ||| A ||| -1", "[X] ||| </s> ||| end ||| -1"]
    (grammar,) = texts(tmp_path, rules="\n".join(rules))
    command = ("hiero-decode", "--grammar", grammar, "--quiet")
    done = call(*command, stdin="<s> a </s>\n")
    message = "rules of the goal [X], and no others, begin with <s> or the goal"
    assert done.returncode == 1 and message in done.stderr.decode()
    assert "(where another goal is named, <s> and </s> are words)" in done.stderr.decode()
    done = call(*command, "--goal", "S", stdin="<s> a </s>\n")
    assert (done.returncode, done.stdout) == (0, b"<s> A end\n")
    # A glue file beside it opens its sentences as ever, if it is said to.
    glue = tmp_path / "glue"
    glue.write_text(JOSHUA_GLUE)
    done = call(*command, "--grammar", glue, "--goal", "GOAL", stdin="a\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"A\n", b"")


@pytest.mark.parametrize("rule", ["[G] ||| a ||| SKIP", "[G</s>] ||| a ||| SKIP", "[G] ||| <s> a ||| <s> A"])
def test_rules_of_a_sentence_are_not_of_a_goal_with_marks(rule: str) -> None:
    model = hiero.Model([table("[X] ||| a ||| A ||| W=1"), table(*GLUE)], [], {})
    with pytest.raises(hiero.FormatError, match=r"of the goal \[G\], which the model's tables open with <s>"):
        decoder(model, {"O": -5.0}).translate(
            hiero.Sentence.from_source("a a", rules=[Rule(rule + " ||| W=1")])
        )


def test_alignment_and_spans_are_of_the_real_words(tmp_path: Path) -> None:
    glue = """\
[G] ||| <s> ||| <s> ||| 0 ||| 0-0
[G] ||| [G,1] [X,2] ||| [G,1] so [X,2] ||| 0
[G] ||| <s> b ||| <s> now B ||| 5 ||| 0-0 1-2
[G] ||| [G,1] c </s> ||| [G,1] C end </s> ||| 5 ||| 1-1 2-3
"""
    model = hiero.Model.assemble(texts(tmp_path, rules=HIERO_RULES, glue=glue))
    result = decoder(model, {"tm_pt1_0": 1.0}).translate("b a c", keep="forest")
    assert result.text == "now B so A C end"
    assert result.alignment == [(0, 1), (1, 3), (2, 4)]
    tree = derivation_tree(result.kbest(1)[0])
    assert [part.span for part in tree.preorder()] == [(0, 3), (0, 3), (0, 2), (0, 1), (1, 2)]
    opened = decoder(model, {"tm_pt1_0": 1.0}).translate("a c")
    assert (opened.text, opened.alignment) == ("so A C end", [(0, 1), (1, 2)])


def test_alignment_where_the_opening_has_words_of_its_own(tmp_path: Path) -> None:
    """The words stand where the goal stood on the target side, here in the middle; links go on past them."""
    glue = """\
[G] ||| <s> ||| <s> once upon ||| 0 ||| 0-0
[G] ||| [G,1] c d </s> ||| D [G,1] C </s> ||| 0 ||| 1-2 2-0
"""
    model = hiero.Model.assemble(texts(tmp_path, rules=HIERO_RULES, glue=glue))
    result = decoder(model, {}).translate("c d")
    assert (result.text, result.alignment) == ("D once upon C", [(0, 3), (1, 0)])


class MarkedEnumerator(Enumerator):
    """All derivations of a sentence with <s> and </s> around it, by rules that have these as words."""

    def __init__(self, rules: Sequence[Rule], sentence: Sequence[str], span_limit: int, goal: str) -> None:
        super().__init__(rules, ["<s>", *sentence, "</s>"], span_limit, goal)
        # Marks do not pass through.
        self.rules = [r for r in self.rules if "OOV" not in r.features or r.source[0] not in ("<s>", "</s>")]

    def without_marks(self) -> list[Derivation]:
        out = []
        for derivation in self.derivations():
            words = tuple(word for word in derivation.words if word not in ("<s>", "</s>"))
            features = Counter(derivation.features)
            features["WordPenalty"] += len(derivation.words) - len(words)
            out.append(Derivation(words, features))
        return out


def random_glue(rng: random.Random, goal: str, labels: Sequence[str], source: str, target: str) -> list[Rule]:
    """Rules of a goal with marks: some open, some close, some lead on."""
    rules = []
    kinds = ["", "<s>", "</s>", "<s></s>"]
    for kind in ["<s>", "", "</s>", *rng.choices(kinds, k=rng.randint(0, 4))]:
        symbols = [] if "<s>" in kind else [f"[{goal},1]"]
        # Rules that only open or close may have nothing between.
        for _ in range(rng.choice([0, 0, 0, 1, 2] if kind in ("<s>", "</s>") else [1, 1, 2])):
            arity = sum(symbol.startswith("[") for symbol in symbols)
            if rng.random() < 0.7:
                symbols.append(f"[{rng.choice(labels)},{arity + 1}]")
            else:
                symbols.append(rng.choice(source))
        output = [symbol for symbol in symbols if symbol.startswith("[")]
        if symbols:
            for _ in range(rng.choice([0, 0, 1, 1, 2])):
                output.insert(rng.randint(0, len(output)), rng.choice(target))
        sides = [list(symbols), output]
        for side in sides:
            side[:0] = ["<s>"] * ("<s>" in kind)
            side += ["</s>"] * ("</s>" in kind)
        feature = f"G={rng.randint(-8, 8) / 4}"
        rules.append(Rule(f"[{goal}] ||| {' '.join(sides[0])} ||| {' '.join(sides[1])} ||| {feature}"))
    return rules


def check_marked_case(seed: int, lm: hiero.LanguageModel, twin: BackoffModel, copy_words: bool) -> int:
    rng = random.Random(seed)
    labels = rng.choice([["X"], ["X", "Y"], ["A", "B"]])
    goal = rng.choice(["S", "GOAL"])
    glue = random_glue(rng, goal, labels, "abc", "uvw")
    rules = random_rules(rng, labels, "abc", "uvw")
    if not copy_words:
        rules += [Rule(f"[{rng.choice(labels)}] ||| {word} ||| v ||| P=-1.5") for word in "abc"]
    sentence = rng.choices("abc", k=rng.randint(1, 5))
    span_limit = rng.choice([1, 2, 10])
    parts = [rules, glue] if rules and rng.random() < 0.7 else [rules + glue]
    rng.shuffle(parts)
    model = hiero.Model([RuleTable.from_rules(part) for part in parts], [lm], {})
    assert model.goal == goal
    weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
    result = decoder(model, weights, span_limit=span_limit).translate(sentence, keep="forest")
    expected = MarkedEnumerator(rules + glue, sentence, span_limit, goal).without_marks()
    assert result.forest.derivation_count == len(expected)

    scored = []
    for derivation in expected:
        features = {**derivation.features, **lm_features(derivation.words, [twin])}
        score = sum(weights.get(name, 0.0) * value for name, value in features.items())
        scored.append((derivation.words, score, features))
    ours = (
        [(tuple(d.tokens), d.score, d.features) for d in result.kbest(len(expected) + 1)] if expected else []
    )
    for found, wanted in zip(
        sorted(ours, key=words_and_score), sorted(scored, key=words_and_score), strict=True
    ):
        assert found[0] == wanted[0]
        assert found[1] == pytest.approx(wanted[1], abs=1e-4)
        assert same_features(found[2], wanted[2])
    return len(expected)


def words_and_score(entry: tuple[tuple[str, ...], float, dict[str, float]]) -> tuple[tuple[str, ...], float]:
    return entry[:2]


@pytest.mark.parametrize("copy_words", [False, True])
def test_marked_glue_equals_enumeration_with_marks_around_the_input(tmp_path: Path, copy_words: bool) -> None:
    rng = random.Random(3)
    arpa = tmp_path / "lm.arpa"
    write_arpa(arpa, [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(12)], 3)
    lm, twin = hiero.LanguageModel.load(str(arpa)), BackoffModel(arpa)
    counts = [check_marked_case(seed, lm, twin, copy_words) for seed in range(150)]
    assert sum(count > 10 for count in counts) > 10  # not only trivial cases


JOSHUA = ["[G] ||| <s> ||| <s> ||| G=0", "[G] ||| [G,1] [X,2] ||| [G,1] [X,2] ||| G=-1"]
CLOSE = "[G] ||| [G,1] </s> ||| [G,1] </s> ||| G=0"


@pytest.mark.parametrize(
    ("glue", "message"),
    [
        # Derives nothing that begins with <s>.
        ([[*JOSHUA, CLOSE, "[G] ||| a ||| bad ||| G=5"]], "and no others, begin with <s> or the goal"),
        ([[*JOSHUA, CLOSE], ["[G] ||| a [X,1] ||| bad [X,1] ||| G=5"]], "which table pt1 opens with <s>"),
        ([[JOSHUA[0], CLOSE], [JOSHUA[1]]], "which table pt1 opens with <s>"),
    ],
    ids=["goal-without-mark", "goal-without-mark-elsewhere", "split-over-tables"],
)
def test_glue_that_is_read_as_a_whole_or_not_at_all(glue: list[list[str]], message: str) -> None:
    with pytest.raises(hiero.FormatError) as caught:
        hiero.Model([table(*rules) for rules in [["[X] ||| a ||| A ||| W=1"], *glue]], [], {})
    assert message in str(caught.value)


def test_words_in_the_opening_rule() -> None:
    rules = ["[X] ||| a ||| A ||| W=1", "[G] ||| <s> ||| <s> well ||| G=0", JOSHUA[1], CLOSE]
    model = hiero.Model([table(rules[0]), table(*rules[1:])], [], {})
    found = decoder(model, {"G": 1.0}).translate("a a", keep="forest").kbest(9)
    twin = MarkedEnumerator([Rule(rule) for rule in rules], ["a", "a"], 10, "G")
    assert sorted(d.text for d in found) == sorted(" ".join(d.words) for d in twin.without_marks()) != []
