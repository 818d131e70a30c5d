"""Brings Neo4j up to date with the provenance tables, document by document.

The queue holds each changed document once, written in the transaction that changed it. A projection writes the
present state of what the document touches or touched, in one Neo4j transaction, and only then leaves the queue:
whatever dies in between, it is done again, with the same result.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from neo4j import AsyncManagedTransaction
from prometheus_client import Gauge
from psycopg.rows import class_row

from contracts.events import DocumentPurged
from knowledge_graph import provenance
from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import StoredEntity, StoredRelation
from knowledge_graph.neo4j_connection import CYPHER, Neo4jConnection
from knowledge_graph.postgres_store import QUERIES
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database

log = logging.getLogger(__name__)
BATCH = 20
RETRY_SECONDS, LONGEST_WAIT_SECONDS = 5.0, 30.0
CHANNEL = "knowledge_graph_projection"


@dataclass(frozen=True)
class Queued:
    workspace_id: UUID
    document_id: UUID
    sequence: int
    receipt: dict[str, int] | None


@dataclass(frozen=True)
class Mentioned:
    entity_id: str
    chunk_id: str
    mentions: int


@dataclass(frozen=True)
class Picture:
    """What Neo4j is to show of some entities: those that exist, what links them, and one document's chunks."""

    entities: list[StoredEntity]
    relations: list[StoredRelation]
    chunks: list[Mentioned]


class Projector:
    """One replica at a time projects; the others wait."""

    def __init__(
        self, database: Database, neo4j: Neo4jConnection, outbox: Outbox, backlog: Gauge | None = None
    ) -> None:
        self.database, self.neo4j, self.outbox, self.backlog = database, neo4j, outbox, backlog

    async def run(self, notifications: Notifications) -> None:
        """Runs until cancelled. While Neo4j is away the queue waits: that is no failure of this service."""
        async with notifications.subscribe(CHANNEL) as queued:
            has_schema = False
            while True:
                try:
                    if not has_schema:
                        await self.create_schema()
                        has_schema = True
                    if not await self.project_batch():
                        await queued.wait(LONGEST_WAIT_SECONDS)
                except StoreUnavailable as error:
                    log.warning("the projection waits for Neo4j: %s", error)
                    await asyncio.sleep(RETRY_SECONDS)

    async def create_schema(self) -> None:
        for statement in CYPHER["schema"].split(";"):
            await self.neo4j.statement(statement)

    async def project_batch(self) -> int:
        """Projects the oldest of the queue and returns how many; 0 also when another replica is at it."""
        async with self.database.system() as connection:
            cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (CHANNEL,))
            if not (await cursor.fetchone() or (False,))[0]:
                return 0
            async with connection.cursor(row_factory=class_row(Queued)) as rows:
                await rows.execute(
                    "SELECT workspace_id, document_id, sequence, receipt FROM projection_queue "
                    "ORDER BY sequence LIMIT %s",
                    (BATCH,),
                )
                batch = await rows.fetchall()
            if self.backlog is not None:
                self.backlog.set(len(batch))
            for queued in batch:
                await self.project(queued)
        return len(batch)

    async def project(self, queued: Queued) -> None:
        async def work(transaction: AsyncManagedTransaction) -> None:
            values: dict[str, Any] = {
                "workspace_id": str(queued.workspace_id),
                "document_id": str(queued.document_id),
                "sequence": queued.sequence,
            }
            claimed = await transaction.run(CYPHER["claim_document"], values)
            if await claimed.single() is None:
                return
            touched = await transaction.run(CYPHER["touched_entities"], values)
            before = {str(record["id"]) async for record in touched}
            await _draw(transaction, values, before, await self._picture(queued, before))

        await self.neo4j.write(work)
        await self._finish(queued)

    async def _picture(self, queued: Queued, before: set[str]) -> Picture:
        values: dict[str, Any] = {"workspace_id": queued.workspace_id, "document_id": queued.document_id}
        async with self.database.workspace(queued.workspace_id) as connection:
            async with connection.cursor(row_factory=class_row(Mentioned)) as cursor:
                chunks = await (await cursor.execute(QUERIES["document_chunks"], values)).fetchall()
            values["ids"] = sorted(before | {one.entity_id for one in chunks})
            async with connection.cursor(row_factory=class_row(StoredEntity)) as of_entities:
                entities = await (await of_entities.execute(QUERIES["entities_by_id"], values)).fetchall()
            async with connection.cursor(row_factory=class_row(StoredRelation)) as of_relations:
                relations = await (await of_relations.execute(QUERIES["relations_among"], values)).fetchall()
        return Picture(entities, relations, chunks)

    async def _finish(self, queued: Queued) -> None:
        """Unless the document changed again meanwhile: then it stays in the queue."""
        workspace_id, document_id = queued.workspace_id, queued.document_id
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(
                "DELETE FROM projection_queue WHERE workspace_id = %s AND document_id = %s AND sequence = %s",
                (workspace_id, document_id, queued.sequence),
            )
            if cursor.rowcount and queued.receipt is not None:
                left = await provenance.remaining(connection, workspace_id, document_id)
                (shown,) = await self.neo4j.read("count_mentions", workspace_id, document_id=str(document_id))
                purged = DocumentPurged(
                    document_id=document_id,
                    service="knowledge-graph",
                    removed=queued.receipt,
                    remaining={**left, "neo4j_mentions": shown["mentions"]},
                )
                await self.outbox.write(connection, workspace_id, purged, str(document_id))


async def _draw(
    transaction: AsyncManagedTransaction, values: dict[str, Any], before: set[str], picture: Picture
) -> None:
    shown = {entity.id for entity in picture.entities}
    steps: list[tuple[str, dict[str, Any]]] = [
        ("remove_chunks", {}),
        ("remove_relations", {"ids": sorted(before | shown)}),
        ("remove_entities", {"ids": sorted(before - shown)}),
        ("write_entities", {"rows": [asdict(entity) for entity in picture.entities]}),
        ("write_relations", {"rows": [asdict(relation) for relation in picture.relations]}),
        ("write_chunks", {"rows": [asdict(chunk) for chunk in picture.chunks]}),
    ]
    for name, more in steps:
        await (await transaction.run(CYPHER[name], values | more)).consume()
