"""The texts of passages, from the objects that hold them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from uuid import UUID

from psycopg.rows import class_row

from knowledge_graph.extraction.records import SourceDocument
from knowledge_graph.extraction.source_document import read_document
from knowledge_graph.recording import provenance
from knowledge_graph.refinement import chunks
from knowledge_graph.refinement.asking import digest_of
from knowledge_graph.refinement.chunks import QUERIES
from knowledge_graph.refinement.records import UnreadDocument, Waiting
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.postgres import Database

DOCUMENTS_KEPT = 4


class Texts:
    """Keeps the documents that were read last, as passages are asked for document by document."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self._kept: OrderedDict[str, Mapping[bytes, str]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def of(self, passage: Waiting) -> str | None:
        """None where the object is gone, or holds another text by now."""
        async with self._lock:
            if passage.chunks_key not in self._kept:
                self._kept[passage.chunks_key] = await self._read(passage.chunks_key)
                while len(self._kept) > DOCUMENTS_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(passage.chunks_key)
            return self._kept[passage.chunks_key].get(passage.digest)

    async def _read(self, key: str) -> Mapping[bytes, str]:
        try:
            content = await self.objects.aget(key)
        except ObjectMissing:
            return {}
        texts = [one.content for one in read_document("", None, None, content).chunks]
        return {digest_of(text): text for text in texts}


class UnreadDocuments:
    """Documents that were graphed before their passages were kept."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def read(self, workspace_id: UUID, limit: int) -> bool:
        """Keeps the passages of up to `limit` documents; False when there are more."""
        waiting = await self._waiting(workspace_id, limit + 1)
        for document in waiting[:limit]:
            source = await self._source(document)
            async with self.database.workspace(workspace_id) as connection:
                await provenance.lock(connection, workspace_id)
                known = await provenance.known(connection, workspace_id, document.document_id)
                if known is not None and known.chunks_key == document.chunks_key:
                    await chunks.note(connection, workspace_id, document.document_id, source)
        return len(waiting) <= limit

    async def count(self, workspace_id: UUID) -> int:
        """Up to a thousand."""
        return len(await self._waiting(workspace_id, 1_000))

    async def _waiting(self, workspace_id: UUID, limit: int) -> list[UnreadDocument]:
        async with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(UnreadDocument)) as cursor,
        ):
            await cursor.execute(QUERIES["unread_documents"], {"workspace_id": workspace_id, "limit": limit})
            return await cursor.fetchall()

    async def _source(self, document: UnreadDocument) -> SourceDocument:
        try:
            content = await self.objects.aget(document.chunks_key)
        except ObjectMissing:
            content = b""  # deleted, or lost: there is nothing to ask for
        return read_document(document.name, None, None, content)
