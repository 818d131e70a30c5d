"""Applies a run's staged operations once, when its turn has completed."""

from __future__ import annotations

from uuid import UUID

from contracts.events import TurnCompleted
from contracts.world import WorldEventKind
from memory.errors import WorldOperationFailed, WorldOperationInvalid
from memory.world.repository import Author, WorldPlace, WorldRows
from memory.world.worlds import change, is_new, open_world
from service_kit.postgres import Connection


async def commit_staged(connection: Connection, workspace_id: UUID, turn: TurnCompleted) -> None:
    """Applies all operations of the run or none, and only once, however often the event is delivered.

    If they no longer apply, each becomes a `conflict` in the history, which says why.
    """
    if turn.world is None:
        return
    in_session = turn.world.of_session
    place = WorldPlace(workspace_id, turn.session_id if in_session else None, turn.user_id if in_session else None)
    rows, stored = await open_world(WorldRows(connection, place), place)
    if not await is_new(rows, turn.run_id, turn.world.operations):
        return
    try:
        await change(rows, stored, turn.world.operations, Author(turn.user_id, turn.run_id))
    except (WorldOperationFailed, WorldOperationInvalid) as problem:
        author = Author(turn.user_id, turn.run_id, WorldEventKind.conflict)
        for number, operation in enumerate(turn.world.operations, 1):
            await rows.add_conflict(stored.version + number, operation, author, problem.detail or "")
        await rows.put(stored.document, stored.version + len(turn.world.operations))
