"""The report of a run: which sentences it shows, its figures, its advice, and the page with several test sets
and systems."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

import hiero
from hiero.cli.report.advice import advice
from hiero.cli.report.examples import LEAST_WORDS, Examples
from hiero.cli.report.figures import (
    FREQUENCIES,
    LENGTHS,
    BleuParts,
    SetFigures,
    SetWords,
    WordAccuracy,
    set_figures,
    training_frequencies,
)
from hiero.cli.report.page import report_page
from hiero.cli.report.run import FinishedRun
from hiero.text import TextProcessing
from hiero.train.problems import Problem, ProblemReport
from support.files import write
from support.html_page import checked_page
from support.reports import (
    SYSTEMS,
    evaluation,
    finished_run,
    random_set,
    results,
    save_french,
    unknown_words,
    write_training,
)

HOSTILE = "<script>alert(1)</script> & a \u202eTest ."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_french(tmp_path_factory.mktemp("report"))


def test_worst_and_best() -> None:
    scores = [50.0, 10.0, 90.0, 30.0, 90.0, 70.0]
    examples = Examples.choose(scores, [7, 7, 8, 7, 7, 7])
    assert (examples.worst, examples.best) == ([1, 3, 0], [2, 4, 5])
    assert Examples.choose(scores[:1], [9]) == Examples([0], [], [0])
    # Short sentences are in the sample alone.
    examples = Examples.choose(scores, [4, 4, 5, 4, 5, 5])
    assert (examples.worst, examples.best) == ([5, 2], [4])
    assert LEAST_WORDS == 5 and examples.sample == examples.all == [0, 1, 2, 3, 4, 5]
    many = np.random.default_rng(4).permutation(60).tolist()
    examples = Examples.choose(list(map(float, many)), [9] * 60)
    assert [many[n] for n in examples.worst] == [0, 1, 2, 3, 4]
    assert [many[n] for n in examples.best] == [59, 58, 57, 56, 55]
    assert len(examples.sample) == 10 and examples.sample == sorted(set(examples.sample))
    # The sample does not depend on scores, and is no run of neighbours.
    assert examples.sample == Examples.choose([0.0] * 60, [1] * 60).sample
    assert max(np.diff(examples.sample)) > 2


def test_figures(tmp_path: Path) -> None:
    """Figures are those of sacrebleu, and of words counted one at a time."""
    source = ["a " * 10, "b " * 11, "c " * 25, "d " * 70, "e"]
    references = [["the cat sees"], ["a dog", ""], ["the cat sleeps on the mat ."], ["no"], ["rare word ."]]
    lines = {
        "before": ["the cat", "dog dog", "the cat sleeps on a mat .", "no no", "rare"],
        "mert": ["the cat sees", "a dog", "the the cat sleeps on the mat .", "", "rare"],
    }
    one = evaluation(source, references, lines)
    words = SetWords.of(one, TextProcessing())
    corpus = write(tmp_path / "corpus", ["the " * 1200, "cat cat", "", "a dog", "a word not asked for ."])
    frequencies = training_frequencies(corpus, [words])
    counts = Counter(corpus.read_text().split())
    kinds = {word for segment in [*references, *lines.values()] for line in segment for word in line.split()}
    assert frequencies == {word: counts[word] for word in kinds if counts[word]}
    assert "asked" in counts and "asked" not in frequencies
    assert training_frequencies(tmp_path / "deleted", [words]) is None

    figures = set_figures(one, words, frequencies)
    assert figures.lengths.tolist() == [10, 11, 25, 70, 1]
    assert figures.sentences == [2, 1, 1, 0, 0, 1] and len(LENGTHS) == 6
    for system, texts in lines.items():
        whole = sacrebleu.corpus_bleu(texts, [[r[0] for r in references]], tokenize="none", force=True)
        parts = figures.parts[system]
        assert parts.length_ratio == pytest.approx(whole.ratio) and parts.brevity_penalty == pytest.approx(
            whole.bp
        )
        assert [100 * p for p in parts.precisions] == pytest.approx(
            [100 * c / max(t, 1) for c, t in zip(whole.counts, whole.totals, strict=True)]
        )
        short = [texts[0], texts[4]]
        score = sacrebleu.corpus_bleu(short, [["the cat sees", "rare word ."]], tokenize="none", force=True)
        assert figures.by_length[system][0] == pytest.approx(score.score)
        assert figures.by_length[system][3:5] == [None, None]
    assert figures.words is not None
    # "sees", "no", "rare", "sleeps", "on" and "mat" are not in the training text; "." once; "a" twice.
    by_count = Counter(counts[word] for segment in references for line in segment for word in line.split())
    expected = [sum(times for n, times in by_count.items() if FREQUENCIES.of([n])[0] == k) for k in range(7)]
    assert list(figures.words.words) == expected and expected[0] == 6 and expected[6] == 3
    assert figures.words.untrained == 6 / sum(expected)
    assert figures.words.f1["before"][0] == pytest.approx(2 * 5 / (7 + 6 - 1))
    assert figures.words.f1["mert"][6] == pytest.approx(2 * 3 / (4 + 3))
    assert figures.words.f1["mert"][4] is None
    assert set_figures(one, words, None).words is None


def test_no_translation_has_parts_of_bleu() -> None:
    totals = np.array([0.0, 5, 0, 0, 0, 0, 0, 0, 0, 0])
    assert BleuParts.of(totals) == BleuParts(0.0, 0.0, [0.0] * 4)
    totals = np.array([12.0, 10, 12, 9, 6, 3, 6, 3, 0, 0])
    assert BleuParts.of(totals) == BleuParts(1.2, 1.0, [0.5, pytest.approx(1 / 3), 0.0, 0.0])


def advised(
    model: Path,
    count: int = 100,
    after: tuple[float, float | None, float | None] = (41.0, 1.0, 0.01),
    ratio: float = 1.0,
    untrained: int = 0,
    **changes: object,
) -> list[str]:
    """Returns the advice for a test set of perfect sentences with these figures."""
    lines = ["a b c d e"] * count
    one = evaluation(
        lines, [[line] for line in lines], {"before": lines, "mert": lines}, [results(40.0, after)]
    )
    parts = dict.fromkeys(("before", "mert"), BleuParts(ratio, 0.9, [1.0] * 4))
    words = WordAccuracy([untrained, 1000 - untrained, 0, 0, 0, 0, 0], {})
    figures = SetFigures(np.full(count, 5), parts, [count, 0, 0, 0, 0, 0], {}, words)
    return advice(finished_run(model, {"news": one}, **changes), {"news": figures})


def test_advice(model: Path, tmp_path: Path) -> None:
    """Each sentence names its figure, and is said only beyond its bound."""
    better = (
        "Use the weights tuned by mert: BLEU of the news set is 40.00 before and 41.00 after"
        " (+1.00, p = 0.010)."
    )
    assert advised(model) == [better]
    (few, other) = advised(model, count=99)
    assert (
        few.startswith("Test on more sentences: the news set has 99 sentences, too few") and other == better
    )
    for ratio, word in ((0.969, "short"), (1.031, "long")):
        _, length = advised(model, ratio=ratio)
        assert f"by mert are too {word}: their length ratio is {ratio:.3f}, which costs" in length
        assert ("costs 10.0\u00a0% of BLEU" in length) == (word == "short")
    assert advised(model, ratio=0.97) == advised(model, ratio=1.03) == [better]
    (worse,) = advised(model, after=(39.0, -1.0, 0.049))
    assert worse.startswith("Do not use the weights tuned by mert for text such as the news set: BLEU")
    assert "(-1.00, p = 0.049)" in worse
    (chance,) = advised(model, after=(41.0, 1.0, 0.05))
    assert chance.startswith(
        "Tuning by mert changed no more than chance would: BLEU of the news set is 40.00"
    )
    assert "tuning set" not in chance
    write_training(tmp_path, [], [30.0, 33.5, 32.0])
    (chance,) = advised(model, after=(41.0, 1.0, 0.05), tuning={"mert": tmp_path / "tuned"})
    assert "p = 0.050); it rose by 3.50 on the tuning set." in chance
    for after, expected in (
        ((39.0, -1.0, 0.049), "Tuning did harm, also by mert, the best method here: BLEU of the news set"),
        ((39.0, -1.0, 0.05), "Tuning by mert changed no more than chance would: BLEU of the news set"),
        ((41.0, 1.0, 0.049), "Tuning by mert helped here, but not on the held-out set: BLEU of the news set"),
    ):
        (kept,) = advised(model, after=after, final="before")
        assert kept.startswith(expected) and ", and the final model has the weights of training." in kept
    # Where there is nothing to say of tuning, either.
    (nothing,) = advised(model, after=(40.0, None, None))
    assert nothing.startswith("No figure of this report asks for a change.")


def test_advice_about_the_training_text(model: Path) -> None:
    some = ProblemReport(pairs=100, counts=Counter({"misaligned": 10, "duplicate": 50}))
    assert len(advised(model, problems=some)) == 1
    many = ProblemReport(pairs=100, counts=Counter({"misaligned": 11, "other-script": 20}))
    first, second, _ = advised(model, problems=many)
    assert first.startswith("Look at the training text first: 20.0\u00a0% of its pairs are other-script (")
    assert "11.0\u00a0% of its pairs are misaligned (" in second and "--leave-out misaligned" in second


def test_advice_about_words(model: Path) -> None:
    known, unknown = ["le chat noir dort dans la maison ."] * 7, "zyx"
    few = unknown_words(model, [*known[:6], unknown])  # 1 of 49
    _, said = advised(model, unknown={"tune": few})
    assert said == (
        "Train on more text such as you translate, or give a dictionary (--dictionary). Unknown words: 2.0 %"
        " of the tune set (1 of 49, most often zyx)."
    )
    assert len(advised(model, unknown={"tune": unknown_words(model, [*known, unknown])})) == 1
    much = unknown_words(model, [known[0], f"{unknown} {unknown}"])
    _, said = advised(model, unknown={"tune": few, "test": much})
    assert "zyx); 20.0 % of the test set (2 of 10, most often zyx). More than a tenth means" in said
    _, said = advised(model, untrained=20)
    assert "references that are not in the training text: 2.0\u00a0% of the news set. Only what" in said
    assert len(advised(model, untrained=19)) == 1


def test_advice_about_long_sentences_and_empty_ones(model: Path) -> None:
    """Long sentences must be worse beyond chance, and enough to tell."""

    def said(long: int, short: int, bad: str) -> list[str]:
        source = ["a " * 31] * long + ["a " * 30] * short
        references = [["a b c d e f"]] * (long + short)
        lines = [bad] * long + ["a b c d e f"] * short
        one = evaluation(
            source, references, {"before": lines, "mert": lines}, [results(1.0, (1.0, 0.0, 1.0))]
        )
        figures = set_figures(one, SetWords.of(one, TextProcessing()), None)
        return advice(finished_run(model, {"news": one}), {"news": figures})[1:]

    (worse,) = said(30, 70, "a b c d x y")
    bleu = sacrebleu.corpus_bleu(["a b c d x y"], [["a b c d e f"]], tokenize="none").score
    assert f"BLEU is {bleu:.2f} for the 30 sentences of more than 30 words and 100.00 for" in worse
    limit = hiero.Decoder(hiero.Model.load(model)).settings.span_limit
    assert f"Try a span limit above {limit} (" in worse
    assert said(29, 71, "a b c d x y") == said(71, 29, "a b c d x y") == said(30, 70, "a b c d e f") == []
    empty = [one for one in said(1, 99, "") if "empty" in one]
    assert len(empty) == 1 and empty[0].startswith("1 translation of the news set by mert is empty.")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run with three systems and two test sets, a large one and a small one with hostile
    text."""
    folder = tmp_path_factory.mktemp("page")
    model = save_french(folder)
    write_training(folder, ["the cat does not eat ."] * 12, [30.0, 33.5])
    large, small = random_set(1, 130, model), random_set(2, 12, model)
    small.source[3] = small.references[3][0] = HOSTILE  # type: ignore[index]
    small.translations["pro"][3] = HOSTILE  # type: ignore[index]
    weights = {name: {"LM0": 0.12345 * k, "Glue": -1.0} for k, name in enumerate(SYSTEMS)}
    return finished_run(
        model,
        {"news": large, "talks": small},
        title="my <run>",
        weights=weights,
        unknown={"talks": unknown_words(model, small.source)},
        tuning={"mert": folder / "deleted", "pro": folder / "tuned"},
        pairs={"tune": 20, "news": 5, "train": 2345, "left out": 1},
        problems=ProblemReport(
            pairs=9,
            left_out=3,
            counts=Counter({"duplicate": 3}),
            examples={"duplicate": Problem(7, "duplicate", "", "a", "b")},
        ),
        seconds={"train": 4321.05, "tune pro": 7.0},
        peak_megabytes={"train": 23456.7},
        commands=["hiero train --source 'a b' --output out", f"hiero decode {'long-' * 40}name"],
    )


