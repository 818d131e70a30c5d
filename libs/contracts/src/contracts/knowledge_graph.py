"""Entities, relations and the state of the graph."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from contracts.base import Resource


class Entity(Resource):
    """`entity_type` is SERVICE, IDENTIFIER, CONCEPT, ENTITY or a NER type; `mentions` counts its mentions in the
    workspace, `documents` the documents and imports of triples that name it.
    """

    id: str
    name: str
    entity_type: str
    mentions: int
    documents: int
    aliases: list[str] = []


class Relation(Resource):
    """A directed relation between entity ids; only CO_OCCURS has no direction (the smaller id comes first).

    `weight` adds up over its evidence: 1.0 for each co-occurrence, 2.0 for each stated relation. `status` is `current`,
    `past` (also if a later document ended it), `planned` or `negated`; only current relations count in a graph's sums
    and searches. `dated` is when it began, ended or will begin, as precisely as the text says: 2024, 2024-06,
    2024-06-28.
    """

    source: str
    source_name: str
    target: str
    target_name: str
    relation_type: str
    weight: float
    evidence: int
    status: str = "current"
    dated: str | None = None


class EntityDetail(Entity):
    relations: list[Relation]
    chunk_ids: list[str]


class TextSpan(Resource):
    """Characters `start` to `end` of a passage."""

    start: int
    end: int


class EntityPassage(Resource):
    """A chunk that mentions an entity, with the places of its name. `text` is null if it cannot be read at present."""

    chunk_id: str
    document_id: UUID
    document_name: str
    section: str | None
    page: int | None
    text: str | None
    spans: list[TextSpan]


class GraphStatus(Resource):
    """Counts of the workspace; `documents` does not count imports of triples."""

    store: str
    extraction: str = Field(
        description="How English is analysed: ner+patterns+dependency, ner+patterns (no parse), or patterns (no model)."
    )
    entities: int
    relations: int
    documents: int


class GraphGeneration(Resource):
    """An opaque token that changes whenever graph answers may change; use it in cache keys."""

    generation: str


class GraphedDocument(Resource):
    """What the graph holds about a document. `projected` is false until the projection has its latest change."""

    document_id: UUID
    version: int
    mentions: int
    projected: bool
