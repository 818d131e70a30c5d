"""Entities, relations and graph expansion."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, model_validator

from contracts.base import Name, Question, Request, Resource


class Entity(Resource):
    """`entity_type` is SERVICE, IDENTIFIER, CONCEPT, ENTITY or a NER type; `mentions` counts them in the workspace."""

    id: str
    name: str
    entity_type: str
    mentions: int
    documents: int
    aliases: list[str] = []


class Relation(Resource):
    """Directed, between entity ids; CO_OCCURS alone has no direction (the smaller id comes first).

    `weight` adds up over its evidence: 1.0 for each co-occurrence, 2.0 for each stated relation.
    """

    source: str
    source_name: str
    target: str
    target_name: str
    relation_type: str
    weight: float
    evidence: int


class Evidence(Resource):
    """Where a relation is stated: characters `start` to `end` of the chunk's content."""

    chunk_id: str
    document_id: UUID
    start: int
    end: int
    text: str
    confidence: float


class EntityDetail(Entity):
    relations: list[Relation]
    chunk_ids: list[str]


class ExpandRequest(Request):
    """Either a query, whose known entities are found, or entity names."""

    query: Question | None = None
    entities: Annotated[list[Name], Field(max_length=50)] = []
    max_hops: Annotated[int, Field(ge=0, le=3)] = 2
    limit: Annotated[int, Field(ge=1, le=200)] = 50

    @model_validator(mode="after")
    def something_to_expand(self) -> ExpandRequest:
        if not self.query and not self.entities:
            raise ValueError("give a query or at least one entity")
        return self


class ExpandedChunk(Resource):
    """A chunk reached in `hop` steps along `path` (names); `score` is 1 / (1 + 0.3 × hop), a little less for hubs."""

    chunk_id: str
    document_id: UUID
    hop: int
    path: list[str]
    score: float


class ExpandResponse(Resource):
    entities: list[Entity]
    chunks: list[ExpandedChunk]
    store: str = Field(description="Which graph store answered: postgres or neo4j.")


class GraphStatus(Resource):
    store: str
    extraction: str = Field(description="ner+patterns, or patterns when the NER model is absent.")
    entities: int
    relations: int
    documents: int


class GraphedDocument(Resource):
    """What the graph holds of a document. `projected` is false while Neo4j does not show it yet."""

    document_id: UUID
    version: int
    mentions: int
    projected: bool
