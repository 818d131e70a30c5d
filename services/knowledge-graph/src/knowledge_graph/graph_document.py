"""The use cases of the consumer: graph a converted document, forget a deleted one, tell of a failure."""

from __future__ import annotations

from uuid import UUID

from contracts.events import (
    DocumentConverted,
    DocumentDeleted,
    DocumentFailed,
    DocumentGraphed,
    DocumentPurged,
    Event,
)
from contracts.ingestion import Chunk
from knowledge_graph import provenance
from knowledge_graph.extraction.code import is_source_code
from knowledge_graph.extraction.records import Passage, SourceDocument
from knowledge_graph.extractor import Extractor
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Database

SERVICE = "knowledge-graph"


class DocumentGraphs:
    """Handlers of document events. `projects` says that Neo4j shows the graph too, and confirms deletions."""

    def __init__(
        self, database: Database, objects: ObjectStore, extractor: Extractor, outbox: Outbox, *, projects: bool
    ) -> None:
        self.database, self.objects, self.extractor = database, objects, extractor
        self.outbox, self.projects = outbox, projects

    async def graph(self, event: Event) -> None:
        """`document.converted`: replaces the document's graph, unless it is deleted or newer already."""
        data, workspace_id = DocumentConverted.model_validate(event.data), event.workspace_id
        if not await self._is_current(workspace_id, data):
            return
        document = await self._read(data)
        extraction = await self.extractor.extract(document)
        graphed = provenance.Graphed(data.document_id, data.version, data.name, len(document.passages), extraction)
        async with self.database.workspace(workspace_id) as connection:
            await provenance.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            # Again: a later version or a deletion may have been handled while this one was extracted.
            if not await provenance.is_current(connection, workspace_id, data.document_id, data.version):
                return
            await provenance.replace(connection, workspace_id, graphed)
            await provenance.queue_projection(connection, workspace_id, data.document_id)
            told = DocumentGraphed(
                document_id=data.document_id,
                version=data.version,
                entities=graphed.entities,
                relations=graphed.relations,
            )
            await self.outbox.write(connection, workspace_id, told, str(data.document_id))

    async def forget(self, event: Event) -> None:
        """`document.deleted`: provenance goes, and what had no other. Confirmed here, or after Neo4j followed."""
        document_id, workspace_id = DocumentDeleted.model_validate(event.data).document_id, event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            await provenance.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            removed = await provenance.remove(connection, workspace_id, document_id)
            receipt = removed if self.projects else None
            await provenance.queue_projection(connection, workspace_id, document_id, receipt)
            if receipt is None:
                left = await provenance.remaining(connection, workspace_id, document_id)
                purged = DocumentPurged(document_id=document_id, service=SERVICE, removed=removed, remaining=left)
                await self.outbox.write(connection, workspace_id, purged, str(document_id))

    async def give_up(self, event: Event, reason: str) -> None:
        """A dead letter: the document's stage shows it."""
        if event.type != DocumentConverted.event_type:
            return
        data = DocumentConverted.model_validate(event.data)
        error_class, _, message = reason.partition(": ")
        failed = DocumentFailed(
            document_id=data.document_id,
            version=data.version,
            service=SERVICE,
            stage="graph",
            error_class=error_class,
            error_message=message,
        )
        async with self.database.workspace(event.workspace_id) as connection:
            await self.outbox.write(connection, event.workspace_id, failed, str(data.document_id))

    async def _is_current(self, workspace_id: UUID, data: DocumentConverted) -> bool:
        async with self.database.workspace(workspace_id) as connection:
            return await provenance.is_current(connection, workspace_id, data.document_id, data.version)

    async def _read(self, data: DocumentConverted) -> SourceDocument:
        lines = (await self.objects.aget(data.chunks_key)).decode().splitlines()
        chunks = [Chunk.model_validate_json(line) for line in lines if line.strip()]
        passages = tuple(
            Passage(chunk.chunk_id, chunk.content, tuple(chunk.heading_path))
            for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_index)
        )
        return SourceDocument(data.name, data.title, is_source_code(data.name), passages)
