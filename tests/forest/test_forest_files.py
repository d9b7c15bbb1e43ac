"""Tests of forests in files: round trips through every format, and damaged or malicious files."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import pickle
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import Forest, ForestError
from hiero.forest.files import NO_FOREST, ForestFile, ForestWriter, pack_forest, read_json, write_json
from hiero.forest.hypergraph_text import read_hypergraph, write_hypergraph
from support.brute_force_forest import small_random_forest
from support.paths import FRENCH

ARRAYS = [
    *("edge_offsets", "tail_offsets", "tails", "node_spans", "node_labels", "edge_tables", "edge_rules"),
    *("edge_targets", "target_offsets", "target_symbols", "link_offsets", "links"),
]
NAMES = ["source", "words", "labels", "tables", "feature_names"]


def assert_same(a: Forest, b: Forest) -> None:
    for name in NAMES:
        assert getattr(a, name) == getattr(b, name)
    for name in ARRAYS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert (a.features != b.features).nnz == 0 and a.features.shape == b.features.shape


@pytest.fixture(scope="module")
def forests() -> list[Forest]:
    """Forests of a decoder, one of them without a parse, and random ones."""
    french = FRENCH
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    decoder = hiero.Decoder(model, pass_through="none")
    lines = [*(french / "input.fr").read_text().splitlines()[:4], "? unbekannt [X,1] |||", ""]
    decoded = [decoder.translate(line, keep="forest").forest for line in lines]
    assert any(forest.root == -1 for forest in decoded)
    copying = hiero.Decoder(model, pass_through="all")
    strange = copying.translate("\\[] [X,1] ||| [3] \u3000 \x00", keep="forest").forest
    return [*decoded, strange, *(small_random_forest(random.Random(seed)) for seed in range(20))]


def test_archives(forests: list[Forest], tmp_path: Path) -> None:
    for name in ("one", "two"):
        with ForestWriter(tmp_path / name, {"tables": {"pt": "abc"}}) as writer:
            for forest in forests:
                writer.write(forest)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with ForestFile(tmp_path / "one") as archive:
        assert len(archive) == len(forests) and archive.about["tables"] == {"pt": "abc"}
        for forest, read in zip(forests, archive, strict=True):
            assert_same(forest, read)
        assert_same(archive[-1], forests[-1])
        assert [f.edge_count for f in archive[1:3]] == [f.edge_count for f in forests[1:3]]
        with pytest.raises(IndexError, match="one: no sentence 99, there are 27, from 0"):
            archive[99]
    with pytest.raises(KeyError), ForestWriter(tmp_path / "three"):
        raise KeyError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_weights_of_a_model_fit_its_forests_from_an_archive(french: Path, tmp_path: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    assert model.unweighted()
    lines = (french / "input.fr").read_text().splitlines()[:3]
    results = [hiero.Decoder(model).translate(line, keep="forest") for line in lines]
    with ForestWriter(tmp_path / "forests") as writer:
        for result in results:
            writer.write(result.forest)
        writer.write(NO_FOREST)
    with ForestFile(tmp_path / "forests") as archive:
        *derivations, none = [forest.viterbi(model.weights) for forest in archive]
        assert [d.score for d in derivations] == pytest.approx([result.score for result in results])
        assert none is None
        with pytest.raises(hiero.FormatError, match="no such feature: LM9"):
            archive[0].viterbi({**model.weights, "LM9": 1.0})


def test_json_lines(forests: list[Forest], tmp_path: Path) -> None:
    with (tmp_path / "forests.json").open("w", encoding="utf-8", newline="\n") as file:
        write_json(forests, file)
    for forest, read in zip(forests, read_json(tmp_path / "forests.json"), strict=True):
        assert_same(forest, read)


def test_hypergraph_text(forests: list[Forest], tmp_path: Path) -> None:
    for forest in forests:
        path = tmp_path / "hypergraph"
        try:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                write_hypergraph(forest, file)
        except ValueError as error:
            assert "leaves out" in str(error)
            continue
        read = read_hypergraph(path)
        weights = {name: 0.5 + i for i, name in enumerate(forest.feature_names)}
        scores = read.scores({name: weights[name] for name in read.feature_names})
        assert read.derivation_count == forest.derivation_count
        # Tails are in the order of the target side, so ties may be broken in another way.
        expected = sorted((round(d.score, 6), d.tokens) for d in forest.kbest(3000, weights))
        derivations = sorted((round(d.score, 6), d.tokens) for d in read.kbest(3000, scores))
        if forest.derivation_count <= 3000:
            assert derivations == expected
        assert [score for score, _ in derivations] == [score for score, _ in expected]
        with (tmp_path / "again").open("w", encoding="utf-8", newline="\n") as file:
            write_hypergraph(read, file)
        again = read_hypergraph(tmp_path / "again")
        assert again.edge_count == read.edge_count and again.words == read.words


LAZY = """4 5
1
the cat ||| LM=-1.5 Count=1
1
sleeps |||
2
[0] [1] ||| LM=-0.5
[1] , [0] ||| LM=-3
1
<s> [2] </s> ||| Glue=1
"""


def test_hypergraph_text_by_hand(tmp_path: Path) -> None:
    (tmp_path / "h").write_text(LAZY)
    forest = read_hypergraph(tmp_path / "h")
    assert [d.text for d in forest.kbest(5, {"LM": 1.0, "Count": 0.0, "Glue": 0.0})] == [
        "<s> the cat sleeps </s>",
        "<s> sleeps , the cat </s>",
    ]
    out = io.StringIO()
    write_hypergraph(forest, out)
    assert out.getvalue() == LAZY.replace("=1\n", "=1.0\n").replace("-3", "-3.0")


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (1, "4", "h:1: "),
        (1, "4 6", "5 edges where the first line says 6"),
        (1, "9 5", "h:11: invalid literal"),
        (1, "3 5", "h:9: expected the end of the file"),
        (1, "x y", "h:1: invalid literal"),
        (2, "2", 'h:4: expected "words ||| features"'),
        (3, "the cat", 'h:3: expected "words ||| features"'),
        (3, "the cat ||| LM", "h:3: expected Name=value, found LM"),
        (3, "the cat ||| LM=x", "h:3: could not convert"),
        (3, "the cat ||| LM=nan", "h:3: LM=nan is not a finite number"),
        (3, "the cat [0] ||| LM=1", r"h:3: \[0\] does not come before its head, vertex 0"),
        (7, "[9] [1] ||| LM=1", r"h:7: \[9\] does not come before its head, vertex 2"),
        (7, "[99999999999] [1] ||| LM=1", r"h:7: \[99999999999\] does not"),
        (4, "0", "h:4: a vertex without edges"),
    ],
)
def test_bad_hypergraph_text(line: int, change: str, message: str, tmp_path: Path) -> None:
    lines = LAZY.splitlines()
    lines[line - 1] = change
    (tmp_path / "h").write_text("\n".join(lines) + "\n")
    with pytest.raises(ForestError, match=message.replace("|", r"\|") if "|||" in message else message):
        read_hypergraph(tmp_path / "h")


def test_bad_json(forests: list[Forest], tmp_path: Path) -> None:
    out = io.StringIO()
    write_json(forests[:2], out)
    first, second = out.getvalue().splitlines()
    entry = json.loads(second)
    for change in (
        {"tails": [[1, 2], [3]]},
        {"tails": "x"},
        {"tails": [2**70]},
        {"feature_ids": [10**6] * len(entry["feature_ids"])},
        {"feature_offsets": [0]},
        {"feature_values": [None] * len(entry["feature_values"])},
        {"words": [1, 2]},
        {"words": None},
        {"edge_offsets": list(reversed(entry["edge_offsets"]))},
    ):
        (tmp_path / "f.json").write_text(first + "\n" + json.dumps(entry | change) + "\n")
        with pytest.raises(ForestError, match=r"f\.json:2: "):
            list(read_json(tmp_path / "f.json"))
    for text in ("", "{", "[]", '"x"', "{}", "[" * 100_000, second[:-9]):
        (tmp_path / "f.json").write_text(first + "\n" + text + "\n")
        with pytest.raises(ForestError, match=r"f\.json:2: "):
            list(read_json(tmp_path / "f.json"))


def test_damaged_text(forests: list[Forest], tmp_path: Path) -> None:
    out = io.StringIO()
    write_json(forests[:50], out)
    for compress in (gzip.compress, lzma.compress):
        for text in (out.getvalue(), LAZY):
            good = compress(text.encode())
            torn = bytearray(good)
            torn[len(good) // 2] ^= 0xFF
            for bad in (good[:-12], bytes(torn)):
                (tmp_path / "bad").write_bytes(bad)
                with pytest.raises(ForestError, match=r"bad:\d+: "):
                    read_hypergraph(tmp_path / "bad") if text == LAZY else list(read_json(tmp_path / "bad"))


def with_index(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Writes a copy of an archive with a changed index, and returns its path."""
    data = path.read_bytes()
    begin, size, _, magic = struct.unpack("<QQI8s", data[-28:])
    index = json.loads(data[begin : begin + size])
    change(index)
    content = json.dumps(index).encode()
    footer = struct.pack("<QQI8s", begin, len(content), zlib.crc32(content), magic)
    path.with_name("bad").write_bytes(data[:begin] + content + footer)
    return path.with_name("bad")


