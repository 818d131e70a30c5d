"""Deletes workspaces from the projection, after their rows."""

from __future__ import annotations

from uuid import UUID

from knowledge_graph.projection.port import Projection
from knowledge_graph.projection.queue import ProjectionQueues
from service_kit.postgres import Database
from service_kit.workspace_purge import Erased


class ProjectionDeletion:
    """Runs after a workspace's rows are deleted: no projector runs meanwhile, and none finds rows afterwards."""

    def __init__(self, database: Database, projection: Projection) -> None:
        self.database, self.projection = database, projection

    async def __call__(self, workspace_id: UUID) -> Erased:
        """Deletes the workspace from the projection. Raises StoreUnavailable."""
        async with self.database.system() as connection:
            await ProjectionQueues(connection).lock()
            deleted = await self.projection.delete_workspace(workspace_id)
            left = await self.projection.remaining(workspace_id)
        kind = f"{self.projection.name}_nodes"
        return Erased({kind: deleted}, {kind: left})
