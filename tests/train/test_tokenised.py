"""Text that several processes tokenise: the same files as by one, and errors in their turn."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.text import TextProcessing, TextSide
from hiero.train import (
    TrainInputs,
    TrainSettings,
    lm_steps,
    pipeline,
    prepare_corpus,
    prepare_text,
    tokenised,
    train,
    train_truecaser,
)
from support.paths import FRENCH

SIDES = TextProcessing(TextSide("moses", "de"), TextSide("moses", "en"))
WORDS = ["Das", "das", "Haus.", "(is)", "it's", "New", "York", "new", "1,000", "x@y.org", "a/b"]


@pytest.fixture
def bitext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(tokenised, "_LINES_AT_ONCE", 20)
    rng = random.Random(1)
    for name in ("s", "t"):
        lines = [" ".join(rng.choices(WORDS, k=rng.randint(0, 12))) for _ in range(210)]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path / "s", tmp_path / "t"


@pytest.mark.slow
def test_processes_change_nothing(bitext: tuple[Path, Path], tmp_path: Path) -> None:
    made: list[list[bytes]] = []
    for processes in (1, 2):
        names = [tmp_path / f"{name}{processes}" for name in ("a", "b", "c", "d")]
        said: list[int] = []
        report = prepare_corpus([bitext, bitext], *names[:2], text=SIDES, processes=processes)
        lines = prepare_text(bitext, names[2], SIDES.target, said.append, processes)
        words = train_truecaser(bitext, names[3], SIDES.target, said.append, processes)
        made.append([path.read_bytes() for path in names])
        assert report.pairs + report.blank == 420 and lines > 300 and words > 3
    assert made[0] == made[1]
    assert all(made[0])


def test_errors_come_in_their_turn(bitext: tuple[Path, Path], tmp_path: Path) -> None:
    lines = bitext[0].read_bytes().splitlines()
    lines[135] = b"\xff"
    for reserved in (b"", b"a <s> b"):
        lines[130] = reserved
        bitext[0].write_bytes(b"\n".join(lines) + b"\n")
        error = r"s:131: <s> may not occur" if reserved else r"s:136: invalid UTF-8"
        with pytest.raises(hiero.FormatError, match=error):
            prepare_text([bitext[0]], tmp_path / "out", TextSide())
        for processes in (1, 2):  # Moses' tokeniser makes nothing that is reserved
            with pytest.raises(hiero.FormatError, match=r"s:136: invalid UTF-8"):
                prepare_corpus([bitext], tmp_path / "x", tmp_path / "y", text=SIDES, processes=processes)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_training_passes_threads_on(
    bitext: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []
    steps = ((pipeline, "prepare_corpus"), (pipeline, "train_truecaser"), (lm_steps, "prepare_text"))
    for module, name in steps:
        original = getattr(module, name)

        def noted(*values: Any, name: str = name, original: Any = original, **more: Any) -> Any:
            asked.append((name, more.get("processes", values[-1])))
            return original(*values, **more)

        monkeypatch.setattr(module, name, noted)
    inputs = TrainInputs(*bitext, mono=[bitext[1]], lms=[FRENCH / "lm.arpa"])
    settings = TrainSettings(text=SIDES, truecase=True, samplers=1, leave_out=())
    train(inputs, tmp_path / "model", settings=settings, threads=2)
    assert sorted(asked) == [
        ("prepare_corpus", 2),
        ("prepare_text", 2),
        ("prepare_text", 2),
        ("train_truecaser", 2),
        ("train_truecaser", 2),
    ]
