"""Requests and answers of the server's own interface, from which its OpenAPI description is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from hiero.pages.views import CandidateView, CellView, ItemView, Pair, RuleView, SentenceView

MOST_TEXT = 100_000  # characters
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.-]+$")]
Line = Annotated[str, Field(max_length=MOST_TEXT)]
Term = Annotated[str, Field(max_length=500)]
RuleText = Annotated[str, Field(max_length=2000, examples=["[X] ||| das Haus ||| the house"])]
Weights = dict[str, Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]]


class Request(BaseModel):
    """The fields that all requests about a model have."""

    model_config = ConfigDict(extra="forbid")

    model: Name | None = Field(None, description="name of a model (default: the first)")
    context: Name | None = Field(None, description="name of what was learned from corrections")


class SentenceRequest(Request):
    """The fields of requests about one sentence."""

    text: Line = Field(description="raw text")
    prefix: Line = Field("", description="how the translation begins; its last word may be unfinished")
    weights: Weights = Field({}, description="weights that replace those of the model, by feature")
    rules: list[RuleText] = Field([], max_length=200, description="rules for this sentence alone")
    hidden: list[RuleText] = Field(
        [], max_length=200, description="rules of the model, and those it learned, that are not used"
    )
    terms: list[tuple[Term, Term]] = Field(
        [], max_length=1000, description="terms with translations that nothing else replaces"
    )
    phrases: list[tuple[int, int, Term]] = Field(
        [], max_length=100, description="translations of phrases: first token, the one after the last, text"
    )


class TranslateRequest(SentenceRequest):
    """Text to translate; it is split into sentences unless ``split`` is false."""

    split: bool = Field(True, description="split the text into sentences")
    alternatives: int = Field(0, ge=0, le=100, description="further translations of each sentence")
    details: bool = Field(False, description="return confidence, derivations and features")


class SplitRequest(Request):
    """Text to split into sentences as translations of it are split."""

    text: Line = Field(description="raw text")


class ChartRequest(SentenceRequest):
    """A sentence whose chart is asked for, and a span whose items are."""

    span: Pair | None = Field(None, description="first source token, and the one after the last")
    items: int = Field(20, ge=1, le=200, description="most items of the span")


class WhyNotRequest(SentenceRequest):
    """A sentence, and the translation that was wanted."""

    wanted: Line = Field(min_length=1)


class ContextRequest(Request):
    """A context that is asked for."""

    context: Name


class CorrectRequest(ContextRequest):
    """A sentence and its correct translation, from which a context learns."""

    source: Line
    target: Line


class UndoRequest(ContextRequest):
    """A correction to forget; the last one by default."""

    id: int | None = Field(None, ge=1)


class SentenceAnswer(SentenceView):
    """A translated sentence, whether its search was ended early, and further translations."""

    late: Annotated[bool, Field(description="the deadline ended the search")]
    alternatives: list[CandidateView]


class TranslateAnswer(TypedDict):
    """A translation: the whole text, and its sentences."""

    text: str
    sentences: list[SentenceAnswer]
    weights: dict[str, float]
    milliseconds: float


class TextPart(TypedDict):
    """A sentence of a text, and the number of its line from 0."""

    text: str
    line: int


class SplitAnswer(TypedDict):
    """The sentences of a text."""

    sentences: list[TextPart]


class ChartAnswer(TypedDict):
    """A chart: all cells, and the items of the span that was asked for, best first."""

    source: list[str]
    cells: list[CellView]
    items: list[ItemView]


class PrunedAnswer(TypedDict):
    """The place where a wanted translation was lost: the cell, the part, and what is there instead."""

    span: Pair
    label: str
    text: str
    score: float
    rank: int
    made: bool
    rule: RuleView
    winners: list[CandidateView]


class WhyNotAnswer(TypedDict):
    """The reason why a translation was not chosen; see hiero.decode.why_not."""

    reason: Literal["chosen", "no rule", "limit", "pruned", "scored lower"]
    tokens: list[str]
    source: list[str]
    best: CandidateView | None
    wanted: CandidateView | None
    source_words: list[int]
    target_words: list[int]
    limits: list[str]
    differences: dict[str, float]
    pruned: PrunedAnswer | None


class CorrectionAnswer(TypedDict):
    """A correction that a context has learned from."""

    id: int
    source: str
    target: str
    translation: str
    links: list[Pair]
    weights: Annotated[dict[str, float], Field(description="the weights that it moved, with new values")]


class ContextAnswer(TypedDict):
    """The corrections that a context has learned from, and what they changed."""

    corrections: list[CorrectionAnswer]
    rules: int
    weights: dict[str, float]


class ModelAnswer(TypedDict):
    """A model of the server."""

    name: str
    source: str
    target: str
    learns: Annotated[bool, Field(description="whether it learns rules from corrections")]
    weights: dict[str, float]
    rule_features: Annotated[list[str], Field(description="features that rules to add may have")]


class ErrorAnswer(TypedDict):
    """An error, and what to do about it."""

    error: str


ForestAnswer = dict[str, Any]
