"""Consumes document events: indexes converted documents, purges deleted ones. Each change commits with its event."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from uuid import UUID

from contracts.embedding_spaces import SpaceStatus
from contracts.events import (
    DocumentConverted,
    DocumentDeleted,
    DocumentDescribed,
    DocumentFacts,
    DocumentFailed,
    DocumentIndexed,
    DocumentPurged,
    Event,
    EventData,
)
from inference.embedders import SpaceKey
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces
from retrieval.errors import ConvertedInvalid
from retrieval.index.converted import read_chunks, read_vectors
from retrieval.index.documents import IndexDocumentRows, IndexRowCounts, KnownIndexDocument
from retrieval.index.preparation import Facts, Prepared, prepare
from retrieval.index.writer import IndexWriter
from retrieval.reading.state import generation
from retrieval.spaces.rows import SpaceRow, SpaceRows
from retrieval.spaces.switch import ensure_active
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import Outbox, first_time, first_times
from service_kit.postgres import Database
from service_kit.streams import Handler, Together
from service_kit.workspace_purge import Erased

log = logging.getLogger(__name__)
GROUP = "retrieval"
STAGE = "index"


class Indexer:
    """Handles document events; the same event may arrive any number of times, in any order.

    `default` is the embedding space of new workspaces. `delete_answers` deletes a workspace's cached answers that are
    older than a generation of its index.
    """

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        outbox: Outbox,
        default: SpaceKey,
        delete_answers: Callable[[UUID, int], Awaitable[Erased]] | None = None,
    ) -> None:
        self.database, self.objects, self.outbox, self.default = database, objects, outbox, default
        self.delete_answers = delete_answers
        self.analyzer, self.pieces = Analyzer(), WordPieces()

    @property
    def together(self) -> dict[str, Together]:
        """Handlers of events that are cheaper to handle in batches."""
        return {DocumentDeleted.event_type: self.purge_all}

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            DocumentConverted.event_type: self.index,
            DocumentDescribed.event_type: self.describe,
            DocumentDeleted.event_type: self.purge,
        }

    async def index(self, event: Event) -> None:
        """Replaces the indexed version, unless it is newer or the document was deleted.

        The same version again adds its vectors. Content that a retry cannot fix fails the stage at once.
        """
        document = DocumentConverted.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            known = await IndexDocumentRows(connection, event.workspace_id).find(document.document_id)
        if not known.wants(document.version):
            return
        try:
            prepared = await self._prepared(document)
        except (ObjectMissing, ConvertedInvalid) as error:
            await self._fail(event, document, type(error).__name__, str(error))
            return
        async with self.database.workspace(event.workspace_id) as connection:
            writer = IndexWriter(connection, event.workspace_id, self.analyzer)
            if not await first_time(connection, event):
                return
            known = await writer.lock(document.document_id)
            if known.wants(document.version):
                await self._write(writer, known, prepared)

    async def describe(self, event: Event) -> None:
        """Changes the facts of the indexed version, and the words that it is found by if they differ."""
        described = DocumentDescribed.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            writer = IndexWriter(connection, event.workspace_id, self.analyzer)
            if not await first_time(connection, event):
                return
            known = await writer.lock(described.document_id)
            indexed = known.indexed
            if indexed is None or known.deleted or described.version < indexed.version:
                return
            changed = set(DocumentFacts.model_fields) - {"document_id", "version"}
            named = replace(indexed, **{name: getattr(described, name) for name in changed})
            if named.naming == indexed.naming:
                await writer.set_facts(named)
                return
            chunks = await writer.documents.chunks(indexed)
            prepared = await asyncio.to_thread(prepare, Facts.of(named), chunks, None, self.analyzer, self.pieces)
            await writer.replace(known, prepared)

    async def purge(self, event: Event) -> None:
        """Deletes the document for good, and publishes how much was removed and how much remains (nothing)."""
        await self.purge_all([event])

    async def purge_all(self, events: Sequence[Event]) -> None:
        """Deletes several documents of one workspace in one transaction: most rows of their postings are shared.

        Deleted cached answers are counted in the first one's receipt.
        """
        workspace_id = events[0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            writer = IndexWriter(connection, workspace_id, self.analyzer)
            new = await first_times(connection, events)
            if not new:
                return
            document_ids = [DocumentDeleted.model_validate(event.data).document_id for event in new]
            await writer.lock_all(document_ids)
            purged = await writer.purge_all(document_ids)
            # before the commit, so that a failure rolls back and retries everything
            kept = Erased()
            if self.delete_answers:
                kept = await self.delete_answers(workspace_id, await generation(connection, workspace_id))
            done: list[tuple[EventData, str]] = []
            for document_id in document_ids:
                removed, remaining = (
                    asdict(counts) for counts in purged.pop(document_id, (IndexRowCounts(), IndexRowCounts()))
                )
                receipt = DocumentPurged(
                    document_id=document_id,
                    service=GROUP,
                    removed={**removed, **kept.removed},
                    remaining={**remaining, **kept.remaining},
                )
                done.append((receipt, str(document_id)))
                kept = Erased(dict.fromkeys(kept.removed, 0), kept.remaining)
            await self.outbox.write_all(connection, workspace_id, done)

    async def on_dead(self, event: Event, reason: str) -> None:
        """Publishes that indexing was given up. A purge that was given up shows in its missing receipt."""
        if event.type == DocumentConverted.event_type:
            error_class, _, message = reason.partition(": ")
            document = DocumentConverted.model_validate(event.data)
            async with self.database.workspace(event.workspace_id) as connection:
                failed = _failure(document, error_class, message or reason)
                await self.outbox.write(connection, event.workspace_id, failed, str(document.document_id))

    async def _prepared(self, document: DocumentConverted) -> Prepared:
        chunks = await self.objects.aget(document.chunks_key)
        vectors = await self.objects.aget(document.vectors_key) if document.vectors_key else None

        def work() -> Prepared:
            read = read_chunks(document, chunks)
            embedded = None if vectors is None else read_vectors(document, vectors)
            return prepare(Facts.of(document), read, embedded, self.analyzer, self.pieces)

        return await asyncio.to_thread(work)

    async def _write(self, writer: IndexWriter, known: KnownIndexDocument, prepared: Prepared) -> None:
        """Writes the document; vectors of a space that the workspace lacks are left out: nothing would delete them."""
        rows = SpaceRows(writer.connection, writer.workspace_id)
        active = await ensure_active(rows, self.default, self.outbox)
        if prepared.vectors and not _has(await rows.spaces(), (prepared.vectors.model, prepared.vectors.dims)):
            prepared = replace(prepared, vectors=None)
        number = await writer.replace(known, prepared)
        vectors = await rows.vectors(number, active.key)
        if vectors < prepared.chunk_count:
            await rows.mark_incomplete(active)
        facts = prepared.facts
        done = DocumentIndexed(
            document_id=facts.document_id, version=facts.version, chunk_count=prepared.chunk_count, vectors=vectors
        )
        await self.outbox.write(writer.connection, writer.workspace_id, done, str(facts.document_id))

    async def _fail(self, event: Event, document: DocumentConverted, error_class: str, message: str) -> None:
        log.warning("document not indexed", extra={"document_id": str(document.document_id), "reason": message})
        async with self.database.workspace(event.workspace_id) as connection:
            if await first_time(connection, event):
                failed = _failure(document, error_class, message)
                await self.outbox.write(connection, event.workspace_id, failed, str(document.document_id))


def _has(rows: list[SpaceRow], space: SpaceKey) -> bool:
    return any(row.key == space and row.status is not SpaceStatus.dropping for row in rows)


def _failure(document: DocumentConverted, error_class: str, message: str) -> DocumentFailed:
    return DocumentFailed(
        document_id=document.document_id,
        version=document.version,
        service=GROUP,
        stage=STAGE,
        error_class=error_class,
        error_message=message,
    )
