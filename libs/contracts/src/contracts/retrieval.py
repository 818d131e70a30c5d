"""Search over the chunks of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AliasChoices, AwareDatetime, Field, model_validator

from contracts.base import Box, LineBox, Question, Request, Resource, Text
from contracts.graph_expansion import GraphMethod, PathStep

MOST_CHARACTERS = 10_000  # of all wordings of a search
Weights = Annotated[dict[Text, Annotated[float, Field(ge=0, le=10)]], Field(max_length=100)]


def at_most_together(wordings: Sequence[str]) -> None:
    """Raises ValueError if the wordings of a search have more than MOST_CHARACTERS in all."""
    if sum(map(len, wordings)) > MOST_CHARACTERS:
        raise ValueError(f"all wordings together must have at most {MOST_CHARACTERS} characters")


class SearchMode(StrEnum):
    """`hybrid` adds up features of all legs on absolute scales, `convex` the legs' scores after min-max (Bruch et al.
    2023), `rrf` is reciprocal rank fusion (Cormack et al. 2009); the others are single legs.
    """

    hybrid = "hybrid"
    convex = "convex"
    rrf = "rrf"
    lexical = "lexical"
    dense = "dense"


class SearchScope(StrEnum):
    """`session`: the documents attached to `session_id`. `global`: every workspace that the caller may read."""

    session = "session"
    workspace = "workspace"
    every = "global"


class Around(StrEnum):
    """How much of its document to return with a hit."""

    nothing = "nothing"
    neighbours = "neighbours"
    section = "section"


class Facet(StrEnum):
    media_type = "media_type"
    source_type = "source_type"
    source = "source"
    language = "language"
    tag = "tag"
    document = "document"


JsonPath = Annotated[Text, Field(min_length=1, max_length=500)]


class SearchFilters(Request):
    """Limits a search, inside each leg. An empty list matches nothing; of several filters all must hold.

    `tags`: any of them, ignoring case. `languages`: ISO 639-1. `written_*`: the document's own date, or else when its
    source last changed it. `metadata`: SQL/JSON path expressions over the document's metadata, for instance
    `$.authors[*] ? (@ == "Ada")`; each must find something.
    """

    scope: SearchScope = SearchScope.workspace
    session_id: UUID | None = None
    document_ids: Annotated[list[UUID], Field(max_length=10_000)] | None = None
    source_ids: Annotated[list[UUID], Field(max_length=100)] | None = None
    media_types: Annotated[list[Text], Field(max_length=100)] | None = None
    source_types: Annotated[list[Text], Field(max_length=20)] | None = None
    tags: Annotated[list[Text], Field(max_length=100)] | None = None
    languages: Annotated[list[Text], Field(max_length=50)] | None = None
    written_from: AwareDatetime | None = None
    written_to: AwareDatetime | None = None
    metadata: Annotated[list[JsonPath], Field(max_length=10)] = []


class SearchRequest(SearchFilters):
    """`queries` are alternative wordings of `query`: all are searched and fused. Together they have at most 10,000
    characters.

    In `query`, "several words" in quotes are a phrase, `word*` is a prefix, and `title:`, `name:`, `section:`, `tag:`,
    `type:`, `language:` and `source:` before a word limit the search to documents that have it there. Chunks with the
    phrase rank first; with `strict` the phrase is required, and `-word` excludes.

    `use_graph` adds what the knowledge graph reaches from the names in the query, by `graph_method`: `bridge` goes
    through what the best chunks with such a name mention, `hops` through relations. `rerank` lets the configured
    reranker order the top hits. `fold_duplicates` returns one of several nearly equal chunks, which names the others;
    `max_per_document` caps the hits of a document. `highlight` adds the sentences that answer best, as spans of the
    content; `explain` adds ranks and scores by leg, features, matched terms, paths and timings.
    """

    query: Question
    queries: Annotated[list[Question], Field(max_length=7)] = []
    k: Annotated[int, Field(ge=1, le=100, validation_alias=AliasChoices("k", "top_k"))] = 10
    mode: SearchMode | None = None
    strict: bool = False
    use_graph: bool = True
    graph_method: GraphMethod = GraphMethod.bridge
    rerank: bool = True
    fold_duplicates: bool = True
    max_per_document: Annotated[int, Field(ge=1, le=100)] | None = None
    around: Around = Around.nothing
    facets: Annotated[list[Facet], Field(max_length=6)] = []
    highlight: bool = False
    explain: bool = False

    @model_validator(mode="after")
    def bounded(self) -> Self:
        at_most_together([self.query, *self.queries])
        return self


class Highlight(Resource):
    """A sentence of the content: characters `start` to `end`; `score` (0 to 1) says how well it matches the query."""

    start: int
    end: int
    score: float


class LegScore(Resource):
    """Rank counts from 1 and is null if the leg did not return the chunk. `score` is the leg's own, if it has one."""

    rank: int | None
    score: float | None


class GraphStep(PathStep):
    """A step, with the sentence that states it if the search read that sentence."""

    sentence: str | None


class HitExplanation(Resource):
    """`legs` by name; those of alternative wordings have `#2`, `#3` … appended."""

    legs: dict[str, LegScore]
    features: dict[str, float] = Field(description="The terms of the fused score, before their weights.")
    weights: dict[str, float]
    matched_terms: list[str]
    graph_steps: list[GraphStep] = Field(default=[], description="Places where the texts state the steps of the path.")
    fused_score: float = Field(description="Before reranking.")
    fused_rank: int


