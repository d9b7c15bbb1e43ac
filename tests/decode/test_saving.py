"""Saving a model: killed at any moment, on file systems that cannot exchange, with files of users, and on to
the disk before it gets its name."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero import _core
from hiero.base import tables
from hiero.base.directories import publish, temporary_folder
from hiero.base.files import write_atomically
from hiero.decode.model_directory import read_manifest
from hiero.evaluate import Bleu
from hiero.features import DistortionStatistics
from hiero.generators import NameRules
from hiero.text import TextProcessing, TextSide
from hiero.train import TrainInputs, TrainSettings, estimate_lm, train
from hiero.tune import TuneOptions, tune
from support.files import write
from support.killed_saves import CALLS, FRENCH, intercept_calls, translation
from support.paths import TESTS


@pytest.fixture(scope="module")
def model() -> hiero.Model:
    return hiero.Model.assemble([FRENCH / "grammar.txt"], [FRENCH / "lm.arpa"], FRENCH / "weights.txt")


@pytest.mark.slow
def test_killed_between_any_two_calls(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "support.killed_saves", tmp_path]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Made, synced, exchanged, and where a model was there, that removed.
    replaced, with_scratch, new = map(int, done.stdout.split())
    assert replaced >= 30 and with_scratch >= 30 and new >= 25


def test_over_the_folder_that_one_is_in(
    model: hiero.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "m")
    monkeypatch.chdir(tmp_path / "m")
    model.with_weights({"LM0": 9.0}).save("../m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert hiero.Model.load(tmp_path / "m").weights == {**model.weights, "LM0": 9.0}


def test_a_disk_that_fails(model: hiero.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not surely written takes no name."""
    model.save(tmp_path / "m")

    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match=r"m\.hiero-") as raised:
        model.with_weights({"LM0": 9.0}).save(tmp_path / "m")
    assert raised.value.errno == errno.EIO
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert hiero.Model.load(tmp_path / "m").weights == model.weights


