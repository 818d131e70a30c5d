"""An opaque token for the state of a workspace's graph, used by caches of answers derived from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import UUID

from knowledge_graph.recording.provenance import ProvenanceSql
from service_kit.code_digest import code_digest
from service_kit.postgres import Connection, Database


class Generations:
    """Creates the tokens. They cover the rows, the code, and the `settings` that answers depend on."""

    def __init__(self, database: Database, settings: str) -> None:
        self.database, self.version = database, code_digest(settings, "knowledge_graph")[:16]

    async def token(self, workspace_id: UUID) -> str:
        """Returns a token that changes whenever the graph's answers may change."""
        async with self.snapshot(workspace_id, {}) as (_, token):
            return token

    @asynccontextmanager
    async def snapshot(self, workspace_id: UUID, settings: Mapping[str, str]) -> AsyncIterator[tuple[Connection, str]]:
        """Opens a snapshot and returns the token of what it sees, in one round trip."""
        statement, values = ProvenanceSql.generation, {"workspace_id": workspace_id}
        async with self.database.snapshot_with(workspace_id, settings, statement, values) as (connection, found):
            yield connection, f"{self.version}.{found['generation']}.{found['changed_by']}"
