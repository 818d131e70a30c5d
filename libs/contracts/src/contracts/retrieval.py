"""Search over the chunks of a workspace."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from contracts.base import Question, Request, Resource, Text


class SearchMode(StrEnum):
    """`hybrid` adds both legs on absolute scales, `rrf` is reciprocal rank fusion; the others are single legs."""

    hybrid = "hybrid"
    rrf = "rrf"
    lexical = "lexical"
    dense = "dense"


class SearchRequest(Request):
    """`document_ids` limits the search inside each leg; an empty list matches nothing. `tags`: any of
    them, in either case.

    `highlight` adds the sentences that answer best, as spans of the content; `explain` adds per leg rank and score and
    the timings.
    """

    query: Question
    k: Annotated[int, Field(ge=1, le=100)] = 10
    mode: SearchMode = SearchMode.hybrid
    document_ids: Annotated[list[UUID], Field(max_length=10_000)] | None = None
    media_types: Annotated[list[Text], Field(max_length=100)] | None = None
    tags: Annotated[list[Text], Field(max_length=100)] | None = None
    highlight: bool = False
    explain: bool = False


class Highlight(Resource):
    """A sentence of the content: characters `start` to `end`; `score` (0 to 1) says how well it matches the query."""

    start: int
    end: int
    score: float


class HitExplanation(Resource):
    """Ranks count from 1; null where the leg did not return the chunk."""

    lexical_rank: int | None
    lexical_score: float | None
    dense_rank: int | None
    dense_score: float | None
    features: dict[str, float] = Field(description="The terms of the fused score, before their weights.")
    matched_terms: list[str]


class Hit(Resource):
    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None
    media_type: str
    score: float
    content: str
    section_title: str | None
    heading_path: list[str]
    chunk_index: int
    page: int | None
    page_end: int | None
    box: tuple[float, float, float, float] | None
    line_start: int | None
    line_end: int | None
    highlights: list[Highlight] = []
    explanation: HitExplanation | None = None


class LegReport(Resource):
    """What one leg did. `method` names how it searched and why, for instance `exact: 812 chunks`."""

    leg: str
    candidates: int
    milliseconds: float
    method: str | None = None
    error: str | None = None


class SearchResponse(Resource):
    """`good_match` is false when nothing found is likely to answer the query: a caller should then say so."""

    query: str
    mode: SearchMode
    hits: list[Hit]
    good_match: bool
    legs: list[LegReport]
    milliseconds: float


class SpaceStatus(StrEnum):
    """`available`: a model is configured and nothing is built; `ready`: complete, and not searched in."""

    available = "available"
    building = "building"
    ready = "ready"
    active = "active"
    failed = "failed"
    dropping = "dropping"


class EmbeddingSpaceCreate(Request):
    """`model` names a configured model. With `activate` the search switches to it as soon as it is complete."""

    model: Annotated[Text, Field(min_length=1, max_length=300)]
    dims: Annotated[int, Field(gt=0, le=4000)] | None = None
    activate: bool = True


class EmbeddingSpaceState(Resource):
    """An embedding space of the workspace: vectors of one model and dimension, compared with no others.

    `configured` is false when no running model can embed a query for it. It is complete when `vectors` is `chunks`.
    """

    id: str
    model: str
    dims: int
    status: SpaceStatus
    configured: bool
    activate: bool
    vectors: int
    chunks: int
    seconds_left: float | None
    created_at: datetime | None
    activated_at: datetime | None
    error_class: str | None
    error_message: str | None


class IndexedDocument(Resource):
    """What the index holds of a document; `vectors` of the active embedding space."""

    document_id: UUID
    version: int
    chunk_count: int
    vectors: int
