"""Words in earlier chunks become mentions when another document makes them a name, and stop being mentions with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.recording.changes import Changes, Use
from knowledge_graph.recording.resolution import Moved
from knowledge_graph.recording.rows import Names, candidate_hash, fetch
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection

MOST_CHUNKS = 1_000
"""Words that could be a name in more chunks than this are an ordinary word: only its own mentions count."""


@dataclass(frozen=True)
class KnownName:
    id: str
    hash: int
    entity_id: str
    own: int
    evidence: int
    is_known: bool
    is_widespread: bool
    is_alive: bool


@dataclass(frozen=True)
class Spread:
    id: str
    hash: int
    chunks: int


@dataclass(frozen=True)
class Mark:
    """What a name is to be marked with."""

    hash: int
    is_known: bool
    chunks: int

    @property
    def is_widespread(self) -> bool:
        return self.chunks > MOST_CHUNKS


@dataclass(frozen=True)
class Rematched:
    document_id: UUID
    entity_id: str
    surface: str
    surface_key: str
    uses: int


async def write_names(connection: Connection, workspace_id: UUID, old: Names, new: Names) -> set[str]:
    """Adds what a document's names changed by; returns those that did."""
    changed = sorted(
        name
        for name in old.keys.keys() | new.keys.keys()
        if old.own[name] != new.own[name] or old.evidence[name] != new.evidence[name]
    )
    keys = old.keys | new.keys
    await connection.execute(
        QUERIES["write_names"],
        {
            "workspace_id": workspace_id,
            "ids": changed,
            "hashes": [candidate_hash(workspace_id, name) for name in changed],
            "name_keys": [keys[name] for name in changed],
            "owns": [new.own[name] - old.own[name] for name in changed],
            "evidences": [new.evidence[name] - old.evidence[name] for name in changed],
        },
    )
    return set(changed)


async def follow(
    connection: Connection,
    workspace_id: UUID,
    changed: set[str],
    moved: list[Moved],
    spread: Counter[int],
    changes: Changes,
) -> None:
    """After names `changed` or `moved` and the document has candidates in so many more chunks (`spread`, by hash):
    the candidates of every name that is known now are mentions, and no others."""
    marks = await _respread(connection, workspace_id, spread)
    entities = {entity for one in moved for entity in (one.old_id, one.new_id)}
    cursor = await connection.execute(
        "SELECT DISTINCT entity_id FROM name WHERE workspace_id = %s AND id = ANY(%s)", (workspace_id, sorted(changed))
    )
    entities |= {row[0] for row in await cursor.fetchall()}
    names = await fetch(connection, KnownName, "names_of_entities", workspace_id=workspace_id, ids=sorted(entities))
    turned = [one for one in names if one.is_known != one.is_alive]
    counts = await _count(connection, [one.hash for one in turned if one.is_alive])
    marks |= {one.id: Mark(one.hash, one.is_alive, counts.get(one.hash, 0)) for one in turned}
    await _mark(connection, workspace_id, marks)
    # What had no mentions and gets none need not be looked at, in however many chunks it is.
    idle = {one.hash for one in turned if (one.is_widespread if one.is_known else marks[one.id].is_widespread)}
    await _rematch(connection, workspace_id, [one.hash for one in marks.values() if one.hash not in idle], changes)
    gone = [one.id for one in names if one.own == 0 and one.evidence == 0]
    await connection.execute("DELETE FROM name WHERE workspace_id = %s AND id = ANY(%s)", (workspace_id, gone))


async def _respread(connection: Connection, workspace_id: UUID, spread: Counter[int]) -> dict[str, Mark]:
    """Of known names: those that became widespread, or no longer are."""
    changed = [hashed for hashed, chunks in spread.items() if chunks]
    values = {"hashes": changed, "chunks": [spread[hashed] for hashed in changed], "most": MOST_CHUNKS}
    found = await fetch(connection, Spread, "count_known", workspace_id=workspace_id, **values)
    return {one.id: Mark(one.hash, True, one.chunks) for one in found}


async def _count(connection: Connection, hashes: list[int]) -> dict[int, int]:
    if not hashes:
        return {}
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT hash, chunks FROM count_candidates(%s::bigint[])", (hashes,))
        return dict(await cursor.fetchall())


async def _mark(connection: Connection, workspace_id: UUID, marks: dict[str, Mark]) -> None:
    if not marks:
        return
    await connection.execute(
        QUERIES["mark_names"],
        {
            "workspace_id": workspace_id,
            "ids": list(marks),
            "knowns": [one.is_known for one in marks.values()],
            "chunks": [one.chunks for one in marks.values()],
            "widespreads": [one.is_widespread for one in marks.values()],
        },
    )


async def _rematch(connection: Connection, workspace_id: UUID, hashes: list[int], changes: Changes) -> None:
    """In the document's own chunks, and in all that hold candidates of these names."""
    async with connection.cursor() as cursor:
        await cursor.execute(
            QUERIES["chunks_to_match"],
            {"workspace_id": workspace_id, "document_id": changes.document_id, "hashes": hashes},
        )
        chunks = await cursor.fetchall()
    if not chunks:
        return
    values = {"document_ids": [one[0] for one in chunks], "first_numbers": [one[1] for one in chunks]}
    found = await fetch(connection, Rematched, "match_candidates", workspace_id=workspace_id, **values)
    for one in found:
        if one.document_id == changes.document_id:
            changes.use(Use(one.entity_id, one.surface, "", one.surface_key, one.uses))
            changes.entities_after.add(one.entity_id)
        else:
            changes.recounted.add(one.entity_id)
            changes.mentioned.add((one.entity_id, one.document_id))