def test_hostile_archives(forests: list[Forest], tmp_path: Path) -> None:
    with ForestWriter(tmp_path / "good") as writer:
        for forest in forests[:3]:
            writer.write(forest)
    good = (tmp_path / "good").read_bytes()
    for place in ([0, 10, 0], [-1, 10, 0], [8, -5, 0], [8, 2**62, 0], [2**70, 1, 0], [8, 30, 9], [8, 30, -1]):

        def move(index: dict[str, Any], place: list[int] = place) -> None:
            index["records"][1] = place

        with ForestFile(with_index(tmp_path / "good", move)) as archive:
            assert_same(archive[0], forests[0])
            with pytest.raises(ForestError, match="bad: sentence 1: "):
                archive[1]
    fewer = with_index(tmp_path / "good", lambda index: index["feature_names"][0].clear())
    with ForestFile(fewer) as archive, pytest.raises(ForestError, match=r"bad: sentence 0: .*features"):
        archive[0]
    for change in (
        lambda index: index.clear(),
        lambda index: index.update(about=3),
        lambda index: index.update(records=[[1, 2]]),
        lambda index: index.update(records=[["", 2, 3]]),
        lambda index: index.update(feature_names=[["f", "f"]]),
    ):
        with pytest.raises(ForestError, match="bad: not a file of forests: "):
            ForestFile(with_index(tmp_path / "good", change))
    for data in (b"", b"HIEROFR4", good[:-1], good[8:], b"HEROFR2" + good[8:], good + b" "):
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(ForestError, match="bad: not a file of forests"):
            ForestFile(tmp_path / "bad")
    with zipfile.ZipFile(tmp_path / "old", "w") as old:
        old.writestr("forests.json", '{"format": 2}')
    with pytest.raises(
        ForestError, match="an archive of an earlier version; make it again, with hiero-decode"
    ):
        ForestFile(tmp_path / "old")
    with pytest.raises(FileNotFoundError):
        ForestFile(tmp_path / "none")