@pytest.fixture(scope="module")
def report(run: FinishedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run."""
    return write(tmp_path_factory.mktemp("report") / "report.html", report_page(run).splitlines())


def test_the_page(report: Path, run: FinishedRun) -> None:
    text = report.read_text(encoding="utf-8")
    page = checked_page(text)
    assert "alert(1)" in text and "<script>alert" not in text
    assert page.texts["h1"][0] == "my <run>"
    captions = page.texts["caption"]
    few = "12 sentences: too few to tell systems apart"
    for name, count in (("news", "130 sentences"), ("talks", few)):
        assert f"Scores of the {name} set, {count}" in captions
        assert sum(f" of the {name} set" in caption for caption in captions) == 4
        for title in ("The worst of", "The best of", "A sample of", "All of"):
            assert f"{title} the {name} set" in page.texts["h3"]
    row = '<th scope="row">BLEU, {}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>'
    assert text.count(row.format("before", "40.12", "39.12\u00a0to\u00a041.12", "", "")) == 2
    assert text.count(row.format("pro", "50.00", "49.00\u00a0to\u00a051.00", "+9.88", "0.001")) == 2
    # The training text has each word of "the cat does not eat ." twelve times.
    assert re.search(r'<th scope="row">10 to 99</th><td>[\d,]+</td><td>[\d.]+\u00a0%</td>', text)
    for cells in (
        "train</th><td>4,321.1\u00a0s</td><td>23,457\u00a0MB</td>",
        "\u00a0 align</th><td>61.2\u00a0s</td><td>1,234\u00a0MB</td>",
        "tune pro</th><td>7.0\u00a0s</td><td></td>",
    ):
        assert f'<th scope="row">{cells}' in text
    killed = replace(run, seconds={"train": 9.0}, peak_megabytes={"train": 9.0})
    assert '<th scope="row">train</th><td>61.2\u00a0s</td><td>1,234\u00a0MB</td>' in report_page(killed)
    problems = (
        "duplicate: 3 pairs that came before, such as line 7: a | b; 3 of 9 pairs are left out (--leave-out)"
    )
    assert f">{problems}</dd>" in text
    assert "2,345 pairs for training, 20 pairs for tuning, 5 pairs for the news set, 1 pair left out" in text
    # Derivations show how sure their words are.
    sections = [name for name in page.ids if re.fullmatch(r".*s\d+-d1", name)]
    assert len(sections) == text.count("confidence of words 0.") + text.count("confidence of words 1.") > 9
    assert text.count("<figure>") == 1 and "iteration of pro" in text  # the other directory was deleted
    assert re.search(r"talks set</dt><dd[^>]*>\S+ % of the words \(\d+ of \d+\), most often ", text)


def test_tables_of_the_page(run: FinishedRun, report: Path) -> None:
    """Each figure is in the row and the column of its own."""
    text = report.read_text(encoding="utf-8")

    def row(name: str, *cells: str) -> str:
        return f'<th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'

    model = hiero.Model.load(run.model)
    words = {name: SetWords.of(one, model.text) for name, one in run.tests.items()}
    frequencies = training_frequencies(run.training / "corpus.target", words.values())
    for name, one in run.tests.items():
        figures = set_figures(one, words[name], frequencies)
        parts = [figures.parts[system] for system in SYSTEMS]
        assert row("length ratio", *(f"{part.length_ratio:.3f}" for part in parts)) in text
        assert row("brevity penalty", *(f"{part.brevity_penalty:.3f}" for part in parts)) in text
        for n in range(4):
            cells = (f"{100 * part.precisions[n]:.1f}\u00a0%" for part in parts)
            assert row(f"{n + 1}-grams that match", *cells) in text
        scores = [figures.by_length[system][1] for system in SYSTEMS]
        assert row("11 to 20", f"{figures.sentences[1]}", *(f"{score:.2f}" for score in scores)) in text
        assert figures.words is not None and len(set(scores)) == 2
        shares = [figures.words.f1[system][4] or 0.0 for system in SYSTEMS]
        cells = (f"{100 * share:.1f}\u00a0%" for share in shares)
        assert row("10 to 99", f"{figures.words.words[4]:,}", *cells) in text
        assert len(set(shares)) == 2
    assert row("LM0", "0.0000", "0.1235", "0.2469") in text
    assert row("Glue", "-1.0000", "-1.0000", "-1.0000") in text


def test_advice_and_examples_are_of_the_final_system(model: Path) -> None:
    """Advice and examples change with the final system."""
    source = [f"a b c d e f{n}" for n in range(30)]
    lines = {
        "before": ["x"] * 30,
        "mert": [line if n > 9 else "x" for n, line in enumerate(source)],
        "pro": [line if n < 20 else "x" for n, line in enumerate(source)],
    }
    metric = results(1.0, (30.25, 29.25, 0.001), (40.5, 39.5, 0.001))
    one = evaluation(source, [[line] for line in source], lines, [metric])
    for final, score, worst in (("mert", "30.25", [0, 1, 2, 3, 4]), ("pro", "40.50", [20, 21, 22, 23, 24])):
        text = report_page(finished_run(model, {"news": one}, final=final))
        assert (
            f"Use the weights tuned by {final}: BLEU of the news set is 1.00 before and {score} after" in text
        )
        part = text.split("The worst of the news set")[1].split("The best of")[0]
        assert [int(n) for n in re.findall(r"Sentence (\d+)", part)] == worst
        assert f"Lowest chrF++ of {final} of at least 5 words." in part


def test_sentences_of_the_page(report: Path) -> None:
    """The script has all sentences, and examples lead to derivations that show raw text."""
    text = report.read_text(encoding="utf-8")
    page = checked_page(text)
    news, talks = page.data["sets"]
    assert (len(news["rows"]), len(talks["rows"])) == (130, 12)
    assert news["systems"] == talks["systems"] == list(SYSTEMS)
    assert {len(row[3]) for row in news["rows"]} == {1, 2}
    for row in news["rows"]:
        number, words, source, references, before, differences, scores, anchor = row
        assert (words == len(source.split()) and before in ("", references[-1])) or len(references) == 1
        # The second system is the first, the third is that of the references.
        assert differences[0] is None and scores[0] == scores[1]
        after = before
        if differences[1] is not None:
            after = "".join(part for kind, part in differences[1] if kind >= 0).strip()
        assert after == references[0] and scores[2] == 100
        assert anchor in ("", f"t0-s{number}-d1")
    linked = {row[7] for one in (news, talks) for row in one["rows"] if row[7]}
    assert linked == {to for _, _, to in page.links if re.match(r"t\d", to)}
    assert {anchor[:2] for anchor in linked} == {"t0", "t1"} and linked <= set(page.ids)
    for anchor in linked:
        place, number = map(int, re.findall(r"\d+", anchor)[:2])
        _, _, source, references, *_ = page.data["sets"][place]["rows"][number]
        shown = text.split(f'<section id="{anchor}">')[1].split("</section>")[0]
        if "&" not in source:
            assert f'<dt>source</dt><dd dir="auto">{source}</dd>' in shown
            assert f'<dd dir="auto">{references[-1]}</dd>' in shown
        assert f"Sentence {number}, {('news', 'talks')[place]} set, pro" in shown
    assert "<dt>before, mert</dt>" in text and "<ins>" in text
