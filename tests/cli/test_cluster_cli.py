"""Commands on a cluster of two nodes write the same bytes as without."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import call
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


def test_ray_is_asked_for(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    source = ["--source", files / "dev.fr"]
    tuned = ["--method", "mert", "--references", files / "dev.en", "-o", files / "never"]
    for command in (["decode", files / "model", *source], ["tune", files / "model", *source, *tuned]):
        done = call("hiero", *command, "--cluster", "auto")
        assert done.returncode == 1 and b"pip install 'hiero-mt[cluster]'" in done.stderr
