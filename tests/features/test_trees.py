"""Tests of trees: reading brackets and mapping trees to other tokens, against slow versions, and files of
trees."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hiero
from hiero.features.trees import Constituent, Tree, frequent_labels, read_trees

LABELS = ["S", "NP", "VP", "PRP$", "-LRB-", ",", "``", "."]
# Brackets and their escapes, escapes of Moses, and white space that does not separate tokens.
TOKENS = st.text("ab()[]{}&;#4'\"`\\/*-\u3000é字", min_size=1, max_size=4).filter(
    lambda token: not re.search("-[LR][RSC]B-", token)
)


@st.composite
def trees(draw: st.DrawFn, tokens: st.SearchStrategy[str] = TOKENS, depth: int = 4) -> Tree:
    """Draws trees with unary chains. The outermost constituent may have no label."""
    words, tags, constituents = [], [], []

    def grow(depth: int) -> None:
        if constituents and (depth == 0 or not draw(st.integers(0, 2))):
            words.append(draw(tokens))
            tags.append(draw(st.sampled_from(LABELS)))
            return
        begin, place = len(words), len(constituents)
        label = draw(st.sampled_from([*LABELS, ""] if not constituents else LABELS))
        constituents.append(Constituent(label, begin, begin))
        for _ in range(draw(st.integers(1, 3))):
            grow(depth - 1)
        constituents[place] = Constituent(label, begin, len(words))

    grow(depth)
    return Tree(tuple(words), tuple(tags), tuple(constituents))


BRACKETS = [("LRB", "("), ("RRB", ")"), ("LSB", "["), ("RSB", "]"), ("LCB", "{"), ("RCB", "}")]
Node = tuple[str, object]


def slow_read(text: str) -> Tree:
    """Reads a tree as nested lists, with one recursion for each part of the result."""
    parts = re.findall(r"[()]|[^()\s]+", text, re.ASCII)

    def nested() -> Node:
        assert parts.pop(0) == "("
        label = parts.pop(0) if parts[0] not in "()" else ""
        if parts[0] not in "()":
            content: object = parts.pop(0)
        else:
            content = []
            while parts[0] == "(":
                content.append(nested())
        assert parts.pop(0) == ")"
        return label, content

    def pruned(node: Node) -> Node | None:
        label, content = node
        if isinstance(content, str):
            return None if label == "-NONE-" else node
        children = [child for child in map(pruned, content) if child is not None]
        return (label, children) if children else None

    def leaves(node: Node) -> list[Node]:
        return [node] if isinstance(node[1], str) else [leaf for child in node[1] for leaf in leaves(child)]

    def constituents(node: Node, begin: int) -> Iterator[Constituent]:
        if isinstance(node[1], str):
            return
        yield Constituent(bare(node[0]), begin, begin + len(leaves(node)))
        for child in node[1]:
            yield from constituents(child, begin)
            begin += len(leaves(child))

    def bare(label: str) -> str:
        return label if label.startswith(("-", "=")) else re.sub("[-=].*", "", label)

    def escaped(word: str) -> str:
        for escape, bracket in BRACKETS:
            word = word.replace(f"-{escape}-", bracket)
        return word

    root = pruned(nested())
    assert root is not None and not parts
    words = [escaped(word) for _, word in leaves(root)]
    tags = [bare(tag) for tag, _ in leaves(root)]
    return Tree(tuple(words), tuple(tags), tuple(constituents(root, 0)))


@given(trees())
def test_brackets_read_back_as_the_same_tree(tree: Tree) -> None:
    text = str(tree)
    assert Tree.read(text) == tree == slow_read(text)
    assert Tree.read(text).brackets() == text
    spaced = text.replace("(", " ( ").replace(")", " )\t")
    assert Tree.read(spaced) == tree


@given(trees(), st.data())
def test_functions_and_empty_elements_are_left_out(tree: Tree, data: st.DataObject) -> None:
    assume(tree.constituents)

    def add_function(match: re.Match[str]) -> str:
        functions = (
            "" if match[1].startswith("-") else data.draw(st.sampled_from(["", "-SBJ-1", "=2", "-TMP=3"]))
        )
        return f"({match[1]}{functions} "

    def add_empty(match: re.Match[str]) -> str:
        empty = ["", "(-NONE- *T*-1) ", "(NP-SBJ (-NONE- *)) ", "(SBAR (-NONE- 0) (S (NP (-NONE- *)))) "]
        return data.draw(st.sampled_from(empty)) + match[0]

    text = re.sub(r"\(([^ ()]+) ", add_function, str(tree))
    text = text[0] + re.sub(r"\(", add_empty, text[1:])
    assert Tree.read(text) == tree == slow_read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a tree without words"),
        (" ", "a tree without words"),
        ("(TOP (S (-NONE- *)))", "a tree without words"),
        ("(", "column 1: this bracket is not closed"),
        ("(S (NP he)", "column 1: this bracket is not closed"),
        ("(S (NP (PRP he)) (VP (VBD slept", "column 22: this bracket is not closed"),
        ("(S (PRP he))) ", 'column 13: "\\)" is outside the brackets of the tree'),
        (")", r'column 1: "\)" is outside'),
        ("he (S (PRP he))", 'column 1: "he" is outside'),
        ("(S (PRP he)) .", 'column 14: "." is outside'),
        ("(S (PRP he)) (S (PRP he))", r'column 14: "\(" is outside'),
        ("(S (PRP he) slept)", 'column 13: the word "slept" beside constituents'),
        ("(S he (VBD slept))", 'column 7: a bracket beside the word "he"'),
        ("(S (PRP he she))", 'column 12: the word "she" beside the word "he"'),
        ("(S ((PRP he)))", "column 5: a constituent without a label is not the outermost one"),
        ("(S (PRP he) ())", "column 14: empty brackets"),
        ("(S (PRP he) (VP))", 'column 16: "VP" is empty'),
        ("(UH yes)", "column 8: a part of speech without a constituent above it"),
        ("()", "column 2: empty brackets"),
        ("(S)", 'column 3: "S" is empty'),
        ("(( (S (PRP he))))", "column 4: a constituent without a label"),
    ],
)
def test_what_is_no_tree(text: str, message: str) -> None:
    with pytest.raises(hiero.FormatError, match=message):
        Tree.read(text)


@given(st.text("() SN.-=", max_size=12))
def test_what_is_read_is_a_tree(text: str) -> None:
    try:
        tree = Tree.read(text)
    except hiero.FormatError:
        return
    assert tree == slow_read(text) == Tree.read(str(tree))


def test_the_outermost_label_may_be_missing() -> None:
    tree = Tree.read("( (S (NP-SBJ (-NONE- *)) (VP (VB go) (-RRB- -RRB-))))")
    assert tree.constituents == (("", 0, 2), ("S", 0, 2), ("VP", 0, 2))
    assert (tree.tokens, tree.tags) == (("go", ")"), ("VB", "-RRB-"))
    assert str(tree) == "( (S (VP (VB go) (-RRB- -RRB-))))"
    assert str(Tree.read("((UH yes))")) == "( (UH yes))"


def test_depth_has_no_limit() -> None:
    depth = 50_000
    text = "(S " * depth + "(UH yes)" + ")" * depth
    tree = Tree.read(text)
    assert tree.constituents == (("S", 0, 1),) * depth
    assert str(tree) == text
    assert len(tree.retokenize(["y", "es"]).constituents) == depth
    with pytest.raises(hiero.FormatError, match=f"column {3 * depth - 2}: this bracket"):
        Tree.read("(S " * depth)


@pytest.mark.parametrize(
    ("tokens", "tags", "constituents", "message"),
    [
        ((), (), (), "0 tokens"),
        (("a",), ("N", "N"), (), "1 tokens and 2 parts of speech"),
        (("a", "b"), ("N", "N"), (), "a tree without constituents"),
        (("a", "b"), ("N", "N"), (("S", 0, 1),), "'S' from 0 to 1 is outermost but does not cover 2 tokens"),
        (("a", "b"), ("N", "N"), (("S", 0, 2), ("NP", 1, 1)), "'NP' from 1 to 1 does not nest"),
        (("a", "b"), ("N", "N"), (("S", 0, 2), ("NP", 1, 3)), "does not nest"),
        (("a", "b"), ("N", "N"), (("S", 0, 2), ("NP", 1, 2), ("VP", 0, 1)), "does not nest"),
        (("a", "b"), ("N", "N"), (("S", 0, 2), ("NP", 0, 1), ("VP", 0, 2)), "does not nest"),
        (("a", "b"), ("N", "N"), (("S", 0, 2), ("", 0, 1)), "'' is not a label"),
        (("a",), ("",), (("S", 0, 1),), "'' is not a label"),
        (("a",), ("N P",), (("S", 0, 1),), "'N P' is not a label"),
        (("a",), ("N",), (("NP-SBJ", 0, 1),), "'NP-SBJ' is not a label"),
        (("a",), ("N)",), (("S", 0, 1),), "is not a label"),
        (("a b",), ("N",), (("S", 0, 1),), "white space"),
        (("",), ("N",), (("S", 0, 1),), "empty"),
    ],
)
def test_what_is_made_is_a_tree(
    tokens: tuple[str, ...], tags: tuple[str, ...], constituents: tuple[Constituent, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Tree(tokens, tags, tuple(Constituent(*fields) for fields in constituents))


# Different spellings of a character, each with the number of characters that it counts as.
UNITS = [
    (1, ["a", "A"]),
    (1, ["b"]),
    (1, ["字"]),
    (2, ["é", "e\u0301", "É"]),
    (2, ["ﬁ", "fi", "Fi"]),
    (2, ["ß", "ss"]),
    (3, ["…", "..."]),
    (1, ["'", "&apos;", "`", "‘", "’"]),
    (2, ['"', "''", "``", "“", "”", "„", "&quot;"]),
    (1, ["(", "-LRB-", "-lrb-"]),
    (1, ["]", "-RSB-", "&#93;"]),
    (1, ["|", "&#124;", "&bar;"]),
    (1, ["&", "&amp;"]),
    (1, ["<", "&lt;"]),
    (1, ["/", "\\/"]),
    (0, ["\u00ad", "\u200b", "\u3000"]),
]


@st.composite
def retokenised_trees(draw: st.DrawFn) -> tuple[Tree, list[str], list[list[int]]]:
    """Draws a tree, another tokenisation of its characters, and for each token the leaf of each character."""
    tree = draw(trees(st.just("x")))
    units: list[tuple[int, int, str]] = []
    words = []
    for leaf in range(len(tree.tokens)):
        chosen = draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=4))
        words.append("".join(draw(st.sampled_from(spellings)) for _, spellings in chosen))
        units += [(leaf, count, draw(st.sampled_from(spellings))) for count, spellings in chosen]
    cuts = draw(st.lists(st.booleans(), min_size=len(units) - 1, max_size=len(units) - 1))
    tokens, owners = [""], [[]]
    for (leaf, count, spelling), cut in zip(units, [False, *cuts], strict=True):
        if cut:
            tokens.append("")
            owners.append([])
        tokens[-1] += spelling
        owners[-1] += [leaf] * count
    return Tree(tuple(words), tree.tags, tree.constituents), tokens, owners


def slow_leaves(owners: list[list[int]]) -> list[int]:
    """Returns the leaf of each token: the leaf with the most of its characters, the last one if there are
    several, or that of the token before if it has no characters of a leaf."""
    leaves = []
    for leaf_of in owners:
        before = leaves[-1] if leaves else 0
        leaves.append(max(leaf_of, key=lambda leaf: (leaf_of.count(leaf), leaf)) if leaf_of else before)
    return leaves


@settings(max_examples=200)
@given(retokenised_trees())
def test_forced_trees_against_the_definition(case: tuple[Tree, list[str], list[list[int]]]) -> None:
    tree, tokens, owners = case
    leaves = slow_leaves(owners)
    forced = tree.retokenize(tokens)
    if tuple(tokens) == tree.tokens:
        assert forced is tree
        return
    assert forced.tokens == tuple(tokens)
    assert forced.tags == tuple(tree.tags[leaf] for leaf in leaves)
    expected = []
    for label, begin, end in tree.constituents:
        taken = [place for place, leaf in enumerate(leaves) if begin <= leaf < end]
        if taken:
            assert taken == list(range(taken[0], taken[-1] + 1))
            expected.append((label, taken[0], taken[-1] + 1))
    assert list(forced.constituents) == expected
    for _, begin, end in forced.constituents:
        for _, other, its_end in forced.constituents:
            assert not begin < other < end < its_end


def test_forced_trees() -> None:
    tree = Tree.read("(NP (NP (DT the) (NN dog) (POS 's)) (NN tail))")
    assert str(tree.retokenize(["the", "dog's", "tail"])) == "(NP (NP (DT the) (NN dog's)) (NN tail))"
    assert str(tree.retokenize(["th", "e", "dog", "&apos;s", "tail"])) == (
        "(NP (NP (DT th) (DT e) (NN dog) (POS &apos;s)) (NN tail))"
    )
    # The preposition is part of the word, so PP and NP have the same words.
    tree = Tree.read("(VP (VBD raO) (PP (IN b) (NP (NN AlbAb) (NN AlkbIr))))")
    forced = tree.retokenize(["raO", "bAlbAb", "AlkbIr"])
    assert str(forced) == "(VP (VBD raO) (PP (NP (NN bAlbAb) (NN AlkbIr))))"
    assert [constituent for constituent in forced.constituents if constituent.begin == 1] == [
        ("PP", 1, 3),
        ("NP", 1, 3),
    ]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("he sleeps", r'the parse has "slept" \(word 2\) where the sentence has "sleeps" \(word 2\)'),
        ("heslapt", r'has "slept" \(word 2\) where the sentence has "heslapt" \(word 1\)'),
        ("he", r'the parse has "slept" \(word 2\) where the sentence has no more words'),
        ("he slept well", r'the parse has no more words where the sentence has "well" \(word 3\)'),
        ("", r'the parse has "he" \(word 1\) where the sentence has no more words'),
    ],
)
def test_other_characters(tokens: str, message: str) -> None:
    with pytest.raises(hiero.FormatError, match=message):
        Tree.read("(S (NP (PRP he)) (VP (VBD slept)))").retokenize(tokens.split())


def test_files(tmp_path: Path) -> None:
    lines = "(S (UH yes))\n\n ( ) \n(())\n( (S (UH no)) )\n"
    (tmp_path / "trees").write_text(lines)
    with gzip.open(tmp_path / "trees.gz", "wt") as file:
        file.write(lines)
    trees_read = read_trees(tmp_path / "trees")
    assert [tree and str(tree) for tree in trees_read] == ["(S (UH yes))", None, None, None, "( (S (UH no)))"]
    assert read_trees(tmp_path / "trees.gz") == trees_read
    (tmp_path / "trees").write_text("(S (UH yes))\n(S (UH yes)\n")
    with pytest.raises(hiero.FormatError, match=r"trees:2: column 1: this bracket is not closed"):
        read_trees(tmp_path / "trees")
    (tmp_path / "trees").write_bytes(b"(S (UH \xff))\n")
    with pytest.raises(hiero.FormatError, match="trees:1: invalid UTF-8"):
        read_trees(str(tmp_path / "trees"))
    with pytest.raises(FileNotFoundError):
        read_trees(tmp_path / "none")


def test_frequent_labels() -> None:
    np, vp = "(NP (DT a))", "(VP (VB a))"
    line = f"(TOP (S {np} {vp} {np} (PP {np}) (FRAG {vp}) (X {vp})))"
    parsed = [Tree.read(line), None, Tree.read(line), Tree.read(f"( (NN {np}))")]
    assert frequent_labels(parsed, 0) == ["NP", "VP", "PP", "S", "NN"]
    assert frequent_labels(parsed, 1) == ["NP", "VP", "PP", "S"]
    assert frequent_labels(parsed, 2) == ["NP", "VP"]
    assert frequent_labels(parsed) == frequent_labels([None]) == []


@pytest.mark.parametrize("name", ["dev.zh", "test.zh", "train.zh"])
def test_the_demo_corpus(demo: Path, name: str) -> None:
    texts = (demo / name).read_text().splitlines()
    file = demo / f"{name}.parse{'.gz' if name == 'train.zh' else ''}"
    check(texts, read_trees(file))


@pytest.mark.parametrize("name", ["de-en/dev.en", "de-en/test2016.en", "ja-en/dev.en", "ja-en/test.en"])
def test_real_parses(shared: Path, name: str) -> None:
    texts = (shared / name).read_text().splitlines()
    parsed = read_trees(shared / f"{name}.parse")
    assert [str(tree) for tree in parsed] == (shared / f"{name}.parse").read_text().splitlines()
    check(texts, parsed)
    assert frequent_labels(parsed)[:2] == ["NP", "VP"]


def check(texts: list[str], parsed: list[Tree | None]) -> None:
    """Checks that every text has a tree, and that the tree can be mapped to any other tokenisation of the
    text."""
    assert len(texts) == len(parsed)
    for text, tree in zip(texts, parsed, strict=True):
        assert tree is not None and list(tree.tokens) == text.split()
        assert tree.retokenize(text.split()) is tree
        characters = tree.retokenize(list("".join(tree.tokens)))
        assert characters.retokenize(tree.tokens) == tree
        assert len(tree.retokenize(["".join(tree.tokens)]).tokens) == 1
