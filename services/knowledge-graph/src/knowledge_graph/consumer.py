"""Handles document events: graphs documents, applies new names, deletes documents, reports failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from contracts.events import (
    DocumentConverted,
    DocumentDeleted,
    DocumentDescribed,
    DocumentFacts,
    DocumentFailed,
    DocumentGraphed,
    DocumentPurged,
    Event,
)
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.extraction.records import Extraction, SourceDocument
from knowledge_graph.extraction.source_document import read_document
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, KnownGraph, MadeFrom
from knowledge_graph.refinement import chunks
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import Outbox, first_time, first_times
from service_kit.postgres import Connection, Database
from service_kit.streams import Handler, Together

SERVICE = "knowledge-graph"


class DocumentGraphs:
    """Handles document events. With `projects`, a deletion is confirmed only once the projection has caught up."""

    def __init__(
        self, database: Database, objects: ObjectStore, extractor: Extractor, outbox: Outbox, *, projects: bool
    ) -> None:
        self.database, self.objects, self.extractor = database, objects, extractor
        self.outbox, self.projects = outbox, projects

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            DocumentConverted.event_type: self.graph,
            DocumentDescribed.event_type: self.describe,
            DocumentDeleted.event_type: self.delete,
        }

    @property
    def together(self) -> Mapping[str, Together]:
        """Handlers of events that are cheaper to handle in batches."""
        return {DocumentDeleted.event_type: self.delete_all}

    async def graph(self, event: Event) -> None:
        """Handles `document.converted`: replaces the document's graph, unless it was deleted or has a newer version.

        If the same chunks are republished (now with vectors), the graph is only confirmed again.
        """
        data, workspace_id = DocumentConverted.model_validate(event.data), event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            if not await GraphProvenance(connection, workspace_id).is_current(data.document_id, data.version):
                return
        try:
            content = await self.objects.aget(data.chunks_key)
        except ObjectMissing as error:
            # No retry would bring it back: the document was deleted or has a later version, or its objects are lost.
            async with self.database.workspace(workspace_id) as connection:
                if await first_time(connection, event):
                    await self._fail(connection, event, "object-missing", f"The object store has no {error}")
            return
        digest = sha256(content).hexdigest()
        written = _day(data.written_at)
        source = MadeFrom(
            data.version, data.name, data.title, data.language, data.chunks_key, digest, written, _folder(data)
        )
        async with self.database.workspace(workspace_id) as connection:
            known = await GraphProvenance(connection, workspace_id).find(data.document_id)
            if known and known.is_made_from(source):
                if await first_time(connection, event):
                    await self._confirm(connection, event, data.document_id, known)
                return
        await self._replace(event, data.document_id, source, content)

    async def describe(self, event: Event) -> None:
        """Handles `document.described`: graphs the document again under its new file name or title."""
        data, workspace_id = DocumentDescribed.model_validate(event.data), event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            known = await GraphProvenance(connection, workspace_id).find(data.document_id)
        if known is None or known.version != data.version or not known.chunks_key:
            return  # a conversion that is yet to come brings the name with it
        source = replace(known.source, version=data.version, name=data.name, title=data.title, folder=_folder(data))
        if known.is_made_from(source):
            return
        try:
            content = await self.objects.aget(known.chunks_key)
        except ObjectMissing:
            return  # deleted meanwhile
        await self._replace(event, data.document_id, source, content)

    async def delete(self, event: Event) -> None:
        """Handles `document.deleted`: deletes the document's provenance, and whatever had no other provenance."""
        await self.delete_all([event])

    async def delete_all(self, events: Sequence[Event]) -> None:
        """Deletes several documents of one workspace in one transaction."""
        workspace_id = events[0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            provenance = GraphProvenance(connection, workspace_id)
            await provenance.lock()
            new = await first_times(connection, events)
            document_ids = list(dict.fromkeys(DocumentDeleted.model_validate(one.data).document_id for one in new))
            if not document_ids:
                return
            refined = {one: await chunks.delete(connection, workspace_id, one) for one in document_ids}
            changes, removed = await provenance.delete_all(document_ids)
            receipts = {one: removed[one] | refined[one] for one in document_ids}
            await queue(connection, workspace_id, changes, receipts if self.projects else None, projects=self.projects)
            if not self.projects:
                left = await provenance.remaining(document_ids)
                purged = [
                    DocumentPurged(document_id=one, service=SERVICE, removed=receipts[one], remaining=left[one])
                    for one in document_ids
                ]
                await self.outbox.write_all(connection, workspace_id, [(one, str(one.document_id)) for one in purged])

    async def give_up(self, event: Event, reason: str) -> None:
        """Reports a dead letter, so that the document's stage shows the failure."""
        if event.type != DocumentConverted.event_type:
            return
        error_class, _, message = reason.partition(": ")
        async with self.database.workspace(event.workspace_id) as connection:
            await self._fail(connection, event, error_class, message)

    async def _fail(self, connection: Connection, event: Event, error_class: str, message: str) -> None:
        data = DocumentConverted.model_validate(event.data)
        failed = DocumentFailed(
            document_id=data.document_id,
            version=data.version,
            service=SERVICE,
            stage="graph",
            error_class=error_class,
            error_message=message,
        )
        await self.outbox.write(connection, event.workspace_id, failed, str(data.document_id))

    async def regraph(self, workspace_id: UUID, document_id: UUID) -> None:
        """Graphs the same chunks again after their refinement changed; does nothing if the document was deleted."""
        async with self.database.workspace(workspace_id) as connection:
            known = await GraphProvenance(connection, workspace_id).find(document_id)
        if known is None or not known.chunks_key:
            return
        source = known.source
        try:
            content = await self.objects.aget(known.chunks_key)
        except ObjectMissing:
            return  # deleted meanwhile
        document = read_document(source.place, source.title, source.language, content, source.written)
        extraction = await self.extractor.extract(document)
        async with self.database.workspace(workspace_id) as connection:
            await GraphProvenance(connection, workspace_id).lock()
            present = await GraphProvenance(connection, workspace_id).find(document_id)
            if present and present.is_made_from(source):
                await self._write(connection, workspace_id, document_id, source, document, extraction)

    async def _replace(self, event: Event, document_id: UUID, source: MadeFrom, content: bytes) -> None:
        workspace_id = event.workspace_id
        document = read_document(source.place, source.title, source.language, content, source.written)
        extraction = await self.extractor.extract(document)
        async with self.database.workspace(workspace_id) as connection:
            await GraphProvenance(connection, workspace_id).lock()
            if not await first_time(connection, event):
                return
            # Again: a later version or a deletion may have been handled while this one was extracted.
            if not await GraphProvenance(connection, workspace_id).is_current(document_id, source.version):
                return
            graphed = await self._write(connection, workspace_id, document_id, source, document, extraction)
            await self._confirm(connection, event, document_id, graphed.known)

    async def _write(
        self,
        connection: Connection,
        workspace_id: UUID,
        document_id: UUID,
        source: MadeFrom,
        document: SourceDocument,
        extraction: Extraction,
    ) -> Graphed:
        joined = await chunks.join_results(connection, workspace_id, document_id, document, extraction)
        graphed = Graphed(document_id, source, len(document.chunks), joined)
        changes = await GraphProvenance(connection, workspace_id).replace(graphed)
        await queue(connection, workspace_id, changes, projects=self.projects)
        return graphed

    async def _confirm(self, connection: Connection, event: Event, document_id: UUID, known: KnownGraph) -> None:
        done = DocumentGraphed(
            document_id=document_id, version=known.version, entities=known.entities, relations=known.relations
        )
        await self.outbox.write(connection, event.workspace_id, done, str(document_id))


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()


def _folder(data: DocumentFacts) -> str:
    """Returns the folder of the file's path in its source; "" if the path does not end in the file's name or begins
    with a digest."""
    source = data.metadata.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    folder, _, name = path.rpartition("/") if isinstance(path, str) else ("", "", "")
    return folder if name == data.name and ":" not in folder.rpartition("/")[2] else ""
