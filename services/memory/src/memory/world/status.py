"""The status of a workspace's project: a manifest, compiled without a model and stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from contracts.world import ProjectStatus, StatusActivity, StatusDocument, WorldDocument, WorldEvent
from memory.world.document import Document, defaults, repaired
from memory.world.repository import WorldPlace, WorldRows
from service_kit.postgres import Connection
from service_kit.repository import Repository
from service_kit.statements import Statements

SHOWN, LONGEST = 20, 200


class StatusSql(Statements, file="status.sql"):
    """The statements for the status, and for what it is compiled from."""

    put_documents: LiteralString
    delete_documents: LiteralString
    count_documents: LiteralString
    newest_documents: LiteralString
    put_status: LiteralString
    is_current: LiteralString


class StatusRows(Repository):
    """The known documents, and the compiled status."""

    async def put_documents(self, told: Sequence[tuple[UUID, str, datetime]]) -> None:
        """Stores the names of documents, in the order of their events."""
        document_ids, names, told_at = ([one[place] for one in told] for place in range(3))
        await self.run(StatusSql.put_documents, document_ids=document_ids, names=names, told_at=told_at)

    async def delete_documents(self, document_ids: Sequence[UUID]) -> None:
        await self.run(StatusSql.delete_documents, document_ids=list(document_ids))

    async def count_documents(self) -> int:
        return int(await self.value(StatusSql.count_documents))

    async def newest_documents(self, limit: int) -> list[StatusDocument]:
        return await self.all(StatusSql.newest_documents, StatusDocument, limit=limit)

    async def put_status(self, manifest: str, world_version: int) -> None:
        """Stores the manifest of a version of the world."""
        await self.run(StatusSql.put_status, manifest=manifest, world_version=world_version)

    async def is_current(self) -> bool:
        """Returns whether the stored status shows what holds now."""
        return bool(await self.value(StatusSql.is_current))


async def refresh_status(connection: Connection, workspace_id: UUID) -> None:
    """Compiles the status, unless the stored one shows what holds now."""
    if not await StatusRows(connection, workspace_id).is_current():
        await compile_status(connection, workspace_id)


async def compile_status(connection: Connection, workspace_id: UUID) -> str:
    """Compiles the status from the tables, stores it, and returns its JSON."""
    rows, worlds = StatusRows(connection, workspace_id), WorldRows(connection, WorldPlace(workspace_id))
    stored = await worlds.find()
    version = stored.version if stored else 0
    manifest = manifest_of(
        version,
        repaired(stored.document).document if stored else defaults(),
        (await worlds.page(SHOWN, None)).items,
        await rows.count_documents(),
        await rows.newest_documents(SHOWN),
    )
    await rows.put_status(manifest, version)
    return manifest


def manifest_of(
    version: int,
    document: Document,
    events: Sequence[WorldEvent],
    document_count: int,
    documents: Sequence[StatusDocument],
) -> str:
    """Returns the status as JSON; the same input gives the same bytes. No I/O."""
    world = WorldDocument.model_validate(document)
    changes = (
        (one.version, StatusActivity(at=one.created_at, kind="world", text=_line(one), user_id=one.created_by))
        for one in events
    )
    came = ((0, StatusActivity(at=one.at, kind="document", text=one.name[:LONGEST], user_id=None)) for one in documents)
    # Events of one transaction have the same time, so versions determine their order.
    happened = sorted([*changes, *came], key=lambda one: (one[1].at, one[0], one[1].text), reverse=True)
    status = ProjectStatus(
        world_version=version,
        project=world.project,
        goals=world.goals,
        decisions=world.decisions,
        open_questions=world.open_questions,
        document_count=document_count,
        documents=list(documents),
        activity=[activity for _, activity in happened[:SHOWN]],
    )
    return json.dumps(status.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)


def _line(event: WorldEvent) -> str:
    """Formats an event as one line."""
    value = event.value if isinstance(event.value, str) else json.dumps(event.value, ensure_ascii=False, sort_keys=True)
    parts = [event.op.value, event.path or "", value] if event.op else [event.kind.value]
    before = [f"{event.kind.value}:"] if event.op and event.kind != "operation" else []
    return " ".join([*before, *parts])[:LONGEST]
