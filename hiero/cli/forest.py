"""`hiero forest`: shows statistics, k-best lists, oracles and pictures of forests from hiero-decode
--forests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hiero import Derivation, Forest, FormatError
from hiero._core import RESCORE_BEAM
from hiero.base.text import split
from hiero.cli.base.commands import add_command, check_plot, new_app
from hiero.cli.base.files import Output, Writes, writing
from hiero.cli.base.settings import SettingOptions
from hiero.cli.io.forests import (
    Weighting,
    find_weights,
    need_weights,
    read_forest,
    read_forests,
    read_references,
    temperature_of,
    write_choices,
)
from hiero.cli.io.records import nbest_line
from hiero.forest.decisions import Decision
from hiero.forest.diagnostics import distribution_stats
from hiero.forest.expectations import LogLinear
from hiero.forest.files import ForestFile
from hiero.forest.losses import BleuDocument, bleu
from hiero.forest.oracles import MUS, oracle_lists, plot_oracles
from hiero.pages.forest import derivations_page, forest_page
from hiero.pages.markup import count_text

app = new_app(
    help="Statistics, k-best lists, oracles and pictures of forests, which hiero-decode --forests writes."
)

command = partial(add_command, app)

# Options that several commands have.
File = Annotated[Path, typer.Argument(help="Archive of forests, from hiero-decode --forests.")]
Weights = Annotated[
    Path | None,
    typer.Option(help="Weights file (default: the weights that the forests were made with)."),
]
_REFERENCES = "References in tokens, in one file or several"


@command
def stats(
    file: File,
    *,
    weights: Weights = None,
    gamma: Annotated[
        float, typer.Option(help="Factor of scores in p(d) = exp(gamma score(d)) / Z, more than 0.")
    ] = 1.0,
    references: Annotated[list[Path] | None, typer.Option(help=f"{_REFERENCES}, for expected BLEU.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of features to list, those that vary most.")] = 3,
    output: Output = None,
) -> None:
    """Writes a JSON line with statistics of each forest.

    The line has the id, from 0, the numbers of words, nodes and edges, and log10 of the number of
    derivations. With weights, it also has statistics of the distribution over derivations: entropy in nats,
    mean and variance of the length, the features that vary most, and BLEU of expected counts, which are taken
    over the 3,000 edges of the best derivations.
    """
    if not 0 < gamma < math.inf:
        raise typer.BadParameter(f"--gamma must be finite and greater than 0, not {gamma:g}")
    weighting = (need_weights if references else find_weights)(file, weights)
    texts = read_references(file, references or [])
    with writing(output) as stream:
        for number, forest in enumerate(read_forests(file)):
            count = forest.derivation_count
            line: dict[str, object] = {
                "id": number,
                "words": forest.source_length,
                "nodes": forest.node_count,
                "edges": forest.edge_count,
                "log10_derivations": round(math.log10(count), 3) if count else None,
            }
            if weighting is not None and forest.root >= 0:
                segment = [split(lines[number]) for lines in texts]
                try:
                    line |= distribution_stats(LogLinear(forest, weighting(forest), gamma), segment, top)
                except ValueError as error:
                    raise ValueError(f"{file}: sentence {number}: {error}") from None
            stream.write(f"{json.dumps(line)}\n".encode())


@command
def kbest(
    file: File,
    weights: Weights = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Length of the k-best lists.")] = 10,
    unique: Annotated[bool, typer.Option("--unique", help="Keep the best entry of each string.")] = False,
    output: Output = None,
) -> None:
    """Writes k-best lists with lines of id, from 0, ||| tokens ||| Name=value ... ||| score."""
    weighting = need_weights(file, weights)
    with writing(output) as stream:
        for number, forest in enumerate(read_forests(file)):
            for derivation in forest.kbest(k, weighting(forest), unique):
                stream.write(f"{nbest_line(number, derivation)}\n".encode())


@command
def decide(
    file: File,
    *,
    weights: Weights = None,
    decision: Annotated[Decision, SettingOptions(Decision)],
    output: Output = None,
) -> None:
    """Writes the translation of each forest, as tokens: that of the best derivation, of least Bayes risk, or
    the best by the n-gram models of all derivations.

    A sentence without a forest has an empty line. So has a sentence where no translation can be chosen, and
    the exit code is 1.

        hiero forest decide test.forests --decision mbr --gamma 2
    """
    weighting = need_weights(file, weights)
    write_choices(file, lambda forest: decision.choose(forest, weighting(forest)), output)


@command
def oracle(
    file: File,
    *,
    weights: Weights = None,
    references: Annotated[list[Path], typer.Option(help=f"{_REFERENCES}.")],
    mu: Annotated[
        list[float] | None,
        typer.Option(
            help=f"Weight mu of the model score; repeatable (default: {' '.join(f'{mu:g}' for mu in MUS)})."
        ),
    ] = None,
    beam: Annotated[
        int, typer.Option(min=1, help="Number of hypotheses that each node keeps; 1 in the paper.")
    ] = RESCORE_BEAM,
    plot: Annotated[
        Path | None,
        Writes(),
        typer.Option(help="Output file (.png, .svg) for a picture of one sentence's oracles."),
    ] = None,
    sentence: Annotated[int, typer.Option(min=0, help="Number of the sentence in the picture, from 0.")] = 0,
    output: Output = None,
) -> None:
    """Finds oracles: translations that are best by (1 - mu) B + mu score, or by score - B for mu = inf.

    B is the BLEU of a translation after those of the sentences before it, which the model chose. Writes, for
    each mu, BLEU and the mean model score of the oracles of all sentences (Chiang et al. 2008, section 2.4).
    """
    check_plot(plot)
    weighting = need_weights(file, weights)
    values = mu or list(MUS)
    totals = {value: np.zeros(10) for value in values}
    scores: dict[float, list[float]] = {value: [] for value in values}
    document = BleuDocument()
    if plot is not None:
        with ForestFile(file) as archive:
            if not (sentence < len(archive) and archive[sentence].root >= 0):
                raise FormatError(f"{file}: no forest with derivations for sentence {sentence}")
    texts = read_references(file, references)
    for number, forest in enumerate(read_forests(file)):
        sets = [split(lines[number]) for lines in texts]
        if not any(sets):
            raise FormatError(f"{references[0]}:{number + 1}: no reference")
        if forest.root >= 0:
            by_edge = forest.scores(weighting(forest))
            lists = oracle_lists(forest, by_edge, sets, document, {*values, 1.0}, beam)
            if plot is not None and number == sentence:
                plot_oracles({value: lists[value] for value in values}, document, forest.source_length, plot)
            for value in values:
                totals[value] += lists[value][0].counts
                scores[value].append(lists[value][0].derivation.score)
            document = document.after_sentence(lists[1.0][0].counts, forest.source_length)
    if not scores[values[0]]:
        raise FormatError(f"{file}: no forest with derivations")
    with writing(output) as stream:
        for value in values:
            line = f"mu {value:<5g} BLEU {100 * bleu(totals[value]):6.2f}  score {np.mean(scores[value]):.4f}"
            stream.write(f"{line}\n".encode())


@command
def show(
    file: File,
    *,
    sentence: Annotated[
        list[int], typer.Option(min=0, help="Number of a sentence to show, from 0; repeatable.")
    ],
    weights: Weights = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="Number of best derivations to show (default: 1).")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=1, help="Rank of a single derivation to show, 1 for the best.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--forest", help="Show the whole forest, which must be small.")
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(
            min=0, help="Largest difference to the best score in the forest shown (default: no limit)."
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Draws derivations, or a small forest, as an HTML page that needs no other file.

    For an archive without weights, give --weights: without them, all derivations are equal, and are ordered
    by their edges.
    """
    if sum((k is not None, rank is not None, whole)) > 1:
        raise typer.BadParameter("only one of -k (the best), --rank (a single one) and --forest (all)")
    if whole and len(sentence) > 1:
        raise typer.BadParameter("--forest is of one sentence")
    if margin is not None and not whole:
        raise typer.BadParameter("--margin is of a --forest")
    forests = {number: read_forest(file, number) for number in sentence}
    weighting = find_weights(file, weights)
    all_weights = (
        None
        if weighting is None
        else {name: weight for forest in forests.values() for name, weight in weighting(forest).items()}
    )
    if whole:
        forest = forests[sentence[0]]
        if margin is not None:
            forest = forest.prune(need_weights(file, weights)(forest), margin=margin)
        page = forest_page(forest, all_weights, f"Sentence {sentence[0]}")
    else:
        ranks = range(rank or 1, (rank or k or 1) + 1)
        derivations = {
            number: _derivations(forest, weighting and weighting(forest), ranks, f"{file}: sentence {number}")
            for number, forest in forests.items()
        }
        confidence = weighting and _confidence(forests, derivations, weighting, temperature_of(file))
        page = derivations_page(derivations, all_weights, file.name, confidence)
    with writing(output) as stream:
        stream.write(page.encode())


