"""Forgets what is known of somebody or something: first shown, then gone from every table, with a receipt."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from uuid import UUID

from contracts.gateway import Role
from contracts.memory import ForgetRequest, ForgetResponse
from memory.recall.recall import Recall
from memory.repository import Memories
from memory.rights.mentions import Mentions
from memory.rights.repository import RightsRows
from memory.rights.world_mentions import forget_in_world
from memory.world.repository import Author, WorldPlace, WorldRows
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database

MOST_SHOWN = 200


class Forgetting:
    """Each request is one transaction of its caller, whose own memories alone it finds."""

    def __init__(self, database: Database, recall: Recall) -> None:
        self.database, self.recall = database, recall

    async def forget(self, caller: Principal, request: ForgetRequest) -> ForgetResponse:
        """Returns what goes, or what is gone: counts by table. `remaining` is what the caller may not remove."""
        relevant = await self._relevant(caller, request)
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            rows = RightsRows(connection, caller.workspace_id)
            memories = Memories(connection, caller.workspace_id)
            await memories.lock()
            ids = await self._meant(rows, caller.user_id, request, relevant)
            shown = await rows.listed(ids, MOST_SHOWN) if request.preview else []
            removed = Counter(asdict(await rows.counts(ids)))
            if ids and not request.preview:
                await memories.forget(caller.user_id, ids)
            remaining = Counter[str]({"memory": 0 if request.preview else len(await rows.owned(caller.user_id, ids))})
            await _worlds(connection, caller, request, removed, remaining)
        return ForgetResponse(preview=request.preview, memories=shown, removed=removed, remaining=remaining)

    async def _relevant(self, caller: Principal, request: ForgetRequest) -> set[UUID]:
        if request.query is None:
            return set()
        return await self.recall.relevant(caller.workspace_id, caller.user_id, request.query)

    async def _meant(self, rows: RightsRows, user_id: UUID, request: ForgetRequest, relevant: set[UUID]) -> set[UUID]:
        if request.session_id is not None:
            return await rows.with_unstated(await rows.of_session(user_id, request.session_id))
        if request.about is not None:
            found = await rows.mentioning(user_id, Mentions(request.about))
        else:
            found = await rows.owned(user_id, [*relevant, *request.ids])
        return await rows.with_sources(user_id, found)


async def _worlds(
    connection: Connection, caller: Principal, request: ForgetRequest, removed: Counter[str], remaining: Counter[str]
) -> None:
    """Counts what the worlds lose: a session its own, and all of them what mentions the text."""
    own = await RightsRows(connection, caller.workspace_id).own_worlds(caller.user_id)
    if request.session_id in own:
        world = WorldRows(connection, WorldPlace(caller.workspace_id, request.session_id, caller.user_id))
        removed.update({"world": 1, "world_event": await world.count_events()})
        if not request.preview:
            await world.delete()
    if request.about is None:
        return
    mentions, author = Mentions(request.about), Author(caller.user_id)
    for session_id in (None, *own):
        place = WorldPlace(caller.workspace_id, session_id, caller.user_id if session_id else None)
        may = session_id is not None or caller.role.rank >= Role.editor.rank
        rows = WorldRows(connection, place)
        found = await forget_in_world(rows, mentions, author, keep=request.preview or not may)
        (removed if may else remaining).update(asdict(found))
