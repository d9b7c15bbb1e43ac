"""`hiero forest`: what is in the forests that `hiero-decode --forests` writes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hiero import Derivation, Forest, FormatError, read_weights
from hiero._core import RESCORE_BEAM
from hiero.base.lines import read_lines
from hiero.base.parallel import ordered_map
from hiero.base.text import split
from hiero.cli.base.arguments import add_command, check_plot, new_app
from hiero.cli.base.files import Output, Writes, writing
from hiero.cli.base.settings import SettingOptions
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
    help="Statistics, k-best lists, oracles and pictures of forests that hiero-decode --forests wrote."
)

File = Annotated[Path, typer.Argument(help="File of forests.")]
command = partial(add_command, app)
Weights = Annotated[
    Path | None, typer.Option(help="Weights of the features (those that the forests were made with).")
]


@command
def stats(
    file: File,
    *,
    weights: Weights = None,
    gamma: Annotated[
        float, typer.Option(help="Times scores in p(d) = exp(gamma score(d)) / Z; greater than 0.")
    ] = 1.0,
    references: Annotated[
        list[Path] | None, typer.Option(help="References in tokens, for expected BLEU; one file or several.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Features to list, those of the greatest variance.")] = 3,
    output: Output = None,
) -> None:
    """Writes a JSON line for each forest: id, from 0, words, nodes, edges, log10 of the number of
    derivations; and of the distribution over these entropy in nats, mean and variance of the length, the
    features that vary most, and BLEU of the expected counts on the 3,000 edges of the best ones."""
    if not 0 < gamma < math.inf:
        raise typer.BadParameter(f"--gamma must be finite and greater than 0, not {gamma:g}")
    chosen = (_needed if references else forest_weights)(file, weights)
    texts = [list(read_lines(path)) for path in references or ()]
    with ForestFile(file) as archive:
        _check_lines(file, len(archive), references or [], texts)
    with writing(output) as stream:
        for number, forest in enumerate(_forests(file)):
            count = forest.derivation_count
            line: dict[str, object] = {
                "id": number,
                "words": len(forest.source),
                "nodes": forest.node_count,
                "edges": forest.edge_count,
                "log10_derivations": round(math.log10(count), 3) if count else None,
            }
            if chosen is not None and forest.root >= 0:
                own = [split(lines[number]) for lines in texts]
                try:
                    line |= distribution_stats(LogLinear(forest, chosen(forest), gamma), own, top)
                except ValueError as error:
                    raise ValueError(f"{file}: sentence {number}: {error}") from None
            stream.write(f"{json.dumps(line)}\n".encode())


@command
def kbest(
    file: File,
    weights: Weights = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Length of the lists.")] = 10,
    unique: Annotated[bool, typer.Option("--unique", help="One entry a string.")] = False,
    output: Output = None,
) -> None:
    """Writes n-best lines, ids from 0: id ||| tokens ||| Name=value ... ||| score."""
    chosen = _needed(file, weights)
    with writing(output) as stream:
        for number, forest in enumerate(_forests(file)):
            for derivation in forest.kbest(k, chosen(forest), unique):
                stream.write(f"{nbest_line(number, derivation)}\n".encode())


@command
def decide(
    file: File,
    *,
    weights: Weights = None,
    deciding: Annotated[Decision, SettingOptions(Decision)],
    output: Output = None,
) -> None:
    """Writes the translation of each forest that is chosen by the best derivation, by minimum Bayes risk, or
    by the nearest n-gram models, as tokens.

    A sentence without a forest has an empty line, as has one where nothing can be chosen, with exit 1.

        hiero forest decide test.forests --decision mbr --gamma 2
    """
    chosen = _needed(file, weights)
    write_choices(file, lambda forest: deciding.choose(forest, chosen(forest)), output)


def write_choices(
    file: Path, choose: Callable[[Forest], Derivation | None], output: Path | None, threads: int = 1
) -> None:
    """A line of tokens for each forest. Where that fails the line is empty, and the command ends with 1."""
    failures = 0

    def line(forest: Forest) -> str | ValueError:
        try:
            best = choose(forest)
        except ValueError as error:
            return error
        return "" if best is None else " ".join(best.tokens)

    with writing(output) as stream:
        for number, text in enumerate(ordered_map(line, _forests(file), threads)):
            if isinstance(text, ValueError):
                print(f"{file}: sentence {number}: {text}", file=sys.stderr)
                failures, text = failures + 1, ""
            stream.write(f"{text}\n".encode())
    if failures:
        raise typer.Exit(1)


@command
def oracle(
    file: File,
    *,
    weights: Weights = None,
    references: Annotated[list[Path], typer.Option(help="References in tokens, one file or several.")],
    mu: Annotated[
        list[float] | None, typer.Option(help=f"Weights of the model ({' '.join(f'{mu:g}' for mu in MUS)}).")
    ] = None,
    beam: Annotated[
        int, typer.Option(min=1, help="Hypotheses that nodes keep; 1 in the paper.")
    ] = RESCORE_BEAM,
    plot: Annotated[
        Path | None, Writes(), typer.Option(help="Picture (.png, .svg) of one sentence's best.")
    ] = None,
    sentence: Annotated[int, typer.Option(min=0, help="The sentence to plot, from 0.")] = 0,
    output: Output = None,
) -> None:
    """Rescores by (1 - mu) B + mu score, B the BLEU of the document so far; mu = inf: score - B.

    Writes for every mu the BLEU of the first hypotheses of all sentences and their mean model score (Chiang
    et al. 2008, section 2.4; the document is that of the model's own choice).
    """
    check_plot(plot)
    chosen = _needed(file, weights)
    values = mu or list(MUS)
    totals = {value: np.zeros(10) for value in values}
    scores: dict[float, list[float]] = {value: [] for value in values}
    document = BleuDocument()
    texts = [list(read_lines(path)) for path in references]
    with ForestFile(file) as archive:
        if plot is not None and not (sentence < len(archive) and archive[sentence].root >= 0):
            raise FormatError(f"{file}: no forest with derivations for sentence {sentence}")
        _check_lines(file, len(archive), references, texts)
    for number, forest in enumerate(_forests(file)):
        sets = [split(lines[number]) for lines in texts]
        if not any(sets):
            raise FormatError(f"{references[0]}:{number + 1}: no reference")
        if forest.root >= 0:
            by_edge = forest.scores(chosen(forest))
            lists = oracle_lists(forest, by_edge, sets, document, {*values, 1.0}, beam)
            if plot is not None and number == sentence:
                plot_oracles({value: lists[value] for value in values}, document, len(forest.source), plot)
            for value in values:
                totals[value] += lists[value][0].counts
                scores[value].append(lists[value][0].derivation.score)
            document = document.followed_by(lists[1.0][0].counts, len(forest.source))
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
    sentence: Annotated[list[int], typer.Option(min=0, help="Which sentences, from 0.")],
    weights: Weights = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many of the best derivations (1).")] = None,
    rank: Annotated[int | None, typer.Option(min=1, help="One derivation, 1 for the best.")] = None,
    whole: Annotated[bool, typer.Option("--forest", help="The forest, which must be small.")] = False,
    margin: Annotated[
        float | None,
        typer.Option(min=0, help="Of the forest, what scores at most this much less than the best."),
    ] = None,
    output: Output = None,
) -> None:
    """Draws derivations, or a small forest, as an HTML page that needs no other file.

    Of an archive that knows no weights all derivations are equal without some, in the order of their edges.
    """
    if sum((k is not None, rank is not None, whole)) > 1:
        raise typer.BadParameter("only one of -k (the best), --rank (a single one) and --forest (all)")
    if whole and len(sentence) > 1:
        raise typer.BadParameter("--forest is of one sentence")
    if margin is not None and not whole:
        raise typer.BadParameter("--margin is of a --forest")
    forests = {number: _forest(file, number) for number in sentence}
    known = forest_weights(file, weights)
    chosen = None if known is None else {k: w for each in forests.values() for k, w in known(each).items()}
    if whole:
        forest = forests[sentence[0]]
        if margin is not None:
            forest = forest.prune(_needed(file, weights)(forest), margin=margin)
        page = forest_page(forest, chosen, f"Sentence {sentence[0]}")
    else:
        ranks = range(rank or 1, (rank or k or 1) + 1)
        found = {
            n: _derivations(forest, known and known(forest), ranks, file, n) for n, forest in forests.items()
        }
        page = derivations_page(found, chosen, file.name)
    with writing(output) as stream:
        stream.write(page.encode())


def _forest(file: Path, sentence: int) -> Forest:
    """One that has a derivation. Raises ValueError without."""
    with ForestFile(file) as archive:
        if sentence >= len(archive):
            raise ValueError(f"{file}: no sentence {sentence}, there are {len(archive)}, from 0")
        forest: Forest = archive[sentence]
    if forest.root < 0:
        raise ValueError(f"{file}: sentence {sentence} has no derivation")
    return forest


def _derivations(
    forest: Forest, weights: dict[str, float] | None, ranks: range, file: Path, sentence: int
) -> dict[str, Derivation]:
    """Those of the ranks that there are. Raises ValueError if there are none."""
    found: dict[str, Derivation] = {}
    # A loop of Python's, as those of itertools do not see that somebody wants to stop.
    for number, derivation in enumerate(forest.kbest_iter(weights or {}), start=1):
        if number in ranks:
            found[f"derivation {number}"] = derivation
        if number == ranks[-1]:
            break
    if not found:
        count = count_text(forest.derivation_count, "derivation")
        raise ValueError(f"{file}: sentence {sentence} has {count}, none of rank {ranks[0]}")
    return found


def _check_lines(file: Path, forests: int, paths: Sequence[Path], texts: Sequence[Sequence[str]]) -> None:
    for path, lines in zip(paths, texts, strict=True):
        if len(lines) != forests:
            raise FormatError(f"{path}: {len(lines)} lines for the {forests} forests of {file}")


def forest_weights(file: Path, weights: Path | None) -> Callable[[Forest], dict[str, float]] | None:
    """For a forest those given, else the archive's, if it knows them."""
    if weights is not None:
        given = read_weights(weights)
        return lambda forest: given
    with ForestFile(file) as archive:
        own = archive.weights
    if own is None:
        return None
    # Rules for single sentences have features that other sentences have not.
    return lambda forest: {name: own[name] for name in forest.feature_names if name in own}


def _needed(file: Path, weights: Path | None) -> Callable[[Forest], dict[str, float]]:
    chosen = forest_weights(file, weights)
    if chosen is None:
        raise FormatError(f"{file}: does not say what weights it was made with; give --weights")
    return chosen


def _forests(file: Path) -> Iterator[Forest]:
    with ForestFile(file) as archive:
        yield from archive
