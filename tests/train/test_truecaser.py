"""Tests that truecasers are those that sacremoses trains on all sentences at once."""

from __future__ import annotations

import random
from pathlib import Path

from sacremoses import MosesTruecaser

from hiero.text import TextSide
from hiero.train import train_truecaser
from support.files import write
from support.seeds import each_seed


@each_seed(range(30))
def test_truecasers_are_those_of_sacremoses(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    words = ["The", "the", "THE", "us", "US", "é", "É", "<b>", "x<y", ".", ":", "(", "&quot;", "3", "他", "Ǆ"]
    texts = [
        [" ".join(rng.choices(words, k=rng.randint(0, 9))) for _ in range(rng.randint(0, 20))]
        for _ in range(2)
    ]
    files = [write(tmp_path / f"text{number}", text) for number, text in enumerate(texts)]
    truecaser = MosesTruecaser()
    truecaser.train([line.split() for text in texts for line in text])
    truecaser.save_model(str(tmp_path / "expected"))
    assert train_truecaser(files, tmp_path / "truecaser", TextSide()) == len(truecaser.model["best"])
    assert (tmp_path / "truecaser").read_bytes() == (tmp_path / "expected").read_bytes()
