"""Tests of how sure words are, as commands write and draw it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiero
from hiero.forest.files import ForestFile
from support.commands import call, decode
from support.files import write

SOURCE = "je vois le chat\n\nil mange\nle zèbre noir\n"


def records(parts: list[object], *more: object) -> list[dict[str, object]]:
    done = decode(parts, "--output-format", "jsonl", "--confidence", *more, stdin=SOURCE)
    assert done.returncode == 0
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_records(parts: list[object]) -> None:
    model = hiero.Model.assemble(parts[1:2], parts[3:4], parts[5])  # type: ignore[arg-type]
    for temperature in (1.0, 4.0):
        decoder = hiero.Decoder(model, confidence_temperature=temperature)
        found = records(parts, "--confidence-temperature", temperature)
        for record, line in zip(found, SOURCE.splitlines(), strict=True):
            confidence = decoder.translate(line.split(), keep="forest").confidence()
            assert record["confidence"] == [round(value, 4) for value in confidence]
            assert len(confidence) == len(record["tokens"])  # type: ignore[arg-type]
    without = decode(parts, "--output-format", "jsonl", stdin=SOURCE).stdout.decode()
    assert "confidence" not in without


def test_a_translation_that_is_not_the_best(parts: list[object], tmp_path: Path) -> None:
    """The words are those of the derivation that a reference asks for."""
    line = "elle voit un chien noir ."
    model = hiero.Model.assemble(parts[1:2], parts[3:4], parts[5])  # type: ignore[arg-type]
    result = hiero.Decoder(model).translate(line.split(), keep="forest")
    other = result.kbest(9)[-1]
    expected = [round(value, 4) for value in result.confidence(other)]
    assert expected != [round(value, 4) for value in result.confidence()]
    references = write(tmp_path / "references", [other.text])
    options = ("--output-format", "jsonl", "--confidence", "--references", references)
    done = decode(parts, *options, stdin=line + "\n")
    record = json.loads(done.stdout)
    assert (record["tokens"], record["confidence"]) == (other.tokens, expected)


def test_another_format(parts: list[object]) -> None:
    done = decode(parts, "--confidence", stdin=SOURCE)
    assert done.returncode == 2 and b"--confidence goes with --output-format jsonl" in done.stderr


def test_pages_of_archives(parts: list[object], tmp_path: Path) -> None:
    """Pages show the confidence at the temperature that the archive was made with."""
    archive, pages = tmp_path / "forests", []
    for temperature in (1.0, 8.0):
        done = decode(
            parts, "--forests", archive, "--confidence-temperature", temperature, stdin="elle voit un chien\n"
        )
        assert done.returncode == 0
        with ForestFile(archive) as file:
            assert file.temperature == temperature
            forest = file[0]
            weights = file.weights
        shown = call("hiero", "forest", "show", archive, "--sentence", 0, "-k", 2)
        assert shown.returncode == 0
        pages.append(shown.stdout.decode())
        assert weights is not None
        for one in forest.kbest(2, forest.scores(weights)):
            posteriors = forest.distribution(forest.scores(weights) / temperature).word_posteriors(one.tokens)
            for value in posteriors:
                assert f"<title>confidence {value:.2f}</title>" in pages[-1]
    assert pages[0] != pages[1]


def test_rounding_is_no_gap(parts: list[object]) -> None:
    """The best translation is optimal, however it was decided, though its score is another sum."""
    exhaustive = ("--pop-limit", 0, "--output-format", "jsonl", "--decision")
    best, chosen = (
        [json.loads(line) for line in decode(parts, *exhaustive, way, stdin=SOURCE).stdout.splitlines()]
        for way in ("viterbi", "mbr")
    )
    assert all(one["optimal"] for one in best)
    for one, other in zip(best, chosen, strict=True):
        behind = one["score"] - other["score"]
        assert other["optimal"] == (behind < 1e-5)
        assert other["gap"] == (0 if behind < 1e-5 else pytest.approx(behind))
