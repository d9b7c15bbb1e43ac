"""The decoder's output for a sentence: text, n-best lines, JSON lines, derivations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hiero import Derivation, Error, Failure, Forest, Sentence, Translation
from hiero._core import escape
from hiero.base.text import TextSide, format_links, one_line
from hiero.cli.io.lines import Lines
from hiero.cli.io.sentences import Forcing
from hiero.forest.derivations import derivation_tree

# What chooses from a forest, given the weights that it was made with, instead of the best score.
Choice = Callable[[Forest, Mapping[str, float]], Derivation | None]


@dataclass(frozen=True)
class Record:
    """One sentence's result: its number, and the name that its record gives it, else the number again, None
    for a record without a name that can be read; what decoding gave, None if it failed; its forest, if one is
    kept, of what is asked for; the best derivation, None if there is none, without edges for a blank line;
    the n-best list, if there is one; the texts of it, else of the best; and what is wrong."""

    number: int
    id: int | str | None
    result: Translation | None = None
    forest: Forest | None = None
    best: Derivation | None = None
    nbest: Sequence[Derivation] = ()
    texts: Sequence[str] = ("",)
    error: str | None = None


def make_record(
    lines: Lines,
    number: int,
    sentence: Sentence,
    result: Translation | Failure,
    nbest: int | None,
    unique: bool,
    target: TextSide,
    forcing: Forcing | None,
    choose: Choice | None,
) -> Record:
    """Makes the record of a decoded sentence. Its result has a forest if ``nbest``, ``forcing`` or ``choose``
    is given; ``target`` makes text of tokens."""
    name = lines.id_of(number, sentence)
    if number in lines.invalid:
        return Record(number, name, error=lines.invalid[number])
    if isinstance(result, Failure):
        return Record(number, name, error=one_line(result.error))
    forest: Forest | None = getattr(result, "forest", None)  # where it was kept
    if not result.source:
        return Record(number, name, result, forest, result.derivation)
    if not result.has_parse:
        return Record(number, name, result, forest, error="no derivation covers the sentence")
    if forcing is None:
        hypotheses = result.kbest(nbest, unique=unique) if nbest is not None else []
        best = hypotheses[0] if hypotheses else result.derivation
        if choose is not None and forest is not None:
            try:
                chosen = choose(forest, result.weights)
            except (Error, ValueError) as trouble:  # of one sentence: the others go on
                return Record(number, name, result, forest, error=one_line(trouble))
            assert chosen is not None
            best = chosen
    else:
        forest = forcing.forest(number, result)
        found = forcing.kbest(forest, nbest or 1, unique)
        if not found:
            return Record(number, name, result, forest=forest, error=forcing.failure(number))
        hypotheses, best = found if nbest is not None else [], found[0]
    in_tokens = sentence.text is None
    texts = [h.text if in_tokens else target.text(h.tokens) for h in hypotheses or [best]]
    return Record(number, name, result, forest, best, hypotheses, texts)


def format_record(record: Record, output_format: str) -> str:
    """All lines of a record, each ended by a newline; never nothing."""
    if output_format == "nbest":
        return _nbest_lines(record)
    if output_format == "alignment":
        return (format_links(record.best.alignment) if record.best else "") + "\n"
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
    best, result = record.best, record.result
    entry: dict[str, object] = {
        "id": record.id,
        "tokens": best.tokens if best else [],
        "text": record.texts[0],
        "score": best.score if best else None,
        "features": best.features if best else {},
        "alignment": best.alignment if best else [],
        "unknown": [result.source[i] for i in result.unknown] if best and result else [],
        "error": record.error,
    }
    entry["nbest"] = [{"tokens": h.tokens, "score": h.score, "features": h.features} for h in record.nbest]
    return entry


def derivation_record(record: Record) -> str:
    """The best derivation as one JSON line: its rule applications in preorder."""
    steps = derivation_steps(record.best) if record.best and len(record.best.edges) else []
    return json.dumps({"id": record.id, "derivation": steps}, ensure_ascii=False) + "\n"


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
