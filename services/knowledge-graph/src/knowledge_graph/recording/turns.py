"""A workspace's turn to write its graph, for API callers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from psycopg.errors import LockNotAvailable

from knowledge_graph.recording.provenance import GraphProvenance
from service_kit.postgres import Connection, Database
from service_kit.problems import Unavailable

LONGEST_WAIT = "20s"


@asynccontextmanager
async def writing(database: Database, workspace_id: UUID) -> AsyncIterator[Connection]:
    """Opens a transaction that has the workspace's turn; waits less long than a consumer, as a caller waits too.

    Raises Unavailable.
    """
    async with database.workspace(workspace_id) as connection:
        try:
            await GraphProvenance(connection, workspace_id).lock(LONGEST_WAIT)
        except LockNotAvailable as error:
            raise Unavailable("other changes of this workspace's graph are being written; try again") from error
        yield connection
