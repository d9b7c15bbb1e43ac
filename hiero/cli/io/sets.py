"""Sets of sentences with references, for tuning and analysis."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hiero import FormatError, Model, Sentence
from hiero.base.same_files import same_files
from hiero.base.text import looks_untokenised
from hiero.cli.base.warnings import warn
from hiero.cli.io.lines import Format, LineFormat, SentenceParses, format_of, line_format
from hiero.decode.model_directory import MODEL_FILE, WEIGHTS_FILE, read_config, read_manifest
from hiero.evaluate.evaluation_sets import EvaluationSet, read_source
from hiero.features.lattice import is_lattice_feature
from hiero.features.markup import LOGARITHMS
from hiero.features.sentence import sentence_features
from hiero.generators import SentenceFeatures

# Sentences, and references as lines of tokens.
Set = tuple[list[Sentence], list[list[str]]]


def fingerprint(*sets: Set) -> str:
    """Returns a checksum of sets, by which a run that is taken up again knows that they are the same."""
    plain = [([sentence.to_json() for sentence in sentences], references) for sentences, references in sets]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def model_fingerprint(model: Path) -> str:
    """Returns a checksum of the files of a model directory, without its weights and its decoding settings,
    which other weights bring. Raises FormatError, OSError."""
    files = {name: entry for name, entry in read_manifest(model).items() if name != WEIGHTS_FILE}
    files[MODEL_FILE] = read_config(model).model_dump(mode="json", exclude={"decoding"})
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def read_set(
    source: Path,
    references: Sequence[Path],
    tokens: bool,
    model: Model,
    kind: Format | None = None,
    parses: Path | None = None,
) -> Set:
    """Reads sentences with their parses, if there is a file of these, and references as lines of tokens.

    The files hold raw text, or tokens if ``tokens``; prints a note if tokens look like raw text. Raises
    FormatError for lines that are no sentences, and for sentences with a parse of other words.
    """
    kind = format_of(source, kind)
    lines, test_set = read_files(source, references, kind)
    sentences = list(_sentences(source, lines, line_format(kind), tokens))
    if tokens or model.text.source.keeps_tokens:
        texts = [" ".join(s.tokens) if s.text is None else s.text for s in sentences]
        _note_untokenised(source, texts)
    trees = SentenceParses(parses)
    trees.check(len(sentences), complete=True)
    sentences = [trees.parsed(number, sentence) for number, sentence in enumerate(sentences)]
    for number, sentence in enumerate(sentences, start=1):
        try:
            sentence.with_tokens(model.text.source)
        except FormatError as error:
            raise FormatError(f"{parses or source}:{number}: {error}") from None
    if tokens:
        return sentences, test_set.references
    target = model.text.target
    tokenised = [[" ".join(target.tokens(line)) for line in segment] for segment in test_set.references]
    return sentences, tokenised


def with_sentence_features(model: Model, sets: Iterable[Set]) -> Model:
    """Returns a model with the features that rules, marked phrases and lattices of the sentences have besides
    it, at the weights that they have without being the model's; or the model, if there are none."""
    found = {name for sentences, _ in sets for sentence in sentences for name in sentence_features(sentence)}
    new = sorted(found.difference(model.feature_names))
    if not new:
        return model
    others = [one for one in model.generators if not isinstance(one, SentenceFeatures)]
    known = [name for one in model.generators if isinstance(one, SentenceFeatures) for name in one.names]
    other = model.with_features(
        model.local_features,
        generators=[*others, SentenceFeatures(names=(*known, *new))],
        log_base=model.log_base,
        log_features=model.log_features,
    )
    return other.with_weights({name: 1.0 for name in new if name in LOGARITHMS or is_lattice_feature(name)})


def read_alignments(
    paths: Sequence[Path], tuning_set: Set, model: Model
) -> list[list[list[tuple[int, int]]]]:
    """Reads word links between the sentences of a set and their references: a file for each reference.

    The links are pairs of positions, by sentence and reference. Raises FormatError for files that do not fit
    the set, OSError.
    """
    # Imported here because it takes long.
    from hiero.train.alignment import check_links, read_alignment

    sentences, references = tuning_set
    words = [len(sentence.with_tokens(model.text.source).tokens) for sentence in sentences]
    most = max(map(len, references))
    if len(paths) != most or any(len(lines) != most for lines in references):
        raise FormatError(f"{paths[0]}: {len(paths)} files of word links for {most} references")
    links: list[list[list[tuple[int, int]]]] = [[] for _ in sentences]
    for place, path in enumerate(paths):
        for number, pairs in enumerate(read_alignment(path, len(sentences))):
            if sentences[number].lattice is not None:
                raise FormatError(f"{path}:{number + 1}: word links are of one string, and not of a lattice")
            lengths = words[number], len(references[number][place].split())
            check_links(pairs, lengths, f"{path}:{number + 1}")
            links[number].append(pairs)
    return links


def _sentences(path: Path, lines: Sequence[str], kind: LineFormat, in_tokens: bool) -> Iterator[Sentence]:
    for number, line in enumerate(lines, start=1):
        try:
            yield kind.read_sentence(line, in_tokens)
        except FormatError as error:
            raise FormatError(f"{path}:{number}: {error}") from None


def read_files(
    source: Path, references: Sequence[Path], kind: Format | None = None
) -> tuple[list[str], EvaluationSet]:
    """Reads the lines of a source, or its segments if it is NIST's, and their references. Without ``kind``,
    the ending of the source's name tells its format. Warns of files that are given twice. Raises FormatError
    where they do not fit together."""
    warn_of_repeated([source, *references])
    lines, srcset = read_source(source, in_nist=format_of(source, kind) == "nist")
    test_set = EvaluationSet.read(references, srcset)
    if (srcset is None) != (test_set.source is None):
        raise FormatError(f"{source}: source and references must both be text, or both NIST's files")
    if len(lines) != len(test_set.references):
        count = len(test_set.references)
        raise FormatError(f"{source}: {len(lines)} segments, where the references have {count}")
    return lines, test_set


def warn_of_repeated(files: Sequence[Path]) -> None:
    """Warns of files of a set that have the content of another. Raises OSError."""
    for message in same_files(files):
        warn(message)


def _note_untokenised(path: Path, lines: Sequence[str]) -> None:
    if looks_untokenised(lines):
        warn(
            f"{path}: looks like raw text, but is taken for tokens: most lines have words that end in"
            " punctuation"
        )
