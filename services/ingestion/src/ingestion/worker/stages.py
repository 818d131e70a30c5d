"""Records the progress of a worker's stages; every transition is guarded by the lease."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from psycopg import Connection
from psycopg.rows import TupleRow, class_row

from contracts.events import DocumentFailed, EventData
from contracts.ingestion import DocumentStatus, StageName
from ingestion.conversion import Converted
from ingestion.documents.documents import DocumentSql
from ingestion.documents.events import converted_event
from ingestion.documents.rows import ClaimedStage, DocumentRow, HeldStage
from ingestion.documents.stages import StageSql
from ingestion.worker.database import WorkerDatabase
from service_kit.outbox import INSERT, event_row, new_event
from service_kit.work import LeaseLost

ChosenModel: TypeAlias = tuple[str, int] | None
"""The (model, dims) with which the workspace is searched; None for the default."""
SOURCE = "ingestion"
RELEASED = {"uncount": 0, "postponed": 0, "lost": 0, "delay": 0.0, "error_class": None, "error_message": None}


class StageRecords:
    """Records how stages begin and end, in one transaction each. `worker` is the name that users see."""

    def __init__(self, database: WorkerDatabase, worker: str) -> None:
        self.database, self.worker = database, worker

    def begin(self, claimed: ClaimedStage) -> HeldStage | None:
        """Returns the leased stage with its document; None if the document is being deleted or has a new version."""
        with (
            self.database.workspace(claimed.workspace_id) as connection,
            connection.cursor(row_factory=class_row(HeldStage)) as cursor,
        ):
            cursor.execute(DocumentSql.lock, _key(claimed))  # keeps the stage and the version consistent
            cursor.execute(StageSql.held, _held(claimed))
            job = cursor.fetchone()
            if job is None:
                cursor.execute(StageSql.abandon, _held(claimed))
            elif job.stage == "convert":
                cursor.execute(StageSql.reset, {**_key(claimed), "names": ["chunk"]})
            return job

    def start_chunking(self, job: HeldStage) -> None:
        """Records that chunking has begun, unless that is recorded; raises LeaseLost."""
        with self._held(job) as (connection, _):
            self._start(connection, job, "chunk")

    def converted(self, job: HeldStage, result: Converted) -> ChosenModel:
        """Records a stored conversion and starts embedding under the same lease. Raises LeaseLost.

        Returns the model to embed with.
        """
        with self._held(job) as (connection, _):
            self._start(connection, job, "embed")
            self._finish(connection, job, "convert", "chunk")
            _record_conversion(connection, job, result)
            row = connection.execute(DocumentSql.chosen_embedding, {"workspace_id": job.workspace_id}).fetchone()
            return (row[0], row[1]) if row else None

    def embedded(self, job: HeldStage, converted: Converted | None = None, *, model: str, dims: int) -> None:
        """Records stored vectors, and the conversion if it is not recorded yet, and publishes the document.

        Raises LeaseLost.
        """
        with self._held(job) as (connection, document):
            if converted:
                document = _record_conversion(connection, job, converted)
            self._finish(connection, job, "embed", *(("convert", "chunk") if converted else ()))
            self._record_embedding(connection, job, model, dims)
            self._announce(connection, replace(document, embedding_model=model, embedding_dims=dims))

    def not_embedded(self, job: HeldStage, delay: float | None, error_class: str, message: str) -> None:
        """Publishes the document without vectors for lexical search, unless it is already published.

        Embedding is retried after `delay` seconds, or not automatically if that is None. Raises LeaseLost.
        """
        with self._held(job) as (connection, document):
            announced = _is_announced(connection, job)
            reason = {"error_class": error_class, "error_message": message}
            if delay is None:
                connection.execute(StageSql.fail, {**_held(job), "failed": "embed", **reason})
            else:
                again = {**RELEASED, "postponed": 1, "delay": delay, **reason}
                connection.execute(StageSql.release, {**_held(job), **again})
            self._record_embedding(connection, job, None, None)
            if not announced:
                self._announce(connection, replace(document, embedding_model=None, embedding_dims=None))

    def fail(self, job: HeldStage, stage: StageName, error_class: str, message: str) -> None:
        """Marks the stage as failed, and the document unless it is already published. Raises LeaseLost."""
        with self._held(job) as (connection, document):
            if stage == "chunk":
                self._start(connection, job, stage)
            reason = {"failed": stage, "error_class": error_class, "error_message": message}
            connection.execute(StageSql.fail, {**_held(job), **reason})
            if stage == "embed" and _is_announced(connection, job):
                return
            key = {"workspace_id": job.workspace_id, "document_ids": [job.document_id]}
            connection.execute(DocumentSql.set_status, {**key, "status": DocumentStatus.failed})
            event = DocumentFailed(
                document_id=document.id,
                version=document.version,
                service=SOURCE,
                stage=stage,
                error_class=error_class,
                error_message=message,
            )
            _write_event(connection, document, event)

    def release(self, job: HeldStage) -> None:
        """Queues the stage again at once, as if it had not been started."""
        self._release(job, uncount=1)

    def postpone(self, job: HeldStage, delay: float, error_class: str, message: str, *, lost: bool = False) -> None:
        """Queues the stage again after `delay` seconds, with the reason; `lost` counts it as a lost process."""
        counters = {"lost": 1, "postponed": 0} if lost else {"lost": 0, "postponed": 1}
        self._release(job, delay=delay, error_class=error_class, error_message=message, **counters)

    def abandon(self, job: HeldStage) -> bool:
        """Releases the stage if its document is being deleted, so that the deletion continues; returns whether so."""
        with self.database.workspace(job.workspace_id) as connection:
            if _lock_document(connection, job) is not None:
                return False
            connection.execute(StageSql.abandon, _held(job))
            return True

    def is_deleted(self, job: HeldStage) -> bool:
        with self.database.workspace(job.workspace_id) as connection:
            return _lock_document(connection, job) is None

    def _release(self, job: HeldStage, **values: Any) -> None:
        with self._held(job) as (connection, _):
            connection.execute(StageSql.release, {**_held(job), **RELEASED, **values})

    def _record_embedding(
        self, connection: Connection[TupleRow], job: HeldStage, model: str | None, dims: int | None
    ) -> None:
        values = {"version": job.version, "embedding_model": model, "embedding_dims": dims}
        connection.execute(DocumentSql.record_embedding, {**_key(job), **values})

    def _announce(self, connection: Connection[TupleRow], document: DocumentRow) -> None:
        key = {"workspace_id": document.workspace_id, "document_id": document.id}
        connection.execute(StageSql.queue_confirmations, key)
        _write_event(connection, document, converted_event(document))

    def _finish(self, connection: Connection[TupleRow], job: HeldStage, *names: StageName) -> None:
        connection.execute(StageSql.finish, {**_key(job), "worker": self.worker, "names": list(names)})

    def _start(self, connection: Connection[TupleRow], job: HeldStage, stage: StageName) -> None:
        connection.execute(StageSql.start, {**_held(job), "name": stage})

    @contextmanager
    def _held(self, job: HeldStage) -> Iterator[tuple[Connection[TupleRow], DocumentRow]]:
        """Opens a transaction with the document locked; raises LeaseLost unless the lease is still held."""
        with self.database.workspace(job.workspace_id) as connection:
            document = _lock_document(connection, job)
            if document is None or document.version != job.version or not _holds(connection, job):
                raise LeaseLost
            yield connection, document


def _key(job: ClaimedStage) -> dict[str, Any]:
    return {"workspace_id": job.workspace_id, "document_id": job.document_id}


def _held(job: ClaimedStage) -> dict[str, Any]:
    return {**_key(job), "lease_token": job.lease_token}


def _holds(connection: Connection[TupleRow], job: HeldStage) -> bool:
    return connection.execute(StageSql.lock_lease, _held(job)).fetchone() is not None


def _is_announced(connection: Connection[TupleRow], job: HeldStage) -> bool:
    return connection.execute(StageSql.is_announced, _key(job)).fetchone() is not None


def _record_conversion(connection: Connection[TupleRow], job: HeldStage, result: Converted) -> DocumentRow:
    facts = {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in asdict(result).items()}
    values = {**_key(job), "version": job.version, "chunk_count": result.chunks, **facts}
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        document = cursor.execute(DocumentSql.record_conversion, values).fetchone()
    assert document is not None, "it is locked"
    return document


def _lock_document(connection: Connection[TupleRow], job: HeldStage) -> DocumentRow | None:
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        cursor.execute(DocumentSql.lock, _key(job))
        return cursor.fetchone()


def _write_event(connection: Connection[TupleRow], document: DocumentRow, data: EventData) -> None:
    event = new_event(SOURCE, document.workspace_id, data, str(document.id))
    connection.execute(INSERT, event_row(data, event))
