"""Expansion: from a question, or from names, to the chunks that the graph leads to."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, model_validator

from contracts.base import Name, Question, Request, Resource, Text
from contracts.knowledge_graph import Entity


class GraphMethod(StrEnum):
    """`hops` follows relations from the names of the question, `bridge` the mentions of the best chunks about them."""

    hops = "hops"
    bridge = "bridge"


class SeedChunk(Request):
    """A chunk that a search found; `score` is relative to the best one (1)."""

    chunk_id: Annotated[Text, Field(max_length=64)]
    document_id: UUID
    score: Annotated[float, Field(ge=0, le=1)] = 1.0


class LinkedName(Resource):
    """A known name in the query: characters `start` to `end` (both 0 for a name that was given), and the entity it is
    taken for; a name shared by several entities is listed once for each. `share` (0 to 1) is the likelihood of this
    entity.
    """

    start: Annotated[int, Field(ge=0, le=10_000)]
    end: Annotated[int, Field(ge=0, le=10_000)]
    entity_id: Annotated[Text, Field(max_length=64)]
    share: Annotated[float, Field(ge=0, le=1)]


class ExpandRequest(Request):
    """Either a query, whose known names are found, or names of entities.

    `hops` follows up to `max_hops` relations, through entities mentioned at least `min_mentions` times (default: the
    deployment's setting, 2; the entities of the query itself always count). `bridge` finds the chunks that are about
    the names or mention them; with `max_hops` 1 also those that the mentions in `seeds` (by default the best of the
    former) lead to, with 2 or more also those that the mentions in the best of these lead to. `names` (`bridge` only),
    taken from an earlier response, are not looked up again: the response then has only what `seeds` lead to.
    """

    query: Question | None = None
    entities: Annotated[list[Name], Field(max_length=50)] = []
    method: GraphMethod = GraphMethod.hops
    max_hops: Annotated[int, Field(ge=0, le=3)] = 2
    min_mentions: Annotated[int, Field(ge=1, le=1_000)] | None = None
    names: Annotated[list[LinkedName], Field(max_length=150)] = []
    seeds: Annotated[list[SeedChunk], Field(max_length=50)] = []
    limit: Annotated[int, Field(ge=1, le=200)] = 50

    @model_validator(mode="after")
    def something_to_expand(self) -> ExpandRequest:
        if not self.query and not self.entities:
            raise ValueError("give a query or at least one entity")
        return self


class PathStep(Resource):
    """`relation` is what the text states between the two ("mother", "was born in"), if it is known. The sentence is
    characters `start` to `end` of the chunk that says so; both are 0 if the whole chunk does.
    """

    source: str
    target: str
    relation: str | None
    chunk_id: str
    document_id: UUID
    start: int
    end: int


class ExpandedChunk(Resource):
    """A chunk reached in `hop` steps along `path` (names).

    With `hops`, `score` is 1 / (1 + 0.3 × hop), a little less for hubs; with `bridge` it is what the chunk gains, 0 to
    1, or up to 1.25 if a seed states what is asked. `about` (0 to 1, `bridge` only): how certain it is that the chunk
    is about a name in the query.
    """

    chunk_id: str
    document_id: UUID
    hop: int
    path: list[str]
    score: float
    about: float = 0.0
    steps: list[PathStep] = []


class ExpandResponse(Resource):
    """`residual` is the query without its known names, `generation` the token of the state that the response is from
    (see `GraphGeneration`).
    """

    entities: list[Entity]
    names: list[LinkedName] = []
    residual: str = ""
    chunks: list[ExpandedChunk]
    store: str = Field(description="The graph store that answered: postgres or neo4j.")
    generation: str
