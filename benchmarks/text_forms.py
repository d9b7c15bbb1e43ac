"""Measures what it costs when text is typed otherwise than the training text of a model.

    python benchmarks/text_forms.py ../shared/data OUTPUT [--corpora de-en en-de] [--threads 2]

Trains a model of each corpus on its text as it is, and one for each form of the text, with default settings;
then translates the test set as it is with all of them, and in each form with the first. Prints BLEU against
references that are normalised, its difference to the text as it is, and the p-value of a randomisation test.
Where a form has the tokens of the text as it is, no model is trained and nothing is translated again, as both
come from tokens. Translates the forms also with a model whose text is not normalised, as those of earlier
versions. Goes on where it was interrupted. Spaces between Japanese words, which the corpus has, and sentences
without a reference are left out.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from machine import argument_parser, machine

import hiero
from hiero.base.files import write_atomically
from hiero.base.lines import read_lines
from hiero.evaluate import Bleu, Runs, Text, approximate_randomization
from hiero.text import TextProcessing, TextSide, parse_side
from hiero.train import TrainInputs, TrainSettings, train


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus in the folder of all data, without language, and the languages of both sides."""

    train: str
    test: str
    source: str
    target: str
    references: int = 1

    def lines(self, data: Path, part: str, language: str) -> list[str]:
        """Reads one file of the training or the test set; if there are several, the first."""
        stem = data / getattr(self, part)
        path = next(path for end in ("", ".gz", ".0") if (path := Path(f"{stem}.{language}{end}")).exists())
        return [line.replace(" ", "") if language == "ja" else line for line in read_lines(path)]

    def test_references(self, data: Path) -> list[list[str]]:
        """Reads the references of each sentence of the test set."""
        names = (
            [self.target] if self.references == 1 else [f"{self.target}.{k}" for k in range(self.references)]
        )
        return [list(segment) for segment in zip(*(self.lines(data, "test", n) for n in names), strict=True)]


CORPORA = {
    "ur-en": Corpus("ur-en/train", "ur-en/test", "ur", "en", 4),
    "ja-en": Corpus("ja-en/train", "ja-en/test", "ja", "en"),
    "de-en": Corpus("de-en/raw/train", "de-en/raw/test2016", "de", "en"),
    "en-de": Corpus("de-en/raw/train", "de-en/raw/test2016", "en", "de"),
    "es-en": Corpus("es-en/train", "es-en/test", "es", "en", 4),
    "en-es": Corpus("es-en/train", "es-en/test", "en", "es"),
}
RULES = TextSide.rules  # the version of today
Change = Callable[[str], str]
FORMS: Mapping[str, Change] = {
    "typographic apostrophes and quotes": lambda line: _quoted(line.replace("'", "\u2019")),
    "NFD": lambda line: unicodedata.normalize("NFD", line),
    "no-break spaces": lambda line: line.replace(" ", "\u00a0"),
    "entities, soft hyphens": lambda line: (
        line.replace("&", "&amp;").replace("'", "&#39;").replace("-", "-\u00ad")
    ),
    "NFC": lambda line: unicodedata.normalize("NFC", line),
}


def _quoted(line: str) -> str:
    """Returns a line with plain quotes as opening and closing ones, in turn."""
    pieces = line.split('"')
    return "".join(f"{piece}{'“”'[k % 2]}" for k, piece in enumerate(pieces[:-1])) + pieces[-1]


def sides(corpus: Corpus, rules: int) -> TextProcessing:
    """Returns the default text of both sides, by this version of the rules."""

    def side(language: str) -> TextSide:
        name = {"ja": "ja:janome", "ur": "und:moses"}.get(language, f"{language}:moses")
        return replace(parse_side(name), rules=rules)

    return TextProcessing(side(corpus.source), side(corpus.target))