class Duplicate(Resource):
    """A chunk that says nearly the same as the hit that names it."""

    chunk_id: str
    document_id: UUID
    document_name: str


class SurroundingPart(Resource):
    """One chunk of a surrounding: characters `start` to `end` of its content, without the overlap with the chunk
    before. `score` is set if the chunk was found itself.
    """

    chunk_id: str
    chunk_index: int
    start: int
    end: int
    score: float | None = None


class Surrounding(Resource):
    """The chunks from `chunk_index_from` to `chunk_index_to` of the hit's document, in order, as one text.

    Hits whose surroundings would overlap become one hit, the best of them.
    """

    content: str
    parts: list[SurroundingPart] = []
    chunk_index_from: int
    chunk_index_to: int
    page: int | None
    page_end: int | None


class Hit(Resource):
    """`score` is the mode's or the reranker's. `workspace_id` matters in a global search."""

    chunk_id: str
    workspace_id: UUID
    document_id: UUID
    document_name: str
    document_title: str | None
    media_type: str
    source_type: str | None = None
    language: str | None = None
    tags: list[str] = []
    score: float
    content: str
    section_title: str | None
    heading_path: list[str]
    chunk_index: int
    page: int | None
    page_end: int | None
    box: Box | None
    boxes: list[LineBox] = []
    line_start: int | None
    line_end: int | None
    markdown_start: int | None = None
    markdown_end: int | None = None
    highlights: list[Highlight] = []
    duplicates: list[Duplicate] = []
    around: Surrounding | None = None
    graph_path: list[str] = Field(
        default=[],
        description="If the graph leads to the chunk: names from the query's to the chunk's, between two names the "
        "relation, if it is known.",
    )
    explanation: HitExplanation | None = None


class LegReport(Resource):
    """Reports on one leg. `method` says how it searched and why, for instance `exact: 812 chunks`."""

    leg: str
    candidates: int
    milliseconds: float
    method: str | None = None
    error: str | None = None


class FacetCount(Resource):
    value: str
    chunks: int
    documents: int


class QueryReport(Resource):
    """How the query was read. `corrected`: unknown terms, with the known ones searched for instead."""

    text: str
    terms: list[str]
    phrases: list[str] = []
    prefixes: list[str] = []
    excluded: list[str] = []
    fields: dict[str, list[str]] = {}
    corrected: dict[str, list[str]] = {}


class SearchResponse(Resource):
    """`good_match` is false when nothing found is likely to answer the query; callers should then say so.

    `match` is the estimated probability that one of the first hits answers it. `facets` count all documents that match
    the filters, not only the hits. `understood` and `timings` (milliseconds by step) come with `explain`.
    """

    query: str
    mode: SearchMode
    hits: list[Hit]
    good_match: bool
    match: float
    legs: list[LegReport]
    facets: dict[Facet, list[FacetCount]] = {}
    reranked_by: str | None = None
    cached: bool = False
    understood: QueryReport | None = None
    timings: dict[str, float] | None = None
    milliseconds: float


class WhyRequest(SearchRequest):
    """A search, and the document that one misses among its hits."""

    document_id: UUID


class WhyReason(StrEnum):
    """`found`: it is among the `k` hits. `below`: others rank higher. `duplicate`: a hit says the same and names it.
    `filtered`: `filters` exclude it. `unmatched`: no leg finds anything of it for this query. `not_indexed`: the index
    does not have it; the document's own `explanation` says why.
    """

    found = "found"
    below = "below"
    duplicate = "duplicate"
    filtered = "filtered"
    unmatched = "unmatched"
    not_indexed = "not_indexed"


class WhyResponse(Resource):
    """Where a document is in a search, or what keeps it out.

    `rank` counts from 1 and is null beyond the 100th hit. `hit` is the document's best chunk with its rank and score in
    each leg; for a duplicate, the hit that is shown instead. `last_score` is that of the last of the `k` hits.
    """

    document_id: UUID
    reason: WhyReason
    rank: int | None = None
    filters: list[str] = Field(default=[], description="Each of them excludes the document by itself.")
    hit: Hit | None = None
    last_score: float | None = None
    legs: list[LegReport]


class SearchSettingsUpdate(Request):
    """Omitted fields, and weights, stay as they are; `reset` lists fields to reset to their defaults.

    `weights` are those of the features of `hybrid`, `legs` those of the legs in `rrf` and `convex`, both by name: the
    settings list them all. `residual`, `link` and `bridge` belong to the graph method `bridge`; `graph` is the share of
    the method `hops` in the score of a chunk that other legs found too, and counts as at most 1.
    """

    mode: SearchMode | None = None
    k1: Annotated[float, Field(ge=0, le=10)] | None = None
    b: Annotated[float, Field(ge=0, le=1)] | None = None
    rrf_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    legs: Weights | None = None
    weights: Weights | None = None
    diversity: Annotated[float, Field(ge=0, le=1)] | None = None
    reset: list[Literal["mode", "k1", "b", "rrf_k", "legs", "weights", "diversity"]] = []


class SearchSettings(Resource):
    """How the workspace is searched. `weights` are those of its active embedding space. `diversity` (0: none) is the
    weight of novelty in maximal marginal relevance.
    """

    mode: SearchMode
    k1: float
    b: float
    rrf_k: int
    legs: dict[str, float]
    weights: dict[str, float]
    diversity: float
    embedding_space: str | None
    version: int


class IndexedDocument(Resource):
    """An indexed document; `vectors` counts those of the active embedding space."""

    document_id: UUID
    version: int
    chunk_count: int
    vectors: int
