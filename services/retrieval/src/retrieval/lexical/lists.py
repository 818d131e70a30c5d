"""Posting lists of a query's terms: first the headers of their blocks, then the blocks that matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from retrieval.lexical.cache import PostingCache
from retrieval.lexical.columns import Int64s
from retrieval.lexical.groups import PostingGroups, decode_all
from retrieval.lexical.postings import Postings, TermPostings, decode, decode_terms, merge
from retrieval.lexical.statements import PostingSql
from retrieval.reading.arrays import array_text, term_array
from retrieval.reading.reader import IndexReader

SHARED = -1  # in place of a block number: a term's postings in its group and in recent rows


@dataclass(frozen=True)
class Header:
    """The headers of one term's blocks; arrays of the same length."""

    blocks: Int64s
    first: Int64s
    last: Int64s
    postings: Int64s
    max_frequency: Int64s
    min_length: Int64s

    @property
    def frequency(self) -> int:
        """The number of chunks that have the term."""
        return int(self.postings.sum())


@dataclass(frozen=True)
class DecodedBlock:
    postings: Postings

    @property
    def nbytes(self) -> int:
        return 16 * len(self.postings) + 500


class PostingLists:
    """The posting lists of one workspace in one transaction."""

    def __init__(self, reader: IndexReader, cache: PostingCache[DecodedBlock | TermPostings]) -> None:
        self.reader, self.cache = reader, cache
        self.groups = PostingGroups(reader, cast("PostingCache[TermPostings]", cache))
        self.headers: dict[str, Header] = {}
        self.recent: list[TermPostings] = []
        self._decoded: dict[tuple[str, int], Postings] = {}

    async def open(self, documents: Sequence[int], batches: Sequence[int]) -> None:
        """Reads the recent rows, by document and batch. Call it once, before anything else."""
        place = self.reader.workspace_id
        rows = sorted(zip(documents, batches, strict=True))
        kept = {row: self.cache.get((place, *row)) for row in rows}
        missing = [row for row, found in kept.items() if found is None]
        if missing:
            values = {"documents": [row[0] for row in missing], "batches": [row[1] for row in missing]}
            payloads = await self.reader.payloads(PostingSql.recent_payloads, **values)
            decoded = await decode_all([row[2] for row in payloads], decode_terms)
            for (document, batch, _), found in zip(payloads, decoded, strict=True):
                self.cache.put((place, document, batch), found)
                kept[document, batch] = found
        self.recent = [found for found in kept.values() if isinstance(found, TermPostings)]

    async def read_headers(self, terms: Iterable[str]) -> dict[str, int]:
        """Counts the chunks that have each term, exactly; terms that none has are left out."""
        wanted_terms = set(terms)
        wanted = sorted(wanted_terms - self.headers.keys())
        if wanted:
            by_term: dict[str, list[Sequence[int]]] = {term: [] for term in wanted}
            first_terms: dict[int, str] = {}
            for grouped, term, number, *values in await self.reader.rows(
                PostingSql.block_headers, terms=term_array(wanted)
            ):
                if grouped:
                    first_terms[number] = term
                else:
                    by_term[term].append([number, *values])
            groups = await self.groups.holding(wanted, first_terms)
            for term, rows in by_term.items():
                if parts := [
                    found[term] for found in (groups.get(term), *self.recent) if found is not None and term in found
                ]:
                    rows.append(self._shared(term, merge(*parts)))
                columns = np.array(rows, np.int64).reshape(-1, 6).T
                self.headers[term] = Header(*columns)
        return {term: header.frequency for term in wanted_terms if (header := self.headers[term]).frequency}

    async def load(self, wanted: Mapping[str, NDArray[np.intp]]) -> None:
        """Reads and decodes blocks, by term and position in its header."""
        missing = []
        for term, positions in wanted.items():
            for block in self.headers[term].blocks[positions].tolist():
                if (term, block) not in self._decoded:
                    kept = self.cache.get((self.reader.workspace_id, block))
                    if isinstance(kept, DecodedBlock):
                        self._decoded[term, block] = kept.postings
                    else:
                        missing.append((term, block))
        if not missing:
            return
        terms = {block: term for term, block in missing}
        values = {
            "terms": term_array(term for term, _ in missing),
            "blocks": array_text(block for _, block in missing),
        }
        payloads = await self.reader.payloads(PostingSql.block_payloads, **values)
        decoded = await decode_all([row[1] for row in payloads], decode)
        for (block, _), found in zip(payloads, decoded, strict=True):
            self._decoded[terms[block], block] = found
            self.cache.put((self.reader.workspace_id, block), DecodedBlock(found))

    async def chunks(self, terms: Iterable[str]) -> Int64s:
        """Returns all chunks that have one of the terms, sorted."""
        known = await self.read_headers(sorted(terms))
        await self.load({term: np.arange(len(self.headers[term].blocks)) for term in known})
        found = [self.block(term, at).chunks for term in known for at in range(len(self.headers[term].blocks))]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def block(self, term: str, position: int) -> Postings:
        """Returns a block that was loaded."""
        return self._decoded[term, int(self.headers[term].blocks[position])]

    def _shared(self, term: str, found: Postings) -> list[int]:
        self._decoded[term, SHARED] = found
        return [
            SHARED,
            int(found.chunks[0]),
            int(found.chunks[-1]),
            len(found),
            int(found.frequencies.max()),
            int(found.lengths.min()),
        ]
