"""Words of a text that a model does not know: no rule translates them by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from hiero import Decoder, Translation
from hiero.text import TextSide
from hiero.text.normalisation import MARK

# A text of which more words are unknown is not what the model was trained on.
_MUCH = 0.1
# The number of unknown words that are named.
_NAMED = 5


class UnknownWords:
    """Counts the words of sentences, and those that the model does not know. Protected parts, such as tags
    and addresses, are not unknown: they are to be copied. ``side`` is the text of the source."""

    def __init__(self, side: TextSide) -> None:
        self.words = 0
        self._side = side
        self._unknown: Counter[str] = Counter()

    @classmethod
    def of(cls, decoder: Decoder, lines: Iterable[str]) -> Self:
        """Counts those of a text, by the least search. Raises the errors of ``Decoder.translate``."""
        words, quick = cls(decoder.model.text.source), Decoder(decoder.model, pop_limit=1)
        for line in lines:
            words.add(quick.translate(line))
        return words

    def add(self, result: Translation) -> None:
        """Counts the words of a sentence that was translated."""
        self.add_words(result.source, result.unknown)

    def add_words(self, source: Sequence[str], unknown: Iterable[int]) -> None:
        """Counts the words of a sentence, those in these positions as unknown."""
        self.words += len(source)
        words = (source[place] for place in unknown)
        self._unknown.update(word for word in words if not self._side.is_part(word))

    @property
    def is_much(self) -> bool:
        """Whether so many words are unknown that the text is hardly what the model was trained on."""
        return self.count > _MUCH * self.words

    @property
    def count(self) -> int:
        """The number of unknown words."""
        return self._unknown.total()

    @property
    def share(self) -> str:
        """The share of unknown words in percent, as text."""
        return f"{100 * self.count / max(self.words, 1):.1f} %"

    def most_frequent(self, count: int) -> list[tuple[str, int]]:
        """Returns unknown words, without marks of joining, and how often they occur, from the most
        frequent."""
        return [(word.replace(MARK, "") or word, times) for word, times in self._unknown.most_common(count)]

    def describe(self) -> str:
        """Returns the share of unknown words with the most frequent of them, as a sentence without an end."""
        such = " ".join(word for word, _ in self.most_frequent(_NAMED))
        return f"{self.share} of the words are unknown to the model" + (f", such as {such}" if such else "")
