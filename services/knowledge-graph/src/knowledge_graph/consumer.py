"""The use cases of the consumer: graph a document, follow its name, forget a deleted one, tell of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from uuid import UUID

from contracts.events import (
    DocumentConverted,
    DocumentDeleted,
    DocumentDescribed,
    DocumentFailed,
    DocumentGraphed,
    DocumentPurged,
    Event,
)
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.extraction.records import Extraction, SourceDocument
from knowledge_graph.extraction.source_document import read_document
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording import provenance
from knowledge_graph.recording.provenance import MadeFrom
from knowledge_graph.refinement import chunks
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Connection, Database
from service_kit.streams import Handler

SERVICE = "knowledge-graph"


class DocumentGraphs:
    """Handlers of document events. `projects` says that Neo4j shows the graph too, and confirms deletions."""

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
            DocumentDeleted.event_type: self.forget,
        }

    async def graph(self, event: Event) -> None:
        """`document.converted`: replaces the document's graph, unless it is deleted or newer already.

        The same chunks told of again (now with vectors) are only confirmed again.
        """
        data, workspace_id = DocumentConverted.model_validate(event.data), event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            if not await provenance.is_current(connection, workspace_id, data.document_id, data.version):
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
        source = MadeFrom(data.version, data.name, data.title, data.language, data.chunks_key, digest)
        async with self.database.workspace(workspace_id) as connection:
            known = await provenance.known(connection, workspace_id, data.document_id)
            if known and known.is_made_from(source):
                if await first_time(connection, event):
                    await self._confirm(connection, event, data.document_id, known)
                return
        await self._replace(event, data.document_id, source, content)

    async def describe(self, event: Event) -> None:
        """`document.described`: the graph follows a new file name or title, which name entities of their own."""
        data, workspace_id = DocumentDescribed.model_validate(event.data), event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            known = await provenance.known(connection, workspace_id, data.document_id)
        if known is None or known.version != data.version or not known.chunks_key:
            return  # a conversion that is yet to come brings the name with it
        source = MadeFrom(data.version, data.name, data.title, known.language, known.chunks_key, known.chunks_digest)
        if known.is_made_from(source):
            return
        try:
            content = await self.objects.aget(known.chunks_key)
        except ObjectMissing:
            return  # deleted meanwhile
        await self._replace(event, data.document_id, source, content)

    async def forget(self, event: Event) -> None:
        """`document.deleted`: provenance goes, and what had no other. Confirmed here, or after Neo4j followed."""
        document_id, workspace_id = DocumentDeleted.model_validate(event.data).document_id, event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            await provenance.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            refined = await chunks.delete(connection, workspace_id, document_id)
            changes, removed = await provenance.remove(connection, workspace_id, document_id)
            removed |= refined
            receipt = removed if self.projects else None
            await queue(connection, workspace_id, changes, receipt, projects=self.projects)
            if receipt is None:
                left = await provenance.remaining(connection, workspace_id, document_id)
                purged = DocumentPurged(document_id=document_id, service=SERVICE, removed=removed, remaining=left)
                await self.outbox.write(connection, workspace_id, purged, str(document_id))

    async def give_up(self, event: Event, reason: str) -> None:
        """A dead letter: the document's stage shows it."""
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
        """The same chunks graphed anew, as what refinement found in them has changed. Nothing for one that is gone."""
        async with self.database.workspace(workspace_id) as connection:
            known = await provenance.known(connection, workspace_id, document_id)
        if known is None or not known.chunks_key:
            return
        source = MadeFrom(**{field.name: getattr(known, field.name) for field in fields(MadeFrom)})
        try:
            content = await self.objects.aget(known.chunks_key)
        except ObjectMissing:
            return  # deleted meanwhile
        document = read_document(source.name, source.title, source.language, content)
        extraction = await self.extractor.extract(document)
        async with self.database.workspace(workspace_id) as connection:
            await provenance.lock(connection, workspace_id)
            present = await provenance.known(connection, workspace_id, document_id)
            if present and present.is_made_from(source):
                await self._write(connection, workspace_id, document_id, source, document, extraction)

    async def _replace(self, event: Event, document_id: UUID, source: MadeFrom, content: bytes) -> None:
        workspace_id, document = event.workspace_id, read_document(source.name, source.title, source.language, content)
        extraction = await self.extractor.extract(document)
        async with self.database.workspace(workspace_id) as connection:
            await provenance.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            # Again: a later version or a deletion may have been handled while this one was extracted.
            if not await provenance.is_current(connection, workspace_id, document_id, source.version):
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
    ) -> provenance.Graphed:
        joined = await chunks.join_results(connection, workspace_id, document_id, document, extraction)
        graphed = provenance.Graphed(document_id, source, len(document.chunks), joined)
        changes = await provenance.replace(connection, workspace_id, graphed)
        await queue(connection, workspace_id, changes, projects=self.projects)
        return graphed

    async def _confirm(self, connection: Connection, event: Event, document_id: UUID, known: provenance.Known) -> None:
        done = DocumentGraphed(
            document_id=document_id, version=known.version, entities=known.entities, relations=known.relations
        )
        await self.outbox.write(connection, event.workspace_id, done, str(document_id))
