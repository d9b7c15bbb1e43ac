"""Writes the demo corpus: Mandarin-English sentence pairs drawn from the grammar in this folder.

    python generate.py [--seed 1] [--output DIR]

The files are the same, byte for byte, on every run; docs/demo.md describes them. From Python, with this
folder on the path, `sentences(seed)` gives the pairs with their synchronous derivations, and
`hiero_rule(node, source, target)` the rule at a node of one.
"""

import argparse
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from demo_english import Morphology
from demo_grammar import Grammar, Node
from demo_render import Derivation, Renderer, hiero_rule

__all__ = ["Derivation", "Sentence", "grammar", "hiero_rule", "sentences", "write_corpus"]

HERE = Path(__file__).resolve().parent
SIZES = {"train": 5000, "dev": 200, "test": 200}
REFERENCES = 4
SEGMENTS_PER_DOCUMENT = 25
SOURCE_LENGTHS = range(5, 36)
SHORT = 14  # shorter sentences are kept with probability (length / SHORT) squared
ATTEMPTS = 40  # renderings to find different references among
FEW_REFERENCES = 0.4  # of test sentences with fewer than four different renderings, the part kept


@dataclass(frozen=True)
class Sentence:
    """A sentence of the corpus. `links` and `derivation` belong to the first of `references`."""

    part: str
    source: list[str]
    references: list[list[str]]
    links: list[tuple[int, int]]
    parse: str
    derivation: Derivation


@cache
def grammar() -> Grammar:
    """The grammar in this folder, read once."""
    return Grammar(HERE)


def sentences(seed: int = 1) -> Iterator[Sentence]:
    """The corpus in a fixed order; `part` is train, dev or test. No Mandarin sentence comes twice."""
    random = Random(seed)
    renderer = Renderer(grammar(), Morphology(HERE / "forms.txt"))
    seen: set[tuple[str, ...]] = set()
    counts = dict.fromkeys(SIZES, 0)
    while counts != SIZES:
        node = grammar().sample(random)
        source = node.source()
        if random.random() > (len(source) / SHORT) ** 2 or len(source) not in SOURCE_LENGTHS:
            continue
        if tuple(source) in seen or not grammar().is_natural(node):
            continue
        part = min(SIZES, key=lambda name: counts[name] / SIZES[name])
        words, links, derivation = renderer.render(node, random)
        references = [words]
        if part != "train":
            references = _references(renderer, node, words, random)
            if len(references) < REFERENCES and random.random() > FEW_REFERENCES:
                continue
            references = [references[k % len(references)] for k in range(REFERENCES)]
        seen.add(tuple(source))
        counts[part] += 1
        yield Sentence(part, source, references, links, grammar().parse(node), derivation)


def _references(renderer: Renderer, node: Node, first: list[str], random: Random) -> list[list[str]]:
    """Different renderings of `node`, `first` among them: REFERENCES, or fewer if no more are found."""
    found = [first]
    for _ in range(ATTEMPTS):
        words = renderer.render(node, random)[0]
        if words not in found:
            found.append(words)
        if len(found) == REFERENCES:
            break
    return found


def _write_lines(path: Path, lines: list[str]) -> None:
    data = "".join(line + "\n" for line in lines).encode("utf-8")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    path.write_bytes(data)


def _write_xml(path: Path, part: str, systems: dict[str, list[str]]) -> None:
    """NIST mteval XML: one srcset or refset, a document for each block of segments and each system."""
    is_source = list(systems) == ["source"]
    attributes = {"setid": f"demo-{part}", "srclang": "Chinese"}
    root = ElementTree.Element("mteval")
    top = ElementTree.SubElement(
        root, "srcset" if is_source else "refset", attributes | ({} if is_source else {"trglang": "English"})
    )
    for system, lines in systems.items():
        for block, start in enumerate(range(0, len(lines), SEGMENTS_PER_DOCUMENT), 1):
            document = ElementTree.SubElement(top, "doc", docid=f"{part}.{block}", genre="demo")
            if not is_source:
                document.set("sysid", system)
            for number, line in enumerate(lines[start : start + SEGMENTS_PER_DOCUMENT], 1):
                ElementTree.SubElement(document, "seg", id=str(number)).text = line
    ElementTree.indent(root, space="")
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    path.write_bytes(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode())


def write_corpus(folder: Path, corpus: list[Sentence]) -> None:
    """Write the files of all three parts into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in SIZES:
        chosen = [sentence for sentence in corpus if sentence.part == part]
        source = [" ".join(sentence.source) for sentence in chosen]
        links = [" ".join(f"{i}-{j}" for i, j in sentence.links) for sentence in chosen]
        english = [[" ".join(words) for words in reference] for reference in _transposed(chosen)]
        parse_name = f"{part}.zh.parse" + (".gz" if part == "train" else "")
        _write_lines(folder / f"{part}.zh", source)
        _write_lines(folder / f"{part}.align", links)
        _write_lines(folder / parse_name, [sentence.parse for sentence in chosen])
        if part == "train":
            _write_lines(folder / "train.en", english[0])
            continue
        for number, lines in enumerate(english):
            _write_lines(folder / f"{part}.en.{number}", lines)
        _write_xml(folder / f"{part}-src.xml", part, {"source": source})
        _write_xml(folder / f"{part}-ref.xml", part, {f"ref{k}": lines for k, lines in enumerate(english)})


def _transposed(chosen: list[Sentence]) -> list[list[list[str]]]:
    """The references of all sentences, by number of the reference."""
    count = len(chosen[0].references)
    return [[sentence.references[k] for sentence in chosen] for k in range(count)]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write the demo corpus.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=HERE)
    options = parser.parse_args()
    write_corpus(options.output, list(sentences(options.seed)))


if __name__ == "__main__":
    main()
