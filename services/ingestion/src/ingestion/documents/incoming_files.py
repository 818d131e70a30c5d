"""A file that arrives, and what may become of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from contracts.formats import SUPPORTED
from ingestion.documents.media_types import media_type_of
from ingestion.documents.rows import DocumentRow
from ingestion.documents.versions import Content

HEAD_BYTES = 8192
Change = Literal["created", "new_version", "linked", "unchanged", "excluded", "refused"]


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
class Refused:
    """`error` is a stable slug, `message` a sentence."""

    error: str
    message: str


@dataclass(frozen=True)
class Taken:
    """`document` is None when the place is excluded (`excluded`) or the file was refused (`refused` says why).

    `linked`: the bytes were there already, and the place is one more of their document's origins.
    """

    change: Change
    document: DocumentRow | None = None
    origin_id: UUID | None = None
    refused: Refused | None = None


def accepted(file: IncomingFile, limits: Limits) -> Content | Refused:
    if file.size > limits.max_file_bytes:
        most = limits.max_file_bytes
        return Refused("file-too-large", f"the file has more than {most} bytes, the largest accepted size")
    if file.size == 0:
        return Refused("empty-file", "the file is empty")
    media_type = media_type_of(file.name, file.head)
    if media_type is None:
        return unsupported(file.name)
    return Content(file.name, media_type, file.size, file.content_hash, datetime.now(UTC))


def unsupported(name: str) -> Refused:
    kind = "by its extension" if "." in name else "it has no extension and is not text"
    return Refused("unsupported-format", f"the format is not supported ({kind}); supported: {', '.join(SUPPORTED)}")
