"""Compares the sums in PostgreSQL with their provenance, and corrects the differences."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.recording.changes import Changes, Pair
from knowledge_graph.recording.provenance import GraphProvenance
from knowledge_graph.recording.sums import Sums
from service_kit.postgres import Connection, Database

NO_DOCUMENT = UUID(int=0)


@dataclass(frozen=True)
class WrongSums:
    """Entities with wrong mentions, documents or existence; pairs with wrong relations; entities with a wrong
    degree."""

    entities: list[str]
    pairs: list[Pair]
    degrees: list[str]

    def __bool__(self) -> bool:
        return bool(self.entities or self.pairs or self.degrees)

    def __str__(self) -> str:
        return f"{len(self.entities)} entities, {len(self.pairs)} related pairs, {len(self.degrees)} degrees"


async def wrong_sums(database: Database, workspace_id: UUID) -> WrongSums:
    """Compares the sums with all provenance of the workspace, in one snapshot."""
    async with database.snapshot(workspace_id, settings={"statement_timeout": "0"}) as connection:
        return await _wrong(connection, workspace_id)


async def recount(connection: Connection, workspace_id: UUID) -> WrongSums:
    """Corrects what is wrong, in the workspace's turn; returns what was wrong. The caller queues the projection of the
    workspace."""
    provenance, sums = GraphProvenance(connection, workspace_id), Sums(connection, workspace_id)
    await provenance.lock()
    await connection.execute("SET LOCAL statement_timeout = 0")
    wrong = await _wrong(connection, workspace_id)
    if wrong:
        await sums.follow(Changes([NO_DOCUMENT], recounted=set(wrong.entities), resummed=set(wrong.pairs)))
        await sums.count_degrees(await sums.wrong_degrees())
        await provenance.raise_generation()
    return wrong


async def _wrong(connection: Connection, workspace_id: UUID) -> WrongSums:
    sums = Sums(connection, workspace_id)
    return WrongSums(await sums.wrong_entities(), await sums.wrong_pairs(), await sums.wrong_degrees())