def test_scratch_on_another_disk(model: hiero.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(made: Path, path: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), made)

    monkeypatch.setattr(os, "rename", unable)
    (tmp_path / "scratch").mkdir()
    with pytest.raises(OSError, match=r"on another disk than .*scratch") as raised:
        model.save(tmp_path / "m", scratch=tmp_path / "scratch")
    assert raised.value.filename == str(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_what_cannot_be_exchanged_stays(
    code: int, model: hiero.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(one: str, other: str) -> None:
        raise OSError(code, os.strerror(code), one)

    monkeypatch.setattr(_core, "exchange", unable)
    model.save(tmp_path / "m")  # nothing is to be exchanged
    before = {path.name: path.stat() for path in (tmp_path / "m").iterdir()}
    with pytest.raises(OSError, match="move the old one away first") as raised:
        model.with_weights({"LM0": 9.0}).save(tmp_path / "m")
    assert (raised.value.errno, raised.value.filename) == (code, str(tmp_path / "m"))
    assert {path.name: path.stat() for path in (tmp_path / "m").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    (tmp_path / "m").rename(tmp_path / "old")
    model.with_weights({"LM0": 9.0}).save(tmp_path / "m")
    assert hiero.Model.load(tmp_path / "m").weights == {**model.weights, "LM0": 9.0}


def test_exchange(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.mkdir()
        (path / path.name).touch()
    _core.exchange(str(one), str(other))
    assert (one / "other").is_file() and (other / "one").is_file()
    with pytest.raises(FileNotFoundError) as raised:
        _core.exchange(str(one), str(tmp_path / "nothing"))
    assert raised.value.filename == str(one)
    # A link to a model is replaced, not what it leads to; an empty folder is as good as nothing.
    (tmp_path / "link").symlink_to(other)
    publish(one, tmp_path / "link")
    assert (tmp_path / "link" / "other").is_file() and not (tmp_path / "link").is_symlink()
    assert (other / "one").is_file()
    (tmp_path / "empty").mkdir()
    publish(other, tmp_path / "empty")
    assert (tmp_path / "empty" / "one").is_file() and not other.exists()


def test_folders_of_the_living_stay(tmp_path: Path) -> None:
    mine = tmp_path / ".m.hiero-notes"
    mine.mkdir()
    with temporary_folder(tmp_path / "m") as first, temporary_folder(tmp_path / "m") as second:
        assert first.is_dir() and second.is_dir()
        with temporary_folder(tmp_path / "other"):
            pass
    dead = first.with_name(".m.hiero-1-0abc")
    (dead / "model").mkdir(parents=True)
    with temporary_folder(tmp_path / "other"):
        assert dead.is_dir()
    with temporary_folder(tmp_path / "m"):
        assert not dead.exists()
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]


def test_a_folder_taken_before_it_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock
    taken: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not taken:
            (folder,) = tmp_path.iterdir()
            taken.append(folder.stat().st_ino)
            folder.rmdir()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with temporary_folder(tmp_path / "m") as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert len(taken) == 1 and not folder.exists()


def test_many_saving_at_once(model: hiero.Model, tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def save() -> None:
        try:
            for _ in range(3):
                model.save(tmp_path / "m")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and [path.name for path in tmp_path.iterdir()] == ["m"]
    assert translation(tmp_path / "m").has_parse


def same(one: Path, other: Path) -> bool:
    return os.path.samestat(one.stat(), other.stat())


def test_files_of_users_are_copied(tmp_path: Path) -> None:
    table, lm = tmp_path / "g.hrt", tmp_path / "lm.binary"
    tables.pack(FRENCH / "grammar.txt", table)
    hiero.LanguageModel.write_binary(str(FRENCH / "lm.arpa"), str(lm))
    hiero.Model.assemble([table], [lm], FRENCH / "weights.txt").save(tmp_path / "m")
    before = translation(tmp_path / "m")
    for path in (table, lm):
        with path.open("r+b") as file:
            file.write(bytes(path.stat().st_size))
    after = translation(tmp_path / "m")
    assert (after.text, after.score) == (before.text, before.score)
    # Those of models are shared, but not what somebody else put beside them.
    hiero.Model.load(tmp_path / "m").save(tmp_path / "n")
    for name in ("rules0.hrt", "lm0.binary"):
        assert same(tmp_path / "m" / name, tmp_path / "n" / name)
    foreign = tmp_path / "m" / "other.binary"
    foreign.write_bytes((tmp_path / "m" / "lm0.binary").read_bytes())
    (tmp_path / "n" / "lm0.binary").unlink()
    (tmp_path / "n" / "lm0.binary").symlink_to(foreign)
    for path in (foreign, tmp_path / "n" / "lm0.binary"):
        other = hiero.Model.assemble([tmp_path / "n" / "rules0.hrt"], [path], FRENCH / "weights.txt")
        other.save(tmp_path / "o")
        assert same(tmp_path / "o" / "rules0.hrt", tmp_path / "m" / "rules0.hrt")
        assert not same(tmp_path / "o" / "lm0.binary", foreign)
        assert not (tmp_path / "o" / "lm0.binary").is_symlink()
        assert translation(tmp_path / "o").score == before.score


class Disk:
    """The state of a disk that is sure: contents of files and folders when they were last synced, by
    inode."""

    def __init__(self) -> None:
        self.synced: dict[int, object] = {}
        self.published: list[Path] = []
        # Folders to be synced before anything else is published in them.
        self.owing: set[Path] = set()

    @staticmethod
    def content(path: Path | int) -> object:
        status = os.stat(path)
        if os.path.isdir(path):
            return sorted(os.listdir(path))
        return status.st_size, status.st_mtime_ns

    def watch(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if name == "fsync":
            status = os.fstat(arguments[0])
            folder = Path(os.readlink(f"/proc/self/fd/{arguments[0]}"))
            self.synced[status.st_ino] = self.content(arguments[0])
            self.owing.discard(folder)
            return None
        if name in ("rename", "replace", "exchange"):
            made, path = map(Path, arguments)
            for part in [made, *made.rglob("*")]:
                assert self.synced.get(part.stat().st_ino) == self.content(part), f"{part} as {path}"
            assert path.parent.resolve() not in self.owing
            done = function(*arguments)
            self.published.append(path)
            self.owing.add(path.parent.resolve())
            return done
        return function(*arguments)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    for name in CALLS:
        monkeypatch.setattr(os, name, getattr(os, name))
    monkeypatch.setattr(_core, "exchange", _core.exchange)
    intercept_calls(disk.watch)
    return disk


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks /proc what a descriptor is of")
def test_what_is_published_is_on_the_disk(model: hiero.Model, tmp_path: Path, disk: Disk) -> None:
    for _ in range(2):
        model.save(tmp_path / "m")
        assert disk.published[-1] == tmp_path / "m" and not disk.owing
    for name in ("a", "a/b"):
        (tmp_path / "tree" / name).mkdir(parents=True)
        (tmp_path / "tree" / name / "file").write_text("text")
    publish(tmp_path / "tree", tmp_path / "forest")
    write_atomically(tmp_path / "file", "text")
    lines = (FRENCH / "input.fr").read_text().splitlines() * 3
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    for name in ("lm.arpa", "lm.arpa.gz", "lm.binary"):
        estimate_lm([tmp_path / "text"], tmp_path / name, order=2)
    train(
        TrainInputs(tmp_path / "text", write(tmp_path / "target", [line.upper() for line in lines])),
        tmp_path / "trained",
        settings=TrainSettings(lm_order=2),
    )
    assert same(tmp_path / "trained" / "lm0.binary", tmp_path / "trained.train" / "lm0.binary")
    assert same(tmp_path / "trained" / "rules0.hrt", tmp_path / "trained.train" / "rules.hrt")
    references = [[line] for line in lines[:3]]
    decoder = hiero.tune.ModelDecoder(hiero.Decoder(model), lines[:3])
    for method in ("mert", "hypergraph-mert"):
        options = TuneOptions(method, iterations=2)
        tune(decoder, Bleu(references), model.weights, tmp_path / method, options)
    names = {str(path.relative_to(tmp_path)) for path in disk.published if path.is_relative_to(tmp_path)}
    assert not disk.owing
    assert names >= {"m", "file", "lm.arpa", "lm.arpa.gz", "lm.binary", "trained", "trained.train/lm0.binary"}
    assert names >= {f"{method}/iteration-001" for method in ("mert", "hypergraph-mert")}
    # The test would see what is not: such as a file written after it was synced.
    with pytest.raises(AssertionError), temporary_folder(tmp_path / "x") as hidden:
        (hidden / "model").mkdir()
        (hidden / "model" / "file").write_text("new")
        os.rename(hidden / "model", tmp_path / "x")


def test_a_manifest_lists_all_files(model: hiero.Model, tmp_path: Path) -> None:
    (tmp_path / "truecaser").write_text("the (2/2)\n")
    (tmp_path / "names").write_text("anna\tAnna\n")
    side = TextSide(truecaser=str(tmp_path / "truecaser"))
    larger = replace(
        model,
        text=TextProcessing(side, side),
        generators=[NameRules(dictionary=tmp_path / "names")],
        distortion=DistortionStatistics([1] * 10, [0] * 10),
    )
    larger.save(tmp_path / "saved")
    files = {path.name for path in (tmp_path / "saved").iterdir()} - {"manifest.json"}
    assert {"truecaser.source", "truecaser.target", "names0", "distortion.json"} < files
    assert read_manifest(tmp_path / "saved").keys() == files
