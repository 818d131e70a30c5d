"""Compares the sums in PostgreSQL with the provenance that they are of, and counts anew what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from knowledge_graph.projection.queue import queue
from knowledge_graph.recording import provenance, sums
from knowledge_graph.recording.changes import Changes, Pair
from knowledge_graph.recording.generation import raise_generation
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection, Database

NO_DOCUMENT = UUID(int=0)


@dataclass(frozen=True)
class WrongSums:
    """Entities whose mentions, documents or existence is wrong, pairs whose relations are, entities whose degree is."""

    entities: list[str]
    pairs: list[Pair]
    degrees: list[str]

    def __bool__(self) -> bool:
        return bool(self.entities or self.pairs or self.degrees)

    def __str__(self) -> str:
        return f"{len(self.entities)} entities, {len(self.pairs)} related pairs, {len(self.degrees)} degrees"


async def wrong_sums(database: Database, workspace_id: UUID) -> WrongSums:
    """Of one moment. Reads all of the workspace's provenance."""
    async with database.snapshot(workspace_id, settings={"statement_timeout": "0"}) as connection:
        return await _wrong(connection, workspace_id)


async def recount(database: Database, workspace_id: UUID) -> WrongSums:
    """Counts what is wrong anew, in the workspace's turn; Neo4j is drawn anew after it. Returns what was wrong."""
    async with database.workspace(workspace_id) as connection:
        await provenance.lock(connection, workspace_id)
        await connection.execute("SET LOCAL statement_timeout = 0")
        wrong = await _wrong(connection, workspace_id)
        if not wrong:
            return wrong
        changes = Changes(NO_DOCUMENT, recounted=set(wrong.entities), resummed=set(wrong.pairs))
        await sums.follow(connection, workspace_id, changes)
        ids = [one for (one,) in await _rows(connection, "wrong_degrees", workspace_id)]
        await connection.execute(QUERIES["count_degrees"], {"workspace_id": workspace_id, "ids": ids})
        await raise_generation(connection, workspace_id)
        await queue(connection, workspace_id, changes, projects=False)
        return wrong


async def _wrong(connection: Connection, workspace_id: UUID) -> WrongSums:
    return WrongSums(
        entities=[one for (one,) in await _rows(connection, "wrong_entities", workspace_id)],
        pairs=[(source, target) for source, target in await _rows(connection, "wrong_relations", workspace_id)],
        degrees=[one for (one,) in await _rows(connection, "wrong_degrees", workspace_id)],
    )


async def _rows(connection: Connection, name: str, workspace_id: UUID) -> list[tuple[Any, ...]]:
    return await (await connection.execute(QUERIES[name], {"workspace_id": workspace_id})).fetchall()
