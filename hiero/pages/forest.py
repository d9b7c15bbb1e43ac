"""Pages of derivations and small forests.

``derivation_page`` draws the source words above the target words with their alignment, and the rule
applications as an outline below. ``derivations_page`` has several derivations and shows one at a time.
``forest_page`` draws nodes with their edges, and lines from edges to tails. A page is one file that refers to
no other file. Selecting a rule marks its words and shows its features.

>>> from hiero import Forest
>>> lattice = Forest.from_arrays(edge_offsets=[0, 1, 3], tail_offsets=[0, 0, 1, 2], tails=[0, 0])
>>> forest_page(lattice).count('class="edge')
3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from hiero.pages.outline import applied_rules, outline, rules_of_words

# A picture with more edges is of no use.
MOST_EDGES = 300


# How sure the target words of derivations are, by the number of their sentence and by name.
Confidence = Mapping[int, Mapping[str, Sequence[float]]]


def derivation_page(
    derivation: Derivation,
    weights: Weights | None = None,
    title: str = "Derivation",
    confidence: Sequence[float] = (),
) -> str:
    """Makes the page of a derivation, with scores if there are weights; features without a weight count 0.

    ``confidence`` is that of each target word, as ``Translation.confidence`` returns it, or empty. Raises
    ValueError for a derivation without edges, FormatError for a weight that names no feature.
    """
    derivation.forest.feature_names.ids(weights or {})
    details = Details(weights)
    sections = [_section("d1", title, "", derivation, weights, details, confidence)]
    return page(title, sections, details.data())


def derivations_page(
    sentences: Mapping[int, Mapping[str, Derivation]],
    weights: Weights | None = None,
    title: str = "Derivations",
    confidence: Confidence | None = None,
) -> str:
    """Makes a page of several derivations, by the number of their sentence and by name, in the given order.

    One derivation is shown at a time, with links to the previous and next derivation and sentence; the arrow
    keys follow these links. Without JavaScript all derivations are shown, one below the other. The second
    derivation of sentence 3 has the anchor ``#s3-d2``. ``confidence`` has that of the target words, for
    derivations for which it is known. Raises ValueError if there are no derivations or one
    has no edges, FormatError for a weight that names no feature of any of them.
    """
    if not any(sentences.values()):
        raise ValueError("no derivations to show")
    derivations = [derivation for named in sentences.values() for derivation in named.values()]
    names = (name for derivation in derivations for name in derivation.forest.feature_names)
    FeatureNames(list(dict.fromkeys(names))).ids(weights or {})
    details = Details(weights)
    sections = derivation_sections(sentences, weights, details, confidence=confidence)
    return page(title, sections, details.data())


def derivation_sections(
    sentences: Mapping[int, Mapping[str, Derivation]],
    weights: Weights | None,
    details: Details,
    overview: str = "",
    prefix: str = "",
    texts: Mapping[int, str] | None = None,
    confidence: Confidence | None = None,
) -> list[str]:
    """Returns the sections of ``derivations_page``, with links to the section named ``overview``.

    The names of the sections begin with ``prefix``. ``texts`` has markup by sentence, which is shown above
    the rules of its derivations.
    """
    keys = [(number, k) for number, named in sentences.items() for k in range(1, len(named) + 1)]
    sections = []
    for index, (number, k) in enumerate(keys):
        name, derivation = list(sentences[number].items())[k - 1]
        links = _links(keys, index, prefix) if len(keys) > 1 else ""
        if overview:
            links = f'<nav><a rel="up" href="#{overview}">{overview}</a></nav>{links}'
        section_name, heading = derivation_anchor(number, k, prefix), f"Sentence {number}, {name}"
        text = (texts or {}).get(number, "")
        sure = (confidence or {}).get(number, {}).get(name, ())
        sections.append(_section(section_name, heading, links, derivation, weights, details, sure, text))
    return sections


def derivation_anchor(sentence: int, number: int, prefix: str = "") -> str:
    """Returns the name of the section of a sentence's derivation; derivations are numbered from 1."""
    return f"{prefix}s{sentence}-d{number}"


def forest_page(forest: Forest, weights: Weights | None = None, title: str = "Forest") -> str:
    """Makes the page of a forest. With weights it has scores, and the best derivation in bold.

    Raises ForestError for a forest without edges or with more than ``MOST_EDGES`` edges, FormatError for a
    weight that names no feature.
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
    name: str,
    heading: str,
    links: str,
    derivation: Derivation,
    weights: Weights | None,
    details: Details,
    confidence: Sequence[float],
    text: str = "",
) -> str:
    words, *parts = derivation_parts(name, derivation, weights, details, confidence)
    return section(name, heading, links, words, text, *parts)


def derivation_parts(
    name: str,
    derivation: Derivation,
    weights: Weights | None,
    details: Details,
    confidence: Sequence[float] = (),
) -> list[str]:
    """Returns the parts of a section of this name: the picture of the words, then the parts below it."""
    source, target = derivation.forest.source, derivation.tokens
    alignment = [(i, j) for i, j in derivation.alignment if i < len(source)]
    rules = applied_rules(derivation, alignment)
    facts = [count_text(len(source), "source word"), count_text(len(target), "target word")]
    facts.append(count_text(len(rules), "rule"))
    if weights is not None:
        facts.insert(0, f"score {number_text(rule_score(derivation.features, weights))}")
    if confidence:
        facts.append(f"confidence of words {sum(confidence) / len(confidence):.2f} on average, as bars")
    return [
        word_rows(name, source, target, alignment, rules_of_words(rules), confidence),
        f'<p class="text">{words_text(target)}</p>\n<p class="dim">{", ".join(facts)}</p>\n',
        '<div class="columns">\n',
        outline(name, rules, weights, details),
        f"<aside>\n{PANEL}{feature_table(derivation.features, weights)}</aside>\n</div>\n",
    ]


def _links(keys: list[tuple[int, int]], index: int, prefix: str) -> str:
    """Returns links to the neighbours of a derivation, inside links to the neighbours of its sentence."""
    firsts = [i for i, (_, k) in enumerate(keys) if k == 1]
    steps: list[str] = []
    for kind, signs, numbers in (("derivation", "‹›", range(len(keys))), ("sentence", "«»", firsts)):
        # Links of one kind are enough if there is one sentence, or one derivation for each sentence.
        if len(numbers) > 1 and not (kind == "derivation" and len(firsts) == len(keys)):
            current = sum(i <= index for i in numbers) - 1
            before, after = numbers[:current][-1:], numbers[current + 1 :][:1]
            to = [[derivation_anchor(*keys[i], prefix) for i in side] for side in (before, after)]
            previous = _link("prev", f"previous {kind}", signs[0], to[0])
            steps = [previous, *steps, _link("next", f"next {kind}", signs[1], to[1])]
    return f"<nav>{''.join(steps)}</nav>"


def _link(relation: str, meaning: str, sign: str, to: list[str]) -> str:
    """Returns a link. Without a target it is disabled, not left out, so that other links do not move."""
    target = f'href="#{to[0]}"' if to else 'aria-disabled="true"'
    return f'<a rel="{relation}" {target} aria-label="{meaning}" title="{meaning}">{sign}</a>'
