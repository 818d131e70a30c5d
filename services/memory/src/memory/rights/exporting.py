"""Exports everything known about a user as JSON Lines."""

from __future__ import annotations

from collections.abc import AsyncIterator

from contracts.memory_export import ExportedMemoryLine
from memory.repository import Memories
from memory.rights.repository import RightsRows
from memory.world.document import repaired
from memory.world.repository import WorldPlace, WorldRows
from service_kit.auth import Principal
from service_kit.postgres import Database

MEDIA_TYPE = "application/x-ndjson"
EXPORTED_AT_ONCE = 500


async def exported(database: Database, caller: Principal) -> AsyncIterator[str]:
    """Yields memories, newest first, then worlds and their events. Holds no connection while the client reads."""
    cursor: str | None = None
    while True:
        async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            page = await Memories(connection, caller.workspace_id).page(
                caller.user_id, None, EXPORTED_AT_ONCE, cursor, ledger=True
            )
        yield _lines([ExportedMemoryLine(memory=memory) for memory in page.items])
        cursor = page.next_cursor
        if cursor is None:
            break
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        rows, worlds = RightsRows(connection, caller.workspace_id), list[ExportedMemoryLine]()
        for session_id in await rows.own_worlds(caller.user_id):
            stored = await WorldRows(connection, WorldPlace(caller.workspace_id, session_id, caller.user_id)).find()
            if stored is not None:
                worlds.append(ExportedMemoryLine(world=stored.shown(repaired(stored.document).document)))
        events = [
            ExportedMemoryLine(
                session_id=None if event.world_id == caller.workspace_id else event.world_id, event=event.shown()
            )
            for event in await rows.own_world_events(caller.user_id)
        ]
    yield _lines([*worlds, *events])


def _lines(lines: list[ExportedMemoryLine]) -> str:
    return "".join(f"{line.model_dump_json(exclude_none=True)}\n" for line in lines)
