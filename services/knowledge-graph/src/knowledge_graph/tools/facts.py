"""What the documents say of one entity."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contracts.graph_tools import EntityFacts, Fact, LookupFacts, Statement
from knowledge_graph.graph_store import GraphStore, StoredEvidence, StoredRelation
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.chunks import ChunkReference, ChunkTexts, ReadChunks, beginning
from knowledge_graph.tools.naming import meant
from knowledge_graph.tools.paths import near_entities, relation

CO_OCCURS = "CO_OCCURS"
LOOKED_AT = 400
"""Relations of which the stated ones come first."""
STATEMENTS_EACH = 2
MOST_NEIGHBOURS = 20


async def lookup_facts(
    store: GraphStore, truth: PostgresStore, chunk_texts: ChunkTexts, workspace_id: UUID, asked: LookupFacts
) -> EntityFacts:
    """Looks up what the documents state, with sentences from PostgreSQL. Raises NoToolResult."""
    found = await meant(store, workspace_id, asked.entity_name)
    relations = await store.relations_of(workspace_id, found.id, LOOKED_AT)
    shown = sorted(relations, key=lambda one: one.relation_type == CO_OCCURS)[: asked.max_relations]
    near = await near_entities(store, workspace_id, found.id, relations, MOST_NEIGHBOURS)
    ends = sorted({end for one in shown for end in (one.source_id, one.target_id)})
    names = {one.id: one.name for one in await store.entities(workspace_id, ends)} if ends else {}
    stated = {
        one: await truth.evidence(workspace_id, one.source_id, one.target_id, one.relation_type, STATEMENTS_EACH)
        for one in shown
        if one.relation_type != CO_OCCURS
    }
    places = [ChunkReference(one.document_id, one.chunk_id) for each in stated.values() for one in each]
    texts = await chunk_texts.read(workspace_id, places)
    return EntityFacts(
        entity=found.entity,
        alternatives=found.alternatives,
        relations=[_fact(one, names, stated.get(one, ()), texts) for one in shown],
        neighbours=near,
        chunks=await chunk_texts.about(workspace_id, found.id, asked.max_chunks) if asked.max_chunks else [],
    )


def _fact(one: StoredRelation, names: dict[str, str], stated: Sequence[StoredEvidence], texts: ReadChunks) -> Fact:
    statements = [_statement(evidence, texts) for evidence in stated]
    return Fact(**relation(one, names).model_dump(), statements=statements)


def _statement(evidence: StoredEvidence, texts: ReadChunks) -> Statement:
    chunk = texts.chunks.get(ChunkReference(evidence.document_id, evidence.chunk_id))
    said = chunk.content[evidence.start : evidence.end or None] if chunk else evidence.phrase
    return Statement(
        document_id=evidence.document_id,
        document_name=texts.names.get(evidence.document_id, ""),
        chunk_id=None if evidence.method == "user" else evidence.chunk_id,
        text=beginning(" ".join(said.split())),
        method=evidence.method,
        confidence=round(evidence.confidence, 3),
    )
