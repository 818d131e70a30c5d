"""The statements that write a new version of a document, with their parameters. No IO; meant to run in a thread.

COPY is not possible with row-level security, so rows are sent as arrays in PostgreSQL's text form, one statement per
batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from retrieval.index.blocks import PostingRowsSql, batches
from retrieval.index.changes import ChunkChanges, StoredChunk
from retrieval.index.documents import IndexDocumentSql
from retrieval.index.preparation import Prepared, Values
from retrieval.lexical.postings import ORDINAL_BITS, encode_rows
from retrieval.reading.vectors import vector_array

BATCH = 250  # chunks


@dataclass(frozen=True)
class Replacement:
    """A version to write. `stored` are the chunks of the version before; new ones are numbered from `ordinal` on."""

    prepared: Prepared
    changes: ChunkChanges
    stored: Sequence[StoredChunk]
    number: int
    ordinal: int

    @cached_property
    def counted(self) -> dict[str, int]:
        """The columns of the document's row that count, over all chunks: those kept unchanged and those analysed."""
        posted = set(self.changes.posted)
        as_they_are = {number for position, number in self.changes.kept.items() if position not in posted}
        kept = [one for one in self.stored if one.number in as_they_are]
        analyses = [self.prepared.analyses[position] for position in self.changes.posted]
        return {
            "number": self.number,
            "next_ordinal": self.ordinal + len(self.changes.new),
            "chunk_count": len(self.prepared.chunks),
            "term_count": sum(one.terms for one in kept) + sum(one.length for one in analyses),
            "posting_count": sum(one.postings for one in kept) + sum(len(one.frequencies) for one in analyses),
        }

    @property
    def row(self) -> Values:
        """The columns of the document's row."""
        terms = {"title_terms": self.prepared.title_terms, "name_terms": self.prepared.name_terms}
        facts = self.prepared.facts
        return {**facts.values(), **terms, **self.counted, "stemming": facts.naming.stemming}

    def statements(self) -> Iterator[tuple[str, Values]]:
        """Yields what writes chunks, postings and vectors: statements with their parameters, in the order to run."""
        changes, vectors = self.changes, self.prepared.vectors
        if changes.kept:
            yield IndexDocumentSql.move_chunks, self._chunks(list(changes.kept))
        for some in batches(changes.new, BATCH):
            yield IndexDocumentSql.insert_chunks, self._chunks(some) | self._analysed(some)
        for some in batches([position for position in changes.posted if position in changes.kept], BATCH):
            yield IndexDocumentSql.reword_chunks, self._analysed(some)
        for some in batches(changes.posted, BATCH):
            yield PostingRowsSql.insert_recents, self._postings(some)
        if vectors:
            for some in batches(changes.embedded, BATCH):
                numbers, embeddings = self._numbers_of(some), vector_array(vectors.rows[some])
                written: Values = {"numbers": numbers, "embeddings": embeddings, "model": vectors.model}
                yield IndexDocumentSql.insert_vectors, written

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The chunks' numbers by their positions in the new version."""
        first = self.number << ORDINAL_BITS | self.ordinal
        return self.changes.kept | {position: first + at for at, position in enumerate(self.changes.new)}

    def _numbers_of(self, positions: Iterable[int]) -> list[int]:
        return [self._numbers[position] for position in positions]

    def _chunks(self, positions: Sequence[int]) -> Values:
        """Returns the chunks in the form that json_to_recordset reads."""
        rows = ",".join(self.prepared.chunks[position].model_dump_json() for position in positions)
        return {"numbers": self._numbers_of(positions), "chunks": f"[{rows}]"}

    def _analysed(self, positions: Sequence[int]) -> Values:
        analyses = [self.prepared.analyses[position] for position in positions]
        return {
            "numbers": self._numbers_of(positions),
            "terms": [analysis.length for analysis in analyses],
            "postings": [len(analysis.frequencies) for analysis in analyses],
            "pieces": [self.prepared.pieces[position] for position in positions],
        }

    def _postings(self, positions: Sequence[int]) -> Values:
        postings = sorted(
            (term, self._numbers[position], frequency, self.prepared.analyses[position].length)
            for position in positions
            for term, frequency in self.prepared.analyses[position].frequencies.items()
        )
        return {"documents": [self.number], "postings": [len(postings)], "payloads": [encode_rows(postings)]}
