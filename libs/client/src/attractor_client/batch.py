"""Ingestion of many files: a few uploads and a few waits at a time; one file's failure never stops the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from attractor_client.client import AttractorClient
from attractor_client.discovery import UNREADABLE, UNSUPPORTED, Found, LeftOut
from attractor_client.errors import AttractorError, Forbidden, NotFound, RateLimited, Unauthenticated, Unreachable
from contracts.ingestion import DocumentDetail, DocumentStatus, StageStatus, UploadedFile

# Files refused for these reasons are skipped if they were found in a folder, and fail if the user named them.
LEFT_OUT_IN_FOLDERS = {"unsupported-format": UNSUPPORTED, "empty-file": "empty"}
POLL_SECONDS = 5.0
SERVER_FAILURES_TO_STOP = 5


class Result(StrEnum):
    """The outcome for a file; `known`: the document already existed."""

    searchable = "searchable"
    known = "known"
    queued = "queued"
    processing = "processing"
    failed = "failed"
    skipped = "skipped"


@dataclass(frozen=True)
class FileReport:
    """`reason` groups reports; `message` is about this file."""

    path: str
    result: Result
    document_id: UUID | None = None
    reason: str | None = None
    message: str | None = None


class Progress(Protocol):
    def settled(self, report: FileReport) -> None: ...
    def at_stage(self, name: str, stage: str) -> None: ...


@dataclass(frozen=True)
class Pending:
    path: str
    document_id: UUID
    created: bool


@dataclass
class Batch:
    """One ingestion; an instance is used once.

    `stopped_by` is the error that ended the batch early: then not every file has a report. `timeout` is in seconds, for
    the whole batch; without `wait` documents are only queued.
    """

    client: AttractorClient
    progress: Progress
    jobs: int = 4
    wait: bool = True
    timeout: float | None = None
    reports: list[FileReport] = field(default_factory=list)
    stopped_by: AttractorError | None = None

    def __post_init__(self) -> None:
        self.pending: asyncio.Queue[Pending | None] = asyncio.Queue()
        self.deadline = time.monotonic() + self.timeout if self.timeout is not None else float("inf")
        self.server_failures = 0

    async def run(self, files: Iterable[Found | LeftOut]) -> list[FileReport]:
        """Returns the reports, in the order in which the files were finished."""
        remaining = iter(files)
        async with asyncio.TaskGroup() as waiting:
            for _ in range(self.jobs):
                waiting.create_task(self._wait_each())
            async with asyncio.TaskGroup() as uploading:
                for _ in range(self.jobs):
                    uploading.create_task(self._upload_each(remaining))
            for _ in range(self.jobs):
                self.pending.put_nowait(None)
        return self.reports

    async def _upload_each(self, files: Iterator[Found | LeftOut]) -> None:
        for file in files:
            if isinstance(file, LeftOut):
                self._settle(
                    FileReport(
                        str(file.path),
                        Result.failed if file.failed else Result.skipped,
                        reason=file.reason,
                        message=file.message,
                    )
                )
                continue
            await self._upload(file)
            if self.stopped_by:
                return

    async def _upload(self, file: Found) -> None:
        path = str(file.path)
        try:
            uploaded = await self.client.documents.upload(file.path)
        except OSError as error:
            self._settle(FileReport(path, Result.failed, reason=UNREADABLE, message=error.strerror or str(error)))
        except AttractorError as error:
            self._fail(path, None, error)
        else:
            self.server_failures = 0
            if len(uploaded) == 1:
                self._accepted(uploaded[0], path, file.named)
                return
            for member in uploaded:  # of an archive, which is like a folder
                self._accepted(member, str(file.path.parent / member.name), named=False)

    def _accepted(self, uploaded: UploadedFile, path: str, named: bool) -> None:
        document = uploaded.document
        if document is None:
            slug = uploaded.error or "refused"
            left_out = None if named else LEFT_OUT_IN_FOLDERS.get(slug)
            result = Result.skipped if left_out else Result.failed
            self._settle(FileReport(path, result, reason=left_out or slug, message=uploaded.message))
        elif not self.wait:
            result = Result.queued if uploaded.created else Result.known
            self._settle(FileReport(path, result, document.id))
        elif document.status is DocumentStatus.searchable:
            self._settle(FileReport(path, Result.searchable if uploaded.created else Result.known, document.id))
        else:
            self.progress.at_stage(path, "queued")
            self.pending.put_nowait(Pending(path, document.id, uploaded.created))

    async def _wait_each(self) -> None:
        while item := await self.pending.get():
            if self.stopped_by:
                self._settle(FileReport(item.path, Result.processing, item.document_id, message="not waited for"))
                continue
            try:
                await self._wait(item)
            except NotFound:
                self._settle(FileReport(item.path, Result.failed, item.document_id, "deleted while being processed"))
            except AttractorError as error:
                self._fail(item.path, item.document_id, error)

    async def _wait(self, item: Pending) -> None:
        while True:
            left = self.deadline - time.monotonic()
            document = await self.client.documents.poll(item.document_id, max(0.0, min(POLL_SECONDS, left)))
            self.server_failures = 0
            if document.status is not DocumentStatus.processing:
                self._settle(_report(item, document))
                return
            self.progress.at_stage(item.path, current_stage(document))
            if left <= 0:
                why = document.explanation or "still being processed"
                self._settle(FileReport(item.path, Result.processing, document.id, "not searchable in time", why))
                return

    def _settle(self, report: FileReport) -> None:
        self.reports.append(report)
        self.progress.settled(report)

    def _fail(self, path: str, document_id: UUID | None, error: AttractorError) -> None:
        """Reports the file as failed; ends the batch if the key is refused or the server keeps failing."""
        self._settle(FileReport(path, Result.failed, document_id, error.title, error.detail))
        if error.status is None or error.status >= 500 or isinstance(error, RateLimited):
            self.server_failures += 1
        gone = isinstance(error, Unauthenticated | Forbidden) or (isinstance(error, Unreachable) and not error.sent)
        if gone or self.server_failures >= SERVER_FAILURES_TO_STOP:
            self.stopped_by = self.stopped_by or error


def current_stage(document: DocumentDetail) -> str:
    """Returns the first stage that has not succeeded."""
    return next((stage.name for stage in document.stages if stage.status is not StageStatus.succeeded), "index")


def _report(item: Pending, document: DocumentDetail) -> FileReport:
    if document.status is DocumentStatus.searchable:
        return FileReport(item.path, Result.searchable if item.created else Result.known, document.id)
    for stage in document.stages:
        if stage.status is StageStatus.failed:
            return FileReport(item.path, Result.failed, document.id, f"stage {stage.name} failed", stage.error_message)
    return FileReport(item.path, Result.failed, document.id, document.status.value, document.explanation)
