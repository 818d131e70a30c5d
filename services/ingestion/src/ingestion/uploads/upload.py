"""Takes in the files of a request: single files, archives, and new content of a document."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

from contracts.ingestion import Lane, OriginKind, UploadedFile
from ingestion.documents.incoming_files import IncomingFile, Taken
from ingestion.documents.intake import Intake
from ingestion.documents.origins import Provenance
from ingestion.documents.refusals import Refused
from ingestion.documents.rows import UNKEYED
from ingestion.uploads.archives.expansion import ArchiveKind, Expander, archive_kind
from ingestion.uploads.errors import NotAKey, TooMuchQueued
from ingestion.uploads.multipart import ReceivedFile

FIELDS = frozenset({"files", "file"})
RETRY_SECONDS = 30
FULL = Refused("too-much-queued", "this workspace's conversion queue is full; try again later")


@dataclass(frozen=True)
class Key:
    """The name that another program gives its document; other bytes under the same key are a new version."""

    kind: OriginKind
    value: str | None

    def __post_init__(self) -> None:
        if self.value is not None and self.value.startswith(UNKEYED):
            raise NotAKey


class Uploads:
    """The parts that all upload requests share."""

    def __init__(self, intake: Intake, archives: Expander) -> None:
        self.intake, self.archives = intake, archives

    async def begin(self, workspace_id: UUID, key: Key) -> UploadRequest:
        """Begins a request, before its body is read; raises TooMuchQueued."""
        request = UploadRequest(self, workspace_id, key)
        await request.look()
        if request.queued >= self.intake.limits.max_queued_bytes:
            raise too_much_queued()
        return request


class UploadRequest:
    """Takes in the files of one request, one at a time."""

    def __init__(self, uploads: Uploads, workspace_id: UUID, key: Key) -> None:
        self.uploads, self.intake, self.workspace_id, self.key = uploads, uploads.intake, workspace_id, key
        self.queued = self.taken = 0

    async def look(self) -> None:
        self.queued = await self.intake.queued_bytes(self.workspace_id, Lane.interactive)

    async def accept(self, received: ReceivedFile) -> list[UploadedFile]:
        """Takes in a file, or each file of an archive; raises Unavailable if a store does not respond."""
        file = received.file
        if refused := part_refusal(received):
            return [_answer(file.name, refused)]
        kind = archive_kind(file.name, file.head)
        if kind and file.size <= self.intake.limits.max_file_bytes:
            if self.key.value is not None:
                return [_answer(file.name, Refused("archive-with-key", "a key names one file, not an archive"))]
            return await self._expand(file, kind)
        if self.key.value is None:
            return [await self._take(file.name, file, Provenance.of_content(file.content_hash))]
        self.taken += 1
        if self.taken > 1:
            return [_answer(file.name, Refused("one-file-per-key", "a key names one file: send the others without it"))]
        return [await self._take(file.name, file, Provenance(self.key.kind, None, self.key.value))]

    async def replace(self, document_id: UUID, received: ReceivedFile, expected_version: int | None) -> UploadedFile:
        """Gives a document new content. Raises DocumentNotFound, PreconditionFailed, ContentExists, ComesFromSource."""
        file = received.file
        if refused := part_refusal(received) or self._queue_refusal(file.size):
            return _answer(file.name, refused)
        taken = await self.intake.replace(self.workspace_id, document_id, file, expected_version)
        return _answer(file.name, taken)

    async def _expand(self, archive: IncomingFile, kind: ArchiveKind) -> list[UploadedFile]:
        answers: list[UploadedFile] = []
        async with aclosing(self.uploads.archives.expanded(archive.path, kind)) as members:
            async for member in members:
                name = f"{archive.name}/{member.path}" if member.path else archive.name
                content = member.content
                if isinstance(content, Refused):
                    answers.append(_answer(name, content))
                else:
                    place = Provenance.of_content(content.content_hash, within=name)
                    answers.append(await self._take(name, content, place))
        return answers or [_answer(archive.name, Refused("empty-archive", "the archive has no file"))]

    async def _take(self, name: str, file: IncomingFile, place: Provenance) -> UploadedFile:
        if refused := self._queue_refusal(file.size):
            return _answer(name, refused)
        taken = await self.intake.take(self.workspace_id, file, place, Lane.interactive)
        if taken.change in {"created", "new_version"}:
            self.queued += file.size
        return _answer(name, taken)

    def _queue_refusal(self, size: int) -> Refused | None:
        """Rejects a file that does not fit into the queue; an empty queue accepts any size."""
        full = self.queued and self.queued + size > self.intake.limits.max_queued_bytes
        return FULL if full else None


def too_much_queued() -> TooMuchQueued:
    return TooMuchQueued(headers={"Retry-After": str(RETRY_SECONDS)})


def part_refusal(received: ReceivedFile) -> Refused | None:
    """Rejects parts that are not uploaded files."""
    if received.field not in FIELDS:
        return Refused("unexpected-field", f"the field is called {received.field[:50]!r}; files go into `files`")
    return None if received.has_name else Refused("no-file-name", "the part has no file name")


def _answer(name: str, what: Taken | Refused) -> UploadedFile:
    refused = what if isinstance(what, Refused) else what.refused
    if refused:
        return UploadedFile(name=name, error=refused.error, message=refused.message)
    assert isinstance(what, Taken)
    assert what.document is not None
    return UploadedFile(
        name=name,
        document=what.document.resource(),
        created=what.change == "created",
        new_version=what.change == "new_version",
    )
