"""The graph as the provenance tables in PostgreSQL tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from knowledge_graph.graph_store import (
    EntityFilter,
    MentioningChunk,
    Neighbour,
    Statistics,
    StoredEntity,
    StoredRelation,
)
from service_kit.postgres import Database
from service_kit.queries import load

Row = TypeVar("Row")
QUERIES = load("knowledge_graph")


@dataclass(frozen=True)
class StoredDocument:
    """What there is of a document; `queued` for the projection."""

    document_id: UUID
    version: int
    mentions: int
    queued: bool


class PostgresStore:
    """A `GraphStore`."""

    name = "postgres"

    def __init__(self, database: Database, statement_milliseconds: int = 5_000) -> None:
        self.database, self.statement_milliseconds = database, statement_milliseconds

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        return await self._all(StoredEntity, QUERIES["entities_by_id"], workspace_id, ids=list(ids))

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
        mentions, last = wanted.after or (None, None)
        return await self._all(
            StoredEntity,
            QUERIES["list_entities"],
            workspace_id,
            prefix=wanted.prefix,
            entity_type=wanted.entity_type,
            after_mentions=mentions,
            after_id=last,
            limit=wanted.limit,
        )

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        return await self._all(StoredRelation, QUERIES["relations_of"], workspace_id, id=entity_id, limit=limit)

    async def neighbours(self, workspace_id: UUID, ids: Sequence[str], fan_out: int) -> list[Neighbour]:
        return await self._all(Neighbour, QUERIES["neighbours"], workspace_id, ids=list(ids), fan_out=fan_out)

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        return await self._all(MentioningChunk, QUERIES["chunks_of"], workspace_id, ids=list(ids), limit=limit)

    async def statistics(self, workspace_id: UUID) -> Statistics:
        (row,) = await self._all(Statistics, QUERIES["statistics"], workspace_id)
        return row

    async def documents(self, workspace_id: UUID, after: UUID | None, limit: int) -> list[StoredDocument]:
        """By id; not of the `GraphStore`, as only the truth knows what a projection has yet to show."""
        return await self._all(StoredDocument, QUERIES["list_documents"], workspace_id, after=after, limit=limit)

    async def _all(self, row: type[Row], query: LiteralString, workspace_id: UUID, **values: Any) -> list[Row]:
        async with self.database.workspace(workspace_id) as connection:
            await connection.execute(
                "SELECT set_config('statement_timeout', %s, true)", (str(self.statement_milliseconds),)
            )
            async with connection.cursor(row_factory=class_row(row)) as cursor:
                return await (await cursor.execute(query, {"workspace_id": workspace_id, **values})).fetchall()
