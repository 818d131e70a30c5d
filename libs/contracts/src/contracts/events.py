"""The events on the streams: CloudEvents 1.0 attributes with the workspace, a trace and typed data.

A changed shape is a new version of the type. Large content travels by reference: an event names the stored objects.
Consumers read an event's data with `event_data`, which rejects data that the event's type does not allow.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.object_keys import derived_prefix, original_key
from contracts.orchestrator import RunStatus
from contracts.reflections import MOST_REFLECTIONS, Reflection
from contracts.registry import GATEWAY, INGESTION, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR, RETRIEVAL
from contracts.sources import SyncStatus
from contracts.world import StagedOperations

DOCUMENTS = "attractor.documents"
TURNS = "attractor.turns"


class EventRefused(ValueError):
    """An event breaks its type's rules: the wrong service sent it, or it names something that it does not own."""


class EventData(BaseModel):
    """The typed part of an event; a subclass names its type, its stream and the services that may send it.

    `owner` is the service that must confirm what the event says before a consumer erases anything because of it.
    """

    model_config = ConfigDict(frozen=True)

    event_type: ClassVar[str]
    stream: ClassVar[str]
    sources: ClassVar[tuple[str, ...]]
    owner: ClassVar[str | None] = None

    def check(self, event: Event) -> None:
        """Raises EventRefused if the data do not fit the event that carries them."""


class Event(BaseModel):
    """The envelope. `id` is unique; consumers use it to handle each event once."""

    model_config = ConfigDict(frozen=True)

    specversion: Literal["1.0"] = "1.0"
    id: UUID
    source: str
    type: str
    time: datetime
    subject: str
    workspace_id: UUID
    traceparent: str | None = None
    datacontenttype: Literal["application/json"] = "application/json"
    data: dict[str, Any]


class ServiceReport(EventData):
    """What a service reports about its own work: `service` must be the source of the event."""

    service: str

    def check(self, event: Event) -> None:
        if self.service != event.source:
            raise EventRefused(f"{event.source} speaks for {self.service}")


class DocumentStored(EventData):
    """The original is in the object store."""

    event_type = "document.stored.v1"
    stream = DOCUMENTS
    sources = (INGESTION,)
    document_id: UUID
    name: str
    object_key: str
    bytes: int
    content_hash: str

    def check(self, event: Event) -> None:
        if self.object_key != original_key(event.workspace_id, self.content_hash):
            raise EventRefused(f"{self.object_key} is not the key of this original")


class DocumentFacts(EventData):
    """The properties that searches can filter by. `source_ids` are the document's sources, empty for an upload.

    `metadata` is small and has only JSON values: `authors`, `pages`, `file_size`, `engine`, `source` (`name`, `path`,
    `uri`) and `summary` (what the document is about, in its own words or another's), each if known.
    """

    document_id: UUID
    version: int
    name: str
    title: str | None
    tags: list[str]
    source_type: str
    source_ids: list[UUID] = []
    written_at: datetime | None = None
    modified_at: datetime | None = None
    metadata: dict[str, Any] = {}


class DocumentConverted(DocumentFacts):
    """The chunks (JSON Lines of `contracts.ingestion.Chunk`) and vectors (NumPy .npy, float32, a row each) are stored.

    Without vectors, embedding failed or is not done yet: the document is indexed for lexical search, and the event is
    published again with vectors later. `version` replaces every earlier one.
    """

    event_type = "document.converted.v3"
    stream = DOCUMENTS
    sources = (INGESTION,)
    media_type: str
    language: str | None
    chunks_key: str
    chunk_count: int
    vectors_key: str | None
    embedding_model: str | None
    embedding_dims: int | None

    def check(self, event: Event) -> None:
        own = derived_prefix(event.workspace_id, self.document_id)
        for key in (self.chunks_key, self.vectors_key):
            if key is not None and (not key.startswith(own) or ".." in key):
                raise EventRefused(f"{key} is not an object of this document")


class DocumentDescribed(DocumentFacts):
    """A document's metadata has changed, but not its content: it was renamed, or its source disappeared."""

    event_type = "document.described.v2"
    stream = DOCUMENTS
    sources = (INGESTION,)


class DocumentIndexed(EventData):
    """`vectors` counts the chunks that have a vector of the workspace's embedding space."""

    event_type = "document.indexed.v2"
    stream = DOCUMENTS
    sources = (RETRIEVAL,)
    document_id: UUID
    version: int
    chunk_count: int
    vectors: int


class DocumentGraphed(EventData):
    event_type = "document.graphed.v1"
    stream = DOCUMENTS
    sources = (KNOWLEDGE_GRAPH,)
    document_id: UUID
    version: int
    entities: int
    relations: int


class DocumentFailed(ServiceReport):
    """A stage of a document failed in `service`."""

    event_type = "document.failed.v1"
    stream = DOCUMENTS
    sources = (INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH)
    document_id: UUID
    version: int
    stage: str
    error_class: str
    error_message: str


class DocumentDeleted(EventData):
    """Every service must delete the document and confirm with `document.purged`."""

    event_type = "document.deleted.v1"
    stream = DOCUMENTS
    sources = (INGESTION,)
    owner = INGESTION
    document_id: UUID