def trained(data: Path, corpus: Corpus, folder: Path, rules: int, change: Change) -> hiero.Model:
    """Trains a model on the text of a corpus in some form, or takes the one that is there."""
    if not (folder / "model" / "model.toml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in training_text(data, corpus, change).items():
            write_atomically(folder / name, "".join(f"{line}\n" for line in lines))
        settings = TrainSettings(text=sides(corpus, rules), truecase=True)
        train(TrainInputs(folder / "source", folder / "target"), folder / "model", settings=settings)
    return hiero.Model.load(folder / "model")


def training_text(data: Path, corpus: Corpus, change: Change) -> dict[str, list[str]]:
    """Returns the lines of both sides of the bitext in some form."""
    languages = {"source": corpus.source, "target": corpus.target}
    return {
        name: [*map(change, corpus.lines(data, "train", language))] for name, language in languages.items()
    }


def unchanged(line: str) -> str:
    """Returns a line as it is."""
    return line


def translations(model: hiero.Model, lines: Sequence[str], path: Path, threads: int) -> list[str]:
    """Translates lines, or reads the translations that are there."""
    if not path.exists():
        results = hiero.Decoder(model).translate_batch(lines, threads=threads)
        write_atomically(path, json.dumps([result.text for result in results]))
    return [str(text) for text in json.loads(path.read_text(encoding="utf-8"))]


def report(data: Path, name: str, output: Path, threads: int) -> None:
    """Prints the table of a corpus."""
    corpus, folder = CORPORA[name], output / name
    target = sides(corpus, RULES).target
    pairs = zip(corpus.lines(data, "test", corpus.source), corpus.test_references(data), strict=True)
    kept = [(line, segment) for line, segment in pairs if any(map(str.strip, segment))]
    source = [line for line, _ in kept]
    references = [[target.normalised(line) for line in segment] for _, segment in kept]
    metric = Bleu(references, Text("13a"))

    def runs(lines: Sequence[str]) -> Runs:
        return Runs.of(metric, [metric.statistics([target.normalised(line) for line in lines])])

    print(f"\n{name}: {len(source):,} test sentences, BLEU (13a) of normalised text", flush=True)
    for rules, title in ((RULES, "normalised"), (1, "as earlier versions")):
        model, text = trained(data, corpus, folder / f"rules-{rules}", rules, unchanged), sides(corpus, rules)
        plain = runs(translations(model, source, folder / f"plain-{rules}.json", threads))
        print(f"  {title}, text as it is: {plain.mean:.2f}", flush=True)
        for number, (form, change) in enumerate(FORMS.items()):
            typed, what = [*map(change, source)], f"input: {form}"
            if have_same_words(text.source, source, typed):
                print(f"    {what:<55} the same tokens", flush=True)
                continue
            path = folder / f"form-{number}-{rules}.json"
            _row(metric, plain, runs(translations(model, typed, path, threads)), what)
        for number, (form, change) in enumerate(FORMS.items() if rules == RULES else ()):
            what = f"training text: {form}"
            bitexts = (training_text(data, corpus, each).values() for each in (unchanged, change))
            if all(map(have_same_words, (text.source, text.target), *bitexts)):
                print(f"    {what:<55} the same tokens", flush=True)
                continue
            other = trained(data, corpus, folder / f"rules-{rules}-{number}", rules, change)
            path = folder / f"trained-{number}-{rules}.json"
            _row(metric, plain, runs(translations(other, source, path, threads)), what)


def have_same_words(side: TextSide, lines: Sequence[str], others: Sequence[str]) -> bool:
    """Returns whether lines have the tokens of other lines, before any truecasing."""
    return all(
        line == other or side.words(line) == side.words(other)
        for line, other in zip(lines, others, strict=True)
    )


def _row(metric: Bleu, plain: Runs, other: Runs, title: str) -> None:
    p = approximate_randomization(metric, plain, other)
    print(f"    {title:<55} {other.mean:6.2f} {other.mean - plain.mean:+6.2f}  p = {p:.3f}", flush=True)


def main() -> None:
    """Runs the benchmark."""
    parser = argument_parser(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.corpora:
        report(arguments.data, name, arguments.output, arguments.threads)


if __name__ == "__main__":
    main()
