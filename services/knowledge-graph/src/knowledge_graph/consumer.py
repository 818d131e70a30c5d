"""Handles document events: graphs documents, applies new names, deletes documents, reports failures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from knowledge_graph.converted import SERVICE, confirmed, document_of, failure_of, folder_of, source_of
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.extraction.records import Extraction, SourceDocument
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.refinement import chunks
from service_kit.chunks import portions
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import Outbox, first_times
from service_kit.postgres import Connection, Database
from service_kit.streams import Handler, Together


@dataclass(frozen=True)
class ToGraph:
    """A document that an event asks to graph, from the `content` of its chunks' object."""

    event: Event
    document_id: UUID
    source: MadeFrom
    content: bytes


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
        return {DocumentConverted.event_type: self.graph_all, DocumentDeleted.event_type: self.delete_all}

    async def graph(self, event: Event) -> None:
        """Handles `document.converted`: replaces the document's graph, unless it was deleted or has a newer version.

        If the same chunks are republished (now with vectors), the graph is only confirmed again.
        """
        await self.graph_all([event])

    async def graph_all(self, events: Sequence[Event]) -> None:
        """Graphs several documents of one workspace; those with few chunks are extracted and written together."""
        for portion in portions(events):
            await self._graph(portion)

    async def _graph(self, converted: Sequence[tuple[Event, DocumentConverted]]) -> None:
        workspace_id = converted[0][0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            provenance = GraphProvenance(connection, workspace_id)
            current = await provenance.current({data.document_id: data.version for _, data in converted})
            known = {one.document_id: one for one in await provenance.find_all(current)}
        wanted = [(event, data) for event, data in converted if data.document_id in current]
        contents = await asyncio.gather(*(self._content(data.chunks_key) for _, data in wanted))
        to_graph, answers = list[ToGraph](), list[tuple[Event, DocumentGraphed | DocumentFailed]]()
        for (event, data), content in zip(wanted, contents, strict=True):
            if isinstance(content, ObjectMissing):
                # No retry would bring it back: the document was deleted or has a later version, or it is lost.
                answers.append((event, failure_of(data, "object-missing", f"The object store has no {content}")))
                continue
            source, before = source_of(data, content), known.get(data.document_id)
            if before and before.is_made_from(source):
                answers.append((event, confirmed(before)))
            else:
                to_graph.append(ToGraph(event, data.document_id, source, content))
        if answers:
            async with self.database.workspace(workspace_id) as connection:
                new = {event.id for event in await first_times(connection, [event for event, _ in answers])}
                await self._publish(connection, workspace_id, [one for event, one in answers if event.id in new])
        if to_graph:
            await self._replace(workspace_id, to_graph)

    async def _content(self, key: str) -> bytes | ObjectMissing:
        try:
            return await self.objects.aget(key)
        except ObjectMissing as error:
            return error

    async def describe(self, event: Event) -> None:
        """Handles `document.described`: graphs the document again under its new file name or title."""
        data, workspace_id = DocumentDescribed.model_validate(event.data), event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            known = await GraphProvenance(connection, workspace_id).find(data.document_id)
        if known is None or known.version != data.version or not known.chunks_key:
            return  # a conversion that is yet to come brings the name with it
        source = replace(known.source, version=data.version, name=data.name, title=data.title, folder=folder_of(data))
        if known.is_made_from(source):
            return
        try:
            content = await self.objects.aget(known.chunks_key)
        except ObjectMissing:
            return  # deleted meanwhile
        await self._replace(workspace_id, [ToGraph(event, data.document_id, source, content)])

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
            refined = await chunks.delete(connection, workspace_id, document_ids)
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
        failed = failure_of(DocumentConverted.model_validate(event.data), error_class, message)
        async with self.database.workspace(event.workspace_id) as connection:
            await self._publish(connection, event.workspace_id, [failed])

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
        document = document_of(source, content)
        [extraction] = await self.extractor.extract([document])
        async with self.database.workspace(workspace_id) as connection:
            await GraphProvenance(connection, workspace_id).lock()
            present = await GraphProvenance(connection, workspace_id).find(document_id)
            if present and present.is_made_from(source):
                await self._write(connection, workspace_id, [(document_id, source, document, extraction)])

    async def _replace(self, workspace_id: UUID, to_graph: Sequence[ToGraph]) -> None:
        documents = [document_of(one.source, one.content) for one in to_graph]
        extractions = await self.extractor.extract(documents)
        async with self.database.workspace(workspace_id) as connection:
            provenance = GraphProvenance(connection, workspace_id)
            await provenance.lock()
            new = {event.id for event in await first_times(connection, [one.event for one in to_graph])}
            # Again: a later version or a deletion may have been handled while this one was extracted.
            current = await provenance.current({one.document_id: one.source.version for one in to_graph})
            extracted = [
                (one.document_id, one.source, document, extraction)
                for one, document, extraction in zip(to_graph, documents, extractions, strict=True)
                if one.event.id in new and one.document_id in current
            ]
            if extracted:
                graphed = await self._write(connection, workspace_id, extracted)
                await self._publish(connection, workspace_id, [confirmed(one.known) for one in graphed])

    async def _write(
        self,
        connection: Connection,
        workspace_id: UUID,
        extracted: Sequence[tuple[UUID, MadeFrom, SourceDocument, Extraction]],
    ) -> list[Graphed]:
        found = {document_id: (document, extraction) for document_id, _, document, extraction in extracted}
        joined = await chunks.join_results(connection, workspace_id, found)
        graphed = [
            Graphed(document_id, source, len(document.chunks), joined[document_id])
            for document_id, source, document, _ in extracted
        ]
        changes = await GraphProvenance(connection, workspace_id).replace_all(graphed)
        await queue(connection, workspace_id, changes, projects=self.projects)
        return graphed

    async def _publish(
        self, connection: Connection, workspace_id: UUID, answers: Sequence[DocumentGraphed | DocumentFailed]
    ) -> None:
        await self.outbox.write_all(connection, workspace_id, [(one, str(one.document_id)) for one in answers])
