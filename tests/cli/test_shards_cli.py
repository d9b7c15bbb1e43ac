"""Steps of training in shards, by commands: the same bytes as in one process."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hiero._core import EXTRACTED_SHARD, SCORED_SHARD
from hiero.cli import align, merge, train
from support.commands import call, handed
from support.extraction import random_pair, write_bitext
from support.files import write


def said_by(*words: object) -> str:
    """Runs a command that succeeds, and returns what it says."""
    done = call("hiero", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def test_shards_of_all_steps(tmp_path: Path) -> None:
    rng = random.Random(7)
    source, target, _ = write_bitext(tmp_path, [random_pair(rng, 7, "abcdefgh") for _ in range(200)])
    sides = ("--source", source, "--target", target)
    whole, merged = tmp_path / "whole", tmp_path / "merged"
    for folder in (whole, merged):
        folder.mkdir()
    shards = [tmp_path / f"shard.{number}" for number in (1, 2, 3)]

    def in_shards(*words: object) -> None:
        for number, shard in enumerate(shards, start=1):
            said_by(*words, "-o", shard, "--shard", f"{number}/3")

    aligned = ("align", *sides, "--samplers", 2)
    said_by(*aligned, "-o", whole / "links", "--save", whole / "model")
    in_shards(*aligned)
    said_by(*aligned, "-o", merged / "links", "--save", merged / "model", "--shards", *shards)

    extract = ("extract", *sides, "--alignment", whole / "links", "--max-phrase", 5)
    said = said_by(*extract, "-o", whole / "counts", "--distortion", whole / "distortion")
    in_shards(*extract)
    assert said_by("merge", *shards, "-o", merged / "counts", "--distortion", merged / "distortion") == said
    assert said.startswith("hiero: 200 sentence pairs, ")

    score = ("score", whole / "counts", "--ttable-limit", 2)
    said = said_by(*score, "-o", whole / "rules")
    in_shards(*score)
    assert said_by("merge", *shards, "-o", merged / "rules") == said
    names = {"links", "model", "counts", "distortion", "rules"}
    assert {path.name for path in whole.iterdir()} == {path.name for path in merged.iterdir()} == names
    for name in names:
        assert (whole / name).read_bytes() == (merged / name).read_bytes(), name


def test_what_a_shard_says(tmp_path: Path) -> None:
    paths = write_bitext(tmp_path, [random_pair(random.Random(1), 4, "abc") for _ in range(100)])
    sides = ("--source", paths[0], "--target", paths[1], "--alignment", paths[2])
    said = said_by("extract", *sides, "--max-phrase", 3, "-o", tmp_path / "shard", "--shard", "2/2")
    assert said.startswith("hiero: 36 sentence pairs, ") and said.endswith(" rule occurrences\n")


BITEXT = ("--source", "s", "--target", "t")


def test_shards_of_steps() -> None:
    shard = ("--shard", "2/5", "--threads", 3, "--memory", "64M", "-o", "o")
    options = (*BITEXT, "--held-out", "s1", "t1", "o1", "--seed", 3, "--samplers", 4)
    found = handed(align, "align_shard", "align", *options, *shard)
    assert [tuple(map(str, pair)) for pair in found["bitexts"]] == [("s", "t"), ("s1", "t1")]
    assert (str(found["output"]), found["shard"], found["threads"]) == ("o", (1, 5), 3)
    assert (found["seed"], found["samplers"], found["memory"]) == (3, 4, 64 << 20)
    found = handed(align, "align", "align", *BITEXT, "-o", "o", "--shards", "a", "b", "--memory", "64M")
    assert list(map(str, found["shards"])) == ["a", "b"] and found["memory"] == 64 << 20

    found = handed(train, "extract_shard", "extract", *BITEXT, "--alignment", "a", "--max-phrase", 4, *shard)
    assert [str(found[name]) for name in ("source", "target", "alignment", "output")] == ["s", "t", "a", "o"]
    assert (found["shard"], found["threads"], found["memory"]) == ((1, 5), 3, 64 << 20)
    assert found["settings"].max_phrase == 4
    tested = ("--significance", 3, "--corpus", "s", "t")
    found = handed(train, "score_shard", "score", "counts", *shard[:4], "-o", "o", *tested)
    assert (str(found["counts"]), str(found["output"]), found["shard"]) == ("counts", "o", (1, 5))
    assert tuple(map(str, found["bitext"])) == ("s", "t") and found["settings"].significance == 3
    assert found["threads"] == 3


def test_merge(tmp_path: Path) -> None:
    for kind, name in ((EXTRACTED_SHARD, "merge_extracted"), (SCORED_SHARD, "merge_scored")):
        for shard in ("a", "b"):
            (tmp_path / shard).write_bytes(kind + b"...")
        more = ("--threads", 3, "--memory", "64M", "-o", "o")
        found = handed(merge, name, "merge", tmp_path / "a", tmp_path / "b", *more)
        assert (found["shards"], str(found["output"])) == ([tmp_path / "a", tmp_path / "b"], "o")
        if kind == EXTRACTED_SHARD:
            assert (found["threads"], found["memory"]) == (3, 64 << 20)


ALIGN = ("align", *BITEXT, "--shard", "1/2")
EXTRACT = ("extract", *BITEXT, "--alignment", "a")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*EXTRACT, "--shard", "0/2"), "--shard: expected one of several, such as 2/8, not 0/2"),
        ((*EXTRACT, "--shard", "3/2"), "not 3/2"),
        ((*EXTRACT, "--shard", "2"), "not 2"),
        ((*EXTRACT, "--shard", "1/x"), "not 1/x"),
        ((*EXTRACT, "--shard", "1/2", "--cluster", "auto"), "--shard is for work without a cluster"),
        ((*EXTRACT, "--shard", "1/2", "--distortion", "d"), "give it to hiero merge"),
        ((*ALIGN, "--save", "m"), "--shard writes what samplers have learned"),
        ((*ALIGN, "--model", "m"), "--shard writes what samplers have learned"),
        ((*ALIGN, "--shards", "m"), "--shard writes what samplers have learned"),
        ((*ALIGN, "--probabilities", "m"), "--shard writes what samplers have learned"),
        ((*ALIGN, "--aligner", "hmm"), "are for hiero's own aligner"),
        (("align", *BITEXT, "--aligner", "hmm", "--cluster", "x"), "--cluster is for hiero's own aligner"),
        (("align", *BITEXT, "--model", "m", "--cluster", "x"), "--cluster is for learning"),
        (("align", *BITEXT, "--aligner", "hmm", "--shards", "x"), "are for hiero's own aligner"),
        (("align", *BITEXT, "--aligner", "hmm", "--save", "x"), "are for hiero's own aligner"),
        (("train", *BITEXT, "--plan", "--cluster", "auto"), "--plan is for work without a cluster"),
        ((*EXTRACT, "--shard", "1/1048577"), "not 1/1048577"),
        (("align", *BITEXT, "--model", "m", "--shards", "x"), "two ways of having learned before"),
    ],
)
def test_options_that_do_not_fit(words: tuple[object, ...], message: str) -> None:
    done = call("hiero", *words, "-o", "o")
    said = " ".join(done.stderr.decode().replace("│", "").split())  # a message may take several lines
    assert done.returncode == 2 and message in said, done


def test_merging_what_is_not_a_shard(tmp_path: Path) -> None:
    other = write(tmp_path / "other", ["text"])
    done = call("hiero", "merge", other, "-o", tmp_path / "o")
    assert done.returncode == 1 and b"other: not a shard of a step that is merged" in done.stderr
    text = write(tmp_path / "text", ["a b"])
    said_by("align", "--source", text, "--target", text, "-o", tmp_path / "shard", "--shard", "1/2")
    done = call("hiero", "merge", tmp_path / "shard", "-o", tmp_path / "o")
    assert done.returncode == 1 and b"those of hiero align go to its --shards" in done.stderr
    paths = write_bitext(tmp_path, [random_pair(random.Random(1), 4, "abc") for _ in range(3)])
    said_by(
        "extract",
        *BITEXT[:1],
        paths[0],
        "--target",
        paths[1],
        "--alignment",
        paths[2],
        "-o",
        tmp_path / "counts",
    )
    said_by("score", tmp_path / "counts", "-o", tmp_path / "shard", "--shard", "1/1")
    done = call("hiero", "merge", tmp_path / "shard", "-o", tmp_path / "o", "--distortion", tmp_path / "d")
    assert done.returncode == 2 and b"--distortion is for shards of hiero extract" in done.stderr
    assert not (tmp_path / "o").exists()