def test_damaged_archives(forests: list[Forest], tmp_path: Path) -> None:
    """Checksums cover every byte."""
    with ForestWriter(tmp_path / "good") as writer:
        for forest in forests[:2]:
            writer.write(forest)
    good = (tmp_path / "good").read_bytes()
    rng = random.Random(2)
    for case in range(1500):
        data = bytearray(good)
        if case % 3 == 0:
            del data[rng.randrange(len(data)) :]
        else:
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(ForestError), ForestFile(tmp_path / "bad") as archive:
            list(archive)


def test_forests_that_were_packed_before(forests: list[Forest], tmp_path: Path) -> None:
    """Forests may be packed in another order than they are written."""
    packed = list(map(pack_forest, reversed(forests)))[::-1]
    with ForestWriter(tmp_path / "packed") as writer:
        for forest in packed:
            writer.add(forest)
    with ForestWriter(tmp_path / "written") as writer:
        for forest in forests:
            writer.write(forest)
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "written").read_bytes()


def test_records_hold_all_that_forests_hold(forests: list[Forest]) -> None:
    """The same holds for forests that are made from others, whose edges share rows of features."""
    rng = random.Random(5)
    for forest in [f for f in forests if f.root >= 0]:
        scores = [rng.gauss(0, 1) for _ in range(forest.edge_count)]
        annotated = forest.prune(scores, margin=1.0).annotate_ngrams(3)
        for one in (
            forest,
            annotated,
            annotated.with_features(annotated.features * 0.1, annotated.feature_names),
        ):
            record = one.record()
            for read in (
                Forest.from_record(record, one.feature_names),
                Forest.from_record(memoryview(record), list(one.feature_names)),
                pickle.loads(pickle.dumps(one)),
            ):
                assert_same(one, read)
                assert read.ngram_order == one.ngram_order and read.record() == record
                assert np.array_equal(read.node_boundaries, one.node_boundaries)
                assert np.array_equal(read.edge_origins, one.edge_origins)
    split = [forest.annotate_ngrams(4) for forest in forests if forest.root >= 0]
    alone = [one.with_features(one.features, one.feature_names) for one in split]
    assert sum(len(one.record()) for one in split) < sum(len(one.record()) for one in alone)
    for bad in (b"", b"HFR1", record[1:], record[:-1], record + b"\0", record[:12] + b"x" + record[13:]):
        with pytest.raises(ForestError, match=r"not a record|the record is damaged"):
            Forest.from_record(bad, forest.feature_names)
    with pytest.raises(ValueError, match="expected bytes"):
        Forest.from_record(memoryview(record)[::2], forest.feature_names)
    special = np.array([[-0.0, 5e-324, 2.0**20, -(2.0**20) + 1, 1e300, 0.1]])
    values = Forest.from_arrays(
        edge_offsets=[0, 1], tail_offsets=[0, 0], tails=[], features=special, feature_names=list("abcdef")
    )
    again = Forest.from_record(values.record(), values.feature_names).features
    assert again.data.tobytes() == values.features.data.tobytes()
