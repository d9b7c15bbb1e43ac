"""Tests of counting lines, and of finding files that are given twice."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.base.lines import count_lines, read_lines
from hiero.base.same_files import check_different, same_files
from hiero.train import TrainInputs, TrainSettings, train
from support.files import write


@pytest.mark.parametrize(
    "text", [b"", b"a", b"a\n", b"a\nb", b"a\n\n", b"\n", b"a\r\nb\r\n", b"x" * (1 << 21)]
)
def test_as_many_lines_as_are_read(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text))
    for name in ("plain", "packed.gz"):
        assert count_lines(tmp_path / name) == len(list(read_lines(tmp_path / name)))
    assert count_lines(*[tmp_path / "plain"] * 2) == 2 * count_lines(tmp_path / "plain")


def test_files_of_the_same_content(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", ["text"]), write(tmp_path / "other", ["else"])
    copy = Path(shutil.copyfile(one, tmp_path / "copy"))
    empty = [write(tmp_path / name, []) for name in ("a", "b")]
    assert list(same_files([one, other, *empty])) == []
    said = [f"{copy}: has the same content as {one}", f"{one}: is given twice"]
    assert list(same_files([one, other, copy, one])) == said
    with pytest.raises(FormatError, match=r"copy: has the same content as .*, where different files"):
        check_different([other, one, copy])


def test_texts_that_training_gets_twice(tmp_path: Path) -> None:
    """Sides that are the same are refused; of other texts training says so."""
    source, target = write(tmp_path / "f", ["a b", "c"] * 5), write(tmp_path / "e", ["A B", "C"] * 5)
    with pytest.raises(FormatError, match="e2: has the same content"):
        copy = shutil.copyfile(source, tmp_path / "e2")
        train(TrainInputs(source, copy), tmp_path / "m")
    said: list[str] = []
    settings = TrainSettings(lm_order=2)
    inputs = TrainInputs(source, target, mono=[target], without=[write(tmp_path / "t", ["x"])] * 2)
    train(inputs, tmp_path / "m", settings=settings, report=said.append)
    for path in (target, tmp_path / "t"):
        assert f"warning: {path}: is given twice" in said
