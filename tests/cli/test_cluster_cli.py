"""Commands on a cluster of two nodes write the same bytes as without."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import call
from support.extraction import random_pair, write_bitext
from support.nodes import Nodes

pytestmark = [pytest.mark.filterwarnings("ignore")]
# Files of a run with the time that something took.
TIMES = {"times.json", "iterations.tsv", "iterations.png"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of nodes import from the folder that a program runs in, which may be that of the sources."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    pytest.importorskip("ray")
    started = Nodes(tmp_path_factory.mktemp("nodes"))
    yield started
    started.stop()


def content(folder: Path) -> dict[str, bytes]:
    """Returns the files of a folder, without those that have times."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if path.name not in TIMES}


@pytest.mark.slow
def test_decoding(nodes: Nodes, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["le chat", "", "le chien dort", "la maison 1", "x", "le chien"] * 5
    (tmp_path / "in.fr").write_text(
        "".join(f"{line}\n" for line in lines) + "\udcff\n", errors="surrogateescape"
    )
    rules = "1 ||| [X] ||| le chat ||| this cat ||| Own=1\n"
    (tmp_path / "rules").write_text(rules)
    monkeypatch.chdir(files)
    ways = {
        "nbest": ["--nbest", 5, "--output-format", "nbest"],
        "rules": ["--rules", tmp_path / "rules", "--set-weight", "Own=2", "--output-format", "jsonl"],
        "forced": ["--references", files / "dev.en", files / "dev.en1"],
        "mbr": ["--decision", "mbr"],
    }
    for name, options in ways.items():
        source = files / "dev.fr" if name == "forced" else tmp_path / "in.fr"
        done = []
        for where in ([], ["--cluster", nodes.address]):
            folder = tmp_path / f"{name}-{len(where)}"
            folder.mkdir()
            outputs = ["-o", folder / "out", "--forests", folder / "f", "--derivations", folder / "d"]
            one = call("hiero", "decode", "model", "--source", source, *options, *outputs, *where)
            done.append((one.returncode, one.stderr.decode(), content(folder)))
        assert done[0] == done[1], name
        assert len(done[0][2]["out"]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mert", "hypergraph-mert", "mira", "risk", "pro"])
def test_tuning(method: str, nodes: Nodes, files: Path, tmp_path: Path) -> None:
    folder = tmp_path / method
    sets = ["--source", files / "dev.fr", "--references", files / "dev.en", files / "dev.en1"]
    work = ["--method", method, "--iterations", 3, "-o", folder, "--quiet"]
    runs = []
    for where in ([], ["--cluster", nodes.address]):
        done = call("hiero", "tune", files / "model", *sets, *work, *where)
        assert done.returncode == 0, done.stderr
        runs.append((done.stdout, content(folder)))
        shutil.rmtree(folder)
    assert runs[0] == runs[1]
    assert len(runs[0][1]) > 8


@pytest.fixture(scope="module")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """Returns the options of a bitext and of the alignment of its words."""
    rng = random.Random(5)
    pairs = [random_pair(rng, 7, "abcdefgh") for _ in range(400)]
    source, target, links = write_bitext(tmp_path_factory.mktemp("bitext"), pairs)
    return ["--source", source, "--target", target, "--alignment", links]


def said_by(*words: object) -> str:
    """Runs a command and returns what it says."""
    done = call("hiero", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


@pytest.mark.slow
def test_extraction_and_scoring(nodes: Nodes, bitext: list[object], tmp_path: Path) -> None:
    sides = ["--corpus", bitext[1], bitext[3], "--significance", 1]
    for where in ([], ["--cluster", nodes.address]):
        folder = tmp_path / str(len(where))
        folder.mkdir()
        extracted = ["-o", folder / "counts", "--distortion", folder / "distortion", "--memory", "1M"]
        said = said_by("extract", *bitext, *extracted, *where)
        assert "400 sentence pairs" in said and " rules" in said
        said_by("score", folder / "counts", "-o", folder / "pruned.hrt", *sides, *where)
        said_by("score", folder / "counts", "-o", folder / "rules.hrt", *where)
    assert content(tmp_path / "0") == content(tmp_path / "2")
    assert len(content(tmp_path / "0")) == 4  # nothing was left behind


@pytest.mark.slow
def test_training(nodes: Nodes, bitext: list[object], tmp_path: Path) -> None:
    for where in ([], ["--cluster", nodes.address]):
        folder = tmp_path / str(len(where))
        folder.mkdir()
        said = said_by("train", *bitext[:4], "-o", folder / "model", "--max-phrase", 5, *where)
        assert "extract: done in" in said and "align: done in" in said
    times = {"model.train/log.jsonl"}
    one, other = ({n: b for n, b in content(tmp_path / k).items() if n not in times} for k in "02")
    assert one == other
    assert {"model/rules0.hrt", "model.train/alignment.model"} <= one.keys()


def test_ray_is_asked_for(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    source = ["--source", files / "dev.fr"]
    tuned = ["--method", "mert", "--references", files / "dev.en", "-o", files / "never"]
    sides = ["--source", files / "dev.fr", "--target", files / "dev.en"]
    for command in (
        ["decode", files / "model", *source],
        ["tune", files / "model", *source, *tuned],
        ["train", *sides, "-o", files / "never"],
        ["extract", *sides, "--alignment", files / "dev.en", "-o", files / "never"],
        ["score", files / "dev.en", "-o", files / "never"],
    ):
        done = call("hiero", *command, "--cluster", "auto")
        assert done.returncode == 1 and b"pip install 'hiero-mt[cluster]'" in done.stderr
