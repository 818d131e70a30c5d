"""Brings Neo4j up to date with the provenance tables, many changes at once.

The queue holds each thing that changed once, written in the transaction that changed it. A projection draws the present
state of the oldest ones, in one Neo4j transaction for each workspace, and only then takes them from the queue: whatever
dies in between, it is done again, with the same result.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from neo4j import AsyncManagedTransaction
from prometheus_client import Gauge
from psycopg.rows import class_row

from contracts.events import DocumentPurged
from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.neo4j.changes import Parts, draw, take
from knowledge_graph.neo4j.connection import CYPHER, Neo4jConnection
from knowledge_graph.neo4j.rebuilding import redraw
from knowledge_graph.projection.queue import DOCUMENT, ENTITY, MENTIONS, RELATION, WORKSPACE
from knowledge_graph.recording import provenance
from knowledge_graph.store.postgres import QUERIES
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database

log = logging.getLogger(__name__)
BATCH, MOST_DOCUMENTS = 5_000, 100
RETRY_SECONDS, LONGEST_WAIT_SECONDS = 5.0, 30.0
CHANNEL = "knowledge_graph_projection"


@dataclass(frozen=True)
class Queued:
    workspace_id: UUID
    kind: str
    id: str
    other: str
    sequence: int
    receipt: dict[str, int] | None


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
                batch = _few_documents(
                    await (await rows.execute(QUERIES["next_of_queue"], {"limit": BATCH})).fetchall()
                )
            if self.backlog is not None:
                self.backlog.set(len(batch))
            by_workspace: defaultdict[UUID, list[Queued]] = defaultdict(list)
            for queued in batch:
                by_workspace[queued.workspace_id].append(queued)
            turn = await self._turn()
            for workspace_id, of_workspace in by_workspace.items():
                await self._project(workspace_id, of_workspace, turn)
        return len(batch)

    async def _turn(self) -> int:
        """Greater than that of every projector before, in a transaction of its own: a number is not held for long."""
        async with self.database.system() as connection:
            cursor = await connection.execute("SELECT pg_current_xact_id()::text::bigint")
            return int((await cursor.fetchone() or (0,))[0])

    async def _project(self, workspace_id: UUID, batch: list[Queued], turn: int) -> None:
        whole = next((one for one in batch if one.kind == WORKSPACE), None)
        if whole is not None:
            await redraw(self.database, self.neo4j, workspace_id, turn)
            await self._finish(workspace_id, [whole])
        rest = [one for one in batch if one.kind != WORKSPACE]
        if rest:
            await self._draw(workspace_id, rest, turn)
            await self._finish(workspace_id, rest)

    async def _draw(self, workspace_id: UUID, batch: list[Queued], turn: int) -> None:
        parts = _parts(batch)

        async def work(transaction: AsyncManagedTransaction) -> None:
            claimed = await transaction.run(
                CYPHER["claim_workspace"], {"workspace_id": str(workspace_id), "turn": turn}
            )
            if await claimed.single() is None:
                raise StoreUnavailable("another projector has taken over")
            # Only now: what is read before another writer is done may be older than what that one wrote.
            await draw(transaction, workspace_id, parts, await take(self.database, workspace_id, parts))

        await self.neo4j.write(work)

    async def _finish(self, workspace_id: UUID, batch: Sequence[Queued]) -> None:
        """Unless something changed again meanwhile: then it stays in the queue."""
        async with self.database.workspace(workspace_id) as connection:
            await connection.execute(QUERIES["raise_drawn"], {"workspace_id": workspace_id})
            cursor = await connection.execute(
                QUERIES["leave_queue"],
                {
                    "workspace_id": workspace_id,
                    "kinds": [one.kind for one in batch],
                    "ids": [one.id for one in batch],
                    "others": [one.other for one in batch],
                    "sequences": [one.sequence for one in batch],
                },
            )
            for document_id, receipt in await cursor.fetchall():
                if receipt is None:
                    continue
                left = await provenance.remaining(connection, workspace_id, UUID(document_id))
                (shown,) = await self.neo4j.read("count_mentions", workspace_id, document_id=document_id)
                purged = DocumentPurged(
                    document_id=UUID(document_id),
                    service="knowledge-graph",
                    removed=receipt,
                    remaining={**left, "neo4j_mentions": shown["mentions"]},
                )
                await self.outbox.write(connection, workspace_id, purged, document_id)


def _few_documents(batch: list[Queued]) -> list[Queued]:
    """A Neo4j transaction is held in memory, and a document has many mentions."""
    documents = [place for place, one in enumerate(batch) if one.kind == DOCUMENT]
    return batch[: documents[MOST_DOCUMENTS - 1] + 1] if len(documents) > MOST_DOCUMENTS else batch


def _parts(batch: Sequence[Queued]) -> Parts:
    return Parts(
        entities={one.id for one in batch if one.kind == ENTITY},
        pairs={(one.id, one.other) for one in batch if one.kind == RELATION},
        documents={one.id for one in batch if one.kind == DOCUMENT},
        mentions={(one.id, one.other) for one in batch if one.kind == MENTIONS},
    )
