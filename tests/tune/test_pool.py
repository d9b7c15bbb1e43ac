"""Pools of hypotheses: they are unique, in order, and the same on disk."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from hiero import Forest, FormatError
from hiero.base.arrays import save_arrays
from hiero.evaluate import Bleu, Hypotheses
from hiero.tune.methods.mert.hypergraph_mert import Envelopes
from hiero.tune.methods.mert.line_search import search
from hiero.tune.pool.blocks import PoolBlock, load_block, save_block
from hiero.tune.pool.candidates import Candidates, kbest_candidates
from hiero.tune.pool.forests import AccumulatedForests
from hiero.tune.pool.pool import Pool
from hiero.tune.run.protocol import Array
from support.synthetic_decoder import TableDecoder, solvable, whole_forest, wholes

BEST = (1.0, -0.5, 2.0, 0.25)


def test_damaged_pools(tmp_path: Path) -> None:
    decoder, references = solvable(4, BEST, sentences=3, size=6)
    metric = Bleu(references)
    block = Pool(3, 4, metric).unseen(wholes(metric, decoder.kbest(np.array(BEST), 6)))
    new = block.arrays
    parts = {
        "instances": block.instances,
        "offsets": new.offsets,
        "statistics": new.statistics,
        "data": new.features.data,
        "indices": new.features.indices,
        "indptr": new.features.indptr,
        "shape": np.array(new.features.shape),
    }
    changes = [
        {"instances": block.instances[::-1]},
        {"instances": block.instances + 1},
        {"instances": block.instances - 1},
        {"instances": block.instances[[0, 1, 1]]},
        {"instances": block.instances[:2]},
        {"instances": block.instances[:, :2]},
        {"instances": block.instances.astype(float)},
        {"indices": new.features.indices - 5},
        {"indices": new.features.indices + 10**8},
        {"offsets": np.append(new.offsets, 18)},
        {"offsets": new.offsets.astype(float)},
        {"offsets": new.offsets[::-1]},
        {"shape": np.array(4)},
        {"statistics": new.statistics[1:]},
        {"statistics": new.statistics[:, :5]},
        {"statistics": new.statistics * np.nan},
        {"data": new.features.data[1:]},
        {"indptr": new.features.indptr[::-1]},
    ]
    for change in changes:
        save_arrays(tmp_path / "new.npz", **{**parts, **change})
        with pytest.raises(
            FormatError, match=r"new\.npz: damaged, or of another version: (?!wrong checksum)"
        ):
            load_block(tmp_path / "new.npz", 3, 4, 10)
    save_arrays(tmp_path / "new.npz", **parts)
    assert len(load_block(tmp_path / "new.npz", 3, 4, 10).arrays) == 18


def test_pools_are_unique_and_in_order(tmp_path: Path) -> None:
    decoder, references = solvable(4, BEST, sentences=3, size=6)
    repeated = TableDecoder(
        [[*lines, lines[0]] for lines in decoder.hypotheses],
        [np.vstack([f, f[:1] + 1e-13]) for f in decoder.features],
    )
    metric = Bleu(references)
    pool = Pool(3, 4, metric)
    block = pool.unseen(wholes(metric, repeated.kbest(np.array(BEST), 7)))
    new = block.arrays
    assert new.offsets.tolist() == [0, 6, 12, 18]
    assert block.instances.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    pool.restore(block)
    again = pool.unseen(wholes(metric, repeated.kbest(np.array(BEST[::-1]), 7)))
    assert len(again.arrays) == 0
    save_block(tmp_path / "new.npz", block)
    loaded = load_block(tmp_path / "new.npz", 3, 4, 10)
    assert loaded.instances.tolist() == block.instances.tolist()
    assert loaded.arrays.features.toarray().tolist() == new.features.toarray().tolist()
    assert (loaded.arrays.statistics == new.statistics).all()
    assert (loaded.arrays.offsets == new.offsets).all()
    # Two halves make the same pool as the whole, but for the order within sentences.
    halves = Pool(3, 4, metric)
    halves.restore(halves.unseen(wholes(metric, decoder.kbest(np.array(BEST), 3))))
    second = halves.unseen(wholes(metric, decoder.kbest(-np.array(BEST), 6)))
    halves.restore(second)
    assert len(second.arrays) == 9
    arrays, whole = halves.arrays(), pool.arrays()
    for a, b in itertools.pairwise(whole.offsets.tolist()):
        assert sorted(arrays.features.toarray()[a:b].tolist()) == sorted(
            whole.features.toarray()[a:b].tolist()
        )
        assert arrays.features.toarray()[a : a + 3].tolist() == whole.features.toarray()[a : a + 3].tolist()
    with pytest.raises(ValueError, match="2 lists for 3 sentences"):
        pool.unseen(wholes(metric, itertools.islice(decoder.kbest(np.array(BEST), 1), 2)))


def test_instances_of_sentences_are_apart() -> None:
    """Instances are apart also if their candidates are equal, and later candidates come behind earlier
    ones."""
    metric = Bleu([["a b"], ["c"]])
    statistics = metric.token_statistics([0, 0], Hypotheses.from_tokens([["a"], ["a", "b"]]))

    def found(span: tuple[int, int], rows: list[int], first: float) -> Candidates:
        features = np.array([[first, 0.0], [0.0, 2.0]])
        return Candidates(span, scipy.sparse.csr_array(features[rows]), statistics[rows])

    pool = Pool(2, 2, metric)
    blocks: list[PoolBlock] = []
    for several in (
        [[found((0, 0), [0, 1], 1.0), found((0, 3), [0, 1], 1.0)], [found((0, 0), [], 1.0)]],
        [[found((0, 2), [0], 1.0), found((0, 3), [1, 0, 0], 3.0)], [found((1, 4), [1], 1.0)]],
        # Equal features with other statistics are another candidate.
        [[Candidates((0, 2), scipy.sparse.csr_array([[1.0, 0.0]]), statistics[[1]])], []],
    ):
        blocks.append(pool.unseen(several))
        pool.restore(blocks[-1])
    assert [block.instances.tolist() for block in blocks] == [
        [[0, 0, 0], [0, 0, 3], [1, 0, 0]],
        [[0, 0, 2], [0, 0, 3], [1, 1, 4]],
        [[0, 0, 2]],
    ]
    assert [block.arrays.offsets.tolist() for block in blocks] == [[0, 2, 4, 4], [0, 1, 2, 3], [0, 1]]
    arrays = pool.arrays()
    # Sentence 0 as a whole, its spans [0, 2) and [0, 3); sentence 1, its span.
    assert arrays.offsets.tolist() == [0, 2, 4, 7, 7, 8] and arrays.instances == 5
    assert arrays.features.toarray()[:, 0].tolist() == [1, 0, 1, 1, 1, 0, 3, 0]
    assert arrays.statistics.tolist() == statistics[[0, 1, 0, 1, 0, 1, 0, 1]].tolist()
    nothing = metric.token_statistics([1], Hypotheses.from_tokens([[]]))[0]
    assert np.asarray(arrays.missing).tolist() == nothing.tolist()
    assert arrays.winners(np.array([1.0, 1.0])).tolist() == [1, 2, 6, -1, 7]


def test_sentences_without_hypotheses_are_empty_translations() -> None:
    table, references = solvable(4, BEST, sentences=3, size=6)
    nothing: list[list[str]] = []
    decoder = TableDecoder(
        [table.hypotheses[0], nothing, table.hypotheses[2]],
        [table.features[0], np.zeros((0, 4)), table.features[2]],
    )
    metric = Bleu(references)
    pool = Pool(3, 4, metric)
    pool.restore(pool.unseen(wholes(metric, decoder.kbest(np.array(BEST), 6))))
    lists = enumerate(decoder.kbest(np.array(BEST), 6))
    firsts = np.array(
        [kbest_candidates(metric, sentence, found).best_statistics for sentence, found in lists]
    )
    arrays, direction = pool.arrays(), np.array([1.0, 0.5, 0.0, 0.0])
    assert arrays.total(arrays.winners(np.array(BEST))).tolist() == firsts.sum(axis=0).tolist()
    forests = list(table.forests(direction, whole_forest))
    assert forests[0] is not None and forests[2] is not None
    for weights in (np.array(BEST), np.ones(4)):
        lists = [found.hypotheses.texts() for found in decoder.kbest(weights, 1)]
        statistics = metric.statistics([texts[0] if texts else "" for texts in lists])
        expected = pytest.approx(float(metric.score(statistics.sum(axis=0))))
        lines = arrays.features @ weights, arrays.features @ direction
        assert search(arrays, metric, *lines).start == expected
        found = Envelopes([[forests[0]], [], [forests[2]]], metric)(weights, direction)
        assert search(found[0], metric, *found[1:]).start == expected


def test_forests_that_say_nothing_new_are_not_kept(tmp_path: Path) -> None:
    table, references = solvable(4, BEST, sentences=5, size=30)

    class Narrow(TableDecoder):
        def made_forest(self, sentence: int, weights: Array) -> Forest | None:
            forest = super().made_forest(sentence, weights)
            assert forest is not None
            return forest.prune(forest.scores(weights), edges=3)

    decoder = Narrow(table.hypotheses, table.features)
    accumulated = AccumulatedForests(Bleu(references))
    some, other = np.array(BEST), np.array([-1.0, 1.0, 0.1, 2.0])
    known: list[set[int]] = [set() for _ in range(5)]
    for number, weights in enumerate((some, 2 * some, other, some + 0.01 * other, other)):
        folder = tmp_path / str(number)
        folder.mkdir()
        best = [np.argsort(-(f @ weights))[:3].tolist() for f in table.features]
        expected = [b[0] not in k for b, k in zip(best, known, strict=True)]
        before = [len(forests) for forests in accumulated.forests]
        decoded = accumulated.decode(decoder, weights, folder)
        assert len(decoded.translations) == 5
        assert decoded.new == sum(expected) and decoded.statistics.shape == (5, 10)
        accumulated.restore(folder)
        grown = [len(forests) for forests in accumulated.forests]
        assert grown == [b + e for b, e in zip(before, expected, strict=True)]
        known = [k | set(b) if e else k for k, b, e in zip(known, best, expected, strict=True)]
    assert max(grown) > 1
