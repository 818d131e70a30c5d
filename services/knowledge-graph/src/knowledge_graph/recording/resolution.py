"""Which entity a name stands for, by all that the workspace's documents say of aliases.

A name that is said to be another name of exactly one other is merged into that one; chains are followed, and a circle
is the entity of its smallest id. The answer depends on the set of what is said alone, never on the order it came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.recording.changes import Changes
from knowledge_graph.recording.rows import fetch
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection


@dataclass(frozen=True)
class AliasEdge:
    alias_id: str
    target_id: str
    targets: int


@dataclass(frozen=True)
class Moved:
    """The name `id` stood for the entity `old_id` until now."""

    id: str
    old_id: str
    new_id: str


def resolve(name: str, edges: Mapping[str, str]) -> str:
    """Follows the edges from a name to the entity that it stands for."""
    seen: dict[str, int] = {}
    while name in edges and name not in seen:
        seen[name] = len(seen)
        name = edges[name]
    if name in seen:
        return min(one for one, place in seen.items() if place >= seen[name])
    return name


async def follow(connection: Connection, workspace_id: UUID, aliases: Iterable[str], changes: Changes) -> list[Moved]:
    """After what is said of the `aliases` changed: moves the names that stand for another entity now, with their
    mentions and evidence in all documents. Returns them."""
    names = await _behind(connection, workspace_id, set(aliases))
    edges = await _edges(connection, workspace_id, names)
    resolved = {name: resolve(name, edges) for name in names}
    values = {"workspace_id": workspace_id, "ids": list(resolved), "entity_ids": list(resolved.values())}
    moved = await fetch(connection, Moved, "resolve_names", **values)
    if moved:
        await _move(connection, workspace_id, moved, changes)
    return moved


async def _behind(connection: Connection, workspace_id: UUID, names: set[str]) -> set[str]:
    """The names and all those that are said to be other names of them, over any number of steps."""
    frontier = found = names
    while frontier:
        cursor = await connection.execute(
            QUERIES["aliases_of"], {"workspace_id": workspace_id, "ids": sorted(frontier)}
        )
        frontier = {row[0] for row in await cursor.fetchall()} - found
        found = found | frontier
    return found


async def _edges(connection: Connection, workspace_id: UUID, names: set[str]) -> dict[str, str]:
    """The unambiguous aliases that lead on from the names, to the end."""
    edges: dict[str, str] = {}
    frontier, seen = names, set(names)
    while frontier:
        values = {"workspace_id": workspace_id, "ids": sorted(frontier)}
        found = await fetch(connection, AliasEdge, "alias_edges", **values)
        edges |= {one.alias_id: one.target_id for one in found if one.targets == 1}
        frontier = {one.target_id for one in found if one.targets == 1} - seen
        seen |= frontier
    return edges


async def _move(connection: Connection, workspace_id: UUID, moved: list[Moved], changes: Changes) -> None:
    values = {
        "workspace_id": workspace_id,
        "ids": [one.id for one in moved],
        "olds": [one.old_id for one in moved],
        "news": [one.new_id for one in moved],
    }
    changes.recounted |= {entity for one in moved for entity in (one.old_id, one.new_id)}
    cursor = await connection.execute(QUERIES["move_mentions"], values)
    for document_id, old_id, new_id in await cursor.fetchall():
        changes.mentioned |= {(old_id, document_id), (new_id, document_id)}
    cursor = await connection.execute(QUERIES["move_evidence"], values)
    changes.resummed |= {(source, target) for source, target in await cursor.fetchall()}
