"""What the decoder writes for a sentence: text, n-best lines, JSON lines, derivations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hiero import Derivation, Translation
from hiero._core import escape
from hiero.base.text import format_links
from hiero.forest.derivations import derivation_tree


@dataclass(frozen=True)
class Record:
    """One sentence's result: what decoding gave, None if it failed; the n-best list, if there is one; the
    texts of that, else of the translation; and what is wrong, where there is no translation."""

    number: int
    result: Translation | None
    nbest: Sequence[Derivation]
    texts: Sequence[str]
    error: str | None

    @property
    def translation(self) -> Translation | None:
        return self.result if self.error is None else None


def format_record(record: Record, output_format: str) -> str:
    """All lines of a record, each ended by a newline; never nothing."""
    if output_format == "nbest":
        return _nbest_lines(record)
    if output_format == "alignment":
        return (format_links(record.translation.alignment) if record.translation else "") + "\n"
    if output_format == "jsonl":
        return json.dumps(_json(record), ensure_ascii=False) + "\n"
    return "".join(text + "\n" for text in record.texts)


def exact_number(value: float) -> str:
    """The shortest decimal that reads back as the same double, a whole number without ``.0``."""
    return repr(value).removesuffix(".0")


def assignments(values: Mapping[str, float]) -> str:
    """``Name=value Name=value`` of features or weights, exact."""
    return " ".join(f"{name}={exact_number(value)}" for name, value in values.items())


def nbest_line(number: int, hypothesis: Derivation) -> str:
    """``id ||| tokens ||| Name=value ... ||| score``, without a newline. Values are exact: by the weights
    they give the score."""
    tokens = " ".join(map(escape, hypothesis.tokens))
    features = assignments(hypothesis.features)
    return f"{number} ||| {tokens} ||| {features} ||| {exact_number(hypothesis.score)}"


def _nbest_lines(record: Record) -> str:
    if not record.nbest:
        return f"{record.number} |||  |||  ||| 0\n"
    return "".join(nbest_line(record.number, hypothesis) + "\n" for hypothesis in record.nbest)


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
    derivation = record.translation.derivation if record.translation else None
    steps = derivation_steps(derivation) if derivation and len(derivation.edges) else []
    return json.dumps({"id": record.number, "derivation": steps}, ensure_ascii=False) + "\n"


def derivation_steps(derivation: Derivation) -> list[dict[str, object]]:
    """Every edge of a derivation in preorder: span, label, table, rule, source, target, features."""
    return [
        {
            "span": list(step.span),
            "label": step.label,
            "table": step.table,
            "rule": step.rule,
            "source": step.source,
            "target": step.target,
            "features": dict(step.features),
        }
        for step in derivation_tree(derivation).preorder()
    ]