class DocumentPurged(ServiceReport):
    event_type = "document.purged.v1"
    stream = DOCUMENTS
    sources = (RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR)
    document_id: UUID
    removed: dict[str, int]
    remaining: dict[str, int]


class EmbeddingSpaceActivated(EventData):
    """The workspace is now searched in this embedding space; new documents are embedded with its model."""

    event_type = "embedding_space.activated.v1"
    stream = DOCUMENTS
    sources = (RETRIEVAL,)
    model: str
    dims: int


class WorkspaceDeleted(EventData):
    """Every service must delete the workspace and confirm with `workspace.purged`."""

    event_type = "workspace.deleted.v1"
    stream = DOCUMENTS
    sources = (GATEWAY,)
    owner = GATEWAY


class WorkspaceAdministered(EventData):
    """This is the administrator's workspace until an event names another. The gateway sends it at each start."""

    event_type = "workspace.administered.v1"
    stream = DOCUMENTS
    sources = (GATEWAY,)


class WorkspacePurged(ServiceReport):
    event_type = "workspace.purged.v1"
    stream = DOCUMENTS
    sources = (INGESTION, RETRIEVAL, KNOWLEDGE_GRAPH, MEMORY, ORCHESTRATOR)
    removed: dict[str, int]
    remaining: dict[str, int]


class TurnCompleted(EventData):
    """A turn ended with an answer. Question and answer have at most 10,000 characters each.

    `question_id` and `answer_id` name the messages; the question was asked at `asked_at`, by the clock of `time_zone`
    (IANA name). `recalled_ids` are the memories used for the answer, `reflections` what the user's own words revealed
    about the user. `world` is what the run changes in the world state: memory applies it once.
    """

    event_type = "turn.completed.v2"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    session_id: UUID
    run_id: UUID
    user_id: UUID
    question_id: UUID
    answer_id: UUID
    asked_at: datetime
    time_zone: str = "UTC"
    question: str = Field(max_length=10_000)
    answer: str = Field(max_length=10_000)
    document_ids: list[UUID]
    recalled_ids: list[UUID] = []
    reflections: list[Reflection] = Field(default=[], max_length=MOST_REFLECTIONS)
    world: StagedOperations | None = None


class TurnCompletedV1(EventData):
    """The first version, which services no longer write; memory still reads those in flight during an upgrade."""

    event_type = "turn.completed.v1"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    session_id: UUID
    run_id: UUID
    user_id: UUID
    question: str = Field(max_length=10_000)
    answer: str = Field(max_length=10_000)
    document_ids: list[UUID]


class TurnDiscarded(EventData):
    """A run ended without a turn to remember: it failed, was cancelled, or its answer is not kept.

    What it staged is not applied. A failed run that is tried again can still complete its turn.
    """

    event_type = "turn.discarded.v1"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    session_id: UUID
    run_id: UUID
    user_id: UUID


class SessionDeleted(EventData):
    """A session is deleted with everything in it; services must delete whatever they derived only from it."""

    event_type = "session.deleted.v1"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    owner = ORCHESTRATOR
    session_id: UUID


class SyncChanged(EventData):
    """A synchronisation of a source is in another state. Written by the table itself (a trigger)."""

    event_type = "sync.changed.v1"
    stream = DOCUMENTS
    sources = (INGESTION,)
    source_id: UUID
    sync_id: UUID
    status: SyncStatus
    dry_run: bool


class RunChanged(EventData):
    """A run is in another state; not of temporary sessions. Written by the table itself (a trigger)."""

    event_type = "run.changed.v1"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    session_id: UUID
    run_id: UUID
    user_id: UUID
    status: RunStatus


class ArtifactChanged(EventData):
    """A session's artifact has another current version, or is deleted (`index` is null); not of temporary sessions.
    Written by the table itself (a trigger).
    """

    event_type = "artifact.changed.v1"
    stream = TURNS
    sources = (ORCHESTRATOR,)
    session_id: UUID
    user_id: UUID
    index: int | None


EVENTS: tuple[type[EventData], ...] = (
    DocumentStored,
    DocumentConverted,
    DocumentDescribed,
    DocumentIndexed,
    DocumentGraphed,
    DocumentFailed,
    DocumentDeleted,
    DocumentPurged,
    EmbeddingSpaceActivated,
    WorkspaceDeleted,
    WorkspaceAdministered,
    WorkspacePurged,
    TurnCompleted,
    TurnCompletedV1,
    TurnDiscarded,
    SessionDeleted,
    SyncChanged,
    RunChanged,
    ArtifactChanged,
)
BY_TYPE = {data.event_type: data for data in EVENTS}


def event_data(event: Event) -> EventData:
    """Returns the data of an event. Raises EventRefused if its type is unknown or does not allow the data."""
    data_type = BY_TYPE.get(event.type)
    if data_type is None:
        raise EventRefused(f"{event.type} is not known")
    if event.source not in data_type.sources:
        raise EventRefused(f"{event.type} does not come from {event.source}")
    try:
        data = data_type.model_validate(event.data)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise EventRefused(f"not the data of {event.type}: {wrong}") from error
    data.check(event)
    return data
