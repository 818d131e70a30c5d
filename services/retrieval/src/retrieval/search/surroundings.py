"""Small-to-big retrieval: adds the chunks around a hit, read in the search's snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.retrieval import Around, Surrounding, SurroundingPart
from retrieval.reading.reader import IndexedChunk, IndexReader
from retrieval.search.overlap import joined
from retrieval.search.spans import MOST_MERGED, ChunkSpan, Merged, Outline, merged, neighbours, section
from retrieval.search.statements import SearchSql

REACH = 20  # chunks to each side that a section may extend to


@dataclass(frozen=True)
class _AdjacentChunk:
    document_id: UUID
    chunk_index: int
    chunk_id: str
    content: str
    page: int | None
    page_end: int | None


class Surroundings:
    """Reads the surroundings of one search's hits, each chunk once."""

    def __init__(self, reader: IndexReader, around: Around) -> None:
        self.reader, self.around = reader, around
        self._spans: dict[int, ChunkSpan] = {}
        self._chunks: dict[tuple[UUID, int], _AdjacentChunk | None] = {}

    async def load(self, chunks: Sequence[IndexedChunk]) -> None:
        """Reads the surroundings of all these chunks in advance, so that `merged` and `read` read nothing more."""
        await self._know_spans(chunks)
        await self._load_chunks([(chunk.document_id, self._spans[chunk.number]) for chunk in chunks])

    async def merged(self, order: Sequence[int], chunks: Mapping[int, IndexedChunk], k: int) -> Merged:
        """Returns the first `k` hits of `order`, merging those whose surroundings overlap."""
        await self._know_spans([chunks[chunk] for chunk in order])
        most = 2 * REACH + 1 if self.around is Around.section else MOST_MERGED
        return merged(order, chunks, self._spans, most, k)

    async def read(
        self, found: Merged, chunks: Mapping[int, IndexedChunk], scores: Mapping[int, float]
    ) -> dict[int, Surrounding]:
        """Returns surroundings by hit; `scores` includes those of the chunks that became part of a hit."""
        places = {chunk: (chunks[chunk].document_id, span) for chunk, span in found.spans.items()}
        await self._load_chunks(list(places.values()))
        own = {chunks[chunk].chunk_id: scores[chunk] for chunk in [*found.order, *found.into]}
        return {chunk: _surrounding(self._chunks_of(*place), own) for chunk, place in places.items()}

    async def _know_spans(self, chunks: Sequence[IndexedChunk]) -> None:
        unknown = [chunk for chunk in chunks if chunk.number not in self._spans]
        if self.around is Around.section:
            self._spans |= await self._sections(unknown) if unknown else {}
        else:
            self._spans |= {chunk.number: neighbours(chunk.chunk_index) for chunk in unknown}

    async def _load_chunks(self, places: Sequence[tuple[UUID, ChunkSpan]]) -> None:
        unknown = [
            (document, span)
            for document, span in places
            if any((document, index) not in self._chunks for index in range(span.first, span.last + 1))
        ]
        if unknown:
            # None marks a chunk that the document does not have, such as one after its last.
            wanted = ((document, index) for document, span in unknown for index in range(span.first, span.last + 1))
            self._chunks = dict.fromkeys(wanted) | self._chunks
            found = await self.reader.all(SearchSql.chunks_of_spans, _AdjacentChunk, **_columns(unknown))
            self._chunks |= {(one.document_id, one.chunk_index): one for one in found}

    def _chunks_of(self, document: UUID, span: ChunkSpan) -> list[_AdjacentChunk]:
        found = (self._chunks.get((document, index)) for index in range(span.first, span.last + 1))
        return [part for part in found if part is not None]

    async def _sections(self, chunks: Sequence[IndexedChunk]) -> dict[int, ChunkSpan]:
        windows = [
            (chunk.document_id, ChunkSpan(chunk.chunk_index - REACH, chunk.chunk_index + REACH)) for chunk in chunks
        ]
        outlines: dict[UUID, dict[int, Outline]] = {}
        for one in await self.reader.all(SearchSql.outlines, Outline, **_columns(windows)):
            outlines.setdefault(one.document_id, {})[one.chunk_index] = one
        return {chunk.number: section(chunk.chunk_index, outlines[chunk.document_id]) for chunk in chunks}


def _columns(places: Sequence[tuple[UUID, ChunkSpan]]) -> dict[str, object]:
    return {
        "document_ids": [document for document, _ in places],
        "firsts": [span.first for _, span in places],
        "lasts": [span.last for _, span in places],
    }


def _surrounding(parts: Sequence[_AdjacentChunk], found: Mapping[str, float]) -> Surrounding:
    content, places = joined(part.content for part in parts)
    last = parts[-1]
    return Surrounding(
        content=content,
        parts=[
            SurroundingPart(
                chunk_id=part.chunk_id,
                chunk_index=part.chunk_index,
                start=start,
                end=end,
                score=found.get(part.chunk_id),
            )
            for part, (start, end) in zip(parts, places, strict=True)
        ],
        chunk_index_from=parts[0].chunk_index,
        chunk_index_to=last.chunk_index,
        page=parts[0].page,
        page_end=last.page_end if last.page_end is not None else last.page,
    )
