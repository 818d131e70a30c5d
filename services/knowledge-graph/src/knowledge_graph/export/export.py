"""Reads the whole graph page by page, from one snapshot, for a file that is written while it is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from knowledge_graph.errors import ExportsBusy
from knowledge_graph.export.formats import Form
from knowledge_graph.graph_store import StoredEntity, StoredRelation
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection, Database

Row = TypeVar("Row", StoredEntity, StoredRelation)
PAGE = 1_000
AT_ONCE = 2
"""Each holds a connection and a snapshot as long as its reader takes."""
EXPORT_SECONDS = 900.0
STALLED = {"idle_in_transaction_session_timeout": "60s"}
"""A reader that takes nothing for so long gets no more."""


class Export:
    """Two run at once in a process; each has a quarter of an hour."""

    def __init__(self, database: Database) -> None:
        self.database, self.running = database, 0

    async def parts(self, workspace_id: UUID, form: Form, min_mentions: int) -> AsyncGenerator[str]:
        """The file; entities that are mentioned less often are left out, and relations with them.

        Raises ExportsBusy before the first part, TimeoutError in the middle: the file is then not complete.
        """
        if self.running >= AT_ONCE:
            raise ExportsBusy(headers={"Retry-After": "10"})
        self.running += 1
        deadline = asyncio.get_running_loop().time() + EXPORT_SECONDS
        try:
            async with self.database.snapshot(workspace_id, settings=STALLED) as connection:
                yield form.head
                async for part in _content(connection, workspace_id, form, min_mentions):
                    yield part
                    if asyncio.get_running_loop().time() > deadline:
                        raise TimeoutError(f"an export did not end within {EXPORT_SECONDS:g} s")
                yield form.foot
        finally:
            self.running -= 1


async def _content(connection: Connection, workspace_id: UUID, form: Form, min_mentions: int) -> AsyncGenerator[str]:
    values: dict[str, Any] = {"workspace_id": workspace_id, "min_mentions": min_mentions, "limit": PAGE, "after": ""}
    shown: set[str] = set()
    while entities := await _page(connection, StoredEntity, QUERIES["export_entities"], values):
        if min_mentions > 1:
            shown.update(one.id for one in entities)
        yield "".join(map(form.entity, entities))
        values["after"] = entities[-1].id
    values |= {"after_source": "", "after_target": "", "after_type": ""}
    while relations := await _page(connection, StoredRelation, QUERIES["export_relations"], values):
        kept = [one for one in relations if min_mentions == 1 or {one.source_id, one.target_id} <= shown]
        yield "".join(map(form.relation, kept))
        last = relations[-1]
        values |= {
            "after_source": last.source_id,
            "after_target": last.target_id,
            "after_type": last.relation_type,
        }


async def _page(connection: Connection, row: type[Row], query: LiteralString, values: dict[str, Any]) -> list[Row]:
    async with connection.cursor(row_factory=class_row(row)) as cursor:
        return await (await cursor.execute(query, values)).fetchall()
