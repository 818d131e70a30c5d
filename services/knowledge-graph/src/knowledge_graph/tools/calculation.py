"""Counts, averages and rankings from a closed set: caller input never becomes a store query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from contracts.graph_tools import Aggregation, CalculatedRow, Calculation, Measure, RunCalculation
from knowledge_graph.extraction.relation_types import DEPENDS_ON, with_below
from knowledge_graph.graph_store import Dependent, GraphStore, Ranked, StoredEntity
from knowledge_graph.tools.naming import MeantEntity, NoToolResult, meant
from knowledge_graph.tools.question_words import POSSIBLE
from knowledge_graph.tools.questions import parsed

MOST_COUNTED = 1_000
MOST_DEPTH = 10
MOST_ROWS = 100
PRECISION = 3


async def run_calculation(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    """Calculates. Raises NoToolResult if the question cannot be calculated or names unknown things."""
    if request.query is not None:
        read = parsed(request.query)
        if read is None:
            raise NoToolResult(
                "this question cannot be calculated; ask one like the suggestions, "
                f"or give an aggregation: {', '.join(Aggregation)}",
                POSSIBLE,
            )
        request = read
    assert request.aggregation is not None
    return await CALCULATED[request.aggregation](store, workspace_id, request)


async def _summary(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    rows = [
        CalculatedRow(label="entities", value=counts.entities),
        *(CalculatedRow(label=f"entities: {kind}", value=number) for kind, number in _sorted(counts.by_type)),
        CalculatedRow(label="relations", value=counts.relations),
        *(CalculatedRow(label=f"relations: {kind}", value=number) for kind, number in _sorted(counts.by_relation_type)),
        CalculatedRow(label="documents", value=counts.documents),
        CalculatedRow(label="average mentions", value=round(counts.average_mentions, PRECISION)),
    ]
    return _calculated(
        request, "entities and relations, in all and by type, and average mentions", rows=rows[:MOST_ROWS]
    )


async def _count_entities(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    if request.entity_type is None:
        return _calculated(request, "entities", value=counts.entities)
    value = _of_type(counts.by_type, request.entity_type, "entities")
    return _calculated(request, f"entities of the type {request.entity_type}", value=value)


async def _count_relations(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    if request.relation_types is None:
        return _calculated(request, "relations", value=counts.relations)
    types = list(dict.fromkeys(request.relation_types))
    value = sum(_of_type(counts.by_relation_type, one, "relations") for one in types)
    return _calculated(request, f"relations of the type {' or '.join(types)}", value=value)


async def _count_documents(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    return _calculated(request, "documents that name an entity", value=counts.documents)


async def _entities_by_type(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    return _calculated(request, "entities by type", rows=_rows(counts.by_type))


async def _relations_by_type(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    return _calculated(request, "relations by type", rows=_rows(counts.by_relation_type))


async def _average_mentions(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    return _calculated(request, "mentions of an entity on average", value=counts.average_mentions)


async def _average_degree(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    counts = await store.counts(workspace_id)
    value = 2 * counts.relations / counts.entities if counts.entities else 0.0
    return _calculated(request, "relations of an entity on average, in both directions", value=value)


async def _top(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    found = await _ranked(store, workspace_id, request)
    if request.entity_type is not None and not found:
        _of_type((await store.counts(workspace_id)).by_type, request.entity_type, "entities")
    rows = [
        CalculatedRow(label=one.entity.name, value=round(one.score, 6), entity_id=one.entity.id)
        for one in found[: request.n]
    ]
    of = f" of the type {request.entity_type}" if request.entity_type else ""
    return _calculated(request, f"the {request.n} entities{of} with the highest {request.by}", rows=rows)


async def _ranked(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> list[Ranked]:
    match request.by:
        case Measure.mentions:
            return await store.top(workspace_id, "mentions", request.entity_type, request.n)
        case Measure.documents:
            return await store.top(workspace_id, "documents", request.entity_type, request.n)
        case Measure.degree:
            return await store.top(workspace_id, "degree", request.entity_type, request.n)
        case Measure.centrality:
            wanted = request.entity_type
            found = await store.centrality(workspace_id, request.n if wanted is None else MOST_COUNTED)
            return [one for one in found if wanted is None or one.entity.entity_type == wanted]


async def _mentions(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    found = await _entity(store, workspace_id, request)
    stored = found.stored
    rows = [
        CalculatedRow(label="mentions", value=stored.mentions, entity_id=stored.id),
        CalculatedRow(label="documents", value=stored.documents, entity_id=stored.id),
    ]
    return _calculated(request, f"mentions of {stored.name}", found, value=stored.mentions, rows=rows)


async def _degree(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    found = await _entity(store, workspace_id, request)
    out, into = (await store.degrees(workspace_id, [found.id])).get(found.id, (0, 0))
    rows = [
        CalculatedRow(label="outgoing", value=out, entity_id=found.id),
        CalculatedRow(label="incoming", value=into, entity_id=found.id),
    ]
    return _calculated(request, f"relations of {found.stored.name}", found, value=out + into, rows=rows)


async def _count_related(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> Calculation:
    found = await _entity(store, workspace_id, request)
    types = with_below(request.relation_types or [DEPENDS_ON])
    depth = MOST_DEPTH if request.transitive else 1
    reached: dict[str, Dependent] = {}
    full = False
    for direction in ("in", "out"):
        if request.direction in (direction, "both"):
            some = await store.closure(workspace_id, found.id, direction, types, depth, MOST_COUNTED)
            full = full or len(some) == MOST_COUNTED
            reached = {one.id: one for one in some} | reached
    kept = sorted(reached.values(), key=lambda one: (one.depth, one.name, one.id))
    if request.entity_type is not None:
        entities = {one.id: one for one in await store.entities(workspace_id, sorted(reached))}
        kept = [one for one in kept if one.id in entities and _is_a(entities[one.id], request.entity_type)]
    rows = [CalculatedRow(label=one.name, value=one.depth, entity_id=one.id) for one in kept[: request.n]]
    understood = _relating(found.stored.name, request, types)
    return _calculated(request, understood, found, value=len(kept), rows=rows, at_least=full)


def _relating(name: str, request: RunCalculation, types: list[str]) -> str:
    """Returns the words for what was counted."""
    what = f"entities of the type {request.entity_type}, or so named," if request.entity_type else "entities"
    ways = {"in": f"that point at {name}", "out": f"that {name} points at", "both": f"tied to {name}"}
    steps = f"over up to {MOST_DEPTH} steps" if request.transitive else "directly"
    return f"{what} {ways[request.direction]} {steps} by {' or '.join(types)}; the rows give the steps"


def _is_a(entity: StoredEntity, kind: str) -> bool:
    """Matches the type or the name: documents say "project" for what extraction has no type for."""
    return entity.entity_type == kind or kind.casefold() in entity.name.casefold()


async def _entity(store: GraphStore, workspace_id: UUID, request: RunCalculation) -> MeantEntity:
    assert request.entity is not None
    return await meant(store, workspace_id, request.entity)


def _of_type(counted: dict[str, int], kind: str, what: str) -> int:
    """Returns the count. Raises NoToolResult if there is no such type, because 0 would suggest that there is."""
    if kind not in counted:
        raise NoToolResult(f"the graph has no {what} of the type {kind}", sorted(counted))
    return counted[kind]


def _rows(counted: dict[str, int]) -> list[CalculatedRow]:
    return [CalculatedRow(label=kind, value=number) for kind, number in _sorted(counted)[:MOST_ROWS]]


def _sorted(counted: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def _calculated(
    request: RunCalculation,
    understood: str,
    found: MeantEntity | None = None,
    *,
    value: float | None = None,
    rows: list[CalculatedRow] | None = None,
    at_least: bool = False,
) -> Calculation:
    assert request.aggregation is not None
    return Calculation(
        aggregation=request.aggregation,
        understood=understood,
        value=None if value is None else round(value, PRECISION),
        rows=rows or [],
        at_least=at_least,
        entity=found.entity if found else None,
        alternatives=found.alternatives if found else [],
    )


CALCULATED: dict[Aggregation, Callable[[GraphStore, UUID, RunCalculation], Awaitable[Calculation]]] = {
    Aggregation.summary: _summary,
    Aggregation.count_entities: _count_entities,
    Aggregation.count_relations: _count_relations,
    Aggregation.count_documents: _count_documents,
    Aggregation.entities_by_type: _entities_by_type,
    Aggregation.relations_by_type: _relations_by_type,
    Aggregation.average_mentions: _average_mentions,
    Aggregation.average_degree: _average_degree,
    Aggregation.top_entities: _top,
    Aggregation.mentions: _mentions,
    Aggregation.degree: _degree,
    Aggregation.count_related: _count_related,
}
