"""The demo corpus: it is what its generator writes, and holds what docs/demo.md says."""

import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hiero._core import RuleCounts
from hiero.train import extract_rules
from support.brute_force_extraction import Limits, Pair, is_initial
from support.paths import DEMO

SIZES = {"train": 5000, "dev": 200, "test": 200}
NAMES = ["zh", "align", "zh.parse"]


@pytest.fixture(scope="module")
def generator() -> Iterator[Any]:
    sys.path.insert(0, str(DEMO))
    yield import_module("generate")
    sys.path.remove(str(DEMO))


@pytest.fixture(scope="module")
def corpus(generator: Any) -> list[Any]:
    return list(generator.sentences(1))


def lines(name: str, folder: Path = DEMO) -> list[str]:
    path = folder / name
    data = path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
    return data.decode("utf-8").removesuffix("\n").split("\n")


def references(part: str) -> list[list[str]]:
    names = ["train.en"] if part == "train" else [f"{part}.en.{k}" for k in range(4)]
    return [lines(name) for name in names]


def links(text: str) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in (link.split("-") for link in text.split())]


@pytest.mark.slow
def test_regenerating_gives_the_committed_files(generator: Any, corpus: list[Any], tmp_path: Path) -> None:
    generator.write_corpus(tmp_path, corpus)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert len(written) == 22
    for name in written:
        new, old = (tmp_path / name).read_bytes(), (DEMO / name).read_bytes()
        assert (gzip.decompress(new) == gzip.decompress(old)) if name.endswith(".gz") else (new == old), name


def test_another_seed_gives_another_corpus(generator: Any) -> None:
    first, other = next(generator.sentences(1)), next(generator.sentences(2))
    assert first.source != other.source


def test_grammar_is_large_and_all_of_it_can_be_used(generator: Any) -> None:
    grammar = generator.grammar()
    assert grammar.entry_count >= 400
    assert len(grammar.rules) >= 200
    symbols = {s for found in grammar._instances.values() for _, es in found for e in es for s in e.symbols}
    for name, entries in grammar.lexicon.items():
        reachable = {id(e) for s in symbols if s.partition(".")[0] == name for e in grammar.matches(s)}
        assert [entry.source for entry in entries if id(entry) not in reachable] == []


@pytest.mark.parametrize("part", SIZES)
def test_counts_and_tokens(part: str) -> None:
    files = [*(lines(f"{part}.{name}") for name in NAMES), *references(part)]
    assert {len(file) for file in files} == {SIZES[part]}
    for line in [line for file in files for line in file]:
        assert line == " ".join(line.split()) != ""
    source = lines(f"{part}.zh")
    assert all(5 <= len(line.split()) <= 35 for line in source)
    assert all(line == line.lower() for file in references(part) for line in file)


def test_no_source_sentence_comes_twice() -> None:
    everything = [line for part in SIZES for line in lines(f"{part}.zh")]
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize("part", SIZES)
def test_alignments(part: str) -> None:
    linked = words = 0
    rows = zip(lines(f"{part}.zh"), references(part)[0], lines(f"{part}.align"), strict=True)
    for source, target, alignment in rows:
        pairs = links(alignment)
        sizes = len(source.split()), len(target.split())
        assert pairs == sorted(set(pairs))
        assert all(0 <= i < sizes[0] and 0 <= j < sizes[1] for i, j in pairs)
        covered = len({i for i, _ in pairs}) + len({j for _, j in pairs})
        assert covered >= 0.6 * sum(sizes), source
        linked, words = linked + covered, words + sum(sizes)
    assert linked > 0.95 * words


@pytest.mark.parametrize("part", SIZES)
def test_parses(part: str) -> None:
    for source, parse in zip(lines(f"{part}.zh"), lines(f"{part}.zh.parse"), strict=True):
        depth = 0
        for number, bracket in enumerate(re.findall(r"[()]", parse)):
            assert depth or not number
            depth += 1 if bracket == "(" else -1
        assert depth == 0 and parse.startswith("(IP ")
        assert re.findall(r"([^\s()]+)\)", parse) == source.split()
        assert all(re.fullmatch("[A-Z]+", label) for label in re.findall(r"\(([^\s()]*)", parse))


@pytest.mark.parametrize("part", ["dev", "test"])
def test_xml_agrees_with_the_text(part: str) -> None:
    for name, expected in (("src", [lines(f"{part}.zh")]), ("ref", references(part))):
        (root,) = ElementTree.parse(DEMO / f"{part}-{name}.xml").getroot()
        assert root.tag == f"{name}set"
        assert root.get("setid") == f"demo-{part}" and root.get("srclang") == "Chinese"
        assert root.get("trglang") == ("English" if name == "ref" else None)
        systems: dict[str | None, list[str | None]] = {}
        documents: Counter[str | None] = Counter()
        for document in root:
            segments = list(document)
            assert [segment.get("id") for segment in segments] == [str(k) for k in range(1, 26)]
            systems.setdefault(document.get("sysid"), []).extend(segment.text for segment in segments)
            documents[document.get("docid")] += 1
        assert list(systems.values()) == expected
        assert list(systems) == ([None] if name == "src" else ["ref0", "ref1", "ref2", "ref3"])
        assert documents == {f"{part}.{k}": len(expected) for k in range(1, 9)}


