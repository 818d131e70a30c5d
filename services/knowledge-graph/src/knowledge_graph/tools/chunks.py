"""Reads the texts of chunks from the objects that the graph was made from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.graph_tools import CitedPassage
from contracts.ingestion import Chunk
from service_kit.chunks import read_chunks
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.repository import Repository
from service_kit.statements import Statements

log = logging.getLogger(__name__)
MOST_DOCUMENTS = 12
"""Documents whose chunks are read for one answer."""
READ_SECONDS = 4.0
MOST_CHARACTERS = 2_000
MENTIONS_LOOKED_AT = 20_000
OF_DOCUMENT = 3


@dataclass(frozen=True)
class ChunkReference:
    """A chunk of a document."""

    document_id: UUID
    chunk_id: str


@dataclass(frozen=True)
class GraphedSource:
    """A document of the graph, or a set of triples, which has no chunks (its `chunks_key` is empty)."""

    document_id: UUID
    name: str
    chunks_key: str


@dataclass(frozen=True)
class ReadChunks:
    """The names of documents, and those chunks that could be read."""

    names: dict[UUID, str]
    chunks: dict[ChunkReference, Chunk]

    def cited(self, place: ChunkReference) -> CitedPassage | None:
        """Returns the passage; None if its text could not be read."""
        chunk = self.chunks.get(place)
        if chunk is None:
            return None
        return CitedPassage(
            chunk_id=place.chunk_id,
            document_id=place.document_id,
            document_name=self.names[place.document_id],
            text=beginning(chunk.content),
            section=" > ".join(chunk.heading_path) or chunk.section_title,
            page=chunk.page,
        )


def beginning(text: str) -> str:
    """Truncates a text to `MOST_CHARACTERS`, including an ellipsis."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


class ToolSql(Statements, file="chunks.sql"):
    about: str
    documents: str
    is_known: str
    passages: str


class ChunkTexts:
    """Reads the texts of chunks; whatever the object store does not return in time is left out and logged."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def about(self, workspace_id: UUID, entity_id: str, limit: int) -> list[CitedPassage]:
        """Returns chunks about the entity first, then those that mention it most often; at most three per document."""
        values = {"id": entity_id, "limit": limit, "of_document": OF_DOCUMENT, "looked_at": MENTIONS_LOOKED_AT}
        async with self.database.workspace(workspace_id) as connection:
            places = await Repository(connection, workspace_id).all(ToolSql.about, ChunkReference, **values)
        texts = await self.read(workspace_id, places)
        return [one for place in places if (one := texts.cited(place)) is not None]

    async def read(self, workspace_id: UUID, places: Sequence[ChunkReference]) -> ReadChunks:
        """Reads the chunks of the first 12 documents."""
        documents = list(dict.fromkeys(place.document_id for place in places))
        async with self.database.workspace(workspace_id) as connection:
            found = await Repository(connection, workspace_id).all(ToolSql.documents, GraphedSource, ids=documents)
        sources = {one.document_id: one for one in found}
        chunks: dict[ChunkReference, Chunk] = {}
        try:
            async with asyncio.timeout(READ_SECONDS):
                for document_id in documents[:MOST_DOCUMENTS]:
                    if document_id in sources and sources[document_id].chunks_key:
                        wanted = {place.chunk_id for place in places if place.document_id == document_id}
                        chunks |= await self._chunks(sources[document_id], wanted)
        except (TimeoutError, Unavailable) as error:
            log.warning("leaving out chunk texts because the object store does not answer: %s", error)
        return ReadChunks({one.document_id: one.name for one in found}, chunks)

    async def _chunks(self, source: GraphedSource, wanted: set[str]) -> dict[ChunkReference, Chunk]:
        try:
            content = await self.objects.aget(source.chunks_key)
        except ObjectMissing:
            return {}  # replaced by a later version or deleted meanwhile
        read = await asyncio.to_thread(lambda: list(read_chunks([content], wanted)))
        return {ChunkReference(source.document_id, chunk.chunk_id): chunk for chunk in read}
