"""Looks up what the documents say about one entity."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contracts.graph_tools import EntityFacts, Fact, LookupFacts
from knowledge_graph.graph_store import GraphStore, StoredEvidence, StoredRelation
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.chunks import ChunkReference, ChunkTexts, ReadChunks
from knowledge_graph.tools.naming import meant
from knowledge_graph.tools.otherwise import by_fact, not_current, statement
from knowledge_graph.tools.paths import near_entities

CO_OCCURS = "CO_OCCURS"
LOOKED_AT = 400
"""Relations that are read; the stated ones are shown first."""
STATEMENTS_EACH = 2
MOST_NEIGHBOURS = 20


async def lookup_facts(
    store: GraphStore, truth: PostgresStore, chunk_texts: ChunkTexts, workspace_id: UUID, request: LookupFacts
) -> EntityFacts:
    """Looks up what the documents state, with sentences from PostgreSQL. Raises NoToolResult."""
    found = await meant(store, workspace_id, request.entity_name)
    relations = await store.relations_of(workspace_id, found.id, LOOKED_AT)
    shown = sorted(relations, key=lambda one: one.relation_type == CO_OCCURS)[: request.max_relations]
    near = await near_entities(store, workspace_id, found.id, relations, MOST_NEIGHBOURS)
    otherwise = by_fact(await truth.not_current(workspace_id, [found.id], None, LOOKED_AT))
    others = list(otherwise)[: request.max_relations]
    pairs = [(one.source_id, one.target_id) for one in shown] + [(one.source_id, one.target_id) for one in others]
    ends = sorted({end for pair in pairs for end in pair})
    names = {one.id: one.name for one in await store.entities(workspace_id, ends)} if ends else {}
    stated = {
        one: await truth.evidence(workspace_id, one.source_id, one.target_id, one.relation_type, STATEMENTS_EACH)
        for one in shown
        if one.relation_type != CO_OCCURS
    }
    shown_statements = [one for each in stated.values() for one in each] + [
        one for each in others for one in otherwise[each]
    ]
    texts = await chunk_texts.read(
        workspace_id, [ChunkReference(one.document_id, one.chunk_id) for one in shown_statements]
    )
    return EntityFacts(
        entity=found.entity,
        alternatives=found.alternatives,
        relations=[
            *(_fact(one, names, stated.get(one, ()), texts) for one in shown),
            *(not_current(one, otherwise[one], names, texts) for one in others),
        ],
        neighbours=near,
        chunks=await chunk_texts.about(workspace_id, found.id, request.max_chunks) if request.max_chunks else [],
    )


def _fact(one: StoredRelation, names: dict[str, str], stated: Sequence[StoredEvidence], texts: ReadChunks) -> Fact:
    statements = [statement(evidence, texts) for evidence in stated]
    return Fact(**one.to_contract(names).model_dump(), statements=statements)
