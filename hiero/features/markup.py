"""Marks of a source sentence: phrases with translations, zones and walls.

>>> from hiero.text import parse_side
>>> tokens, markup = Markup([Phrase(4, 9, ["iPhone"])]).with_tokens("das Handy.", parse_side("de:moses"))
>>> tokens, markup.phrases[0].begin, markup.phrases[0].end
(['das', 'Handy', '.'], 1, 2)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict

from hiero._core import FormatError, SourceMarkup
from hiero.base.arguments import checked_tuple, describe
from hiero.base.text import split
from hiero.text import TextSide

Mode = Literal["exclusive", "inclusive", "constraint"]
# Features of the rules that are made for phrases: 1, and the natural logarithm of the probability.
MARKUP_FEATURES = ("Markup", "MarkupProbability")
LOGARITHMS = MARKUP_FEATURES[1:]
# The most times that text is tokenised to find the tokens of marks.
_PASSES = 3


@dataclass(frozen=True)
class Phrase:
    """A source phrase with translations, each of which is raw text or a list of tokens.

    ``begin`` and ``end`` (exclusive) count from 0: characters in a sentence with text, words in one with
    tokens. ``probabilities`` are those of the translations; the feature ``MarkupProbability`` is the natural
    logarithm (default: 1). With the ``mode`` "exclusive" nothing else translates words of the phrase, with
    "inclusive" the rules of the model may as well, and with "constraint" those of them that translate all of
    its words and have one of the translations among theirs. Translations are written as they are given,
    whatever the model does to case. ``label`` is the nonterminal label of their rules; "": the labels of
    words that are copied.

    Raises ValueError for an unknown mode, a phrase without words or translations, a translation without
    words, and probabilities that are not positive or not as many as translations.
    """

    begin: int
    end: int
    translations: Sequence[str | Sequence[str]]
    probabilities: Sequence[float] = ()
    mode: Mode = "exclusive"
    label: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.begin < self.end:
            raise ValueError(f"a marked phrase from {self.begin} to {self.end} has no words")
        if self.mode not in get_args(Mode):
            raise ValueError(f"mode: expected {', '.join(get_args(Mode))}, not {describe(self.mode)}")
        translations = self.translations
        if isinstance(translations, str) or not translations:
            raise ValueError("translations: expected a list of at least one text")
        object.__setattr__(
            self, "translations", tuple(checked_words("translations", t) for t in translations)
        )
        if not all(t.strip() if isinstance(t, str) else t for t in self.translations):
            raise ValueError("a translation has no words")
        probabilities = tuple(self.probabilities) or (1.0,) * len(translations)
        if len(probabilities) != len(translations):
            raise ValueError(f"{len(translations)} translations with {len(probabilities)} probabilities")
        if not all(value > 0 and math.isfinite(value) for value in probabilities):
            raise ValueError("probabilities: expected positive numbers")
        object.__setattr__(self, "probabilities", probabilities)


@dataclass(frozen=True)
class Wall:
    """A wall before the character or word ``position``: all words left of it, within its scope, are
    translated before all others. The scope is ``begin`` to ``end`` (exclusive), such as a zone; None: the
    sentence. Raises ValueError for a wall at the edge of its scope or beyond it."""

    position: int
    begin: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        begin = 0 if self.begin is None else self.begin
        if not 0 <= begin < self.position or (self.end is not None and self.position >= self.end):
            raise ValueError(f"a wall at {self.position} is not within its scope")


@dataclass(frozen=True)
class Markup:
    """Marks of a sentence. ``zones`` are (begin, end) of phrases whose translation is a block: no other word
    is translated amid it, and their words are translated together. Positions are those of ``Phrase``.

    Raises ValueError for a zone without words.
    """

    phrases: Sequence[Phrase] = ()
    zones: Sequence[tuple[int, int]] = ()
    walls: Sequence[Wall] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "phrases", checked_tuple("phrases", self.phrases, Phrase, "hiero.Phrase"))
        object.__setattr__(self, "walls", checked_tuple("walls", self.walls, Wall, "hiero.Wall"))
        zones = checked_tuple("zones", self.zones, (tuple, list), "pairs of begin and end")
        for zone in zones:
            if len(zone) != 2 or not all(isinstance(place, int) for place in zone):
                raise TypeError(f"zones: expected pairs of begin and end, not {describe(zone)}")
        object.__setattr__(self, "zones", tuple((begin, end) for begin, end in zones))
        for begin, end in self.zones:
            if not 0 <= begin < end:
                raise ValueError(f"a zone from {begin} to {end} has no words")

    def __bool__(self) -> bool:
        return bool(self.phrases or self.zones or self.walls)

    def with_tokens(self, text: str, side: TextSide) -> tuple[list[str], Markup]:
        """Returns the tokens of a raw text, which is split at the edges of marks, and its marks in tokens.

        Raises FormatError for marks without words, and for those that begin or end within what the tokenizer
        does not take apart, such as an address."""
        self._check_within(len(text), "characters")
        places = sorted({place for place in self._places() if 0 < place < len(text)})
        tokens, indices = _tokens_at(text, places, side)
        at = {0: 0, **dict(zip(places, indices, strict=True))}

        def index(place: int) -> int:
            return at.get(place, len(tokens))

        try:
            return tokens, Markup(
                [
                    replace(phrase, begin=index(phrase.begin), end=index(phrase.end))
                    for phrase in self.phrases
                ],
                [(index(begin), index(end)) for begin, end in self.zones],
                [
                    Wall(
                        index(wall.position),
                        None if wall.begin is None else index(wall.begin),
                        None if wall.end is None else index(wall.end),
                    )
                    for wall in self.walls
                ],
            )
        except ValueError as error:
            raise FormatError(str(error)) from None

    @property
    def features(self) -> Sequence[str]:
        """Names of the features of the rules that are made for phrases."""
        return MARKUP_FEATURES if self.phrases else ()

    def given_places(
        self, tokens: Sequence[str], links: Iterable[tuple[int, int]], target: TextSide
    ) -> set[int]:
        """Returns the positions of words that translate marked phrases as they are given.

        ``tokens`` are those of a translation and ``links`` its word alignment. Marks are in tokens."""
        words = {
            position: {word for translation in _in_tokens(phrase, target) for word in translation}
            for phrase in self.phrases
            for position in range(phrase.begin, phrase.end)
        }
        return {t for s, t in links if s in words and tokens[t] in words[s]} if words else set()

    def to_core(self, target: TextSide, kept: Sequence[str], length: int) -> SourceMarkup:
        """Returns marks in tokens for the decoder of a sentence with so many words.

        ``kept`` are words that the translation has as often as the sentence. Raises FormatError for marks
        beyond it."""
        self._check_within(length, "words")
        phrases = [
            (
                (phrase.begin, phrase.end),
                phrase.mode,
                phrase.label,
                _in_tokens(phrase, target),
                [math.log(probability) for probability in phrase.probabilities],
            )
            for phrase in self.phrases
        ]
        walls = [
            (wall.position, (wall.begin or 0, length if wall.end is None else wall.end))
            for wall in self.walls
        ]
        return SourceMarkup(phrases, list(self.zones), walls, list(kept))

    def to_json(self) -> dict[str, Any]:
        """Returns the object of JSON that ``MarkupRecord`` reads."""
        return {name: value for name, value in asdict(self).items() if value}

    def _check_within(self, length: int, unit: str) -> None:
        last = max(self._places(), default=0)
        if last > length:
            raise FormatError(f"a mark at {last}, in a sentence of {length} {unit}")

    def _places(self) -> Iterable[int]:
        for phrase in self.phrases:
            yield from (phrase.begin, phrase.end)
        for zone in self.zones:
            yield from zone
        for wall in self.walls:
            yield from (place for place in (wall.position, wall.begin, wall.end) if place is not None)


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _PhraseRecord(_Record):
    begin: int
    end: int
    translations: list[str | list[str]]
    probabilities: list[float] = []
    mode: Mode = "exclusive"
    label: str = ""


class _WallRecord(_Record):
    position: int
    begin: int | None = None
    end: int | None = None


class MarkupRecord(_Record):
    """Marks as an object of JSON, with the fields of ``Markup``, ``Phrase`` and ``Wall``."""

    phrases: list[_PhraseRecord] = []
    zones: list[tuple[int, int]] = []
    walls: list[_WallRecord] = []

    def markup(self) -> Markup:
        """Returns the marks. Raises FormatError."""
        try:
            return Markup(
                [Phrase(**dict(phrase)) for phrase in self.phrases],
                self.zones,
                [Wall(**dict(wall)) for wall in self.walls],
            )
        except ValueError as error:
            raise FormatError(f"markup: {error}") from None


def checked_words(name: str, value: str | Sequence[str]) -> str | tuple[str, ...]:
    """Returns text as it is, and checks tokens. Raises TypeError, FormatError."""
    if isinstance(value, str):
        return value
    tokens = checked_tuple(name, value, str, "tokens")
    if wrong := [token for token in tokens if split(token) != [token]]:
        raise FormatError(f"{name}: {wrong[0]!r} is empty or contains white space")
    return tokens


def character_places(text: str, words: Sequence[str], side: TextSide) -> list[tuple[int, int]]:
    """Returns the begin and end of each word in the text that ``side.words`` made it of."""
    # The last place before which there are so many characters, as normalisation leaves them.
    last = {_characters(text[:place], side): place for place in range(len(text) + 1)}
    ends = list(accumulate((len(word) for word in side.bare(words)), initial=0))
    places = [last.get(end, len(text)) for end in ends]
    return [(begin, len(text[:end].rstrip())) for begin, end in pairwise(places)]


def _characters(text: str, side: TextSide) -> int:
    """Returns the number of characters that the tokens of a text have, without marks."""
    return len("".join(side.characters(text).split()))


def _in_tokens(phrase: Phrase, target: TextSide) -> list[list[str]]:
    """Returns the translations of a phrase in tokens."""
    return [target.words(t) if isinstance(t, str) else list(t) for t in phrase.translations]


def _counted_parts(tokens: Sequence[str], side: TextSide) -> Counter[str]:
    """Counts protected parts of text among tokens, whatever marks they have."""
    words = zip(tokens, side.bare(tokens), strict=True)
    return Counter(bare for token, bare in words if side.is_part(token))


def _tokens_at(text: str, places: Sequence[int], side: TextSide) -> tuple[list[str], list[int]]:
    """Returns the tokens of a text that is split at these places, and the index of the token after each."""
    moved = list(places)
    parts = _counted_parts(side.words(text), side)
    for _ in range(_PASSES):
        ends = list(accumulate((len(word) for word in side.bare(side.words(text))), initial=0))
        by_end = {end: index for index, end in reversed(list(enumerate(ends)))}
        indices = [by_end.get(_characters(text[:place], side)) for place in moved]
        found = [index for index in indices if index is not None]
        if len(found) == len(places):
            tokens = side.tokens(text)
            if lost := parts - _counted_parts(tokens, side):
                raise FormatError(f"a mark begins or ends within {min(lost)}, which is one word")
            return tokens, found
        # A space splits words where a mark begins or ends within one.
        pieces, last, spaces = [], 0, 0
        for k, (place, at) in enumerate(zip(moved, indices, strict=True)):
            pieces.append(text[last:place])
            last = place
            moved[k] = place + spaces
            if at is None:
                pieces.append(" ")
                spaces += 1
                moved[k] += 1
        text = "".join([*pieces, text[last:]])
    raise FormatError("a mark begins or ends within a word that cannot be split there")
