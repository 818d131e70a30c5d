"""Evidence for prompts: chunks packed into a budget of tokens."""

from __future__ import annotations

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from contracts.base import Box, Question, Resource, Text
from contracts.retrieval import Around, LegReport, SearchFilters, SearchMode, at_most_together


class ContextRequest(SearchFilters):
    """Asks for evidence for a prompt: the passages that answer the `queries`, packed into at most `max_tokens` tokens.
    The queries together have at most 10,000 characters.

    Tokens are counted by `tokenizer`, one of those listed by `GET /v1/context/tokenizers`. `around` extends a passage
    to its neighbours or its section if the budget allows.
    """

    queries: Annotated[list[Question], Field(min_length=1, max_length=8)]
    max_tokens: Annotated[int, Field(ge=64, le=200_000)] = 2_000
    tokenizer: Annotated[Text, Field(max_length=100)] | None = None
    mode: SearchMode | None = None
    use_graph: bool = True
    rerank: bool = True
    around: Around = Around.neighbours
    max_passages: Annotated[int, Field(ge=1, le=100)] = 20

    @model_validator(mode="after")
    def bounded(self) -> Self:
        at_most_together(self.queries)
        return self


class EvidenceQuote(Resource):
    """One of the best answering sentences: characters `start` to `end` of the content of chunk `chunk_id`."""

    text: str
    start: int
    end: int
    score: float


class Evidence(Resource):
    """A passage of the packet. `number` is what an answer cites: [1]. `content` is the text in the prompt.

    `chunk_ids` are all the chunks it consists of, in order; `chunk_id` is the one that was found, which citations are
    checked against.
    """

    number: int
    chunk_id: str
    chunk_ids: list[str]
    workspace_id: UUID
    document_id: UUID
    document_name: str
    document_title: str | None
    section: str | None
    content: str
    tokens: int
    score: float
    page: int | None
    page_end: int | None
    box: Box | None
    line_start: int | None
    line_end: int | None
    quotes: list[EvidenceQuote]


class ContextResponse(Resource):
    """`text` is the packet as it goes into a prompt; `tokens` counts it and never exceeds the budget.

    `cut` says what was left out or shortened, and why.
    """

    text: str
    tokens: int
    max_tokens: int
    tokenizer: str
    evidence: list[Evidence]
    good_match: bool
    match: float
    cut: list[str]
    legs: list[LegReport]


class Tokenizers(Resource):
    default: str
    names: list[str]
