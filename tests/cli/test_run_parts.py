"""Tests of parts of `hiero run` by themselves: how translations are judged and sorted, options of settings,
and stages that are interrupted or whose times are damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hiero import FormatError
from hiero.cli.base.files import InterruptError
from hiero.cli.options.system import TRAINING
from hiero.cli.system import stages
from hiero.cli.system.report import Evaluation
from hiero.cli.system.system import bleu_tokenizer
from hiero.text import parse_side
from hiero.train import ExtractSettings, TrainSettings
from support.files import write


def evaluation(scores: list[float], source: list[str]) -> Evaluation:
    return Evaluation([], source, [[""]] * len(scores), {}, {"after": scores})


def test_worst_and_best() -> None:
    scores = [50.0, 10.0, 90.0, 30.0, 90.0, 70.0]
    source = ["ab", "ab", "abc", "ab", "ab", "ab"]
    assert evaluation(scores, source).examples() == ([1, 3, 0], [2, 4, 5])
    assert evaluation(scores[:1], source[:1]).examples() == ([0], [])
    many = list(map(float, range(30)))
    random.Random(1).shuffle(many)
    worst, best = evaluation(many, ["a"] * 30).examples()
    assert [many[n] for n in worst] == [0, 1, 2, 3, 4] and [many[n] for n in best] == [29, 28, 27, 26, 25]


def test_how_translations_are_judged() -> None:
    for side, expected in (
        *(("und:none", "none"), ("en:moses", "13a"), ("zh:jieba", "zh"), ("ja:janome", "char")),
        ("zh:none", "none"),
    ):
        assert bleu_tokenizer(parse_side(side, False)) == expected


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
    done = stages.Stages(tmp_path, quiet=True)
    with pytest.raises(KeyboardInterrupt):
        done.run("translate", tmp_path / "before.txt", "decode", [])
    assert done.seconds == {}
    write(tmp_path / "times.json", ['{"done": {"train": 7.0}, "interrupted": {"translate": 100.0}}'])
    again = stages.Stages(tmp_path, quiet=True)
    again.restore()
    monkeypatch.setattr(Interrupted, "main", lambda self, *args, **settings: None)
    again.run("translate", tmp_path / "before.txt", "decode", [])
    assert again.seconds["train"] == 7 and 100 < again.seconds["translate"] < 200
    again.run("translate", tmp_path / "before.txt", "decode", [])
    assert again.seconds["translate"] < 100  # what is done again counts by itself


def test_damaged_times(tmp_path: Path) -> None:
    write(tmp_path / "times.json", ["[1]"])
    with pytest.raises(FormatError, match=r"times\.json: damaged"):
        stages.Stages(tmp_path, quiet=True).restore()
