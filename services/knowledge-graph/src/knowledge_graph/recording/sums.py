"""Brings `surface`, `entity` and `relation` up to date with what changed: differences where one document changed, sums
anew where others had to follow it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.recording.changes import Changes
from knowledge_graph.recording.rows import fetch
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection


@dataclass(frozen=True)
class ChangedPair:
    """So many more relations between the two, or fewer."""

    source_id: str
    target_id: str
    change: int


async def follow(connection: Connection, workspace_id: UUID, changes: Changes) -> None:
    """Fills in the changes' counts of what was removed."""
    degrees = await _sum_relations(connection, workspace_id, changes)
    await _sum_surfaces(connection, workspace_id, changes)
    await _sum_entities(connection, workspace_id, changes)
    changes.removed_relations = -sum(min(0, one.change) for one in degrees)
    outgoing: Counter[str] = Counter()
    incoming: Counter[str] = Counter()
    for one in degrees:
        outgoing[one.source_id] += one.change
        incoming[one.target_id] += one.change
    ids = sorted(one for one in outgoing.keys() | incoming.keys() if outgoing[one] or incoming[one])
    values = {
        "workspace_id": workspace_id,
        "ids": ids,
        "outgoing": [outgoing[one] for one in ids],
        "incoming": [incoming[one] for one in ids],
    }
    await connection.execute(QUERIES["add_degrees"], values)
    # Their degree is a property of what the projection shows.
    changes.recounted |= set(ids)


async def _sum_relations(connection: Connection, workspace_id: UUID, changes: Changes) -> list[ChangedPair]:
    added = {
        key: change
        for key, change in sorted(changes.evidence.items())
        if any(change) and key[:2] not in changes.resummed
    }
    found: list[ChangedPair] = []
    values = {
        "source_ids": [source for source, _, _ in added],
        "target_ids": [target for _, target, _ in added],
        "types": [relation_type for _, _, relation_type in added],
        "weights": [weight for weight, _ in added.values()],
        "evidences": [evidence for _, evidence in added.values()],
    }
    found += await fetch(connection, ChangedPair, "add_relations", workspace_id=workspace_id, **values)
    pairs = {"source_ids": values["source_ids"], "target_ids": values["target_ids"], "all": False}
    found += await fetch(connection, ChangedPair, "drop_relations", workspace_id=workspace_id, **pairs)
    if changes.resummed:
        resummed = sorted(changes.resummed)
        ends = {"source_ids": [source for source, _ in resummed], "target_ids": [target for _, target in resummed]}
        found += await fetch(connection, ChangedPair, "drop_relations", workspace_id=workspace_id, all=True, **ends)
        found += await fetch(connection, ChangedPair, "sum_relations", workspace_id=workspace_id, **ends)
    return found


async def _sum_surfaces(connection: Connection, workspace_id: UUID, changes: Changes) -> None:
    recounted = {"workspace_id": workspace_id, "ids": sorted(changes.recounted)}
    if changes.recounted:
        await connection.execute(
            "DELETE FROM surface WHERE workspace_id = %(workspace_id)s AND entity_id = ANY(%(ids)s)", recounted
        )
        await connection.execute(QUERIES["sum_surfaces"], recounted)
    added = {key: one for key, one in sorted(changes.uses.items()) if one[1] and key[0] not in changes.recounted}
    await connection.execute(
        QUERIES["add_surfaces"],
        {
            "workspace_id": workspace_id,
            "entity_ids": [entity for entity, _, _ in added],
            "surfaces": [surface for _, surface, _ in added],
            "types": [entity_type for _, _, entity_type in added],
            "surface_keys": [surface_key for surface_key, _ in added.values()],
            "uses": [uses for _, uses in added.values()],
        },
    )
    await connection.execute(
        "DELETE FROM surface WHERE workspace_id = %s AND entity_id = ANY(%s) AND uses <= 0",
        (workspace_id, sorted({entity for entity, _, _ in added})),
    )


async def _sum_entities(connection: Connection, workspace_id: UUID, changes: Changes) -> None:
    ids = sorted(changes.entities)
    values = {"workspace_id": workspace_id, "ids": ids}
    changes.removed_entities = (await connection.execute(QUERIES["delete_entities"], values)).rowcount
    more = {
        "documents": [changes.documents(one) for one in ids],
        "recounted": [one in changes.recounted for one in ids],
        "recounted_ids": sorted(changes.recounted),
    }
    await connection.execute(QUERIES["sum_entities"], values | more)
