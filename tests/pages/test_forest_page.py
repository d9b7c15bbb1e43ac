"""Tests of derivation and forest pages: well-formed, complete, and without external references, for any
words."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import Derivation, Forest, ForestError
from hiero.forest.derivations import derivation_tree
from hiero.forest.files import ForestWriter
from hiero.pages.forest import MOST_EDGES, derivation_page, derivations_page, forest_page
from support.brute_force_forest import small_random_forest
from support.commands import call, one_error_line
from support.html_page import checked_page
from support.paths import FRENCH

HOSTILE = [
    *("<script>", "</script>", "</title>", "&amp;", "\"'", "]]>", "<!--", "-->", "\x00", "\x1b", "\x85"),
    *("\ufffe", "\u202e", "\u2067", "[X,1]", "|||", "`${x}", "\U0001f600", "赵丽", "<b>", "سرد", "\\u003c"),
]


@pytest.fixture(scope="module")
def decoder() -> hiero.Decoder:
    french = FRENCH
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    return hiero.Decoder(model, pass_through="all")


@pytest.fixture(scope="module")
def weights(french: Path) -> dict[str, float]:
    return hiero.read_weights(french / "weights.txt")


def best(forest: Forest, weights: dict[str, float]) -> Derivation:
    derivation = forest.viterbi({name: weights.get(name, 0.0) for name in forest.feature_names})
    assert derivation is not None
    return derivation


def test_derivations_of_a_decoder(decoder: hiero.Decoder, weights: dict[str, float], french: Path) -> None:
    for line in (french / "input.fr").read_text().splitlines():
        derivation = best(decoder.translate(line, keep="forest").forest, weights)
        text = derivation_page(derivation, weights)
        assert text == derivation_page(derivation, weights)
        page = checked_page(text)
        rules = list(derivation_tree(derivation).preorder())
        assert [row["sides"] for row in page.rules] == [f"{r.source} → {r.target}" for r in rules]
        assert [row["head"] for row in page.rules] == [
            f"{r.label} {r.span[0]}:{r.span[1]}".strip() for r in rules
        ]
        assert page.classes.count("link") == len(derivation.alignment)
        assert page.classes.count("word") == len(derivation.forest.source) + len(derivation.tokens)
        assert page.texts["p"][0] == derivation.text
        assert page.texts["p"][1].startswith(f"score {derivation.score:.3f}, ")
        bare = checked_page(derivation_page(derivation))
        assert "score" not in bare.texts["p"][1] and bare.data["weights"] is None
        assert {row["score"] for row in bare.rules} == {""}


def test_bars_of_confidence(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    """Each word has a line for 1, and on it one as long as it is sure."""
    derivation = best(decoder.translate("le chat noir", keep="forest").forest, weights)
    confidence = [0.25, 0.5, 1.0]
    page = derivation_page(derivation, weights, confidence=confidence)
    lines = re.findall(r'<path class="(all|sure)" d="M(\S+) (\S+)h(\S+)"/>', page)
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    for (whole, part), sure in zip(pairs, confidence, strict=True):
        assert (whole[0], part[0]) == ("all", "sure") and whole[1:3] == part[1:3]
        assert float(part[3]) == pytest.approx(sure * float(whole[3]), rel=1e-3)
    assert "confidence of words 0.58 on average, as bars" in page
    assert 'class="sure"' not in derivation_page(derivation, weights)


def test_features_of_rules(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    derivation = best(decoder.translate("le chat noir dort", keep="forest").forest, weights)
    page = checked_page(derivation_page(derivation, weights))
    page_weights = dict(zip(page.data["features"], page.data["weights"], strict=True))
    assert page_weights == {name: weights.get(name, 0.0) for name in page_weights}
    for row, rule in zip(page.rules, derivation_tree(derivation).preorder(), strict=True):
        assert page.features(row) == pytest.approx(rule.features, rel=1e-5)
        where = f"rule {rule.rule} of {rule.table}" if rule.table else "into the root"
        assert page.data["rules"][int(row["data-rule"])][0] == where
        score = sum(value * page_weights[name] for name, value in page.features(row).items())
        assert float(row["score"]) == pytest.approx(score, abs=6e-4)


def test_a_rule_has_its_words(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    page = checked_page(
        derivation_page(best(decoder.translate("je ne comprends pas", keep="forest").forest, weights))
    )
    marked = {
        tuple(name for name in row["data-own"].split() if name[0] in "st"): row["data-near"].split()
        for row in page.rules
    }
    # "ne [X,1] pas -> do not [X,1]" around "comprends -> understand".
    assert marked["s1", "s3", "t1", "t2"] == ["s2", "t3"]
    assert marked["s2", "t3"] == []


def test_glue_stays_at_one_level(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    """All rules of a glue chain are at one level, and the phrases that they join at the next."""
    derivation = best(decoder.translate(" ".join("abcdefgh"), keep="forest").forest, weights)
    page = checked_page(derivation_page(derivation, weights))
    levels = [(row["head"].split()[0], int(row["aria-level"])) for row in page.rules]
    assert levels == [("0:8", 1), *[("S", 2)] * 8, *[("X", 3)] * 8]


def test_rules_with_words_are_no_glue() -> None:
    """A rule below one of the same label is indented, unless the upper rule has nothing but nonterminals."""
    rules = [hiero.Rule("[X] ||| a [X,1] ||| a [X,1] ||| P=0"), hiero.Rule("[X] ||| b ||| b ||| P=0")]
    weights = {"P": 1.0, "OOV": -100.0, "Glue": -1.0}
    decoder = hiero.Decoder(hiero.Model([hiero.RuleTable.from_rules(rules)], [], weights))
    page = checked_page(derivation_page(decoder.translate("a a b").derivation))
    levels = [(row["head"], int(row["aria-level"])) for row in page.rules]
    assert levels == [("0:3", 1), ("S 0:3", 2), ("X 0:3", 3), ("X 1:3", 4), ("X 2:3", 5)]


def test_words_of_all_scripts_are_in_one_order(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    """Words of right-to-left scripts are isolated, so that they do not change the order of words beside
    them."""
    source = ["سرد", "جنگ", "٣", "x", "שלום"]
    page = derivation_page(best(decoder.translate(" ".join(source), keep="forest").forest, weights))
    text = re.findall('<p class="text">(.*)</p>', page)
    assert text == ["<bdi>سرد</bdi> <bdi>جنگ</bdi> <bdi>٣</bdi> x <bdi>שלום</bdi>"]
    sides = re.findall('<span class="side">(.*?)</span>', page)
    assert sides.count("<bdi>سرد</bdi>") == 2 and sides.count("x") == 2


def test_hostile_words(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    forest = decoder.translate(" ".join(HOSTILE), keep="forest").forest
    assert forest.source == HOSTILE
    derivation = best(forest, weights)
    title = "</title><b>&"
    page = checked_page(derivation_page(derivation, weights, title))
    assert page.texts["title"][0] == page.texts["h1"][0] == title
    assert [t for t in page.texts["text"] if t == "</script>"] == ["</script>"] * 2
    assert "\N{SYMBOL FOR NULL}" in page.texts["text"]
    checked_page(
        forest_page(forest.prune(forest.scores(dict.fromkeys(forest.feature_names, 0.0)), margin=0.0))
    )


def test_hostile_names() -> None:
    names = ["</script><b>", "\u202e", "\x00", "<!--<script>"]
    forest = Forest.from_arrays(
        edge_offsets=[0, 1],
        tail_offsets=[0, 0],
        tails=[],
        features=np.array([[1.5, 2.0, 3.0, 1e-9]]),
        feature_names=names,
        labels=["سرد<"],
        node_labels=[0],
        tables=["</script>"],
        edge_tables=[0],
        edge_rules=[1234567],
        node_spans=[[0, 1]],
        source=["a"],
    )
    for text in (derivation_page(best(forest, {}), {}), forest_page(forest)):
        page = checked_page(text)
        assert page.data["features"] == ["</script><b>", "\ufffd", "\N{SYMBOL FOR NULL}", "<!--<script>"]
        assert page.data["rules"][0][0].startswith("rule 1,234,567 of </script>")
        assert page.data["rules"][0][1][3] == [3, 1e-9]


def test_several_derivations(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    lines = {7: "le chat noir", 2: "le chien", 4: "je ne comprends pas"}
    full = {n: decoder.translate(line, keep="forest").forest for n, line in lines.items()}
    counts = {7: 2, 2: 1, 4: 3}
    sentences = {
        n: {f"derivation {k}": d for k, d in enumerate(forest.kbest(counts[n], forest.scores({})), start=1)}
        for n, forest in full.items()
    }
    page = checked_page(derivations_page(sentences, None, "Three"))
    sections = ["s7-d1", "s7-d2", "s2-d1", "s4-d1", "s4-d2", "s4-d3"]
    assert [name for name in page.ids if re.fullmatch(r"s\d+-d\d+", name)] == sections
    assert page.texts["h1"][4] == "Sentence 4, derivation 2"
    links = {(where, meaning): to for where, meaning, to in page.links}
    ways = {
        "next derivation": [*sections[1:], ""],
        "previous derivation": ["", *sections[:-1]],
        "next sentence": ["s2-d1", "s2-d1", "s4-d1", "", "", ""],
        "previous sentence": ["", "", "s7-d1", "s2-d1", "s2-d1", "s2-d1"],
    }
    for meaning, targets in ways.items():
        assert [links[name, meaning] for name in sections] == targets, meaning
    # If a sentence has one derivation, or there is one sentence, links of one kind are enough.
    kinds = {meaning for _, meaning, _ in checked_page(derivations_page({4: sentences[4]})).links}
    assert kinds == {"previous derivation", "next derivation"}
    bests = {n: {"best": named["derivation 1"]} for n, named in sentences.items()}
    kinds = {meaning for _, meaning, _ in checked_page(derivations_page(bests)).links}
    assert kinds == {"previous sentence", "next sentence"}
    assert checked_page(derivations_page({2: sentences[2]})).links == []
    with pytest.raises(ValueError, match="no derivations"):
        derivations_page({3: {}})


def test_made_forests() -> None:
    """Random forests have repeated tails, target sides without some tails, spans beyond the source, and no
    names."""
    for seed in range(50):
        forest = small_random_forest(random.Random(seed))
        page = checked_page(forest_page(forest))
        assert (page.classes.count("node"), page.classes.count("edge")) == (
            forest.node_count,
            forest.edge_count,
        )
        assert page.tags.count("path") == len(forest.tails)
        for derivation in forest.kbest(3, [0.0] * forest.edge_count):
            page = checked_page(derivation_page(derivation, {}))
            assert len(page.rules) == len(derivation.edges)
    wide = Forest.from_arrays(
        edge_offsets=[0, 1], tail_offsets=[0, 0], tails=[], node_spans=[[0, 2**31 - 1]], source=["a"]
    )
    assert checked_page(derivation_page(best(wide, {}))).classes.count("word") == 1


def test_best_edges_of_a_forest(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    forest = decoder.translate("le chat noir dort", keep="forest").forest
    small = forest.prune(forest.scores({n: weights.get(n, 0.0) for n in forest.feature_names}), margin=1.0)
    text = forest_page(small, weights)
    page = checked_page(text)
    assert page.texts["p"] == [
        f"{small.node_count} nodes, {small.edge_count} edges, {small.derivation_count} derivations"
    ]
    # Nodes have numbers, since labels and spans may be the same.
    named = [t.split(",")[0] for t in page.texts["span"] if t.startswith("node ")]
    assert sorted(named) == sorted(f"node {n}" for n in range(small.node_count))
    origins = [page.data["rules"][int(row["data-rule"])][0] for row in page.rules]
    assert any(re.search(r", of node \d+ over \d+", origin) for origin in origins)
    assert text.count('class="edge best"') == len(best(small, weights).edges)
    assert "best" not in checked_page(forest_page(small)).classes
    for misspelt in (
        lambda: forest_page(small, weights | {"WordPenality": 1.0}),
        lambda: derivation_page(best(small, weights), weights | {"WordPenality": 1.0}),
    ):
        with pytest.raises(hiero.FormatError, match="no such feature: WordPenality"):
            misspelt()


def test_huge_counts() -> None:
    """Each node has two edges, both with the node below as both tails: the yield doubles 15 times."""
    nodes = 16
    forest = Forest.from_arrays(
        edge_offsets=[0, *range(1, 2 * nodes, 2)],
        tail_offsets=[0, *range(0, 4 * nodes - 3, 2)],
        tails=[node for node in range(nodes - 1) for _ in range(4)],
        words=["a", "b"],
        target_offsets=[0, 2, 4],
        target_symbols=[0, 1, -1, -2],
        edge_targets=[0] + [1] * (2 * nodes - 2),
    )
    page = checked_page(forest_page(forest))
    assert page.texts["p"] == ["16 nodes, 31 edges, 7.1e9863 derivations"]
    assert "a b a … b a b" in page.texts["span"]


def test_forests_that_are_not_drawn() -> None:
    edges = MOST_EDGES + 1
    large = Forest.from_arrays(edge_offsets=[0, edges], tail_offsets=[0] * (edges + 1), tails=[])
    with pytest.raises(ForestError, match="301 edges are too many to draw, at most 300: prune"):
        forest_page(large)
    empty = Forest.from_arrays(edge_offsets=[0], tail_offsets=[0], tails=[])
    with pytest.raises(ForestError, match="no edges"):
        forest_page(empty)


def test_command(decoder: hiero.Decoder, weights: dict[str, float], french: Path, tmp_path: Path) -> None:
    archive, output = tmp_path / "all.forests", tmp_path / "page.html"
    forests = [decoder.translate(line, keep="forest").forest for line in ("le chat noir", "", "le chien")]
    with ForestWriter(archive) as writer:
        for forest in forests:
            writer.write(forest)

    def show(*args: object) -> subprocess.CompletedProcess[bytes]:
        return call("hiero", "forest", "show", archive, *args)

    scored = ("--sentence", 0, "--weights", french / "weights.txt")
    done = show(*scored, "-o", output)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    own = {n: weights.get(n, 0.0) for n in forests[0].feature_names}
    two = dict(enumerate(forests[0].kbest(2, own), 1))
    sure = {k: forests[0].distribution(own).word_posteriors(one.tokens) for k, one in two.items()}
    first = derivations_page(
        {0: {"derivation 1": two[1]}}, weights, "all.forests", {0: {"derivation 1": sure[1]}}
    )
    assert output.read_text("utf-8") == show(*scored).stdout.decode() == first
    second = derivations_page(
        {0: {"derivation 2": two[2]}}, weights, "all.forests", {0: {"derivation 2": sure[2]}}
    )
    assert show(*scored, "--rank", 2).stdout.decode() == second
    several = show("--sentence", 2, 0, "-k", 2, "--weights", french / "weights.txt").stdout.decode()
    sections = [name for name in checked_page(several).ids if re.fullmatch(r"s\d-d\d", name)]
    assert sections == ["s2-d1", "s2-d2", "s0-d1", "s0-d2"]
    whole = show("--sentence", 2, "--forest").stdout.decode()
    assert whole == forest_page(forests[2], None, "Sentence 2")
    small = forests[0].prune({n: weights.get(n, 0.0) for n in forests[0].feature_names}, margin=1.0)
    pruned = show(*scored, "--forest", "--margin", 1).stdout.decode()
    assert pruned == forest_page(small, weights, "Sentence 0")

    assert "sentence 1 has no derivation" in one_error_line(show("--sentence", 1, "-o", tmp_path / "none"))
    assert "no sentence 3, there are 3" in one_error_line(show("--sentence", 0, 3))
    assert "derivations, none of rank 100000" in one_error_line(show("--sentence", 2, "--rank", 100000))
    assert show("--sentence", -1).returncode == show().returncode == 2
    for wrong in (["--forest", "--rank", 2], ["--forest", "-k", 2], ["-k", 2, "--rank", 2], ["--margin", 1]):
        assert show(*scored, *wrong).returncode == 2
    assert show("--sentence", 0, 2, "--forest").returncode == 2
    message = one_error_line(show("--sentence", 0, "--forest", "--margin", 1))
    assert "all.forests: does not say what weights it was made with; give --weights" in message
    assert not (tmp_path / "none").exists()
