"""Removes workspaces from Neo4j: what the purge of a deleted one does after its rows."""

from __future__ import annotations

from uuid import UUID

from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.rebuilding import remove_workspace
from knowledge_graph.projection.projector import CHANNEL
from service_kit.postgres import Database
from service_kit.workspace_purge import Erased


class ProjectionRemoval:
    """An erasure: while it runs no projection does, and afterwards none finds rows of the workspace to show."""

    def __init__(self, database: Database, neo4j: Neo4jConnection) -> None:
        self.database, self.neo4j = database, neo4j

    async def __call__(self, workspace_id: UUID) -> Erased:
        """Raises StoreUnavailable."""
        async with self.database.system() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (CHANNEL,))
            removed = await remove_workspace(self.neo4j, workspace_id)
            (left,) = await self.neo4j.read("count_nodes", workspace_id)
        return Erased({"neo4j_nodes": removed}, {"neo4j_nodes": int(left["nodes"])})
