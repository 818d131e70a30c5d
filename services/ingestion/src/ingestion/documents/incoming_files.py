"""Incoming files, and the possible results of their intake."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from ingestion.documents.documents import Content
from ingestion.documents.media_types import media_type_of
from ingestion.documents.refusals import Refused, unsupported
from ingestion.documents.rows import DocumentRow

Change = Literal["created", "new_version", "linked", "unchanged", "excluded", "refused"]


@dataclass(frozen=True)
class IntakeLimits:
    """Limits of the intake. `max_queued_bytes` bounds what waits for conversion, per workspace and lane.

    `max_documents` and `max_bytes` are the quota of each workspace; 0 means no limit.
    """

    max_file_bytes: int
    max_queued_bytes: int
    max_documents: int = 0
    max_bytes: int = 0


@dataclass(frozen=True)
class IncomingFile:
    """A file on disk. Its `name` determines its format; without an extension, `head` (its first 8 KiB) does."""

    path: Path
    name: str
    size: int
    content_hash: str
    head: bytes


@dataclass(frozen=True)
class Taken:
    """The result of an intake. `document` is None if the file was excluded, or refused for the reason `refused`.

    `linked` means that a document already had these bytes and now has one more origin.
    """

    change: Change
    document: DocumentRow | None = None
    origin_id: UUID | None = None
    refused: Refused | None = None


def accepted(file: IncomingFile, limits: IntakeLimits) -> Content | Refused:
    if file.size > limits.max_file_bytes:
        return Refused("file-too-large", f"the file is larger than the limit of {limits.max_file_bytes} bytes")
    if file.size == 0:
        return Refused("empty-file", "the file is empty")
    media_type = media_type_of(file.name, file.head)
    if media_type is None:
        return unsupported(file.name)
    return Content(file.path, file.name, media_type, file.size, file.content_hash, datetime.now(UTC))
