"""`hiero run`: what the commands give that it prints, resumed where it stopped, and its report."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import hiero
from hiero import __version__
from hiero.base.text import split
from hiero.text import parse_side
from hiero.train.problems import Problem, ProblemReport
from support.browser import blank_pixels_at_end, cut_off_texts, low_contrast_texts, open_page
from support.commands import call, one_error_line
from support.files import write
from support.html_page import checked_page

WHEN = ("before", "mert")
HOSTILE = "Das <script>alert(1)</script> & ist ein \u202eTest."
SIZES = ("--tune-size", "20", "--held-out-size", "10", "--test-size", "15")
SETS = ("held-out", "test")
TEXT = ("--tokenize", "zh:jieba", "en:moses", "--truecase")
LINES = ("--phrase-lines", "1-200,220-300", "--hierarchical-lines", "40")
TUNING = ("-k", "20", "--iterations", "2", "--seed", "3")


@pytest.fixture(scope="module")
def raw(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Raw text of the demo corpus, the first pairs, as people write it."""
    folder = tmp_path_factory.mktemp("raw")
    joined = parse_side("zh:jieba", False), parse_side("en:moses", False)
    sides = []
    for name, side in zip(("train.zh", "train.en"), joined, strict=True):
        lines = (demo / name).read_text(encoding="utf-8").splitlines()[:250]
        texts = [side.text(split(line)) for line in lines]
        sides.append(write(folder / name, [text[:1].upper() + text[1:] for text in texts]))
    return sides[0], sides[1]


def options(raw: tuple[Path, Path], output: Path) -> list[object]:
    return ["run", "--source", raw[0], "--target", raw[1], *SIZES, *TEXT, *LINES, *TUNING, "-o", output]