PHENOMENA = {
    "relative clause": (r" 的 ", r" (who|that|which) "),
    "把": (r"(^|\s)把 ", r""),
    "被": (r" 被 ", r" by | was | were "),
    "measure word": (r"[一两三四五这那几] [本只张件辆部位] ", r""),
    "date": (r" 月 \d+ 日", r"\bon (\d+ )?(\w+) "),
    "number": (r"[三四五六七八十百]", r"(three|four|five|six|seven|eight|ten)"),
    "digits": (r"(^|\s)\d+ ", r"\d"),
    "name": (r"王明|玛丽|北京|上海", r"wang ming|mary|beijing|shanghai"),
    "question": (r" (吗|什么|谁|哪儿|几|为什么) .*？$|^谁", r"\?$"),
    "ambiguity of 打": (r" 打 ", r"(play|call|phon|typ|tai chi)"),
    "ambiguity of 看": (r" 看 ", r"(read|watch|look|see|visit)"),
}


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("name", PHENOMENA)
def test_phenomena(part: str, name: str) -> None:
    source_pattern, target_pattern = PHENOMENA[name]
    pairs = zip(lines(f"{part}.zh"), references(part)[0], strict=True)
    found = sum(bool(re.search(source_pattern, s) and re.search(target_pattern, t)) for s, t in pairs)
    assert found >= SIZES[part] // 100


@pytest.mark.parametrize("part", ["dev", "test"])
def test_references_differ(part: str) -> None:
    distinct = [len(set(sentence)) for sentence in zip(*references(part), strict=True)]
    assert sum(distinct) / len(distinct) >= 0.9 * 4
    assert sum(count >= 2 for count in distinct) >= 0.95 * len(distinct)


def test_derivations_cover_the_sentences(generator: Any, corpus: list[Any]) -> None:
    for sentence in corpus[::10]:
        english = sentence.references[0]
        root = sentence.derivation
        assert root.source_span == (0, len(sentence.source)) and root.target_span == (0, len(english))
        for node in root.walk():
            sides = generator.hiero_rule(node, sentence.source, english)
            for k, (span, side) in enumerate(zip((node.source_span, node.target_span), sides, strict=True)):
                inner = [(child.source_span, child.target_span)[k] for child in node.children]
                assert all(span[0] <= start < end <= span[1] for start, end in inner)
                gaps = len(side) - len(inner)
                assert gaps + sum(end - start for start, end in inner) == span[1] - span[0]


def meets_the_constraints(node: Any, sides: tuple[list[str], list[str]], pair: Pair) -> bool:
    """Tells whether extraction by its defaults must find the rule at a node (Chiang 2007, section 3.2)."""
    limits = Limits()
    gaps = [(*child.source_span, *child.target_span) for child in node.children]
    if not all(is_initial(pair, span, limits) for span in [(*node.source_span, *node.target_span), *gaps]):
        return False
    if len(gaps) > limits.max_nonterminals or (gaps and len(sides[0]) > limits.max_symbols):
        return False
    if any(first[1] == second[0] for first, second in pairwise(sorted(gaps))):
        return False
    within = [link for link in pair.links if node.source_span[0] <= link[0] < node.source_span[1]]
    return any(not any(gap[0] <= s < gap[1] for gap in gaps) for s, _ in within)


def test_every_rule_of_the_generator_is_extracted(generator: Any, corpus: list[Any], tmp_path: Path) -> None:
    extract_rules(*(DEMO / name for name in ("train.zh", "train.en", "train.align")), tmp_path / "counts")
    found = set()
    RuleCounts(str(tmp_path / "counts")).visit(lambda f, e, *_: found.add((tuple(f), tuple(e))))
    kinds: Counter[int] = Counter()
    training = {text: number for number, text in enumerate(lines("train.zh"))}
    alignment = lines("train.align")
    for sentence in corpus:
        number = training.get(" ".join(sentence.source))
        if number is None:
            continue
        english = sentence.references[0]
        pair = Pair(tuple(sentence.source), tuple(english), frozenset(links(alignment[number])))
        for node in sentence.derivation.walk():
            source, target = generator.hiero_rule(node, sentence.source, english)
            if meets_the_constraints(node, (source, target), pair):
                assert (tuple(source), tuple(target)) in found, (number + 1, source, target)
                kinds[len(node.children)] += 1
    # of words alone, and with one and two nonterminals
    assert kinds[0] > 20_000 and kinds[1] > 3_000 and kinds[2] > 2_000, kinds
