"""Which model new documents of a workspace are embedded with: that of the space in which retrieval searches it."""

from __future__ import annotations

from contracts.events import EmbeddingSpaceActivated, Event
from ingestion.statements import SQL
from service_kit.outbox import first_time
from service_kit.postgres import Database


class EmbeddingChoices:
    """A consumer of `embedding_space.activated`. Of two choices the later one holds, in whatever order they arrive."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def activated(self, event: Event) -> None:
        data = EmbeddingSpaceActivated.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            if await first_time(connection, event):
                values = {"model": data.model, "dims": data.dims, "told_at": event.time}
                await connection.execute(SQL["choose_embedding"], {"workspace_id": event.workspace_id, **values})
