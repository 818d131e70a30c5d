"""Removes what mentions a text from worlds: from the document and from its history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from memory.rights.mentions import GONE, Mentions
from memory.world.document import Document, repaired
from memory.world.repository import Author, StoredWorldEvent, WorldRows


@dataclass(frozen=True)
class ScrubbedWorld:
    """How many documents (one or none) and events mention the text."""

    world: int
    world_event: int


async def forget_in_world(rows: WorldRows, mentions: Mentions, author: Author, *, keep: bool) -> ScrubbedWorld:
    """Counts what mentions the text, and removes it unless `keep`.

    Earlier versions stay readable, without it. An event at a path that mentions it is deleted as a whole.
    """
    stored = await rows.lock()
    if stored is None:
        return ScrubbedWorld(0, 0)
    document = mentions.without(stored.document)
    events = await rows.events_after(0)
    changed = [(event, without) for event in events if (without := _without(event, mentions)) is not event]
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
