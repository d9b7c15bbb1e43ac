"""Records of translated sentences, and the lines that they are written as: text, n-best lists, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hiero import Derivation, Forest, Translation
from hiero._core import escape
from hiero.base.text import format_links
from hiero.forest.derivations import derivation_tree

# The share of a score by which sums of the same numbers differ, as exact search has it.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Record:
    """The result of one sentence."""

    number: int
    # The name of the sentence in its output, by default its number; None if its own id is not legible.
    id: int | str | None
    # None if decoding failed.
    result: Translation | None = None
    # The forest, if one was kept; in forced decoding, the derivations that yield a reference.
    forest: Forest | None = None
    # None if there is no derivation. The derivation of a blank line has no edges.
    best: Derivation | None = None
    # Empty unless n-best lists are asked for.
    nbest: Sequence[Derivation] = ()
    # The texts of the n-best list, or else of the best derivation.
    texts: Sequence[str] = ("",)
    # How sure each word of the best derivation is; None unless it is asked for.
    confidence: Sequence[float] | None = None
    # The message for a sentence without a translation.
    error: str | None = None

    @property
    def gap(self) -> float:
        """A bound on how much higher the best score can be than this one, natural log; infinity if unknown.

        The derivation of a record need not be the best that search found: it may be forced or chosen
        otherwise. One that is as good has another score by the rounding of sums.
        """
        if not (self.best and self.result):
            return math.inf
        behind = self.result.score - self.best.score
        is_rounding = abs(behind) <= _ROUNDING * max(10.0, abs(self.result.score))
        return self.result.gap + (0.0 if is_rounding else behind)


def format_record(record: Record, output_format: str) -> str:
    """Returns the lines of a record, at least one, each with a newline."""
    if output_format == "nbest":
        return _nbest_lines(record)
    if output_format == "alignment":
        return (format_links(record.best.alignment) if record.best else "") + "\n"
    if output_format == "jsonl":
        return json.dumps(_json(record), ensure_ascii=False) + "\n"
    return "".join(text + "\n" for text in record.texts)


def exact_number(value: float) -> str:
    """Returns the shortest decimal that reads back as the same double; a whole number without ``.0``."""
    return repr(value).removesuffix(".0")


def assignments(values: Mapping[str, float]) -> str:
    """Returns exact features or weights as ``Name=value Name=value``."""
    return " ".join(f"{name}={exact_number(value)}" for name, value in values.items())


def nbest_line(number: int, hypothesis: Derivation) -> str:
    """Returns ``id ||| tokens ||| Name=value ... ||| score``, without a newline.

    Values are exact: times the weights, they add up to the score.
    """
    tokens = " ".join(map(escape, hypothesis.tokens))
    features = assignments(hypothesis.features)
    return f"{number} ||| {tokens} ||| {features} ||| {exact_number(hypothesis.score)}"


def _nbest_lines(record: Record) -> str:
    if not record.nbest:
        return f"{record.number} |||  |||  ||| 0\n"
    return "".join(nbest_line(record.number, hypothesis) + "\n" for hypothesis in record.nbest)


def _json(record: Record) -> dict[str, object]:
    best, result = record.best, record.result
    entry: dict[str, object] = {
        "id": record.id,
        "tokens": best.tokens if best else [],
        "text": record.texts[0],
        "score": best.score if best else None,
        "features": best.features if best else {},
        "alignment": best.alignment if best else [],
        "optimal": record.gap == 0,
        "gap": record.gap if math.isfinite(record.gap) else None,
        "unknown": [result.source[i] for i in result.unknown] if best and result else [],
        "error": record.error,
    }
    if best and len(best.forest.source_nodes):
        entry["path"] = best.path
    if record.confidence is not None:
        entry["confidence"] = [round(value, 4) for value in record.confidence]
    entry["nbest"] = [{"tokens": h.tokens, "score": h.score, "features": h.features} for h in record.nbest]
    return entry


def derivation_record(record: Record) -> str:
    """Returns the best derivation as one JSON line: its rule applications in preorder."""
    steps = derivation_steps(record.best) if record.best and len(record.best.edges) else []
    return json.dumps({"id": record.id, "derivation": steps}, ensure_ascii=False) + "\n"


def derivation_steps(derivation: Derivation) -> list[dict[str, object]]:
    """Returns the edges of a derivation in preorder: span, label, table, rule, source, target, features."""
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
