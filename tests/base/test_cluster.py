"""Work on a cluster of two nodes, also if one is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import hiero
from hiero import Cluster
from hiero.base import parallel
from hiero.base.parallel import SpreadJob, machines, places, spread_map, spread_parts, spread_wide
from hiero.tune import ModelDecoder
from support.jobs import Square, Tell, first_and_items, make_unpicklable, no_part, raise_unpicklable, times
from support.nodes import Nodes

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of nodes import from the folder that a program runs in, which may be that of the sources."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    pytest.importorskip("ray")
    started = Nodes(tmp_path)
    yield started
    started.stop()


@pytest.fixture
def cluster(nodes: Nodes) -> Iterator[Cluster]:
    with Cluster(nodes.address) as connected:
        yield connected


def processes(folder: Path) -> set[str]:
    return {path.name.split("-")[1] for path in folder.iterdir()}


def test_work_is_spread(cluster: Cluster, nodes: Nodes, tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.mkdir()
    assert places(7) == cluster.places == 2
    assert list(spread_map(Square(done, seconds=0.05), range(40), 1, 3)) == [n * n for n in range(40)]
    assert len(processes(done)) == 2 and len(list(done.iterdir())) == 40
    assert cluster.sent > 40 and cluster.received > 40
    assert list(spread_map(Square(done), [], 1)) == []
    job = SpreadJob(Square(done))
    assert [job(3), job(4)] == [9, 16]

    results = spread_map(Square(done, wrong=5), iter([1, 2, 5, 3]), 1, 2)
    assert [next(results), next(results)] == [1, 4]
    with pytest.raises(FileNotFoundError, match="no such number") as caught:
        next(results)
    assert caught.value.filename == "5"
    with pytest.raises(FileNotFoundError):
        SpreadJob(Square(done, wrong=5))(5)

    def broken() -> Iterator[int]:
        yield from (1, 2, 3)
        raise OSError("no more")

    results = spread_map(Square(done), broken(), 1, 2)
    assert [next(results), next(results), next(results)] == [1, 4, 9]
    with pytest.raises(OSError, match="no more"):
        next(results)
    with pytest.raises(hiero.Error, match="OwnError: number 1"):
        list(spread_map(raise_unpicklable, [1], 1))

    with pytest.raises(hiero.Error, match="cannot be sent to a cluster: "):
        list(spread_map(lambda number: number, [1], 1))
    with pytest.raises(hiero.Error, match="cannot be sent to a cluster: "):
        list(spread_map(make_unpicklable, [1], 1))

    parts = spread_parts(first_and_items, range(40), 16, 1)
    (first, low, one), (second, high, other) = parts.call(times, 2)
    assert (first, second, one != other) == (0, 16, True)
    assert low + high == [2 * n for n in range(40)]
    with pytest.raises(ValueError, match="times nothing"):
        parts.call(times, 0)
    with pytest.raises(ValueError, match="no part can be made"):
        spread_parts(no_part, range(40), 16, 1).call(times, 2)


def test_decoders_work_there(cluster: Cluster, files: Path) -> None:
    decoder = hiero.Decoder(hiero.Model.load(files / "model"))
    lines = ["le chat", ["le", "chien"], "le <s> chat", "la maison"] * 6
    there = list(decoder.translate_iter(lines))
    sent = cluster.sent
    assert sent > 1000 and cluster.received > 1000
    with parallel.working_on(None):
        here = list(decoder.translate_iter(lines))
    assert cluster.sent == sent

    def shown(results: list[hiero.Translation | hiero.Failure]) -> list[object]:
        return [str(r.error) if isinstance(r, hiero.Failure) else (r.text, r.score) for r in results]

    assert shown(there) == shown(here)


def test_models_are_sent_once(cluster: Cluster, files: Path) -> None:
    model = hiero.Model.load(files / "model")
    decoder = ModelDecoder(hiero.Decoder(model), ["le chat", "le chien dort"] * 2)
    weights = model.weight_vector(model.weights)
    list(decoder.kbest(weights, 1))
    first = cluster.sent
    list(decoder.kbest(2 * weights, 1))
    assert cluster.sent - first < first / 2


def test_a_node_that_is_killed_changes_nothing(cluster: Cluster, nodes: Nodes, tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.mkdir()
    parts = spread_parts(first_and_items, list(range(64)), 16, 1)
    before = [numbers for _, numbers, _ in parts.call(times, 3)]
    results = spread_map(Square(done, seconds=0.2), range(30), 1, 2)
    some = [next(results) for _ in range(4)]
    nodes.kill()
    assert some + list(results) == [n * n for n in range(30)]
    assert [numbers for _, numbers, _ in parts.call(times, 3)] == before


def test_work_with_threads_is_spread(cluster: Cluster) -> None:
    assert machines() == cluster.machines == 2
    results = list(spread_wide(Tell(0.3), range(6), 7))
    assert [number for number, _, _ in results] == list(range(6))
    assert {threads for _, threads, _ in results} == {1}  # of a node, not 7
    assert len({process for _, _, process in results}) == 2
    with parallel.working_on(None):
        assert machines() == 1
        assert [result[:2] for result in spread_wide(Tell(0.3), range(2), 7)] == [(0, 7), (1, 7)]


def test_work_with_threads_has_a_machine_to_itself(cluster: Cluster) -> None:
    transport = cluster._transport
    asked = []

    def start(work: Any, items: object, width: int) -> Any:
        asked.append(width)
        return transport._do.remote([work], transport.packed(items))

    with mock.patch.object(transport, "width", lambda: 3), mock.patch.object(transport, "start", start):
        assert [result[:2] for result in spread_wide(Tell(0), range(2), 7)] == [(0, 3), (1, 3)]
    assert asked == [3, 3]


def test_a_node_that_died_before(nodes: Nodes, tmp_path: Path) -> None:
    """ray does not know yet."""
    nodes.kill()
    with Cluster(nodes.address) as cluster:
        assert list(spread_map(Square(tmp_path), range(4), 1)) == [0, 1, 4, 9]
        assert cluster.machines == 1


def test_machines_have_as_many_processors_as_the_smallest(cluster: Cluster) -> None:
    nodes = [(4.0, True), (9.0, True), (2.0, False), (0.5, True)]
    alive = [{"Alive": is_alive, "Resources": {"CPU": number}} for number, is_alive in nodes]
    alive.append({"Alive": True, "Resources": {}})
    with mock.patch.object(cluster._transport._ray, "nodes", lambda: alive):
        assert cluster._transport.width() == 4 and cluster.machines == 1 + 2
    with mock.patch.object(cluster._transport._ray, "nodes", list):
        assert cluster._transport.width() == 1 and cluster.machines == 1


def test_threads_are_the_default(tmp_path: Path) -> None:
    assert parallel._engine is None and places(3) == 3
    assert list(spread_map(Square(tmp_path), range(5), 2, 4)) == [0, 1, 4, 9, 16]
    assert SpreadJob(Square(tmp_path))(5) == 25
    assert [part[:2] for part in spread_parts(first_and_items, range(3), 2, 2).call(times, 2)] == [
        (0, [0, 2, 4])
    ]


def test_wrong_clusters() -> None:
    pytest.importorskip("ray")
    with pytest.raises(hiero.Error, match=r"no cluster at 127\.0\.0\.1:1: Connection refused"):
        Cluster("127.0.0.1:1")


def test_nothing_imports_ray() -> None:
    code = "import sys, hiero.cli, hiero.tune, hiero.train; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_ray_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(hiero.Error, match=r"a cluster needs ray: pip install 'hiero-mt\[cluster\]'"):
        Cluster()
