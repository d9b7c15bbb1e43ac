"""Constraints on translations, drawn at random, and whether words obey them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any


def obeys(words: Sequence[str], said: Mapping[str, Any]) -> bool:
    """Tells whether a translation is as the fields of a ``hiero.Sentence`` say."""
    padded = f" {' '.join(words)} "
    prefix = said.get("prefix", ())
    begins = (
        padded.startswith(f" {prefix}".rstrip(" ") + (" " if prefix.endswith(" ") else ""))
        if isinstance(prefix, str) and prefix
        else list(words[: len(prefix)]) == list(prefix)
    )
    references = said.get("references", ())
    return (
        begins
        and (not references or list(words) in [list(reference) for reference in references])
        and all(f" {' '.join(phrase)} " in padded for phrase in said.get("required", ()))
        and not any(f" {' '.join(phrase)} " in padded for phrase in said.get("forbidden", ()))
    )


def random_constraint(rng: random.Random, some: Sequence[Sequence[str]], words: str) -> dict[str, Any]:
    """Draws what to say, of one or several kinds; ``some`` are translations that may be meant."""
    model = list(rng.choice(some)) if some else []
    if rng.random() < 0.3:
        model = rng.choices(words, k=rng.randint(0, 4))
    said: dict[str, Any] = {}
    kinds = rng.choice([("prefix",), ("references",), ("required",), ("forbidden",)] * 2 + [("all",)])
    if kinds == ("all",):
        kinds = ("prefix", "required", "forbidden")
    if "references" in kinds:
        said["references"] = [model, *(list(rng.choice(some)) for _ in range(rng.randint(0, 2)) if some)]
    if "prefix" in kinds:
        begun = model[: rng.randint(0, len(model))]
        said["prefix"] = (
            begun if rng.random() < 0.5 else " ".join(begun) + rng.choice(["", " "] if begun else [""])
        )
    for kind in ("required", "forbidden"):
        if kind in kinds:
            said[kind] = [_phrase(rng, model, words) for _ in range(rng.randint(1, 3))]
    return said


def _phrase(rng: random.Random, model: Sequence[str], words: str) -> list[str]:
    if model and rng.random() < 0.7:
        first = rng.randrange(len(model))
        return list(model[first : first + rng.randint(1, 3)])
    return rng.choices(words, k=rng.randint(1, 2))
