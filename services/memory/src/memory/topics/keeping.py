"""Keeps the topics of a session in its world, with events of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from uuid import UUID

from contracts.events import TurnCompleted
from contracts.world import MOST_TEXTS, WorldEventKind, WorldOperation, WorldOperationKind
from memory.errors import WorldOperationInvalid
from memory.world.document import TOPICS
from memory.world.repository import Author, StoredWorldEvent, WorldPlace, WorldRows
from memory.world.worlds import change, open_world
from service_kit.postgres import Connection

log = logging.getLogger(__name__)
MOST_REFLECTED = 20
"""Of a session; the oldest one gives way."""


async def keep_topics(connection: Connection, workspace_id: UUID, turn: TurnCompleted, found: Sequence[str]) -> None:
    """Adds topics to the session's world. A turn that itself changes the world state adds none."""
    if not found or turn.world is not None:
        return
    place = WorldPlace(workspace_id, turn.session_id, turn.user_id)
    rows, stored = await open_world(WorldRows(connection, place), place)
    there = {one.casefold() for one in stored.document["topics"]}
    new = {one.casefold(): one for one in found if one.casefold() not in there}
    if not new:
        return
    told = await rows.topic_events(TOPICS, stored.document["topics"])
    operations = reflecting(stored.document["topics"], told, list(new.values()))
    author = Author(turn.user_id, turn.run_id, WorldEventKind.reflected)
    try:
        await change(rows, stored, operations, author)
    except WorldOperationInvalid as full:
        log.warning("topics not kept", extra={"session_id": str(turn.session_id), "reason": full.detail})


def reflecting(topics: Sequence[str], events: Iterable[StoredWorldEvent], new: Sequence[str]) -> list[WorldOperation]:
    """Returns the operations that add the new topics, and drop the oldest reflected ones if there are too many.

    What a person added stays, and what a person removed is not added again. `events` are newest first.
    """
    history = [one for one in events if one.path == TOPICS and isinstance(one.value, str)][::-1]
    reflected = [one.value for one in history if one.kind == WorldEventKind.reflected and one.op == "add"]
    unwanted = {one.value.casefold() for one in history if one.kind == WorldEventKind.operation and one.op == "remove"}
    wanted = [one for one in new if one.casefold() not in unwanted]
    own = [one for one in dict.fromkeys(reflected) if one in topics]
    room = min(MOST_REFLECTED, MOST_TEXTS - (len(topics) - len(own)))
    dropped = own[: max(len(own) + len(wanted) - room, 0)]
    return [
        *(WorldOperation(op=WorldOperationKind.remove, path=TOPICS, value=one) for one in dropped),
        *(WorldOperation(op=WorldOperationKind.add, path=TOPICS, value=one) for one in wanted[: max(room, 0)]),
    ]
