"""Reads the texts of chunks from the objects that hold them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

from knowledge_graph.extraction.records import SourceDocument
from knowledge_graph.extraction.source_document import read_document
from knowledge_graph.recording.provenance import GraphProvenance
from knowledge_graph.refinement import chunks
from knowledge_graph.refinement.asking import digest_of
from knowledge_graph.refinement.records import PendingChunk, UnreadDocument
from knowledge_graph.refinement.store import RefinementChunks
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.postgres import Database

DOCUMENTS_KEPT = 4
MOST_COUNTED = 1_000


class TextCache:
    """Caches the most recently read documents, because chunks are asked about document by document."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self._kept: OrderedDict[str, Mapping[bytes, str]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def text_of(self, chunk: PendingChunk) -> str | None:
        """Returns the chunk's text; None if the object is gone or now holds another text."""
        async with self._lock:
            if chunk.chunks_key not in self._kept:
                self._kept[chunk.chunks_key] = await self._read(chunk.chunks_key)
                while len(self._kept) > DOCUMENTS_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(chunk.chunks_key)
            return self._kept[chunk.chunks_key].get(chunk.digest)

    async def _read(self, key: str) -> Mapping[bytes, str]:
        try:
            content = await self.objects.aget(key)
        except ObjectMissing:
            return {}
        return {digest_of(one.content): one.content for one in read_document("", None, None, content).chunks}


class UnreadDocuments:
    """Stores the chunks of documents that were graphed by a version that did not store them."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def read(self, workspace_id: UUID, limit: int) -> bool:
        """Stores the chunks of up to `limit` documents; returns False if there are more."""
        unread = await self._unread(workspace_id, limit + 1)
        for document in unread[:limit]:
            source = await self._source(document)
            async with self.database.workspace(workspace_id) as connection:
                await GraphProvenance(connection, workspace_id).lock()
                known = await GraphProvenance(connection, workspace_id).find(document.document_id)
                if known is not None and known.chunks_key == document.chunks_key:
                    await chunks.keep(connection, workspace_id, document.document_id, source)
        return len(unread) <= limit

    async def count(self, workspace_id: UUID) -> int:
        """Counts the documents without stored chunks, up to a thousand."""
        return len(await self._unread(workspace_id, MOST_COUNTED))

    async def _unread(self, workspace_id: UUID, limit: int) -> list[UnreadDocument]:
        async with self.database.workspace(workspace_id) as connection:
            return await RefinementChunks(connection, workspace_id).unread_documents(limit)

    async def _source(self, document: UnreadDocument) -> SourceDocument:
        try:
            content = await self.objects.aget(document.chunks_key)
        except ObjectMissing:
            content = b""  # deleted or lost: there is nothing to ask about
        return read_document(document.name, None, None, content)
