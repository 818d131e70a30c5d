"""Removes what mentions a text, or derives from forgotten messages, from worlds: document and history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from contracts.world import WorldEventKind
from memory.repository import Memories
from memory.rights.mentions import GONE, Mentions
from memory.rights.repository import RightsRows
from memory.world.document import TOPICS, Document, repaired
from memory.world.repository import Author, StoredWorldEvent, WorldPlace, WorldRows
from service_kit.postgres import Connection


@dataclass(frozen=True)
class ScrubbedWorld:
    """How many documents (one or none) and events were or would be changed."""

    world: int
    world_event: int


@dataclass(frozen=True)
class Forgotten:
    """What to remove: values that mention a text, and topics that were reflected in runs."""

    mentions: Mentions | None
    run_ids: Collection[UUID] = ()

    def from_document(self, document: Any, topics: Collection[str]) -> Any:
        """Returns the document without it: the same object if nothing is removed."""
        without = document if self.mentions is None else self.mentions.without(document)
        if topics and isinstance(without, dict):
            others = _others(without.get("topics"), topics)
            return without if others is without.get("topics") else {**without, "topics": others}
        return without

    def from_event(self, event: StoredWorldEvent, topics: Collection[str]) -> StoredWorldEvent | None:
        """Returns the event without it: the same object if nothing is removed, None if it must be deleted."""
        if topics and event.path == TOPICS:
            if event.kind == WorldEventKind.reflected and event.value in topics:
                return None
            value, before = _others(event.value, topics), [_others(one, topics) for one in event.previous]
            if value is not event.value or before != event.previous:
                event = replace(event, value=value, previous=before)
        return event if self.mentions is None else _without(event, self.mentions)

    def topics_in(self, events: Iterable[StoredWorldEvent]) -> set[str]:
        """Returns the topics that the runs added."""
        return {
            one.value
            for one in events
            if one.kind == WorldEventKind.reflected and one.op == "add" and one.run_id in self.run_ids and one.value
        }


async def forget_in_world(rows: WorldRows, forgotten: Forgotten, author: Author, *, keep: bool) -> ScrubbedWorld:
    """Counts what is to be removed, and removes it unless `keep`.

    Earlier versions stay readable, without it. An event at a path that mentions it is deleted as a whole.
    """
    stored = await rows.lock()
    if stored is None:
        return ScrubbedWorld(0, 0)
    events = await rows.events_after(0)
    topics = forgotten.topics_in(events)
    document = forgotten.from_document(stored.document, topics)
    changed = [(event, without) for event in events if (without := forgotten.from_event(event, topics)) is not event]
    found = ScrubbedWorld(int(document is not stored.document), len(changed))
    if keep or not (found.world or found.world_event):
        return found
    for event, without in changed:
        if without is None:
            await rows.delete_event(event.version)
        else:
            await rows.rewrite_event(without)
    if found.world:
        await rows.add_forgotten(stored.version + 1, author)
        await rows.put(_whole(document), stored.version + 1)
    return found


def _others(value: Any, topics: Collection[str]) -> Any:
    """Returns the list without the topics; any other value, and a list without them, as it is."""
    if not isinstance(value, list) or not any(one in topics for one in value):
        return value
    return [one for one in value if one not in topics]


def _whole(document: Any) -> Document:
    """Returns the document with defaults for what was removed."""
    return repaired({} if document is GONE else document).document


def _without(event: StoredWorldEvent, mentions: Mentions) -> StoredWorldEvent | None:
    """Returns the event without the text: the same object if it does not mention it, None if it must be deleted."""
    if mentions.are_within([event.path, *event.touched]):
        return None
    previous, value = mentions.without(event.previous), mentions.without(event.value)
    repairs = mentions.without(event.repairs)
    if previous is event.previous and value is event.value and repairs is event.repairs:
        return event
    return replace(
        event,
        value=None if value is GONE else value,
        # If the text was the whole value, nothing is left.
        previous=[] if previous is GONE else previous,
        repairs=repairs,
    )


async def forget_with_topics(connection: Connection, workspace_id: UUID, user_id: UUID, ids: Sequence[UUID]) -> int:
    """Deletes the user's memories for good, and the topics that were reflected from them; returns how many memories."""
    runs = await RightsRows(connection, workspace_id).runs(ids)
    for session_id, run_ids in runs.items():
        rows = WorldRows(connection, WorldPlace(workspace_id, session_id, user_id))
        await forget_in_world(rows, Forgotten(None, run_ids), Author(user_id), keep=False)
    return await Memories(connection, workspace_id).forget(user_id, ids)
