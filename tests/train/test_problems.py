"""Tests of finding sentence pairs that may be wrong, and of leaving them out."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from hiero import FormatError
from hiero._core import LinkLexicon
from hiero.base.files import sha256
from hiero.train import TrainInputs, TrainSettings, train
from hiero.train.problems import AlignedCorpus, Problem, ProblemReport, find_problems, write_problems
from support.files import write

NOUNS = {"Hund": "dog", "Katze": "cat", "Baum": "tree", "Kind": "child", "Mann": "man", "Frau": "woman"}
VERBS = {"sieht": "sees", "kennt": "knows", "malt": "paints", "sucht": "seeks", "hört": "hears"}


def translations() -> list[tuple[str, str]]:
    """Sentence pairs without duplicates, of words in the same order."""
    return [
        (f"ein {a} {verb} ein {b} gern", f"a {NOUNS[a]} {VERBS[verb]} a {NOUNS[b]} gladly")
        for a in NOUNS
        for verb in VERBS
        for b in NOUNS
    ]


def corpus(folder: Path, pairs: Iterable[tuple[str, str]], dictionary: int = 0) -> AlignedCorpus:
    """Writes pairs, with links between words at equal positions; the last ones are of a dictionary."""
    lines = list(pairs)
    sides = [[pair[k] for pair in lines] for k in range(2)]
    lengths = [min(len(source.split()), len(target.split())) for source, target in lines]
    links = [" ".join(f"{i}-{i}" for i in range(n)) for n in lengths]
    files = (write(folder / name, text) for name, text in zip("fea", (*sides, links), strict=True))
    return AlignedCorpus(*files, len(lines) - dictionary)


def wrong_corpus(folder: Path) -> AlignedCorpus:
    """A corpus with problems: lines 4 and 181 are misaligned, and the same; see the test for the others."""
    pairs = translations()
    pairs[3] = "ein Hund sieht ein Mann gern", "a tree hears a child gladly"
    pairs[9] = ("", "")
    pairs += [pairs[3], pairs[0], ("Kino 7", "kino 7"), ("Ein alter Hund", "Старая собака"), ("Hund", "dog")]
    return corpus(folder, [*pairs, ("Hund", "dog")], dictionary=1)


def listed(problems: Iterable[Problem]) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.kind, problem.detail.rstrip("-.0123456789")) for problem in problems]


MISALIGNED = "misaligned", "log odds "


def test_problems_of_a_corpus(tmp_path: Path) -> None:
    assert listed(find_problems(wrong_corpus(tmp_path))) == [
        (4, *MISALIGNED),
        (181, "duplicate", "as line "),
        (181, *MISALIGNED),  # its own copy does not explain it
        (182, "duplicate", "as line "),
        (183, "same-text", ""),
        (184, "other-script", "target in Cyrillic"),
    ]


def test_scripts_of_a_dictionary_do_not_count(tmp_path: Path) -> None:
    pairs = [*translations(), ("Ein alter Hund", "Старая собака")]
    dictionary = [(f"Wort{k}", f"русское слово{k}") for k in range(500)]
    found = list(find_problems(corpus(tmp_path, [*pairs, *dictionary], dictionary=len(dictionary))))
    assert listed(found) == [(len(pairs), "other-script", "target in Cyrillic")]


@pytest.mark.parametrize(("odds", "count"), [(-4.55, 0), (-4.65, 180)])  # -log(100) is -4.605
def test_where_misaligned_pairs_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odds: float, count: int
) -> None:
    monkeypatch.setattr(LinkLexicon, "log_odds", lambda *_: odds)
    assert len(list(find_problems(corpus(tmp_path, translations())))) == count


def test_examples_are_the_worst_or_the_first() -> None:
    report = ProblemReport()
    for kind in ("misaligned", "duplicate"):
        for line, odds in enumerate((-5.0, -9.0, -7.0), start=1):
            report.add(Problem(line, kind, "", "f", "e", odds if kind == "misaligned" else 0.0))
    assert {kind: problem.line for kind, problem in report.examples.items()} == {
        "misaligned": 2,
        "duplicate": 1,
    }


def test_a_good_corpus_has_none(tmp_path: Path) -> None:
    assert list(find_problems(corpus(tmp_path, translations()))) == []


def test_a_lost_line(tmp_path: Path) -> None:
    """A target file that lost a line has the translation of the next line from there on, which is found."""
    rng = random.Random(1)
    sentences = [rng.choices(range(50), k=12) for _ in range(400)]
    sources, targets = ([" ".join(f"{side}{n}" for n in words) for words in sentences] for side in "fe")
    del targets[200]
    found = {
        problem.line for problem in find_problems(corpus(tmp_path, zip(sources[:399], targets, strict=True)))
    }
    assert min(found) > 200 and len(found) > 60
    report = write_problems(AlignedCorpus(*(tmp_path / name for name in "fea"), 399), tmp_path / "p")
    assert list(report.lines())[-1].startswith("warning: ")


def test_files_and_report(tmp_path: Path) -> None:
    files = wrong_corpus(tmp_path)
    kept = [tmp_path / f"kept.{name}" for name in "fea"]
    leave_out = ("same-text", "misaligned")
    report = write_problems(files, tmp_path / "p.tsv", leave_out=leave_out, kept=kept)
    problems = list(find_problems(files))
    rows = [line.split("\t") for line in (tmp_path / "p.tsv").read_text().splitlines()]
    assert rows[0] == ["line", "problem", "detail", "source", "target"]
    expected = [[str(p.line), p.kind, p.detail, p.source, p.target] for p in problems]
    assert rows[1:] == expected
    for name, path in zip("fea", kept, strict=True):
        lines = (tmp_path / name).read_text().splitlines()
        for number in (4, 181, 183):
            assert lines[number - 1]
            lines[number - 1] = ""
        assert path.read_text().splitlines() == lines
    assert (report.pairs, report.left_out) == (184, 3)
    assert report.counts == {"duplicate": 2, "misaligned": 2, "same-text": 1, "other-script": 1}
    odds = problems[0].detail
    assert list(report.lines()) == [
        "problems: duplicate: 2 pairs that came before, such as line 181 (as line 4):"
        " ein Hund sieht ein Mann gern | a tree hears a child gladly",
        "problems: same-text: 1 pair with the same text on both sides, such as line 183: Kino 7 | kino 7",
        "problems: other-script: 1 pair with a side in another script than the corpus, such as line 184"
        " (target in Cyrillic): Ein alter Hund | Старая собака",
        f"problems: misaligned: 2 pairs whose sides hardly translate each other, such as line 4 ({odds}):"
        " ein Hund sieht ein Mann gern | a tree hears a child gladly",
        "problems: 3 of 184 pairs are left out (--leave-out)",
    ]


@pytest.mark.parametrize(
    ("line", "links", "message"),
    [
        (2, "0-0 1:1", "a:2: expected links such as 0-0 1-2, found 1:1"),
        (2, "0-0 6-1", "a:2: link 6-1 points beyond a sentence pair of 6 and 6 words"),
        (181, "x", "a:181: expected links such as 0-0 1-2, found x"),  # of a duplicate
        (181, "9-0", "a:181: link 9-0 points beyond a sentence pair of 6 and 6 words"),
        (10, "0-0", "a:10: link 0-0 points beyond a sentence pair of 0 and 0 words"),
        (186, "0-0\n0-0", "a:187: more lines than the 186 sentence pairs"),
    ],
)
def test_links_that_are_wrong(tmp_path: Path, line: int, links: str, message: str) -> None:
    files = wrong_corpus(tmp_path)
    lines = (tmp_path / "a").read_text().splitlines()
    lines[line - 1] = links
    write(tmp_path / "a", lines)
    with pytest.raises(FormatError, match=f"/{message}$"):
        list(find_problems(files))


def test_copies_have_the_problems_of_the_first(tmp_path: Path) -> None:
    """Problems of a copy are those of the first line with its pair, and of no other line."""
    pairs = [*translations(), ("Kino 7", "kino 7"), *[("Kino 7", "kino 7")] * 2, ("Haus 8", "haus 8")]
    found = list(find_problems(corpus(tmp_path, pairs)))
    assert listed(found) == [
        (181, "same-text", ""),
        (182, "duplicate", "as line "),
        (182, "same-text", ""),
        (183, "duplicate", "as line "),
        (183, "same-text", ""),
        (184, "same-text", ""),
    ]
    assert {(p.source, p.target) for p in found[:5]} == {("Kino 7", "kino 7")}


def test_nothing_is_left(tmp_path: Path) -> None:
    files = corpus(tmp_path, [("a", "a"), ("", "")])
    kept = [tmp_path / f"kept.{name}" for name in "fea"]
    with pytest.raises(FormatError, match="all sentence pairs have problems"):
        write_problems(files, tmp_path / "p.tsv", leave_out=["same-text"], kept=kept)
    assert not any(path.exists() for path in kept)


def test_training_leaves_them_out(tmp_path: Path) -> None:
    """Rules come from the pairs that are kept, and sentences of other sets are in no file of training."""
    wrong = wrong_corpus(tmp_path)
    test_set = write(tmp_path / "test", ["Ein Hund sieht ein Hund gern!"])
    inputs = TrainInputs(wrong.source, wrong.target, alignment=wrong.alignment, without=[test_set])
    said: list[str] = []
    settings = TrainSettings(lm_order=2, leave_out=("misaligned", "other-script"))
    model = train(inputs, tmp_path / "m", settings=settings, report=said.append)
    work = tmp_path / "m.train"
    example = "line 1: ein Hund sieht ein Hund gern | a dog sees a dog gladly"
    assert f"sets: 2 sentence pairs left out, such as {example}" in said
    assert "problems: 3 of 183 pairs are left out (--leave-out)" in said
    texts = {name: (work / name).read_text().splitlines() for name in ("corpus.source", "kept.source")}
    left = [n for n, lines in enumerate(zip(*texts.values(), strict=True), start=1) if lines[0] != lines[1]]
    assert left == [4, 181, 184] and texts["corpus.source"][0] == texts["corpus.source"][181] == ""
    assert (work / "lm0.text").read_text().count("a dog sees a dog gladly") == 0
    assert model.made_from["sizes"]["sentence pairs"] == 180
    assert model.made_from["settings"]["leave_out"] == ["misaligned", "other-script"]
    assert set(model.made_from["inputs"]) >= {"source", "target", "set 0"}
    # A second stage is to learn from the text without the test set.
    assert model.made_from["inputs"]["source"] == sha256(work / "train.source") != sha256(wrong.source)
    # Nothing is left out by default, and the same training again finds all done, and tells the same.
    problems = [line for line in said if line.startswith("problems: ")]
    said.clear()
    train(inputs, tmp_path / "m", settings=settings, report=said.append)
    again = [line for line in said if not line.endswith("done before")]
    assert again == [line for line in problems if line.split()[1] not in ("to", "done")] and len(again) > 3
    train(inputs, tmp_path / "m", settings=TrainSettings(lm_order=2), report=said.append)
    assert "problems: stale, other settings (leave_out)" in said
    assert "problems: 0 of 183 pairs are left out (--leave-out)" in said
