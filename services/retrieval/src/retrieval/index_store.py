"""Every statement that changes the index. All run in the caller's transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from contracts.events import DocumentConverted
from retrieval.index_rows import ChunkBatch, Prepared
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")


@dataclass(frozen=True)
class Known:
    """What the index knows of a document: the version that it holds, if any, and whether it was deleted for good."""

    version: int | None
    deleted: bool

    def wants(self, document: DocumentConverted) -> bool:
        """Whether the index should take this version: not of a deleted document, and none older than it holds."""
        return not self.deleted and (self.version is None or document.version >= self.version)


@dataclass(frozen=True)
class Removed:
    """Rows removed, by table; `number` is the document's, None when there was none."""

    number: int | None
    documents: int
    chunks: int
    postings: int
    vectors: int
    terms: int

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if name not in {"number", "terms"}}


@dataclass(frozen=True)
class Numbers:
    document: int
    chunks: list[int]


class IndexWriter:
    """Changes the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def lock(self, document_id: UUID) -> Known:
        """Until the end of the transaction nobody else writes this document; what is known of it now."""
        await self.connection.execute(QUERIES["lock_document"], self._of(document_id))
        return await self.known(document_id)

    async def known(self, document_id: UUID) -> Known:
        async with self.connection.cursor(row_factory=class_row(Known)) as cursor:
            await cursor.execute(QUERIES["known_document"], self._of(document_id))
            return await cursor.fetchone() or Known(None, False)

    async def replace(self, prepared: Prepared) -> None:
        """Puts the document in the place of the version that the index holds."""
        removed = await self._remove(prepared.document.document_id)
        numbers = await self._take_numbers(prepared.chunk_count)
        await self._insert_document(prepared, numbers.document)
        for batch in prepared.batches:
            await self._insert_batch(prepared, batch, numbers)
        await self._change_statistics(prepared.chunk_count - removed.chunks, prepared.term_count - removed.terms)

    async def purge(self, document_id: UUID) -> tuple[Removed, dict[str, int]]:
        """Removes the document for good; what was removed, and what is still counted afterwards."""
        await self.connection.execute(QUERIES["insert_tombstone"], self._of(document_id))
        removed = await self._remove(document_id)
        async with self.connection.cursor() as cursor:
            await cursor.execute(QUERIES["count_remaining"], self._of(document_id) | {"number": removed.number})
            counts = await cursor.fetchone() or (0, 0, 0, 0)
        if removed.documents:
            await self._change_statistics(-removed.chunks, -removed.terms)
        return removed, dict(zip(removed.counts(), counts, strict=True))

    async def _remove(self, document_id: UUID) -> Removed:
        async with self.connection.cursor(row_factory=class_row(Removed)) as cursor:
            await cursor.execute(QUERIES["remove_document"], self._of(document_id))
            return await cursor.fetchone() or Removed(None, 0, 0, 0, 0, 0)

    async def _take_numbers(self, chunks: int) -> Numbers:
        async with self.connection.cursor(row_factory=class_row(Numbers)) as cursor:
            await cursor.execute(QUERIES["take_numbers"], {"chunks": chunks})
            numbers = await cursor.fetchone()
        assert numbers is not None
        return numbers

    async def _insert_document(self, prepared: Prepared, number: int) -> None:
        document = prepared.document
        values = {
            "number": number,
            "version": document.version,
            "name": document.name,
            "title": document.title,
            "title_terms": prepared.title_terms,
            "media_type": document.media_type,
            "chunk_count": prepared.chunk_count,
            "term_count": prepared.term_count,
        }
        await self.connection.execute(QUERIES["insert_document"], self._of(document.document_id) | values)

    async def _insert_batch(self, prepared: Prepared, batch: ChunkBatch, numbers: Numbers) -> None:
        own, by_posting = batch.numbered(numbers.chunks)
        place = {"workspace_id": self.workspace_id, "document": numbers.document}
        await self.connection.execute(QUERIES["insert_chunks"], place | {"numbers": own, "chunks": batch.chunks})
        postings = {
            "terms": batch.terms,
            "chunks": by_posting,
            "frequencies": batch.frequencies,
            "lengths": batch.lengths,
        }
        await self.connection.execute(QUERIES["insert_postings"], place | postings)
        vectors = {"numbers": own, "embeddings": batch.embeddings, "model": prepared.document.embedding_model}
        await self.connection.execute(QUERIES["insert_vectors"], place | vectors)

    async def _change_statistics(self, chunks: int, terms: int) -> None:
        values = {"workspace_id": self.workspace_id, "chunks": chunks, "terms": terms}
        await self.connection.execute(QUERIES["change_statistics"], values)

    def _of(self, document_id: UUID) -> dict[str, object]:
        return {"workspace_id": self.workspace_id, "document_id": document_id}


async def ensure_vector_index(connection: Connection, model: str, dims: int) -> str:
    """Creates the HNSW index of an embedding space where it is missing; its name."""
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("SELECT ensure_vector_index(%s, %s)", (model, dims))
        return str(await cursor.fetchone())
