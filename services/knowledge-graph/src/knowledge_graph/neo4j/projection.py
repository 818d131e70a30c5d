"""Writes the graph to Neo4j: the projector's port, implemented."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from neo4j import AsyncManagedTransaction

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import StoredRelation
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.projection.state import GraphParts, GraphState, ProjectedEntity, ProjectedMention
from service_kit.statements import Statements

DELETED_AT_ONCE = 5_000


class WriteCypher(Statements, file="writes.cypher"):
    begin_rebuild: str
    claim_workspace: str
    continue_rebuild: str
    count_mentions: str
    count_nodes: str
    remove_bare_chunks: str
    remove_chunks: str
    remove_documents: str
    remove_entities: str
    remove_mentions: str
    remove_relations: str
    remove_workspace: str
    schema: str
    workspaces: str
    write_chunks: str
    write_documents: str
    write_entities: str
    write_relations: str


class Neo4jProjection:
    """The `Projection` to Neo4j."""

    name = "neo4j"

    def __init__(self, connection: Neo4jConnection) -> None:
        self.connection = connection

    async def prepare(self) -> None:
        for statement in WriteCypher.schema.split(";"):
            await self.connection.statement(statement)

    async def apply(
        self, workspace_id: UUID, turn: int, parts: GraphParts, read: Callable[[], Awaitable[GraphState]]
    ) -> None:
        async def work(transaction: AsyncManagedTransaction) -> None:
            await _claim(transaction, WriteCypher.claim_workspace, workspace_id=str(workspace_id), turn=turn)
            # Only now: rows read before another writer has finished may be older than what it wrote.
            await _Writer(transaction, workspace_id).replace(parts, await read())

        await self.connection.write(work)

    async def rebuild(self, workspace_id: UUID, turn: int, pages: AsyncIterator[GraphState]) -> None:
        await self.delete_workspace(workspace_id)
        values = {"workspace_id": str(workspace_id), "attempt": str(uuid4())}
        await self.connection.statement(WriteCypher.begin_rebuild, **values, turn=turn)
        async for page in pages:
            await self._write_page(workspace_id, values, page)

    async def _write_page(self, workspace_id: UUID, values: dict[str, str], page: GraphState) -> None:
        async def work(transaction: AsyncManagedTransaction) -> None:
            await _claim(transaction, WriteCypher.continue_rebuild, **values)
            await _Writer(transaction, workspace_id).add(page)

        await self.connection.write(work)

    async def mentions_of(self, workspace_id: UUID, document_id: UUID) -> int:
        values = {"document_id": str(document_id)}
        (mentions,) = await self.connection.read(WriteCypher.count_mentions, workspace_id, **values)
        return int(mentions)

    async def workspaces(self) -> set[UUID]:
        return {UUID(row["workspace_id"]) for row in await self.connection.statement(WriteCypher.workspaces)}

    async def delete_workspace(self, workspace_id: UUID) -> int:
        total = 0
        while deleted := await self._delete_batch(workspace_id):
            total += deleted
        return total

    async def _delete_batch(self, workspace_id: UUID) -> int:
        values = {"workspace_id": str(workspace_id), "batch": DELETED_AT_ONCE}
        (row,) = await self.connection.statement(WriteCypher.remove_workspace, **values)
        return int(row["removed"])

    async def remaining(self, workspace_id: UUID) -> int:
        (nodes,) = await self.connection.read(WriteCypher.count_nodes, workspace_id)
        return int(nodes)


class _Writer:
    """Writes one workspace in a transaction."""

    def __init__(self, transaction: AsyncManagedTransaction, workspace_id: UUID) -> None:
        self.transaction, self.workspace_id = transaction, workspace_id

    async def replace(self, parts: GraphParts, state: GraphState) -> None:
        present = {entity.id for entity in state.entities}
        single = parts.single_mentions
        await self._run(WriteCypher.remove_relations, pairs=[list(pair) for pair in sorted(parts.pairs)])
        await self._run(WriteCypher.remove_mentions, mentions=[list(one) for one in single])
        await self._run(WriteCypher.remove_chunks, documents=sorted(parts.documents))
        await self._run(WriteCypher.remove_entities, ids=sorted(parts.entities - present))
        await self._run(WriteCypher.remove_documents, documents=sorted(parts.documents - set(state.documents)))
        await self.add(state)
        await self._run(WriteCypher.remove_bare_chunks, documents=sorted({one for one, _ in single}))

    async def add(self, state: GraphState) -> None:
        await self._run(WriteCypher.write_entities, rows=_plain(state.entities))
        await self._run(WriteCypher.write_relations, rows=_plain(state.relations))
        await self._run(WriteCypher.write_chunks, rows=_plain(state.mentions))
        await self._run(WriteCypher.write_documents, documents=state.documents)

    async def _run(self, cypher: str, **values: list[Any]) -> None:
        if any(values.values()):
            result = await self.transaction.run(cypher, {"workspace_id": str(self.workspace_id), **values})
            await result.consume()


async def _claim(transaction: AsyncManagedTransaction, cypher: str, **values: object) -> None:
    claimed = await transaction.run(cypher, values)
    if await claimed.single() is None:
        raise StoreUnavailable("another projector has taken over")


def _plain(rows: Sequence[ProjectedEntity | StoredRelation | ProjectedMention]) -> list[dict[str, Any]]:
    return [asdict(one) for one in rows]
