"""Sets of sentences with references, as commands read them."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from hiero import FormatError, Model, Sentence
from hiero.base.files import write_atomically
from hiero.base.text import looks_untokenised, one_line
from hiero.cli.io.lines import Format, SentenceParses, format_of, reader
from hiero.decode.model_directory import WEIGHTS_FILE, read_manifest
from hiero.evaluate.evaluation_sets import EvaluationSet, is_nist, read_source

Tokens = Annotated[
    bool,
    typer.Option(
        "--tokens", help="Text is in tokens already, cased as the model was trained; not raw (raw text)."
    ),
]


# Sentences, and references as lines of tokens.
Set = tuple[list[Sentence], list[list[str]]]


def fingerprint(*sets: Set) -> str:
    """A checksum of what ``read_set`` read, by which a run that is taken up again knows its sets."""
    plain = [([sentence.to_json() for sentence in sentences], references) for sentences, references in sets]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def model_fingerprint(model: Path) -> str:
    """A checksum of the files of a model directory but its weights. Raises FormatError or OSError."""
    files = {name: entry for name, entry in read_manifest(model).items() if name != WEIGHTS_FILE}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


class Failures:
    """Sentences of sets that could not be decoded: each is told of once on stderr, but of many the first, and
    kept in a file, so that a run that goes on knows those of what it does not do again."""

    _TOLD = 10

    def __init__(self, kept: Path) -> None:
        """``kept`` is the file, which need not be there."""
        self._kept = kept
        self._found: dict[str, str] = {}
        self._noting = threading.Lock()
        if kept.exists():
            text = kept.read_text(encoding="utf-8")
            # What was not written to its end is found again.
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                write_atomically(kept, whole)
            for line in whole.splitlines():
                place, _, error = line.partition("\t")
                self._tell(place, error)

    def __bool__(self) -> bool:
        return bool(self._found)

    def note(self, path: Path, number: int, error: Exception) -> None:
        """Records an error of sentence ``number`` of a file, from 0. May be called from any thread."""
        place = sentence_place(path, number)
        with self._noting:
            if place in self._found:
                return
            said = one_line(error)
            self._tell(place, said)
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(f"{place}\t{said}\n")

    def _tell(self, place: str, error: str) -> None:
        self._found[place] = error
        if len(self._found) <= self._TOLD:
            print(f"{place}: {error}", file=sys.stderr)

    def report(self) -> None:
        """Says how many there were."""
        if self._found:
            count = len(self._found)
            sentences = "1 sentence" if count == 1 else f"{count:,} sentences"
            print(f"hiero: {sentences} could not be decoded and had no translation", file=sys.stderr)


def sentence_place(path: Path, number: int) -> str:
    """Sentence ``number`` of a set, from 0, as messages name it: by its line, where it has one of its own."""
    return f"{path}: segment {number}, from 0" if is_nist(path) else f"{path}:{number + 1}"


def read_set(
    source: Path,
    references: Sequence[Path],
    tokens: bool,
    model: Model,
    kind: Format | None = None,
    parses: Path | None = None,
) -> Set:
    """Sentences as the decoder takes them, with their parses if these are given, and references as lines of
    tokens; files of raw text unless they are ``tokens`` already. Says on stderr where they do not look so.
    Raises FormatError for lines that are no sentences, or have a parse of other words."""
    kind = format_of(source, kind)
    lines, test_set = read_files(source, references)
    found = test_set.references
    sentences = list(_sentences(source, lines, reader(kind, tokens)))
    if tokens or model.text.source.keeps_tokens:
        texts = [" ".join(s.tokens) if s.text is None else s.text for s in sentences]
        _note_untokenised(source, texts)
    trees = SentenceParses(parses)
    trees.check(len(sentences), all_of_them=True)
    sentences = [trees.parsed(number, sentence) for number, sentence in enumerate(sentences)]
    for number, sentence in enumerate(sentences, start=1):
        try:
            sentence.in_tokens(model.text.source)
        except FormatError as error:
            raise FormatError(f"{parses or source}:{number}: {error}") from None
    if tokens:
        return sentences, found
    target = model.text.target
    return sentences, [[" ".join(target.tokens(line)) for line in segment] for segment in found]


def read_alignments(paths: Sequence[Path], own: Set, model: Model) -> list[list[list[tuple[int, int]]]]:
    """Word links of a set's sentences and each of their references, a file for each. Raises FormatError for
    files that do not fit the set, OSError."""
    # It takes long to import.
    from hiero.train.alignment import check_links, read_alignment

    sentences, references = own
    words = [len(sentence.in_tokens(model.text.source).tokens) for sentence in sentences]
    most = max(map(len, references))
    if len(paths) != most or any(len(lines) != most for lines in references):
        raise FormatError(f"{paths[0]}: {len(paths)} files of word links for {most} references")
    links: list[list[list[tuple[int, int]]]] = [[] for _ in sentences]
    for place, path in enumerate(paths):
        for number, found in enumerate(read_alignment(path, len(sentences))):
            lengths = words[number], len(references[number][place].split())
            check_links(found, lengths, f"{path}:{number + 1}")
            links[number].append(found)
    return links


def _sentences(path: Path, lines: Sequence[str], read: Callable[[str], Sentence]) -> Iterator[Sentence]:
    for number, line in enumerate(lines, start=1):
        try:
            yield read(line)
        except FormatError as error:
            raise FormatError(f"{path}:{number}: {error}") from None


def read_files(source: Path, references: Sequence[Path]) -> tuple[list[str], EvaluationSet]:
    """The segments of a source and their references. Raises FormatError where they do not fit together."""
    lines, srcset = read_source(source)
    test_set = EvaluationSet.read(references, srcset)
    if (srcset is None) != (test_set.source is None):
        raise FormatError(f"{source}: source and references are to be text both, or both NIST's files")
    if len(lines) != len(test_set.references):
        count = len(test_set.references)
        raise FormatError(f"{source}: {len(lines)} segments, where the references have {count}")
    return lines, test_set


def _note_untokenised(path: Path, lines: Sequence[str]) -> None:
    if looks_untokenised(lines):
        print(
            f"hiero: {path}: looks like raw text, but is taken for tokens: most lines have words that end "
            "in punctuation",
            file=sys.stderr,
        )
