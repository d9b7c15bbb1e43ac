"""Forests in the text format of the ``lazy`` decoder."""

from __future__ import annotations

import io
import math
import os
import re
from typing import IO

import numpy as np

from hiero._core import Forest, ForestError, FormatError, escape
from hiero.base.lines import DAMAGE, open_source
from hiero.base.text import split
from hiero.forest.files import make_forest


def write_hypergraph(forest: Forest, file: IO[str]) -> None:
    """Writes a forest in the format of the ``lazy`` decoder.

    The first line is ``vertices edges``. For each vertex, a line has its number of edges, and a line for each
    edge is like ``word [3] word ||| Feature=value``, where [3] is a vertex, counted from 0. The format has no
    spans, labels and rules. Raises ValueError for an edge with a tail that its target does not contain.
    """
    features = forest.features
    lines = [f"{forest.node_count} {forest.edge_count}"]
    for node in range(forest.node_count):
        begin, end = forest.edge_offsets[node : node + 2]
        lines.append(str(end - begin))
        for edge in range(begin, end):
            row = features[[edge]]
            values = zip(row.indices, row.data, strict=True)
            scores = " ".join(f"{forest.feature_names[f]}={float(value)!r}" for f, value in values)
            lines.append(f"{' '.join(_side(forest, edge))} ||| {scores}".strip(" "))
    file.write("".join(line + "\n" for line in lines))


def _side(forest: Forest, edge: int) -> list[str]:
    target = forest.edge_targets[edge]
    symbols = forest.target_symbols[forest.target_offsets[target] : forest.target_offsets[target + 1]]
    tails = forest.tails[forest.tail_offsets[edge] : forest.tail_offsets[edge + 1]]
    if sum(symbol < 0 for symbol in symbols) != len(tails):
        raise ValueError(f"edge {edge}: its target leaves out a tail, which the format cannot represent")
    return [escape(forest.words[s]) if s >= 0 else f"[{tails[-1 - s]}]" for s in symbols]


def read_hypergraph(path: str | os.PathLike[str]) -> Forest:
    """Reads a forest from a file (plain, gzip, xz). Raises ForestError with the line; OSError."""
    with open_source(path) as file:
        lines = enumerate(io.TextIOWrapper(file, encoding="utf-8", newline="\n"), start=1)
        number = 0
        try:
            number, line = next(lines, (1, ""))
            nodes, edges = (int(part) for part in line.split())
            reader = _HypergraphReader()
            for _ in range(nodes):
                number, line = next(lines, (number + 1, ""))
                if int(line) < 1:
                    raise ValueError("a vertex without edges")
                for _ in range(int(line)):
                    number, line = next(lines, (number + 1, ""))
                    reader.add_edge(line)
                reader.end_node()
            number, line = next((item for item in lines if item[1].strip()), (number, ""))
            if line:
                raise ValueError("expected the end of the file after the last vertex")
            if reader.edge_count != edges:
                raise ValueError(f"{reader.edge_count} edges where the first line says {edges}")
            return reader.forest()
        except (ValueError, FormatError, *DAMAGE) as error:
            raise ForestError(f"{os.fspath(path)}:{number}: {error}") from None


class _HypergraphReader:
    """The arrays of a forest, collected edge by edge."""

    def __init__(self) -> None:
        self.arrays: dict[str, list[int]] = {
            "edge_offsets": [0],
            "tail_offsets": [0],
            "tails": [],
            "edge_targets": [],
            "target_offsets": [0],
            "target_symbols": [],
        }
        self.words: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.rows: list[tuple[list[int], list[float]]] = []

    @property
    def edge_count(self) -> int:
        return len(self.rows)

    @property
    def node(self) -> int:
        return len(self.arrays["edge_offsets"]) - 1

    def end_node(self) -> None:
        self.arrays["edge_offsets"].append(self.edge_count)

    def add_edge(self, line: str) -> None:
        padded = " " + line.removesuffix("\n") + " "
        side, bar, scores = padded.partition(" ||| ")
        if not bar:
            raise ValueError('expected "words ||| features"')
        arity = 0
        for token in split(side):
            if re.fullmatch(r"\[[0-9]+\]", token):
                if int(token[1:-1]) >= self.node:
                    raise ValueError(f"{token} does not come before its head, vertex {self.node}")
                self.arrays["tails"].append(int(token[1:-1]))
                self.arrays["target_symbols"].append(-1 - arity)
                arity += 1
            else:
                word = token[1:] if re.fullmatch(r"\\+(\[.*\]|\|\|\|)", token) else token
                self.arrays["target_symbols"].append(self.words.setdefault(word, len(self.words)))
        row: tuple[list[int], list[float]] = ([], [])
        for score in split(scores):
            name, equals, value = score.rpartition("=")
            if not equals:
                raise ValueError(f"expected Name=value, found {score}")
            if not math.isfinite(float(value)):
                raise ValueError(f"{score} is not a finite number")
            row[0].append(self.names.setdefault(name, len(self.names)))
            row[1].append(float(value))
        self.arrays["edge_targets"].append(self.edge_count)
        self.rows.append(row)
        self.arrays["tail_offsets"].append(len(self.arrays["tails"]))
        self.arrays["target_offsets"].append(len(self.arrays["target_symbols"]))

    def forest(self) -> Forest:
        offsets = np.cumsum([0, *(len(ids) for ids, _ in self.rows)])
        ids = [i for row, _ in self.rows for i in row]
        values = [value for _, row in self.rows for value in row]
        names = {"words": list(self.words), "feature_names": list(self.names)}
        return make_forest(names, self.arrays, (offsets, ids, values))
