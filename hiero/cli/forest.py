"""`hiero forest`: what is in the forests that `hiero-decode --forests` writes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hiero import Forest, read_weights
from hiero._core import escape
from hiero.forest_files import ForestFile

app = typer.Typer(help="Statistics, k-best lists and oracles of forests that hiero-decode --forests wrote.")

File = Annotated[Path, typer.Argument(help="File of forests.")]
Weights = Annotated[Path, typer.Option(help="Weights of the features.")]


@app.command()
def stats(file: File) -> None:
    """Writes a JSON line for each forest: words, nodes, edges, log10 of the number of derivations."""
    for number, forest in enumerate(_forests(file)):
        count = forest.derivation_count
        line = {
            "id": number,
            "words": len(forest.source),
            "nodes": forest.node_count,
            "edges": forest.edge_count,
            "log10_derivations": round(math.log10(count), 3) if count else None,
        }
        _print(json.dumps(line))


@app.command()
def kbest(
    file: File,
    weights: Weights,
    k: Annotated[int, typer.Option("-k", min=1, help="Length of the lists.")] = 10,
    unique: Annotated[bool, typer.Option("--unique", help="One entry a string.")] = False,
) -> None:
    """Writes n-best lines: id ||| tokens ||| Name=value ... ||| score."""
    chosen = read_weights(weights)
    for number, forest in enumerate(_forests(file)):
        for derivation in forest.kbest(k, _weights_of(forest, chosen), unique):
            features = " ".join(f"{name}={value:.6g}" for name, value in derivation.features.items())
            tokens = " ".join(map(escape, derivation.tokens))
            _print(f"{number} ||| {tokens} ||| {features} ||| {derivation.score:.6g}")


def _forests(file: Path) -> Iterator[Forest]:
    with ForestFile(file) as archive:
        yield from archive


def _weights_of(forest: Forest, weights: dict[str, float]) -> dict[str, float]:
    """The weights of a forest's features; those without one count nothing."""
    return {name: weights.get(name, 0.0) for name in forest.feature_names}


def _print(line: str) -> None:
    sys.stdout.buffer.write(line.encode() + b"\n")
