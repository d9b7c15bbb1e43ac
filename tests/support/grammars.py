"""Small grammars and decoders without pruning."""

from __future__ import annotations

from pathlib import Path

import hiero
from hiero import Rule, RuleTable


def texts(folder: Path, **grammars: str) -> list[Path]:
    """Writes grammars to files by their names, and returns the paths."""
    for name, text in grammars.items():
        (folder / name).write_text(text)
    return [folder / name for name in grammars]


def table(*rules: str) -> RuleTable:
    return RuleTable.from_rules([Rule(rule) for rule in rules])


def decoder(model: hiero.Model, weights: dict[str, float], **settings: object) -> hiero.Decoder:
    return hiero.Decoder(model, pop_limit=0, **settings).with_weights(weights)


GLUE = [f"[G] ||| {side} ||| {side} ||| O=1" for side in ("<s>", "[G,1] [X,2]", "[G,1] </s>")]
