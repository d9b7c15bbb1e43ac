"""Commands on a cluster of two nodes write the same bytes as without."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from hiero import Cluster
from hiero.cli.base import cluster
from support.commands import call
from support.extraction import random_pair, write_bitext
from support.files import write
from support.nodes import Nodes
from support.paths import DEMO

pytestmark = [pytest.mark.filterwarnings("ignore")]
# Files of a run with the time that something took.
TIMES = {"times.json", "iterations.tsv", "iterations.png", "log.jsonl", "stages.json", "report.html"}


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


def same_on_both(nodes: Nodes, output: Path, *command: object) -> tuple[dict[str, bytes], int]:
    """Runs a command without and with the cluster, and checks that both print and write the same. Returns the
    files of its output, and how often it connected and received something."""
    connections: list[Cluster] = []

    class Noted(Cluster):
        def __init__(self, address: str) -> None:
            super().__init__(address)
            connections.append(self)

    runs = []
    for where in ([], ["--cluster", nodes.address]):
        output.mkdir()
        with mock.patch.object(cluster, "Cluster", Noted):
            done = call("hiero", *command, *where)
        assert done.returncode == 0, done.stderr
        runs.append((done.stdout, content(output)))
        shutil.rmtree(output)
    (printed, before), (again, after) = runs
    assert printed == again
    assert [name for name in sorted(before | after) if before.get(name) != after.get(name)] == []
    return before, sum(each.received > 0 for each in connections)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bitext, a model that was trained on it, and sets."""
    folder = tmp_path_factory.mktemp("trained")
    for name in ("zh", "en", "align"):
        write(folder / f"train.{name}", (DEMO / f"train.{name}").read_text().splitlines()[:150])
    for name, begin, end in (("dev", 0, 12), ("test", 12, 20)):
        for ending in ("zh", "en.0", "zh.parse"):
            write(folder / f"{name}.{ending}", (DEMO / f"dev.{ending}").read_text().splitlines()[begin:end])
    done = call("hiero", "train", *bitext(folder), "-o", folder / "model", "--quiet")
    assert done.returncode == 0, done
    return folder


def bitext(folder: Path) -> list[object]:
    names = ("source", "train.zh"), ("target", "train.en"), ("alignment", "train.align")
    return [word for option, name in names for word in (f"--{option}", folder / name)]


@pytest.mark.slow
def test_second_stages(nodes: Nodes, trained: Path, tmp_path: Path) -> None:
    options = ["--folds", 2, "--sentences", 80, "--steps", 4, "--pop-limit", 20, "-o", tmp_path / "second"]
    command = ("train-reranker", trained / "model", *bitext(trained), *options, "--quiet")
    files, used = same_on_both(nodes, tmp_path / "second", *command)
    assert used == 1
    assert {"reranker.json", "fold-1.forests", "examples-1.counts", "shares.json"} <= files.keys()


@pytest.mark.slow
def test_analyses(nodes: Nodes, trained: Path, tmp_path: Path) -> None:
    sets = ["--source", trained / "dev.zh", "--references", trained / "dev.en.0", "--tokens", "-k", 5]
    output = tmp_path / "out"
    pictures = ["--page", output / "page.html", "--plot", output / "plot.png", "--beams", 1, 5]
    files, used = same_on_both(nodes, output, "analyse", trained / "model", *sets, *pictures)
    assert used == 1 and len(files) == 2


