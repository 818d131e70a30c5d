"""Finds statements of what was, is planned or is denied, to show beside current facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.graph_tools import Aggregation, Calculation, Fact, RunCalculation, Statement
from knowledge_graph.extraction.relation_types import DEPENDS_ON, with_below
from knowledge_graph.graph_store import StoredEvidence, StoredStatement
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.chunks import ChunkReference, ChunkTexts, ReadChunks, beginning

MOST_STATEMENTS = 400
MOST_FACTS = 50


@dataclass(frozen=True)
class OtherFact:
    """A fact that is not current."""

    source_id: str
    target_id: str
    relation_type: str
    status: str


def by_fact(statements: Iterable[StoredStatement]) -> dict[OtherFact, list[StoredStatement]]:
    """Groups statements of the same fact; the latest comes first."""
    found: dict[OtherFact, list[StoredStatement]] = {}
    for one in statements:
        found.setdefault(OtherFact(one.source_id, one.target_id, one.relation_type, one.status), []).append(one)
    return found


async def facts_otherwise(
    truth: PostgresStore, texts: ChunkTexts, workspace_id: UUID, entity_id: str, types: Sequence[str]
) -> list[Fact]:
    """Returns the facts about one entity that are not current, each with the places that state it."""
    found = by_fact(await truth.not_current(workspace_id, [entity_id], types, MOST_STATEMENTS))
    shown = list(found)[:MOST_FACTS]
    if not shown:
        return []
    shown_statements = [one for each in shown for one in found[each]]
    read = await texts.read(workspace_id, [ChunkReference(one.document_id, one.chunk_id) for one in shown_statements])
    ends = sorted({end for one in shown for end in (one.source_id, one.target_id)})
    names = {one.id: one.name for one in await truth.entities(workspace_id, ends)}
    return [not_current(one, found[one], names, read) for one in shown]


async def with_others_of_calculation(
    truth: PostgresStore, texts: ChunkTexts, workspace_id: UUID, request: RunCalculation, found: Calculation
) -> Calculation:
    """Adds to a count of related entities the facts that it leaves out because they are not current."""
    entity = found.entity
    if entity is None or found.aggregation != Aggregation.count_related:
        return found
    # How a question in words was read is not known here: the default types and both directions apply.
    types = with_below(request.relation_types or [DEPENDS_ON])
    others = await facts_otherwise(truth, texts, workspace_id, entity.id, types)
    ends = {"in": {"target"}, "out": {"source"}, "both": {"source", "target"}}
    wanted = ends["both" if request.query is not None else request.direction]
    outdated = [one for one in others if entity.id in {getattr(one, end) for end in wanted}]
    return found.model_copy(update={"not_current": outdated})


def not_current(
    fact: OtherFact, shown_statements: Sequence[StoredStatement], names: dict[str, str], texts: ReadChunks
) -> Fact:
    return Fact(
        source=fact.source_id,
        source_name=names.get(fact.source_id, fact.source_id),
        target=fact.target_id,
        target_name=names.get(fact.target_id, fact.target_id),
        relation_type=fact.relation_type,
        weight=0.0,
        evidence=len(shown_statements),
        status=fact.status,
        dated=next((one.dated for one in shown_statements if one.dated), None),
        statements=[statement(one, texts) for one in shown_statements],
    )


def statement(evidence: StoredEvidence, texts: ReadChunks) -> Statement:
    chunk = texts.chunks.get(ChunkReference(evidence.document_id, evidence.chunk_id))
    shown_statements = chunk.content[evidence.start : evidence.end or None] if chunk else evidence.phrase
    return Statement(
        document_id=evidence.document_id,
        document_name=texts.names.get(evidence.document_id, ""),
        chunk_id=None if evidence.method in {"user", "correction"} else evidence.chunk_id,
        text=beginning(" ".join(shown_statements.split())),
        method=evidence.method,
        confidence=round(evidence.confidence, 3),
    )
