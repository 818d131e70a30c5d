"""Reads the whole graph page by page, from one snapshot, and streams it as a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

from knowledge_graph.errors import ExportsBusy
from knowledge_graph.export.formats import ExportForm
from knowledge_graph.graph_store import StoredEntity, StoredRelation
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements

PAGE = 1_000
AT_ONCE = 2
"""Each export holds a connection and a snapshot until its reader is done."""
EXPORT_SECONDS = 900.0
STALLED = {"idle_in_transaction_session_timeout": "60s"}
"""Ends an export whose caller reads nothing for this long."""


class Export:
    """Streams exports: at most two at a time per process, each for up to 15 minutes."""

    def __init__(self, database: Database) -> None:
        self.database, self.running = database, 0

    async def parts(self, workspace_id: UUID, form: ExportForm, min_mentions: int) -> AsyncGenerator[str]:
        """Yields the parts of the file, without entities that have fewer mentions and without their relations.

        Raises ExportsBusy before the first part. A TimeoutError may come at any later point, which leaves the file
        incomplete.
        """
        if self.running >= AT_ONCE:
            raise ExportsBusy(headers={"Retry-After": "10"})
        self.running += 1
        deadline = asyncio.get_running_loop().time() + EXPORT_SECONDS
        try:
            async with self.database.snapshot(workspace_id, settings=STALLED) as connection:
                yield form.head
                async for part in _content(Repository(connection, workspace_id), form, min_mentions):
                    yield part
                    if asyncio.get_running_loop().time() > deadline:
                        raise TimeoutError(f"an export did not end within {EXPORT_SECONDS:g} s")
                yield form.foot
        finally:
            self.running -= 1


class ExportSql(Statements, file="export.sql"):
    entities: str
    relations: str


async def _content(rows: Repository, form: ExportForm, min_mentions: int) -> AsyncGenerator[str]:
    after, kept = "", set[str]()
    while entities := await rows.all(
        ExportSql.entities, StoredEntity, min_mentions=min_mentions, after=after, limit=PAGE
    ):
        if min_mentions > 1:
            kept.update(one.id for one in entities)
        yield "".join(map(form.entity, entities))
        after = entities[-1].id
    last = StoredRelation("", "", "", 0.0, 0)
    while relations := await rows.all(
        ExportSql.relations,
        StoredRelation,
        after_source=last.source_id,
        after_target=last.target_id,
        after_type=last.relation_type,
        limit=PAGE,
    ):
        wanted = [one for one in relations if min_mentions == 1 or {one.source_id, one.target_id} <= kept]
        yield "".join(map(form.relation, wanted))
        last = relations[-1]