# Settings of experiments on the sets of the folder, by the name of the paper.
EXPERIMENTS = {
    "zhai2015": "k = 5\nbeams = [5]\nshares = [0.5]\nlarger = 40\nonly = ['batch MIRA, guided']\n"
    "[mert]\niterations = 2\nrestarts = 1\n[mira]\niterations = 2\npasses = 2\n",
    "li2009": "k = 5\n[mert]\niterations = 2\nrestarts = 1\n[risk]\niterations = 2\nsteps = 2\n"
    "temperature = 0.1\n[second]\nfolds = 2\nsentences = 40\nsteps = 2\n[decoding]\npop_limit = 10\n"
    "[bitext]\nsource = 'train.zh'\ntarget = 'train.en'\nalignment = 'train.align'\n",
    "chiang2008": "baseline = ['LM0', 'WordPenalty', 'Glue']\nfine_labels = ['NP', 'IP']\n"
    "[mert]\niterations = 2\nk = 5\nrestarts = 1\n[mira]\niterations = 2\nworkers = 2\n"
    "[decoding]\npop_limit = 10\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("paper", EXPERIMENTS)
def test_experiments(paper: str, nodes: Nodes, trained: Path, tmp_path: Path) -> None:
    sets = "".join(
        f"{head}\nsource = '{name}.zh'\nreferences = ['{name}.en.0']\nparses = '{name}.zh.parse'\n"
        for head, name in (("[tuning]", "dev"), ("[[test]]", "test"))
    )
    configuration = trained / f"{paper}.toml"
    configuration.write_text(f"model = 'model'\ntokens = true\nruns = 1\n{EXPERIMENTS[paper]}{sets}")
    command = ("experiment", paper, configuration, "-o", tmp_path / paper, "--quiet")
    files, used = same_on_both(nodes, tmp_path / paper, *command)
    assert used == 1 and "tables.md" in files and len(files) > 20


@pytest.mark.slow
def test_an_experiment_of_a_simplex(nodes: Nodes, trained: Path, tmp_path: Path) -> None:
    sets = ["--source", trained / "dev.zh", "--references", trained / "dev.en.0"]
    sets += ["--test-source", trained / "test.zh", "--test-references", trained / "test.en.0"]
    options = ["--decodings", 3, "--pop-limit", 5, "--tokens", "-o", tmp_path / "out"]
    command = ("experiment", "cettolo2004", trained / "model", *sets, *options)
    files, used = same_on_both(nodes, tmp_path / "out", *command)
    assert used == 1 and len(files) > 5


@pytest.mark.slow
def test_runs(nodes: Nodes, trained: Path, tmp_path: Path) -> None:
    sizes = ["--tune-size", 15, "--held-out-size", 10, "--test-size", 15, "--quiet"]
    tuning = ["--method", "mert", "risk", "--iterations", 2, "--threads", 2, "-o", tmp_path / "out"]
    command = ("run", "--source", trained / "train.zh", "--target", trained / "train.en", *sizes, *tuning)
    files, used = same_on_both(nodes, tmp_path / "out", *command)
    # A model is trained, two methods tune, and three systems translate two sets.
    assert used == 1 + 2 + 3 * 2
    assert {"tuned/risk/tuned.json", "translations/test/mert.txt", "tuned-model/weights.txt"} <= files.keys()


@pytest.mark.slow
def test_training(nodes: Nodes, tmp_path: Path) -> None:
    rng = random.Random(5)
    source, target, links = write_bitext(tmp_path, [random_pair(rng, 7, "abcdefgh") for _ in range(400)])
    sides, out, counts = ["--source", source, "--target", target], tmp_path / "out", tmp_path / "counts"
    links = ["--alignment", links, "--max-phrase", 5]
    extracted = ["-o", out / "counts", "--distortion", out / "distortion", "--memory", "1M"]
    files, used = same_on_both(nodes, out, "extract", *sides, *links, *extracted)
    assert used == 1 and files.keys() == {"counts", "distortion"}  # nothing was left behind
    counts.write_bytes(files["counts"])
    for pruned in ([], ["--corpus", source, target, "--significance", 1]):
        files, used = same_on_both(nodes, out, "score", counts, "-o", out / "rules.hrt", *pruned)
        assert used == 1 and files.keys() == {"rules.hrt"}
    files, used = same_on_both(nodes, out, "train", *sides, "-o", out / "model", "--max-phrase", 5)
    assert used == 1 and {"model/rules0.hrt", "model.train/alignment.model"} <= files.keys()


def test_ray_is_asked_for(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands say so before anything is done."""
    monkeypatch.setitem(sys.modules, "ray", None)
    model, source = files / "model", ["--source", files / "dev.fr"]
    sets, output = [*source, "--references", files / "dev.en"], ["-o", tmp_path / "never"]
    test = ["--test-source", files / "out.fr", "--test-references", files / "out.en"]
    both = [*source, "--target", files / "dev.en"]
    configuration = write(
        tmp_path / "experiment.toml",
        [
            f"model = '{model}'",
            *("[tuning]", f"source = '{files / 'dev.fr'}'", f"references = ['{files / 'dev.en'}']"),
            *("[[test]]", f"source = '{files / 'out.fr'}'", f"references = ['{files / 'out.en'}']"),
        ],
    )
    for command in (
        ["decode", model, *source],
        ["tune", model, "--method", "mert", *sets, *output],
        ["analyse", model, *sets],
        ["train-reranker", model, *both, *output],
        ["experiment", "cettolo2004", model, *sets, *test, *output],
        *(["experiment", paper, configuration, *output] for paper in EXPERIMENTS),
        ["run", *both, *output],
        ["train", *both, *output],
        ["extract", *both, "--alignment", files / "dev.en", *output],
        ["score", files / "dev.en", *output],
    ):
        done = call("hiero", *command, "--cluster", "auto")
        assert done.returncode == 1 and b"pip install 'hiero-mt[cluster]'" in done.stderr, done
        assert done.stdout == b"" and not (tmp_path / "never").exists()
