"""Takes files in: from uploads, and from the synchronisations of sources in a worker's process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

from contracts.ingestion import Lane, OriginKind
from contracts.sources import OnRemoved
from ingestion.rows import DocumentRow
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

Change = Literal["created", "new_version", "linked", "unchanged", "excluded", "refused"]
Dropped = Literal["deleted", "unlinked", "stale", "unknown"]


@dataclass(frozen=True)
class Limits:
    """`max_queued_bytes` is per workspace and lane: what waits to be converted."""

    max_file_bytes: int
    max_queued_bytes: int


@dataclass(frozen=True)
class IncomingFile:
    """A file on disk. `name` decides its format, `head` (its first 8 KiB) where the name has no extension."""

    path: Path
    name: str
    size: int
    content_hash: str
    head: bytes


@dataclass(frozen=True)
class Place:
    """Where a file comes from: `path` is unique among those of its source, or of its kind where there is no source.

    `fingerprint` is what the source tells of unchanged content without reading it. The name of the source that a
    document shows is that of the row `source`.
    """

    kind: OriginKind
    source_id: UUID | None
    path: str
    uri: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True)
class Refused:
    """`error` is a stable slug, `message` a sentence."""

    error: str
    message: str


@dataclass(frozen=True)
class Taken:
    """`document` is None when the place is excluded (`excluded`) or the file was refused (`refused` says why).

    `linked`: the bytes were there already, or came back; the place is one more of the document's origins.
    """

    change: Change
    document: DocumentRow | None = None
    origin_id: UUID | None = None
    refused: Refused | None = None


class SourceGone(Exception):
    """The source of the place was deleted: nothing more is taken from it."""


class Intake:
    """Every method is one or a few short transactions; all raise Unavailable when a store is away."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox, limits: Limits) -> None:
        self.database, self.objects, self.outbox, self.limits = database, objects, outbox, limits

    async def take(self, workspace_id: UUID, file: IncomingFile, place: Place, lane: Lane) -> Taken:
        """What became of the file; raises SourceGone."""
        raise NotImplementedError

    async def drop(self, workspace_id: UUID, origin_id: UUID, on_removed: OnRemoved) -> Dropped:
        """The place has no file any more. Take what is new first, so that a moved file is found by its content."""
        raise NotImplementedError

    async def seen(self, workspace_id: UUID, origin_ids: Sequence[UUID]) -> None:
        """The places have what they had. Thousands at once are fine."""
        raise NotImplementedError

    async def has_room(self, workspace_id: UUID, lane: Lane) -> bool:
        """False while the lane's files of the workspace that wait to be converted fill `max_queued_bytes`."""
        raise NotImplementedError
