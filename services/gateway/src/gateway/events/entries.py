"""Entries of the services' streams, and what they say to readers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError

from contracts.events import DOCUMENTS, TURNS, Event, EventRefused, event_data
from contracts.gateway import Role
from contracts.workspace_events import WorkspaceChange
from gateway.accounts.caller import Authenticated
from gateway.events.changes import AddressedChange, change_of, dead_letter
from service_kit.event_signatures import EventSignatures
from service_kit.server_sent import formatted
from service_kit.stream_entries import EntryId, Fields, as_texts, event_json, format_id
from service_kit.streams import dead_letters

STREAMS = (DOCUMENTS, TURNS, dead_letters(DOCUMENTS), dead_letters(TURNS))
# After which entry of each stream
Positions = Mapping[str, EntryId]


@dataclass(frozen=True)
class TellingEntry:
    """An entry that says something to readers of a workspace: to one user, or to all; `for_owners`: to owners only.

    `positions` are those after it.
    """

    stream: str
    id: EntryId
    positions: Positions
    workspace_id: UUID
    addressed: AddressedChange
    data: str
    for_owners: bool = False

    def concerns(self, reader: Authenticated) -> bool:
        if self.workspace_id != reader.workspace.id or (self.for_owners and reader.role is not Role.owner):
            return False
        return self.addressed.only in {None, reader.user.id}

    def told(self, positions: Positions) -> bytes:
        """Returns the event as it is sent."""
        return formatted(event_id(positions), self.addressed.change.name, self.data)


def telling(signatures: EventSignatures, positions: Positions, stream: str, fields: Fields) -> TellingEntry | None:
    """Returns the entry at which the positions stand; None if it says nothing to anyone."""
    try:
        event = Event.model_validate_json(event_json(fields))
    except ValidationError:  # consumers have made a dead letter of it
        return None
    texts = as_texts(fields)
    if "group" in texts:
        letter = AddressedChange(dead_letter(event, texts["group"]))
        return _entry(positions, stream, event.workspace_id, letter, for_owners=True)
    if not signatures.proves(stream, format_id(positions[stream]), texts, event.source):
        return None
    try:
        addressed = change_of(event_data(event))
    except EventRefused:  # as consumers do
        return None
    return _entry(positions, stream, event.workspace_id, addressed) if addressed else None


def _entry(
    positions: Positions, stream: str, workspace_id: UUID, addressed: AddressedChange, *, for_owners: bool = False
) -> TellingEntry:
    data = sent(addressed.change)
    return TellingEntry(stream, positions[stream], positions, workspace_id, addressed, data, for_owners)


def sent(change: WorkspaceChange) -> str:
    return change.model_dump_json(exclude_none=True)


def event_id(positions: Positions) -> str:
    return ".".join(format_id(positions[stream]) for stream in STREAMS)
