"""Takes what mentions a text out of worlds: out of the document, and out of all that its history keeps."""

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
    """Returns what mentions the text; it is gone from then on, unless `keep`.

    Earlier versions stay readable, without it. An event of a place whose name mentions it goes as a whole.
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
    """Returns the document with the defaults of what is gone."""
    return repaired({} if document is GONE else document).document


def _without(event: StoredWorldEvent, mentions: Mentions) -> StoredWorldEvent | None:
    """Returns the event itself if it does not mention the text, None if nothing of it may stay."""
    if mentions.are_within([event.path, *event.touched]):
        return None
    previous, value = mentions.without(event.previous), mentions.without(event.value)
    repairs = mentions.without(event.repairs)
    if previous is event.previous and value is event.value and repairs is event.repairs:
        return event
    return replace(
        event,
        value=None if value is GONE else value,
        # A text that stood alone at the place leaves nothing there.
        previous=[] if previous is GONE else previous,
        repairs=repairs,
    )
