"""Derivations and small forests as HTML pages to look at in a browser.

``derivation_page`` draws the source above the target with the word alignment between them, and below the
rule applications as an outline; ``derivations_page`` has several, one shown at a time; ``forest_page`` draws
nodes with their edges, and lines from edges to tails. A page is one file that refers to no other. Selecting a
rule marks its words and shows its features.

>>> from hiero import Forest
>>> lattice = Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> forest_page(lattice).count('class="edge')
3
"""

from __future__ import annotations

from collections.abc import Mapping

from hiero._core import Derivation, FeatureNames, Forest, ForestError
from hiero.pages.details import Details, feature_table, rule_score
from hiero.pages.graph import graph
from hiero.pages.markup import (
    PANEL,
    Weights,
    count_text,
    number_text,
    page,
    section,
    word_rows,
    words_text,
)
from hiero.pages.outline import applied_rules, outline, word_owners

# Above this number of edges nobody sees anything in a picture.
MOST_EDGES = 300


def derivation_page(derivation: Derivation, weights: Weights | None = None, title: str = "Derivation") -> str:
    """The page of a derivation, with scores if there are weights; features without one count 0.

    Raises ValueError for a derivation without edges, FormatError for a weight that names no feature.
    """
    derivation.forest.feature_names.ids(weights or {})
    details = Details(weights)
    return page(title, [_section("d1", title, "", derivation, weights, details)], details.data())


def derivations_page(
    sentences: Mapping[int, Mapping[str, Derivation]],
    weights: Weights | None = None,
    title: str = "Derivations",
) -> str:
    """A page of several derivations, by the number of their sentence and their name, in the order given.

    One is shown at a time, with links to the previous and next derivation and sentence, which the arrow keys
    follow as well; without JavaScript all are, one below the other. The second derivation of sentence 3 is at
    ``#s3-d2``. Raises ValueError if there are no derivations or one has no edges, FormatError for a weight
    that names no feature of any of them.
    """
    if not any(sentences.values()):
        raise ValueError("no derivations to show")
    named = (name for each in sentences.values() for d in each.values() for name in d.forest.feature_names)
    FeatureNames(list(dict.fromkeys(named))).ids(weights or {})
    details = Details(weights)
    return page(title, derivation_sections(sentences, weights, details), details.data())


def derivation_sections(
    sentences: Mapping[int, Mapping[str, Derivation]],
    weights: Weights | None,
    details: Details,
    overview: str = "",
) -> list[str]:
    """Makes the sections of ``derivations_page``, with links to the section named ``overview``."""
    places = [(number, k) for number, named in sentences.items() for k in range(1, len(named) + 1)]
    sections = []
    for at, (number, k) in enumerate(places):
        name, derivation = list(sentences[number].items())[k - 1]
        links = _links(places, at) if len(places) > 1 else ""
        if overview:
            links = f'<nav><a rel="up" href="#{overview}">{overview}</a></nav>{links}'
        section_name, heading = derivation_place(number, k), f"Sentence {number}, {name}"
        sections.append(_section(section_name, heading, links, derivation, weights, details))
    return sections


def derivation_place(sentence: int, number: int) -> str:
    """The name of the section of a sentence's first, second, ... derivation."""
    return f"s{sentence}-d{number}"


def forest_page(forest: Forest, weights: Weights | None = None, title: str = "Forest") -> str:
    """The page of a forest; with weights, scores, and the best derivation in bold.

    Raises ForestError for a forest of more than ``MOST_EDGES`` edges or without any, FormatError for a weight
    that names no feature.
    """
    if forest.edge_count == 0:
        raise ForestError("the forest has no edges")
    if forest.edge_count > MOST_EDGES:
        raise ForestError(
            f"{forest.edge_count} edges are too many to draw, at most {MOST_EDGES}:"
            " prune the forest first, with --margin or forest.prune"
        )
    counts = [
        count_text(forest.node_count, "node"),
        count_text(forest.edge_count, "edge"),
        count_text(forest.derivation_count, "derivation"),
    ]
    details = Details(weights)
    words = word_rows("f1", forest.source) if forest.source else ""
    picture = graph("f1", forest, weights, details)
    parts = (f'<p class="dim">{", ".join(counts)}</p>\n', picture, PANEL)
    return page(title, [section("f1", title, "", words, *parts)], details.data())


def _section(
    name: str, heading: str, links: str, derivation: Derivation, weights: Weights | None, details: Details
) -> str:
    words, *parts = derivation_parts(name, derivation, weights, details)
    return section(name, heading, links, words, *parts)


def derivation_parts(
    name: str, derivation: Derivation, weights: Weights | None, details: Details
) -> list[str]:
    """Makes the parts of a section of that name: the picture of a derivation's words, and what is below
    it."""
    source, target = derivation.forest.source, derivation.tokens
    alignment = [(i, j) for i, j in derivation.alignment if i < len(source)]
    rules = applied_rules(derivation, alignment)
    facts = [count_text(len(source), "source word"), count_text(len(target), "target word")]
    facts.append(count_text(len(rules), "rule"))
    if weights is not None:
        facts.insert(0, f"score {number_text(rule_score(derivation.features, weights))}")
    return [
        word_rows(name, source, target, alignment, word_owners(rules)),
        f'<p class="text">{words_text(target)}</p>\n<p class="dim">{", ".join(facts)}</p>\n',
        '<div class="columns">\n',
        outline(name, rules, weights, details),
        f"<aside>\n{PANEL}{feature_table(derivation.features, weights)}</aside>\n</div>\n",
    ]


def _links(places: list[tuple[int, int]], at: int) -> str:
    """To the derivations before and behind, and outside of these to the first ones of other sentences."""
    firsts = [i for i, (_, k) in enumerate(places) if k == 1]
    steps: list[str] = []
    for kind, signs, numbers in (("derivation", "‹›", range(len(places))), ("sentence", "«»", firsts)):
        # Where every sentence has one derivation, or all are of one, one kind says it all.
        if len(numbers) > 1 and not (kind == "derivation" and len(firsts) == len(places)):
            current = sum(i <= at for i in numbers) - 1
            before, behind = numbers[:current][-1:], numbers[current + 1 :][:1]
            previous = _link("prev", f"previous {kind}", signs[0], [places[i] for i in before])
            steps = [previous, *steps, _link("next", f"next {kind}", signs[1], [places[i] for i in behind])]
    return f"<nav>{''.join(steps)}</nav>"


def _link(relation: str, meaning: str, sign: str, to: list[tuple[int, int]]) -> str:
    """One that leads nowhere is there too, so that the others stay in their places."""
    target = f'href="#{derivation_place(*to[0])}"' if to else 'aria-disabled="true"'
    return f'<a rel="{relation}" {target} aria-label="{meaning}" title="{meaning}">{sign}</a>'