def _confidence(
    forests: Mapping[int, Forest],
    derivations: Mapping[int, Mapping[str, Derivation]],
    weighting: Weighting,
    temperature: float,
) -> dict[int, dict[str, list[float]]]:
    """Returns how sure the words of each derivation are, by sentence and by the names of the derivations.

    An archive does not say which words were unknown and copied: these are as sure as the rules that copy
    them.
    """
    found = {}
    for number, named in derivations.items():
        scores = forests[number].scores(weighting(forests[number])) / temperature
        distribution = forests[number].distribution(scores)
        found[number] = {name: distribution.word_posteriors(one.tokens) for name, one in named.items()}
    return found


def _derivations(
    forest: Forest, weights: dict[str, float] | None, ranks: range, place: str
) -> dict[str, Derivation]:
    """Returns the derivations of these ranks by name. Raises ValueError, with ``place``, if there are
    none."""
    derivations: dict[str, Derivation] = {}
    # A loop in Python can be interrupted, those of itertools cannot.
    for number, derivation in enumerate(forest.kbest_iter(weights or {}), start=1):
        if number in ranks:
            derivations[f"derivation {number}"] = derivation
        if number == ranks[-1]:
            break
    if not derivations:
        count = count_text(forest.derivation_count, "derivation")
        raise ValueError(f"{place} has {count}, none of rank {ranks[0]}")
    return derivations
