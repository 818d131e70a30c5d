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
    DocumentPurged,
    Event,
    EventData,
)
from inference.embedders import SpaceKey
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces
from retrieval.errors import ConvertedInvalid
from retrieval.index.documents import IndexDocumentRows, KnownIndexDocument
from retrieval.index.preparation import Facts, Prepared, prepare, read_chunks, read_vectors
from retrieval.index.writer import IndexWriter
from retrieval.reading.state import generation
from retrieval.spaces.rows import SpaceRows, SpaceSql
from retrieval.spaces.switch import ensure_active, publish_indexed
from service_kit.chunks import portions
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
        return {DocumentConverted.event_type: self.index_all, DocumentDeleted.event_type: self.purge_all}

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
        await self.index_all([event])

    async def index_all(self, events: Sequence[Event]) -> None:
        """Indexes several documents of one workspace; those with few chunks in one transaction."""
        for portion in portions(events):
            await self._index(portion)

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
                removed, remaining = (asdict(counts) for counts in purged[document_id])
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

    async def _index(self, converted: Sequence[tuple[Event, DocumentConverted]]) -> None:
        workspace_id, document_ids = converted[0][0].workspace_id, [document.document_id for _, document in converted]
        async with self.database.workspace(workspace_id) as connection:
            known = await IndexDocumentRows(connection, workspace_id).find_all(document_ids)
        wanted = [(event, one) for event, one in converted if known[one.document_id].wants(one.version)]
        if not wanted:
            return
        prepared = await asyncio.gather(*(self._prepared(document) for _, document in wanted))
        async with self.database.workspace(workspace_id) as connection:
            writer = IndexWriter(connection, workspace_id, self.analyzer)
            new = {event.id for event in await first_times(connection, [event for event, _ in wanted])}
            made = {
                one.document_id: made for (event, one), made in zip(wanted, prepared, strict=True) if event.id in new
            }
            if not made:
                return
            await writer.lock_all(list(made))
            known = await writer.documents.find_all(list(made))
            failed = [(one, str(one.document_id)) for one in made.values() if isinstance(one, DocumentFailed)]
            await self.outbox.write_all(connection, workspace_id, failed)
            indexed = [(known[document_id], one) for document_id, one in made.items() if isinstance(one, Prepared)]
            await self._write(writer, [(there, one) for there, one in indexed if there.wants(one.facts.version)])

    async def _prepared(self, document: DocumentConverted) -> Prepared | DocumentFailed:
        """Returns the document ready to be written, or why it cannot be indexed."""

        def work() -> Prepared:
            chunks = read_chunks(document, self.objects.get(document.chunks_key))
            vectors = read_vectors(document, self.objects.get(document.vectors_key)) if document.vectors_key else None
            return prepare(Facts.of(document), chunks, vectors, self.analyzer, self.pieces)

        try:
            return await asyncio.to_thread(work)
        except (ObjectMissing, ConvertedInvalid) as error:
            extra = {"document_id": str(document.document_id), "reason": str(error)}
            log.warning("document not indexed", extra=extra)
            return _failure(document, type(error).__name__, str(error))

    async def _write(self, writer: IndexWriter, documents: Sequence[tuple[KnownIndexDocument, Prepared]]) -> None:
        """Writes the documents; vectors of a space that the workspace lacks are left out: nothing would delete them."""
        if not documents:
            return
        rows = SpaceRows(writer.connection, writer.workspace_id)
        active = await ensure_active(rows, self.default, self.outbox)
        spaces = {space.key for space in await rows.spaces() if space.status is not SpaceStatus.dropping}
        await writer.replace_all(
            [
                (known, one if one.vectors and one.vectors.space in spaces else replace(one, vectors=None))
                for known, one in documents
            ]
        )
        done = await rows.documents([one.facts.document_id for _, one in documents], active.key)
        if any(one.vectors < one.chunk_count for one in done):
            await rows.run(SpaceSql.mark_incomplete, id=active.id)
        await publish_indexed(rows, done, self.outbox)


def _failure(document: DocumentConverted, error_class: str, message: str) -> DocumentFailed:
    return DocumentFailed(
        document_id=document.document_id,
        version=document.version,
        service=GROUP,
        stage=STAGE,
        error_class=error_class,
        error_message=message,
    )
