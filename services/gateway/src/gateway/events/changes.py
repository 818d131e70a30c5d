"""What readers may know of services' events: ids, states, names and titles. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.events import (
    ArtifactChanged,
    DocumentConverted,
    DocumentDeleted,
    DocumentDescribed,
    DocumentFailed,
    DocumentGraphed,
    DocumentIndexed,
    DocumentStored,
    Event,
    EventData,
    RunChanged,
    SyncChanged,
)
from contracts.workspace_events import (
    ArtifactChange,
    DeadLetterAdded,
    DocumentChange,
    RunChange,
    SynchronisationChange,
    WorkspaceChange,
)


@dataclass(frozen=True)
class AddressedChange:
    """A change, and the only user who may know of it; None means everyone in the workspace."""

    change: WorkspaceChange
    only: UUID | None = None


def change_of(data: EventData) -> AddressedChange | None:
    """Returns what an event says to readers; None if nothing."""
    match data:
        case DocumentStored():
            change = DocumentChange(document_id=data.document_id, state="stored", document_name=data.name)
            return AddressedChange(change)
        case DocumentConverted() | DocumentDescribed():
            state = "converted" if isinstance(data, DocumentConverted) else "described"
            named = {"document_name": data.name, "title": data.title}
            return AddressedChange(DocumentChange(document_id=data.document_id, state=state, **named))
        case DocumentIndexed():
            return AddressedChange(DocumentChange(document_id=data.document_id, state="indexed"))
        case DocumentGraphed():
            return AddressedChange(DocumentChange(document_id=data.document_id, state="graphed"))
        case DocumentDeleted():
            return AddressedChange(DocumentChange(document_id=data.document_id, state="deleted"))
        case DocumentFailed():
            failure = {"stage": data.stage, "error_class": data.error_class}
            return AddressedChange(DocumentChange(document_id=data.document_id, state="failed", **failure))
        case SyncChanged():
            return AddressedChange(SynchronisationChange.model_validate(data, from_attributes=True))
        case RunChanged():
            return AddressedChange(RunChange.model_validate(data, from_attributes=True), data.user_id)
        case ArtifactChanged():
            return AddressedChange(ArtifactChange.model_validate(data, from_attributes=True), data.user_id)
        case _:
            return None


def dead_letter(event: Event, service: str) -> DeadLetterAdded:
    """Returns what owners see of an event that a service gave up."""
    return DeadLetterAdded(service=service, type=event.type, subject=event.subject)
