"""Pages of derivations and forests: well-formed, complete, without references, whatever the words are."""

from __future__ import annotations

import random
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from brute_force_forest import small_random_forest
from in_process import call
from test_cli import one_error_line

import hiero
from hiero import Derivation, Forest, ForestError
from hiero.forest.derivations import derivation_tree
from hiero.forest.files import ForestWriter
from hiero.forest.pages import MOST_EDGES, derivation_page, forest_page

VOID = {"meta"}
HOSTILE = [
    *("<script>", "</script>", "</title>", "&amp;", "\"'", "]]>", "<!--", "-->", "\x00", "\x1b", "\x85"),
    *("\ufffe", "\u202e", "[X,1]", "|||", "`${x}", "\U0001f600", "赵丽"),
]


class Page(HTMLParser):
    """Checks that tags balance; collects ids, texts, classes and what refers to ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: set[str] = set()
        self.classes: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = {name: value or "" for name, value in attrs}
        assert not {"href", "src"} & set(values) and not any(name.startswith("on") for name in values)
        if "id" in values:
            self.ids.append(values["id"])
        self.references.update(values.get("data-own", "").split(), values.get("data-near", "").split())
        self.classes += values.get("class", "").split()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


def checked(text: str) -> Page:
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"http|url\(|@import|//", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufffe]", text)
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids) and page.references <= set(page.ids)
    assert (page.tags.count("script"), page.tags.count("style")) == (1, 1)
    return page


@pytest.fixture(scope="module")
def decoder() -> hiero.Decoder:
    french = Path(__file__).parent / "french"
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    return hiero.Decoder(model, pass_through="all")


@pytest.fixture(scope="module")
def weights(french: Path) -> dict[str, float]:
    return hiero.read_weights(french / "weights.txt")


def best(forest: Forest, weights: dict[str, float]) -> Derivation:
    found = forest.viterbi({name: weights.get(name, 0.0) for name in forest.feature_names})
    assert found is not None
    return found


def test_derivations_of_a_decoder(decoder: hiero.Decoder, weights: dict[str, float], french: Path) -> None:
    for line in (french / "input.fr").read_text().splitlines():
        derivation = best(decoder.translate(line, keep="forest").forest, weights)
        text = derivation_page(derivation, weights)
        assert text == derivation_page(derivation, weights)
        page = checked(text)
        rules = list(derivation_tree(derivation).preorder())
        assert (
            page.classes.count("rule") == len(rules) == text.count("data-near") - page.classes.count("word")
        )
        assert page.classes.count("link") == len(derivation.alignment)
        assert page.classes.count("word") == len(derivation.forest.source) + len(derivation.tokens)
        shown = " ".join("".join(page.texts["tspan"]).split())
        assert shown == "".join(rule.source + rule.target for rule in rules).replace(" ", "")
        assert f"score {derivation.score:.3f}" in page.texts["p"]
        assert "score" not in Page(derivation_page(derivation)).texts["p"][-1]


def test_a_rule_has_its_words(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    text = derivation_page(best(decoder.translate("je ne comprends pas", keep="forest").forest, weights))
    groups = re.findall(r'class="rule" tabindex="0" data-own="(.*?)" data-near="(.*?)">.*?\n', text)
    marked = {tuple(name for name in own.split() if name[0] in "st"): near.split() for own, near in groups}
    # "ne [X,1] pas -> do not [X,1]" around "comprends -> understand".
    assert marked["s1", "s3", "t1", "t2"] == ["s2", "t3"]
    assert marked["s2", "t3"] == []


def test_hostile_words(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    forest = decoder.translate(" ".join(HOSTILE), keep="forest").forest
    assert forest.source == HOSTILE
    derivation = best(forest, weights)
    title = "</title><b>&"
    page = checked(derivation_page(derivation, weights, title))
    assert page.texts["title"][0] == page.texts["h1"][0] == title
    assert [t for t in page.texts["text"] if t == "</script>"] == ["</script>"] * 2
    assert "\N{SYMBOL FOR NULL}" in page.texts["text"]
    checked(forest_page(forest.prune(forest.scores(dict.fromkeys(forest.feature_names, 0.0)), margin=0.0)))


def test_made_forests() -> None:
    """With repeated tails, targets that leave tails out, spans beyond the source and no names."""
    for seed in range(50):
        forest = small_random_forest(random.Random(seed))
        page = checked(forest_page(forest))
        assert (page.classes.count("node"), page.classes.count("edge")) == (
            forest.node_count,
            forest.edge_count,
        )
        assert page.tags.count("path") == len(forest.tails)
        for derivation in forest.kbest(3, [0.0] * forest.edge_count):
            page = checked(derivation_page(derivation, {}))
            assert page.classes.count("rule") == len(derivation.edges)
    wide = Forest.from_arrays(
        edge_offsets=[0, 1], tail_offsets=[0, 0], tails=[], node_spans=[[0, 2**31 - 1]], source=["a"]
    )
    assert checked(derivation_page(best(wide, {}))).classes.count("word") == 1


def test_best_edges_of_a_forest(decoder: hiero.Decoder, weights: dict[str, float]) -> None:
    forest = decoder.translate("le chat noir dort", keep="forest").forest
    small = forest.prune(forest.scores({n: weights.get(n, 0.0) for n in forest.feature_names}), margin=1.0)
    text = forest_page(small, weights)
    assert checked(text).texts["p"] == [
        f"{small.node_count} nodes, {small.edge_count} edges, {small.derivation_count} derivations"
    ]
    assert text.count('class="edge best"') == len(best(small, weights).edges)
    assert "best" not in Page(forest_page(small)).classes
    for misspelt in (
        lambda: forest_page(small, weights | {"WordPenality": 1.0}),
        lambda: derivation_page(best(small, weights), weights | {"WordPenality": 1.0}),
    ):
        with pytest.raises(hiero.FormatError, match="no such feature: WordPenality"):
            misspelt()


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
    first = derivation_page(best(forests[0], weights), weights, "Sentence 0, derivation 1")
    assert output.read_text("utf-8") == show(*scored).stdout.decode() == first
    second = show(*scored, "--rank", 2).stdout.decode()
    assert second != first and checked(second)
    whole = show("--sentence", 2, "--forest").stdout.decode()
    assert whole == forest_page(forests[2], None, "Sentence 2")
    small = forests[0].prune({n: weights.get(n, 0.0) for n in forests[0].feature_names}, margin=1.0)
    pruned = show(*scored, "--forest", "--margin", 1).stdout.decode()
    assert pruned == forest_page(small, weights, "Sentence 0")

    assert "sentence 1 has no derivation" in one_error_line(show("--sentence", 1, "-o", tmp_path / "none"))
    assert "no sentence 3, there are 3" in one_error_line(show("--sentence", 3))
    assert "derivations, none of rank 100000" in one_error_line(show("--sentence", 2, "--rank", 100000))
    assert show("--sentence", -1).returncode == show().returncode == 2
    assert show("--sentence", 0, "--forest", "--rank", 2).returncode == 2
    assert show("--sentence", 0, "--margin", 1, "--weights", french / "weights.txt").returncode == 2
    message = one_error_line(show("--sentence", 0, "--forest", "--margin", 1))
    assert "all.forests: does not say what weights it was made with; give --weights" in message
    assert not (tmp_path / "none").exists()
