"""The text of passages, from the objects that the graph was made from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from contracts.graph_tools import CitedPassage
from contracts.ingestion import Chunk
from knowledge_graph.store.postgres import QUERIES
from service_kit.chunks import read_chunks
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.postgres import Database
from service_kit.problems import Unavailable

log = logging.getLogger(__name__)
MOST_DOCUMENTS = 12
"""Documents whose passages are read for one answer."""
READ_SECONDS = 4.0
PASSAGE_CHARACTERS = 2_000
MENTIONS_LOOKED_AT = 20_000
OF_DOCUMENT = 3


@dataclass(frozen=True)
class Place:
    """A chunk of a document."""

    document_id: UUID
    chunk_id: str


@dataclass(frozen=True)
class Source:
    """A document of the graph, or a set of triples, which has no chunks (`chunks_key` is empty)."""

    document_id: UUID
    name: str
    chunks_key: str


@dataclass(frozen=True)
class Texts:
    """What was read: names of documents, and the chunks that could be."""

    names: dict[UUID, str]
    chunks: dict[Place, Chunk]

    def cited(self, place: Place) -> CitedPassage | None:
        """None where the text could not be read."""
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
    """At most `PASSAGE_CHARACTERS`; an ellipsis stands for the rest."""
    return text if len(text) <= PASSAGE_CHARACTERS else text[: PASSAGE_CHARACTERS - 1] + "…"


class Passages:
    """Reads; a text that the object store does not give in time is left out, and the log says so."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def about(self, workspace_id: UUID, entity_id: str, limit: int) -> list[CitedPassage]:
        """What is about the entity first, then what mentions it most often; from one document at most three."""
        values = {
            "workspace_id": workspace_id,
            "id": entity_id,
            "limit": limit,
            "of_document": OF_DOCUMENT,
            "looked_at": MENTIONS_LOOKED_AT,
        }
        async with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(Place)) as cursor,
        ):
            places = await (await cursor.execute(QUERIES["passages_of"], values)).fetchall()
        texts = await self.read(workspace_id, places)
        return [one for place in places if (one := texts.cited(place)) is not None]

    async def read(self, workspace_id: UUID, places: Sequence[Place]) -> Texts:
        """Of the first dozen of the documents."""
        documents = list(dict.fromkeys(place.document_id for place in places))
        values = {"workspace_id": workspace_id, "ids": documents}
        async with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(Source)) as cursor,
        ):
            found = await (await cursor.execute(QUERIES["documents_by_id"], values)).fetchall()
        sources = {one.document_id: one for one in found}
        chunks: dict[Place, Chunk] = {}
        try:
            async with asyncio.timeout(READ_SECONDS):
                for document_id in documents[:MOST_DOCUMENTS]:
                    if document_id in sources and sources[document_id].chunks_key:
                        wanted = {place.chunk_id for place in places if place.document_id == document_id}
                        chunks |= await self._chunks(sources[document_id], wanted)
        except (TimeoutError, Unavailable) as error:
            log.warning("passages are left out: the object store does not answer: %s", error)
        return Texts({one.document_id: one.name for one in found}, chunks)

    async def _chunks(self, source: Source, wanted: set[str]) -> dict[Place, Chunk]:
        try:
            content = await self.objects.aget(source.chunks_key)
        except ObjectMissing:
            return {}  # a later version took its place, or it was deleted meanwhile
        read = await asyncio.to_thread(lambda: list(read_chunks([content], wanted)))
        return {Place(source.document_id, chunk.chunk_id): chunk for chunk in read}
