"""A whole workspace is drawn anew, page by page, straight from the tables. Readers ask PostgreSQL meanwhile, and what
changes meanwhile is in the queue and drawn again after it."""

from __future__ import annotations

from uuid import UUID, uuid4

from neo4j import AsyncManagedTransaction

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import StoredRelation
from knowledge_graph.neo4j.changes import Picture, ShownDocument, ShownEntity, ShownMention, add, rows
from knowledge_graph.neo4j.connection import CYPHER, Neo4jConnection
from service_kit.postgres import Database

ROWS, DOCUMENTS, REMOVED = 10_000, 200, 5_000


async def redraw(database: Database, neo4j: Neo4jConnection, workspace_id: UUID, turn: int) -> None:
    """The caller holds the projection's lock. Raises StoreUnavailable; then it is to be begun again."""
    await remove_workspace(neo4j, workspace_id)
    page = _Pages(database, neo4j, workspace_id, str(uuid4()))
    await page.begin(turn)
    await page.entities()
    await page.relations()
    await page.documents()


class _Pages:
    """`drawing` names this attempt: one that another has taken over stops."""

    def __init__(self, database: Database, neo4j: Neo4jConnection, workspace_id: UUID, drawing: str) -> None:
        self.database, self.neo4j, self.workspace_id, self.drawing = database, neo4j, workspace_id, drawing

    async def begin(self, turn: int) -> None:
        values = {"workspace_id": str(self.workspace_id), "turn": turn, "drawing": self.drawing}
        await self.neo4j.statement(CYPHER["begin_drawing"], **values)

    async def entities(self) -> None:
        after = ""
        while True:
            async with self.database.workspace(self.workspace_id) as connection:
                values = {"workspace_id": self.workspace_id, "after": after, "limit": ROWS}
                found = await rows(connection, ShownEntity, "page_of_entities", **values)
            if not found:
                return
            await self._add(Picture(found, [], [], []))
            after = found[-1].id

    async def relations(self) -> None:
        after = {"source_id": "", "target_id": "", "relation_type": ""}
        while True:
            async with self.database.workspace(self.workspace_id) as connection:
                values = {"workspace_id": self.workspace_id, **after, "limit": ROWS}
                found = await rows(connection, StoredRelation, "page_of_relations", **values)
            if not found:
                return
            await self._add(Picture([], found, [], []))
            last = found[-1]
            after = {"source_id": last.source_id, "target_id": last.target_id, "relation_type": last.relation_type}

    async def documents(self) -> None:
        after = None
        while True:
            async with self.database.snapshot(self.workspace_id) as connection:
                workspace = {"workspace_id": self.workspace_id}
                found = await rows(
                    connection, ShownDocument, "page_of_documents", **workspace, after=after, limit=DOCUMENTS
                )
                ids = [one.id for one in found]
                of = {"documents": ids, "mention_documents": [], "mention_entities": []}
                mentions = await rows(connection, ShownMention, "shown_mentions", **workspace, **of)
            if not ids:
                return
            await self._add(Picture([], [], mentions, [one.id for one in found if not one.is_import]))
            after = UUID(ids[-1])

    async def _add(self, picture: Picture) -> None:
        values = {"workspace_id": str(self.workspace_id), "drawing": self.drawing}

        async def work(transaction: AsyncManagedTransaction) -> None:
            claimed = await transaction.run(CYPHER["continue_drawing"], values)
            if await claimed.single() is None:
                raise StoreUnavailable("another projector has taken over")
            await add(transaction, self.workspace_id, picture)

        await self.neo4j.write(work)


async def remove_workspace(neo4j: Neo4jConnection, workspace_id: UUID) -> int:
    """Returns how many nodes were removed; their relations go with them."""
    total = 0
    while removed := await _remove_batch(neo4j, workspace_id):
        total += removed
    return total


async def _remove_batch(neo4j: Neo4jConnection, workspace_id: UUID) -> int:
    values = {"workspace_id": str(workspace_id), "batch": REMOVED}
    (row,) = await neo4j.statement(CYPHER["remove_workspace"], **values)
    return int(row["removed"])