@pytest.fixture(scope="module")
def done(raw: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run, and what it printed."""
    output = tmp_path_factory.mktemp("run") / "out"
    result = call("hiero", *options(raw, output))
    assert result.returncode == 0, result.stderr
    # Pairs that are set aside are not called empty.
    said = (
        "corpus: 205 of 205 sentence pairs; 45 lines are blank on both sides, as where pairs were set aside"
    )
    assert said in result.stderr.decode()
    return output, result.stdout.decode()


def commands(printed: str) -> Iterator[list[str]]:
    for line in printed.splitlines():
        if line.startswith("$ "):
            yield shlex.split(line[2:])


def test_it_is_what_the_parts_give_by_hand(done: tuple[Path, str], tmp_path: Path) -> None:
    output, printed = done
    stages = ["train", "decode", "decode", "tune", "decode", "decode", "eval", "eval", "weights"]
    assert [words[1] for words in commands(printed)] == stages
    (tmp_path / "sets").mkdir()
    for path in (output / "sets").iterdir():
        shutil.copyfile(path, tmp_path / "sets" / path.name)
    train = " ".join(next(commands(printed)))
    assert "--phrase-lines 1-200,220-300 --hierarchical-lines 40-40" in train
    made_from = json.loads((output / "model" / "manifest.json").read_text())["made_from"]
    settings = made_from["settings"]["extract"]
    assert [settings[f"{kind}_lines"] for kind in ("phrase", "hierarchical")] == [
        [[1, 200], [220, 300]],
        [[40, 40]],
    ]
    for name in SETS:
        (tmp_path / "translations" / name).mkdir(parents=True)
    for words in commands(printed):
        moved = [word.replace(str(output), str(tmp_path)) for word in words]
        assert call(*moved).returncode == 0
    made = ("tuned/mert/weights.txt", "model/manifest.json", "tuned-model/manifest.json")
    for name in (*made, *(f"translations/{name}/{when}.txt" for name in SETS for when in WHEN)):
        assert (tmp_path / name).read_bytes() == (output / name).read_bytes(), name
    references = (output / "sets" / "test.target").read_text().splitlines()
    metrics = json.loads((output / "translations" / "test" / "scores.json").read_text())
    for when, system in zip(WHEN, metrics[0]["systems"], strict=True):
        lines = (output / "translations" / "test" / f"{when}.txt").read_text().splitlines()
        assert len(lines) == 15
        assert system["score"] == pytest.approx(sacrebleu.corpus_bleu(lines, [references]).score)
    header, before, after, final = printed.splitlines()[-6:-2]
    assert header.split()[:4] == ["system", "held-out", "BLEU", "test"]
    for row, system in zip((before, after), metrics[0]["systems"], strict=True):
        assert row.replace(" *", "").split()[2] == f"{system['score']:.2f}"
    assert final == f"* {output / 'tuned-model'}, tuned by mert"
    assert "test set: 15 sentences are too few to tell systems apart" in printed
    assert printed.splitlines()[-1] == f"{output / 'report.html'} shows more"


def test_sets_of_a_run(done: tuple[Path, str]) -> None:
    counts = json.loads((done[0] / "sets" / "counts.json").read_text())
    assert counts["pairs"] == {"tune": 20, "held-out": 10, "test": 15, "train": 205, "left out": 0}
    # Lines keep their numbers.
    assert len((done[0] / "sets" / "train.source").read_text().splitlines()) == 250


def test_unknown_words_of_all_sets_are_said(done: tuple[Path, str]) -> None:
    """The shares, in the output and in the report, are those of words that are no source side of a rule, with
    the most frequent of these."""
    output, printed = done
    model = hiero.Model.load(output / "tuned-model")
    page = (output / "report.html").read_text(encoding="utf-8")
    said: list[str] = []
    for name, file in (("tuning", "tune"), ("held-out", "held-out"), ("test", "test")):
        lines = (output / "sets" / f"{file}.source").read_text(encoding="utf-8").splitlines()
        words = [word for line in lines for word in model.text.source.tokens(line)]
        unknown = [word for word in words if not any(model.tables[0].lookup([word]))]
        such = " ".join(word for word, _ in Counter(unknown).most_common(5))
        share = f"{100 * len(unknown) / len(words):.1f} % of the words are unknown to the model"
        said.append(f"{share}, such as {such}")
        warning = "warning: " if len(unknown) > len(words) / 10 else ""
        assert f"\n{warning}{name} set: {said[-1]}\n" in f"\n{printed}"
        listed = ", ".join(f"{word} ({count})" for word, count in Counter(unknown).most_common(30))
        counts = f"{len(unknown)} of {len(words)}"
        row = f"{share.split(' are')[0].replace('the words', f'the words ({counts})')}, most often {listed}"
        assert f'<dt>{name} set</dt><dd dir="auto">{row}</dd>' in page
    assert len(set(said)) == 3


def test_raw_text_goes_in_and_comes_out(done: tuple[Path, str]) -> None:
    lines = (done[0] / "translations" / "test" / "mert.txt").read_text(encoding="utf-8").splitlines()
    assert any(re.match(r"[A-Z].*\w\.$", line) for line in lines)
    assert not any(line.endswith(" .") for line in lines)


def test_what_is_done_is_not_done_again(
    done: tuple[Path, str], raw: tuple[Path, Path], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(done[0], output)
    again = call("hiero", *options(raw, output))
    said = again.stdout.decode()
    assert again.returncode == 0 and "$ " not in said
    stages = [
        *("train", "translate held-out before", "translate test before", "tune mert"),
        *("translate held-out mert", "translate test mert", "judge held-out", "judge test", "choose"),
    ]
    assert [line for line in said.splitlines() if "done before" in line] == [
        f"{stage}: done before" for stage in stages
    ]
    assert (output / "report.html").read_bytes() == (done[0] / "report.html").read_bytes().replace(
        str(done[0]).encode(), str(output).encode()
    )
    # The report has what training says of the sentence pairs.
    problems = ProblemReport(pairs=9, counts=Counter({"misaligned": 5}))
    problems.examples["misaligned"] = Problem(7, "misaligned", "", "a", "b")
    (output / "model.train" / "problems.json").write_text(problems.model_dump_json())
    assert call("hiero", *options(raw, output)).returncode == 0
    assert "Look at the training text first: 55.6" in (output / "report.html").read_text(encoding="utf-8")
    # As after an interrupt: a stage is done when what it makes is there.
    shutil.rmtree(output / "tuned")
    (output / "translations" / "test" / "mert.txt").unlink()
    (output / "translations" / "test" / "scores.json").unlink()
    third = call("hiero", *options(raw, output), "--quiet")
    assert third.stdout.decode().splitlines() == [
        line.replace(str(done[0]), str(output)) for line in done[1].splitlines()[-9:-1]
    ]
    for name in ("translations/test/mert.txt", "tuned/mert/weights.txt"):
        assert (output / name).read_bytes() == (done[0] / name).read_bytes()
    record = json.loads((output / "stages.json").read_text())
    assert list(record["done"]) == stages == list(record["peak_megabytes"])
    assert all(megabytes > 20 for megabytes in record["peak_megabytes"].values())


@pytest.mark.parametrize("more", [("--seed", "4"), ("--max-phrase", "5"), ("-k", "10"), ("--lowercase",)])
def test_another_run_needs_another_directory(
    done: tuple[Path, str], raw: tuple[Path, Path], more: tuple[str, ...]
) -> None:
    words = [word for word in options(raw, done[0]) if more != ("--lowercase",) or word != "--truecase"]
    other = call("hiero", *words, *more)
    named = {"--seed": "seed", "--max-phrase": "training.max_phrase", "--lowercase": "text"}
    # Other settings of a method want another directory for this method.
    named["-k"] = "options.k; choose another directory or remove it"
    folder = done[0] / "tuned" / "mert" if more[0] == "-k" else done[0]
    assert other.returncode == 1
    error = other.stderr.decode().splitlines()[-1]
    assert error.startswith(f"hiero: {folder}: holds another run, see run.json, {named[more[0]]}")


def test_other_data_is_another_run(done: tuple[Path, str], raw: tuple[Path, Path], tmp_path: Path) -> None:
    target = write(tmp_path / "target", ["Something else.", *raw[1].read_text().splitlines()[1:]])
    other = call("hiero", *options((raw[0], target), done[0]))
    assert "holds another run, see run.json, data.target;" in one_error_line(other)


def test_what_was_done_by_hand_counts(done: tuple[Path, str], raw: tuple[Path, Path], tmp_path: Path) -> None:
    """Later steps are done again; what was cleared away is not missed."""
    output = tmp_path / "out"
    shutil.copytree(done[0], output)
    shutil.rmtree(output / "model.train")
    shutil.rmtree(output / "sets")
    write(output / "translations" / "test" / "mert.txt", ["other words"] * 15)
    result = call("hiero", *options(raw, output))
    said = result.stdout.decode()
    assert [words[1] for words in commands(said)] == ["eval"]
    assert re.search(r"\nmert \* +[\d.]+ +0\.\d\d ", said)
    page = (output / "report.html").read_text()
    assert "translate test mert" in page
    assert "Words by their frequency are left out: the training text was deleted." in page
    for text in ("[{", '[{"metric": "BLEU"}]'):
        write(output / "translations" / "test" / "scores.json", [text])
        damaged = call("hiero", *options(raw, output))
        assert "scores.json: damaged: " in one_error_line(damaged)


@pytest.mark.slow
def test_a_run_that_has_no_model_gives_way(raw: tuple[Path, Path], tmp_path: Path) -> None:
    words = options(raw, tmp_path / "-out")
    first = call("hiero", *words, "--quiet", "--mono", write(tmp_path / "blank", ["", ""]))
    assert "blank: no text to estimate a language model from" in one_error_line(first)
    # Also the names of files may look like options.
    with contextlib.chdir(tmp_path):
        words[words.index("-o") + 1] = "./-out"
        assert call("hiero", *words).returncode == 0


def test_the_report(done: tuple[Path, str]) -> None:
    text = (done[0] / "report.html").read_text(encoding="utf-8")
    page = checked_page(text)
    sections = re.findall(r'<section id="([^"]+)"', text)
    assert sections[0] == "overview" and len(sections) > 8
    assert page.texts["h2"] == [
        *("What to do next", "Scores", "Unknown words", "Sentences", "Tuning", "Model", "Time and memory"),
        "Commands",
    ]
    contents = {title.lower().replace(" ", "-") for title in page.texts["h2"]}
    # Each example leads to its derivation, and that back.
    assert {to for section, _, to in page.links if section == "overview"} == {*sections[1:], *contents}
    assert {section for section, _, to in page.links if to == "overview"} == set(sections[1:])
    metrics = json.loads((done[0] / "translations" / "test" / "scores.json").read_text())
    for metric in metrics:
        for name, system in zip(WHEN, metric["systems"], strict=True):
            low, high = system["interval"]
            cells = f"<td>{system['score']:.2f}</td><td>{low:.2f}\u00a0to\u00a0{high:.2f}</td>"
            assert f'<th scope="row">{metric["metric"]}, {name}</th>{cells}' in text
    rows = (done[0] / "tuned" / "mert" / "iterations.tsv").read_text().splitlines()[1:]
    for row in rows:
        number, score = row.split("\t")[:2]
        assert f"<title>iteration {number}: {float(score):.2f}</title>" in text
    assert text.count('r="5"') == 1  # the best
    start = hiero.Model.load(done[0] / "model").weights
    for name, weight in (
        line.split() for line in (done[0] / "tuned" / "mert" / "weights.txt").read_text().splitlines()
    ):
        assert f">{name}</th><td>{start[name]:.4f}</td><td>{float(weight):.4f}</td>" in text
    for use in ("205 pairs for training", "20 pairs for tuning", "10 pairs for the held-out set", "15 pairs"):
        assert use in text
    shown = re.sub("</?span>", "", text)
    stages = json.loads((done[0] / "stages.json").read_text())
    assert len(stages["done"]) == len(stages["peak_megabytes"]) == 9
    for title, seconds in stages["done"].items():
        cells = f"<td>{seconds:,.1f}\u00a0s</td><td>{stages['peak_megabytes'][title]:,.0f}\u00a0MB</td>"
        assert f'<th scope="row">{title}</th>{cells}' in text
    # The training text tells how often it has each word of the references.
    corpus = Counter((done[0] / "model.train" / "corpus.target").read_text(encoding="utf-8").split())
    side = hiero.Model.load(done[0] / "tuned-model").text.target
    lines = (done[0] / "sets" / "test.target").read_text(encoding="utf-8").splitlines()
    counts = [corpus[word] for line in lines for word in side.tokens(line)]
    assert 0 in counts
    for name, low, high in (("0", 0, 0), ("1", 1, 1), ("10 to 99", 10, 99)):
        count = sum(low <= one <= high for one in counts)
        assert re.search(rf'<th scope="row">{name}</th><td>{count}</td><td>[\d.]+\xa0%', text), name
    for words in commands(done[1]):
        assert f"<pre>{shlex.join(words)}</pre>" in shown


@pytest.mark.slow
def test_the_report_in_a_browser(done: tuple[Path, str], browser: Any) -> None:
    """Readable in the dark, and whole on narrow windows, where tables fit, and on paper."""
    report = done[0] / "report.html"
    for section in ("", re.findall('href="(#s[^"]+-d1)"', report.read_text())[0]):
        page = open_page(browser, report, 420, "dark", at=section)
        assert low_contrast_texts(page) == [] == cut_off_texts(page)
        assert blank_pixels_at_end(page) < 40
        wide = "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.className)"
        assert page.eval_on_selector_all(".report *", wide) == []
        page = open_page(browser, report, 680, "dark", "print", section)
        assert low_contrast_texts(page) == [] == cut_off_texts(page)
    page = open_page(browser, report, 420)
    # No command is cut within a word, as behind a hyphen.
    parts = "words => words.map(word => word.getClientRects().length)"
    assert set(page.eval_on_selector_all("pre span", parts)) == {1}
    selected = "pre => { getSelection().selectAllChildren(pre); return getSelection().toString() }"
    copied = page.locator("pre").first.evaluate(selected)
    assert copied == shlex.join(next(commands(done[1])))


@pytest.mark.slow
def test_sets_of_ones_own(raw: tuple[Path, Path], tmp_path: Path) -> None:
    """NIST's test set with two references, text for tuning, hostile words, and options of training."""
    lines = [path.read_text(encoding="utf-8").splitlines() for path in raw]
    tune = [write(tmp_path / f"tune{k}", side[:10]) for k, side in enumerate(lines)]
    segments = "".join(f'<seg id="{n}">{line}</seg>' for n, line in enumerate(lines[0][10:14]))
    start = f'<srcset setid="t" srclang="zh"><doc docid="d" sysid="s">{segments}</doc></srcset>'
    source = write(tmp_path / "test.xml", [f"<mteval>{start}</mteval>"])
    references = []
    for k in range(2):
        segments = "".join(f'<seg id="{n}">{line}</seg>' for n, line in enumerate(lines[1][10:14]))
        body = (
            f'<refset setid="t" srclang="zh" trglang="en" refid="r{k}"><doc docid="d" sysid="r{k}">{segments}'
        )
        references.append(write(tmp_path / f"ref{k}.xml", [f"<mteval>{body}</doc></refset></mteval>"]))
    words = ["run", "--source", raw[0], "--target", raw[1], "--tokenize", "zh:jieba", "en:moses", *TUNING]
    words += ["--tune-source", tune[0], "--tune-references", tune[1], "--test-source", source]
    words += ["--test-references", *references, "--lowercase", "--max-phrase", "6", "--lm-order", "2"]
    words += ["--mono", write(tmp_path / "mono", [lines[1][10], lines[1][12].upper(), *lines[1][11:20]])]
    output = tmp_path / "<i>out"
    result = call("hiero", *words, "-o", output)
    assert result.returncode == 0, result.stderr
    train = next(commands(result.stdout.decode()))
    assert {"--max-phrase 6", "--lm-order 2"} <= set(map(" ".join, itertools.pairwise(train)))
    counts = json.loads((output / "sets" / "counts.json").read_text())
    assert counts["pairs"] == {"train": 236, "left out": 14} and counts["mono"] == [5]
    kept = (output / "sets" / "train.source").read_text().splitlines()
    assert kept == [""] * 14 + lines[0][14:]
    assert not set(lines[1][10:14]) & set((output / "sets" / "mono0").read_text().splitlines())
    assert (output / "translations" / "test" / "mert.xml").read_text().count("<seg ") == 4
    assert "<h1>&lt;i&gt;out</h1>" in (output / "report.html").read_text()
    assert "lc" in json.loads((output / "translations" / "test" / "scores.json").read_text())[0]["signature"]


def test_wrong_usage_makes_nothing(raw: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "out"
    start = ["run", "--source", raw[0], "--target", raw[1], "-o", output]
    for more, expected in (
        (("--tune-source", raw[0]), "--tune-source and --tune-references"),
        (("--test-references", raw[0]), "--test-source and --test-references"),
        (("--test-source", raw[0], "--test-references", raw[1], "--test-size", "3"), "--test-size"),
        (("--truecase", "--lowercase"), "not both"),
        (("--tokenize", "xx:moses", "en:moses"), "moses does not support xx"),
        (("--method", "simplex", "-k", "3"), "simplex"),
        (("--lms", "given"), "no language models are given"),
        (("--tune-size", "0"), "--tune-size"),
        (("--method", "mert", "mirra"), "--method mirra: expected one of mert, hypergraph-mert"),
        (("--held-out-source", raw[0], "--held-out-size", "3"), "--held-out-source and --held-out-ref"),
        (("--search-aware", "partial-span"), "which hiero tune --alignments takes"),
        (("--test-source", "t.jsonl", "--test-references", raw[1]), "--test-source: expected text or NIST"),
    ):
        result = call("hiero", *start, *more)
        said = " ".join(re.findall(r"[^\s\u2500-\u257f]+", result.stderr.decode()))
        assert result.returncode == 2 and expected in said, (more, said)
        assert not output.exists()
    short = write(tmp_path / "short", ["one"])
    result = call("hiero", *start, "--test-source", short, "--test-references", raw[1])
    assert "short: 1 segments, where the references have 250" in one_error_line(result)
    assert not output.exists()
    for name in ("model", "model-with-rules", "tuned-model"):
        (output / name).mkdir(parents=True)
        write(output / name / "notes", ["mine"])
        result = call("hiero", *start)
        assert f"{name}: exists and is not a model directory" in one_error_line(result)
        assert [path.name for path in output.iterdir()] == [name]
        shutil.rmtree(output)
    result = call("hiero", *start, "--tune-size", "200")
    assert "are too few to set 218 of them aside" in one_error_line(result)


def test_what_info_says_of_it(done: tuple[Path, str]) -> None:
    output, _ = done
    said = {
        name: call("hiero", "info", output / name).stdout.decode()
        for name in (".", "model", "model.train", "tuned/mert")
    }
    models = f"{output / 'model'}, {output / 'tuned-model'}"
    for text in (f"run of hiero {__version__}", "tuned by  mert", models, str(output / "report.html")):
        assert text in said["."]
    assert "model\n" in said["model"] and "tuning run" in said["tuned/mert"]
    assert "training of a model" in said["model.train"] and f" {output / 'model'}\n" in said["model.train"]
    assert "corpus, " in said["model.train"]
