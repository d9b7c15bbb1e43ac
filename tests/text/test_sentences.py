"""Sentences of a text: where they end, and that nothing of the text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiero.text.sentences import split_text


def sentences(text: str, language: str = "en") -> list[str]:
    return [sentence for sentence, _ in split_text(text, language) if sentence]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "He came. She went!", ["He came.", "She went!"]),
        (
            "en",
            "Mr. Smith and J. Doe came. “Why?” Nobody knew…",
            ["Mr. Smith and J. Doe came.", "“Why?”", "Nobody knew…"],
        ),
        ("en", "It costs 3.5 euros. 7 is odd.", ["It costs 3.5 euros. 7 is odd."]),
        ("en", "see example.org. or not", ["see example.org. or not"]),
        ("en", "One line\nanother. Third", ["One line", "another.", "Third"]),
        ("de", "Er kam bzw. Sie ging. Ärger!", ["Er kam bzw. Sie ging.", "Ärger!"]),
        ("es", "¿Vienes? ¡Claro! Sí.", ["¿Vienes?", "¡Claro!", "Sí."]),
        ("ja", "犬が走る。「はい。」猫も。", ["犬が走る。", "「はい。」", "猫も。"]),
        ("zh", "他来了！她走了。", ["他来了！", "她走了。"]),
        ("ur", "وہ آیا۔ وہ گئی؟ ہاں", ["وہ آیا۔", "وہ گئی؟", "ہاں"]),
        ("ja", "「はい。」と言った。彼も。", ["「はい。」と言った。", "彼も。"]),
        ("hi", "वह गया। वह आया॥ हाँ", ["वह गया।", "वह आया॥", "हाँ"]),
        ("hy", "Եկավ։ Գնաց։", ["Եկավ։", "Գնաց։"]),
        ("en", "The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        ("und", "A. B. Smith came. Then?", ["A. B. Smith came.", "Then?"]),
        ("en", "", []),
        ("en", " \n ", []),
    ],
)
def test_where_sentences_end(language: str, text: str, expected: list[str]) -> None:
    assert sentences(text, language) == expected


@given(st.text(st.sampled_from("aA .!?\n\t。」\"'«é1"), max_size=60))
def test_nothing_is_lost(text: str) -> None:
    pieces = list(split_text(text, "en"))
    assert "".join(sentence + space for sentence, space in pieces) == text
    assert all(sentence == sentence.strip() and not space.strip() for sentence, space in pieces)


@pytest.mark.parametrize(
    "part", [".", "J. ", "a", "a. ", '."', ". '", "。", "Mr.", '. "', "।", "A.A.", "。」あ", "。」"]
)
def test_the_time_grows_with_the_text_alone(part: str) -> None:
    """A text of 400,000 characters would take minutes if it grew with the square."""
    text = part * (400_000 // len(part)) + " . B"
    assert "".join(sentence + space for sentence, space in split_text(text, "en")) == text
