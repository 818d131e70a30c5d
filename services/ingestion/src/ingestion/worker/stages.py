"""What a worker writes about stages: every transition is guarded by the lease that it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection
from psycopg.rows import TupleRow, class_row

from contracts.events import DocumentFailed, EventData
from contracts.ingestion import DocumentStatus, StageName
from ingestion.conversion import Converted
from ingestion.documents.documents import DocumentSql
from ingestion.documents.events import converted_event
from ingestion.documents.rows import DocumentRow, Job
from ingestion.documents.stages import StageSql
from ingestion.worker.database import WorkerDatabase
from service_kit.outbox import INSERT, event_row, new_event

SOURCE = "ingestion"
RELEASED = {"uncount": 0, "postponed": 0, "lost": 0, "delay": 0.0, "error_class": None, "error_message": None}


class LeaseLost(Exception):
    """Another worker has the stage, or the document is being deleted: nothing more may be written for it."""


class Stages:
    """Leases stages and records how they end, each in one transaction. `worker` is shown to users."""

    def __init__(self, database: WorkerDatabase, worker: str) -> None:
        self.database, self.worker = database, worker

    def lease(self, workspace_id: UUID, document_id: UUID) -> Job | None:
        """The document's queued stage, now running; None when there is none: done, not due, or held by another."""
        key = {"workspace_id": workspace_id, "document_id": document_id}
        with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(Job)) as cursor,
        ):
            cursor.execute(DocumentSql.lock, key)  # so that the stage and the version belong together
            cursor.execute(StageSql.lease, {**key, "lease": uuid4(), "worker": self.worker})
            job = cursor.fetchone()
            if job and job.stage == "convert":
                cursor.execute(StageSql.reset, {**_key(job), "names": ["chunk"]})
            return job

    def beat(self, job: Job, page: int | None, pages: int | None) -> bool:
        """Shows that the worker lives; False when the lease is lost."""
        with self.database.workspace(job.workspace_id) as connection:
            values = {**_held(job), "page": page, "pages": pages}
            # Again when there is none: the lease may have passed to the next stage while the statement waited for the
            # row of the one before, and only a new statement sees that.
            return any(connection.execute(StageSql.beat, values).rowcount for _ in range(2))

    def start_chunking(self, job: Job) -> None:
        """Raises LeaseLost."""
        with self._held(job) as (connection, _):
            self._start(connection, job, "chunk")

    def converted(self, job: Job, result: Converted) -> None:
        """Conversion and chunks are stored; embedding runs under the same lease. Raises LeaseLost."""
        with self._held(job) as (connection, _):
            done = {**_key(job), "worker": self.worker, "names": ["convert", "chunk"]}
            connection.execute(StageSql.finish, done)
            values = {
                "title": result.title,
                "pages": result.pages,
                "chunk_count": result.chunks,
                "engine": result.engine,
                "headings": list(result.headings),
                "tags": list(result.tags),
                "language": result.language,
                "authors": list(result.authors),
                "written_at": result.written_at,
                "modified_at": result.modified_at,
            }
            connection.execute(DocumentSql.record_conversion, {**_key(job), "version": job.version, **values})
            self._start(connection, job, "embed")

    def embedded(self, job: Job, *, model: str, dims: int) -> None:
        """The vectors are stored: tells the others. Raises LeaseLost."""
        with self._held(job) as (connection, _):
            connection.execute(StageSql.finish, {**_key(job), "worker": self.worker, "names": ["embed"]})
            self._record_embedding(connection, job, model, dims)
            self._announce(connection, job)

    def not_embedded(self, job: Job, delay: float | None, error_class: str, message: str) -> None:
        """Tells the others of a document that is found by its words alone, unless they know it already.

        Tried again after `delay` seconds; None: not by itself. Raises LeaseLost.
        """
        with self._held(job) as (connection, _):
            announced = _is_announced(connection, job)
            reason = {"error_class": error_class, "error_message": message}
            if delay is None:
                connection.execute(StageSql.fail, {**_held(job), "failed": "embed", **reason})
            else:
                again = {**RELEASED, "postponed": 1, "delay": delay, **reason}
                connection.execute(StageSql.release, {**_held(job), **again})
            self._record_embedding(connection, job, None, None)
            if not announced:
                self._announce(connection, job)

    def fail(self, job: Job, stage: StageName, error_class: str, message: str) -> None:
        """The stage has failed, and with it the document, unless it is searchable already. Raises LeaseLost."""
        with self._held(job) as (connection, document):
            reason = {"failed": stage, "error_class": error_class, "error_message": message}
            connection.execute(StageSql.fail, {**_held(job), **reason})
            if stage == "embed" and _is_announced(connection, job):
                return
            connection.execute(DocumentSql.set_status, {**_key(job), "status": DocumentStatus.failed})
            event = DocumentFailed(
                document_id=document.id,
                version=document.version,
                service=SOURCE,
                stage=stage,
                error_class=error_class,
                error_message=message,
            )
            _write_event(connection, document, event)

    def release(self, job: Job) -> None:
        """Back to the queue at once, as if it had not been started."""
        self._release(job, uncount=1)

    def postpone(self, job: Job, delay: float, error_class: str, message: str, *, lost: bool = False) -> None:
        """Back to the queue for `delay` seconds, with the reason; `lost` counts it as a process that died of it."""
        counters = {"lost": 1, "postponed": 0} if lost else {"lost": 0, "postponed": 1}
        self._release(job, delay=delay, error_class=error_class, error_message=message, **counters)

    def abandon(self, job: Job) -> bool:
        """True when the document is being deleted or gone: its erasure may go on from here."""
        with self.database.workspace(job.workspace_id) as connection:
            if _lock_document(connection, job) is not None:
                return False
            connection.execute(StageSql.abandon, _held(job))
            return True

    def is_deleted(self, job: Job) -> bool:
        with self.database.workspace(job.workspace_id) as connection:
            return _lock_document(connection, job) is None

    def _release(self, job: Job, **values: Any) -> None:
        with self._held(job) as (connection, _):
            connection.execute(StageSql.release, {**_held(job), **RELEASED, **values})

    def _record_embedding(
        self, connection: Connection[TupleRow], job: Job, model: str | None, dims: int | None
    ) -> None:
        values = {"version": job.version, "embedding_model": model, "embedding_dims": dims}
        connection.execute(DocumentSql.record_embedding, {**_key(job), **values})

    def _announce(self, connection: Connection[TupleRow], job: Job) -> None:
        connection.execute(StageSql.queue_confirmations, _key(job))
        document = _lock_document(connection, job)
        assert document is not None
        _write_event(connection, document, converted_event(document))

    def _start(self, connection: Connection[TupleRow], job: Job, stage: StageName) -> None:
        connection.execute(StageSql.start, {**_held(job), "name": stage, "worker": self.worker})

    @contextmanager
    def _held(self, job: Job) -> Iterator[tuple[Connection[TupleRow], DocumentRow]]:
        """A transaction in which the document is locked and the lease is ours; raises LeaseLost when it is not."""
        with self.database.workspace(job.workspace_id) as connection:
            document = _lock_document(connection, job)
            if document is None or document.version != job.version or not _holds(connection, job):
                raise LeaseLost
            yield connection, document


def _key(job: Job) -> dict[str, Any]:
    return {"workspace_id": job.workspace_id, "document_id": job.document_id}


def _held(job: Job) -> dict[str, Any]:
    return {**_key(job), "lease": job.lease}


def _holds(connection: Connection[TupleRow], job: Job) -> bool:
    return connection.execute(StageSql.holds_lease, _held(job)).fetchone() is not None


def _is_announced(connection: Connection[TupleRow], job: Job) -> bool:
    return connection.execute(StageSql.is_announced, _key(job)).fetchone() is not None


def _lock_document(connection: Connection[TupleRow], job: Job) -> DocumentRow | None:
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        cursor.execute(DocumentSql.lock, _key(job))
        return cursor.fetchone()


def _write_event(connection: Connection[TupleRow], document: DocumentRow, data: EventData) -> None:
    event = new_event(SOURCE, document.workspace_id, data, str(document.id))
    connection.execute(INSERT, event_row(data, event))
