"""What the decoder writes for a sentence: text, n-best lines, JSON lines, derivations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hiero import Derivation, Translation
from hiero._core import escape


@dataclass(frozen=True)
class Record:
    """One sentence's result; `translation` is None where `error` says why. `texts` are those of the n-best
    list, if there is one, else of the translation."""

    number: int
    translation: Translation | None
    nbest: Sequence[Derivation]
    texts: Sequence[str]
    error: str | None


def format_record(record: Record, output_format: str) -> str:
    """All lines of a record, each ended by a newline; never nothing."""
    if output_format == "nbest":
        return _nbest_lines(record)
    if output_format == "jsonl":
        return json.dumps(_json(record), ensure_ascii=False) + "\n"
    return "".join(text + "\n" for text in record.texts)


def _features(features: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:.6g}" for name, value in features.items())


def _nbest_lines(record: Record) -> str:
    if not record.nbest:
        return f"{record.number} |||  |||  ||| 0\n"
    return "".join(
        f"{record.number} ||| {' '.join(map(escape, hypothesis.tokens))} ||| "
        f"{_features(hypothesis.features)} ||| {hypothesis.score:.6g}\n"
        for hypothesis in record.nbest
    )


def _json(record: Record) -> dict[str, object]:
    translation = record.translation
    entry: dict[str, object] = {
        "id": record.number,
        "tokens": translation.tokens if translation else [],
        "text": translation.text if translation else "",
        "score": translation.score if translation else None,
        "features": translation.features if translation else {},
        "alignment": translation.alignment if translation else [],
        "unknown": [translation.source[i] for i in translation.unknown] if translation else [],
        "error": record.error,
    }
    entry["nbest"] = [{"tokens": h.tokens, "score": h.score, "features": h.features} for h in record.nbest]
    return entry


def derivation_record(record: Record) -> str:
    """The best derivation as one JSON line: its rule applications in preorder."""
    steps = derivation_steps(record.translation.derivation) if record.translation else []
    return json.dumps({"id": record.number, "derivation": steps}, ensure_ascii=False) + "\n"


def derivation_steps(derivation: Derivation) -> list[dict[str, object]]:
    """Every edge of a derivation in preorder: span, label, table, rule, source, target, features."""
    forest = derivation.forest
    spans, tails, offsets = forest.node_spans, forest.tails, forest.tail_offsets
    heads = {int(e): v for v in range(forest.node_count) for e in range(*forest.edge_offsets[v : v + 2])}
    matrix = forest.features
    steps: list[dict[str, object]] = []
    for edge in derivation.edges:
        head = heads[int(edge)]
        children = [int(t) for t in tails[offsets[edge] : offsets[edge + 1]]]
        begin, end = (int(x) for x in spans[head])
        row = matrix[[edge], :].tocoo()
        table = int(forest.edge_tables[edge])
        steps.append(
            {
                "span": [begin, end],
                "label": forest.labels[forest.node_labels[head]] if table >= 0 else "",
                "table": forest.tables[table] if table >= 0 else "",
                "rule": int(forest.edge_rules[edge]),
                "source": _source_side(derivation, begin, end, children),
                "target": _target_side(derivation, int(edge), children),
                "features": {
                    forest.feature_names[int(f)]: float(v)
                    for f, v in zip(row.coords[1], row.data, strict=True)
                },
            }
        )
    return steps


def _nonterminal(derivation: Derivation, node: int, index: int) -> str:
    forest = derivation.forest
    return f"[{forest.labels[forest.node_labels[node]]},{index + 1}]"


def _source_side(derivation: Derivation, begin: int, end: int, children: Sequence[int]) -> str:
    forest = derivation.forest
    symbols: list[str] = []
    at = begin
    for index, child in enumerate(children):
        first, last = (int(x) for x in forest.node_spans[child])
        symbols += map(escape, forest.source[at:first])
        symbols.append(_nonterminal(derivation, child, index))
        at = last
    return " ".join([*symbols, *map(escape, forest.source[at:end])])


def _target_side(derivation: Derivation, edge: int, children: Sequence[int]) -> str:
    forest = derivation.forest
    template = int(forest.edge_targets[edge])
    first, last = forest.target_offsets[template : template + 2]
    return " ".join(
        escape(forest.words[s]) if s >= 0 else _nonterminal(derivation, children[-1 - s], -1 - s)
        for s in (int(symbol) for symbol in forest.target_symbols[first:last])
    )
