"""Tests of parts of `hiero run` by themselves: how systems are judged and chosen, options of settings,
and stages that are interrupted or whose times are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiero import FormatError
from hiero.cli.base.files import InterruptError
from hiero.cli.base.warnings import warn, warning_once
from hiero.cli.io.results import Result
from hiero.cli.io.results import System as SystemScores
from hiero.cli.options.system import TRAINING
from hiero.cli.system import stages
from hiero.cli.system.data import SetFiles
from hiero.cli.system.stages import Stages
from hiero.cli.system.system import bleu_tokenizer, chosen
from hiero.cli.system.table import few_sentences, table_lines
from hiero.text import parse_side
from hiero.train import ExtractSettings, TrainSettings
from support.files import write


def test_how_translations_are_judged() -> None:
    for side, expected in (
        *(("und:none", "none"), ("en:moses", "13a"), ("zh:jieba", "zh"), ("ja:janome", "char")),
        ("zh:none", "none"),
    ):
        assert bleu_tokenizer(parse_side(side, False)) == expected


def result(metric: str, *scores: float, p: float = 0.01) -> Result:
    """Returns the scores of systems, the first of which is compared with the others."""
    first, *others = scores
    systems = [SystemScores("before", first, (first - 1, first + 1), 1, 0.0)]
    systems += [SystemScores("", s, (s - 1, s + 1), 1, 0.0, s - first, p, 2 * p) for s in others]
    return Result(metric, "higher", "", "", systems)


def test_the_final_system() -> None:
    """The best on the held-out set, the first of equal ones; not tuned where that was better by more than
    chance."""
    methods = ("mert", "pro", "mira")
    tuning = {"mert": 3.0, "pro": 9.0, "mira": 6.0}
    for scores, p, expected in (
        ((5.0, 6.0, 7.0, 8.0), 0.01, "mira"),
        ((5.0, 6.0, 7.0, 7.0), 0.01, "pro"),
        ((5.0, 3.0, 4.0, 2.0), 0.06, "pro"),
        ((5.0, 3.0, 4.0, 2.0), 0.04, "before"),
    ):
        # BLEU chooses, whatever chrF++ says.
        held_out = [result("BLEU", *scores, p=p), result("chrF++", 9.0, 1.0, 2.0, 1.0)]
        assert chosen(dict.fromkeys(methods), held_out, tuning) == expected
    assert chosen(dict.fromkeys(methods), None, tuning) == "pro"


def test_the_table() -> None:
    results = {
        "held-out": [result("BLEU", 20.0, 21.5), result("chrF++", 40.0, 41.0)],
        "news": [result("BLEU", 10.126, 9.5, p=0.25), result("chrF++", 30.0, 31.0, p=0.5)],
    }
    assert list(table_lines(results, ["before", "mert"], "mert", Path("out/tuned-model"))) == [
        "system  held-out BLEU  news BLEU           95 %      p  news chrF++      p",
        "before          20.00      10.13  9.13 to 11.13               30.00",
        "mert *          21.50       9.50  8.50 to 10.50  0.250        31.00  0.500",
        "* out/tuned-model, tuned by mert",
    ]


def test_why_a_system_is_final() -> None:
    for final, sets, systems, expected in (
        (
            "pro",
            ["held-out", "test"],
            ["before", "mert", "pro"],
            "tuned by pro, which is best on the held-out",
        ),
        ("pro", ["test"], ["before", "mert", "pro"], "tuned by pro, which is best on the tuning"),
        ("before", ["held-out"], ["before", "mert"], "not tuned, as tuned weights make worse the held-out"),
    ):
        results = {name: [result("BLEU", *map(float, range(len(systems))))] for name in sets}
        *_, last = table_lines(results, systems, final, Path("model"))
        assert last.removesuffix(" set") == f"* model, {expected}"


def test_a_set_with_few_sentences(tmp_path: Path) -> None:
    sets = {}
    for name, count in (("short", 99), ("long", 100)):
        path = write(tmp_path / name, ["a line"] * count)
        sets[name] = SetFiles(path, [path])
    said = ["short set: 99 sentences are too few to tell systems apart"]
    assert list(few_sentences(sets)) == said


def test_options_of_settings() -> None:
    settings = TrainSettings(lm_order=3, lm_binary="trie", truecase=True)
    settings = settings.model_copy(update={"extract": settings.extract.model_copy(update={"max_phrase": 7})})
    assert TRAINING.options_for(settings) == {
        **{"lm_order": 3, "lm_type": "trie", "truecase": True},
        "max_phrase": 7,
    }
    assert TRAINING.options_for(TrainSettings()) == {}
    # Ranges of lines as they are written, which the option reads.
    extract = ExtractSettings(phrase_lines="1-300,400-500", hierarchical_lines="9")
    given = TRAINING.options_for(TrainSettings(extract=extract))
    assert given == {"phrase_lines": "1-300,400-500", "hierarchical_lines": "9-9"}
    nothing = {each.name: None for each in TRAINING.parameters()}
    assert TRAINING.value({**nothing, **given}).extract == extract


def test_an_interrupt_is_one_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def main(self, *args: object, **settings: object) -> None:
            raise InterruptError("before.txt was not written")

    monkeypatch.setattr(stages, "command_named", lambda name: Interrupted())
    done = Stages(tmp_path, quiet=True)
    with pytest.raises(KeyboardInterrupt):
        done.run("translate", tmp_path / "before.txt", "decode", [])
    assert done.seconds == done.peak_megabytes == {}
    write(tmp_path / "stages.json", ['{"done": {"train": 7.0}, "interrupted": {"translate": 100.0}}'])
    again = Stages(tmp_path, quiet=True)
    again.restore()
    monkeypatch.setattr(Interrupted, "main", lambda self, *args, **settings: None)
    again.run("translate", tmp_path / "before.txt", "decode", [])
    assert again.seconds["train"] == 7 and 100 < again.seconds["translate"] < 200
    assert again.peak_megabytes.keys() == {"translate"} and again.peak_megabytes["translate"] > 1
    again.run("translate", tmp_path / "before.txt", "decode", [])
    assert again.seconds["translate"] < 100  # what is done again counts by itself
    record = '{"done": {"tune": 50.0, "train": 7.0}}'
    write(tmp_path / "stages.json", [record])
    again.restore()
    again.run("tune", tmp_path / "tuned.json", "tune", [], continues=True)
    assert 50 < again.seconds["tune"] < 100
    assert list(again.seconds) == ["train", "tune"]  # in the order in which they were last run


def test_damaged_times(tmp_path: Path) -> None:
    write(tmp_path / "stages.json", ["[1]"])
    with pytest.raises(FormatError, match=r"stages\.json: damaged"):
        Stages(tmp_path, quiet=True).restore()


def test_warnings_are_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    with warning_once():
        for message in ("a", "b", "a"):
            warn(message)
    assert capsys.readouterr().err == "hiero: warning: a\nhiero: warning: b\n"
    for _ in range(2):
        warn("a")
    assert capsys.readouterr().err == 2 * "hiero: warning: a\n"
