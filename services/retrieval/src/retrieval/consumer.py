"""Events in: a converted document is indexed, a deleted one purged. What the index did commits with its own event."""

from __future__ import annotations

import asyncio
import logging

from contracts.events import (
    DocumentConverted,
    DocumentDeleted,
    DocumentFailed,
    DocumentIndexed,
    DocumentPurged,
    Event,
)
from retrieval.analysis import Analyzer
from retrieval.converted import read_chunks, read_vectors
from retrieval.errors import ConvertedInvalid
from retrieval.index_rows import Prepared, prepare
from retrieval.index_store import IndexWriter
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Database
from service_kit.streams import Handler

log = logging.getLogger(__name__)
GROUP = "retrieval"
STAGE = "index"


class Indexer:
    """Handlers for the stream of documents; each may be given the same event any number of times, in any order."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox) -> None:
        self.database, self.objects, self.outbox = database, objects, outbox
        self.analyzer = Analyzer()

    @property
    def handlers(self) -> dict[str, Handler]:
        return {DocumentConverted.event_type: self.index, DocumentDeleted.event_type: self.purge}

    async def index(self, event: Event) -> None:
        """Replaces what the index has of the document, unless that is newer or the document was deleted.

        Content that no retry will mend fails the stage at once.
        """
        document = DocumentConverted.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            known = await IndexWriter(connection, event.workspace_id).known(document.document_id)
        if not known.wants(document):
            return
        try:
            prepared = await self._prepared(document)
        except (ObjectMissing, ConvertedInvalid) as error:
            await self._fail(event, document, type(error).__name__, str(error))
            return
        async with self.database.workspace(event.workspace_id) as connection:
            writer = IndexWriter(connection, event.workspace_id)
            if not await first_time(connection, event):
                return
            if not (await writer.lock(document.document_id)).wants(document):
                return
            await writer.replace(prepared)
            done = DocumentIndexed(
                document_id=document.document_id, version=document.version, chunk_count=prepared.chunk_count
            )
            await self.outbox.write(connection, event.workspace_id, done, str(document.document_id))

    async def purge(self, event: Event) -> None:
        """Removes the document, remembers that it is gone, and tells what was removed and what remains (nothing)."""
        document_id = DocumentDeleted.model_validate(event.data).document_id
        async with self.database.workspace(event.workspace_id) as connection:
            writer = IndexWriter(connection, event.workspace_id)
            if not await first_time(connection, event):
                return
            await writer.lock(document_id)
            removed, remaining = await writer.purge(document_id)
            done = DocumentPurged(document_id=document_id, service=GROUP, removed=removed.counts(), remaining=remaining)
            await self.outbox.write(connection, event.workspace_id, done, str(document_id))

    async def on_dead(self, event: Event, reason: str) -> None:
        """Shows at the document that indexing was given up. A purge that was is seen in its missing receipt."""
        if event.type == DocumentConverted.event_type:
            error_class, _, message = reason.partition(": ")
            document = DocumentConverted.model_validate(event.data)
            async with self.database.workspace(event.workspace_id) as connection:
                failed = _failure(document, error_class, message or reason)
                await self.outbox.write(connection, event.workspace_id, failed, str(document.document_id))

    async def _prepared(self, document: DocumentConverted) -> Prepared:
        chunks, vectors = await asyncio.gather(
            self.objects.aget(document.chunks_key), self.objects.aget(document.vectors_key)
        )

        def work() -> Prepared:
            read = read_chunks(document, chunks)
            return prepare(document, read, read_vectors(document, vectors), self.analyzer)

        return await asyncio.to_thread(work)

    async def _fail(self, event: Event, document: DocumentConverted, error_class: str, message: str) -> None:
        log.warning("document not indexed", extra={"document_id": str(document.document_id), "reason": message})
        async with self.database.workspace(event.workspace_id) as connection:
            if await first_time(connection, event):
                failed = _failure(document, error_class, message)
                await self.outbox.write(connection, event.workspace_id, failed, str(document.document_id))


def _failure(document: DocumentConverted, error_class: str, message: str) -> DocumentFailed:
    return DocumentFailed(
        document_id=document.document_id,
        version=document.version,
        service=GROUP,
        stage=STAGE,
        error_class=error_class,
        error_message=message,
    )
