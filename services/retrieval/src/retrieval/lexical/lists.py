"""Posting lists of a query's terms: first the headers of their blocks, then the blocks that matter, and groups, which
are rows that many terms share (`retrieval.index.groups`).
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.lexical.cache import PostingCache
from retrieval.lexical.columns import Int64s
from retrieval.lexical.postings import Postings, TermPostings, decode, decode_terms, merge
from retrieval.lexical.statements import PostingSql
from retrieval.reading.arrays import array_text, term_array
from retrieval.reading.reader import IndexReader

SHARED = -1  # in place of a block number: a term's postings in its group and in recent rows
Key = tuple[int, ...]
Decoded = TypeVar("Decoded")
_OFF_LOOP = 200_000  # bytes; more are decoded in another thread


@dataclass(frozen=True)
class Header:
    """The headers of one term's blocks; arrays of the same length."""

    blocks: Int64s
    first: Int64s
    last: Int64s
    postings: Int64s
    max_frequency: Int64s
    min_length: Int64s

    @cached_property
    def frequency(self) -> int:
        """The number of chunks that have the term."""
        return int(self.postings.sum())


UNKNOWN = Header(*np.empty((6, 0), np.int64))


class PostingLists:
    """The posting lists of one workspace in one transaction. What changes gets a new number, so that what is cached by
    number stays valid.
    """

    def __init__(self, reader: IndexReader, cache: PostingCache) -> None:
        self.reader, self.cache = reader, cache
        self.headers: dict[str, Header] = {}
        self.recent: list[TermPostings] = []
        self._decoded: dict[tuple[str, int], Postings] = {}

    async def open(self, documents: Sequence[int], batches: Sequence[int]) -> None:
        """Reads the recent rows, by document and batch. Call it once, before anything else."""

        def values(missing: Sequence[Key]) -> dict[str, object]:
            return {"documents": [row[0] for row in missing], "batches": [row[1] for row in missing]}

        rows: list[Key] = sorted(zip(documents, batches, strict=True))
        self.recent = list((await self._read(PostingSql.recent_payloads, rows, values, decode_terms)).values())

    async def read_headers(self, terms: Iterable[str]) -> dict[str, int]:
        """Counts the chunks that have each term, exactly; terms that none has are left out."""
        wanted = set(terms)
        if unread := sorted(wanted - self.headers.keys()):
            by_term, first_terms = defaultdict[str, list[Sequence[int]]](list), dict[int, str]()
            rows = await self.reader.rows(PostingSql.block_headers, terms=term_array(unread))
            for grouped, term, number, *values in rows:
                if grouped:
                    first_terms[number] = term
                else:
                    by_term[term].append([number, *values])
            groups = await self._holding(unread, first_terms)
            for term in unread:
                parts = [found[term] for found in (*groups.get(term, ()), *self.recent) if term in found]
                if parts:
                    by_term[term].append(self._shared(term, merge(*parts)))
                columns = by_term.get(term)
                self.headers[term] = Header(*np.array(columns, np.int64).T) if columns else UNKNOWN
        return {term: header.frequency for term in wanted if (header := self.headers[term]).frequency}

    async def load(self, wanted: Mapping[str, NDArray[np.intp]]) -> None:
        """Reads and decodes blocks, by term and position in its header."""
        terms = {
            block: term
            for term, positions in wanted.items()
            for block in self.headers[term].blocks[positions].tolist()
            if (term, block) not in self._decoded
        }

        def values(missing: Sequence[Key]) -> dict[str, object]:
            blocks = [block for (block,) in missing]
            return {"terms": term_array(terms[block] for block in blocks), "blocks": array_text(blocks)}

        found = await self._read(PostingSql.block_payloads, [(block,) for block in terms], values, decode)
        self._decoded |= {(terms[block], block): postings for (block,), postings in found.items()}

    async def chunks(self, terms: Iterable[str]) -> Int64s:
        """Returns all chunks that have one of the terms, sorted."""
        known = await self.read_headers(terms)
        await self.load({term: np.arange(len(self.headers[term].blocks)) for term in known})
        found = [self.block(term, at).chunks for term in known for at in range(len(self.headers[term].blocks))]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def block(self, term: str, position: int) -> Postings:
        """Returns a block that was loaded."""
        return self._decoded[term, int(self.headers[term].blocks[position])]

    async def groups_between(self, first: str, last: str, most: int) -> list[TermPostings]:
        """Returns the first `most` groups that may have terms from `first` to before `last`, among other terms."""
        rows = await self.reader.rows(PostingSql.groups_between, first=first, last=last, most=most)
        return list((await self._groups(dict(rows))).values())

    async def _holding(self, terms: Sequence[str], first_terms: Mapping[int, str]) -> dict[str, list[TermPostings]]:
        """Returns the group that each term would be in; `first_terms` has the groups' first terms by number."""
        groups = await self._groups(first_terms)
        numbers = sorted(groups, key=first_terms.__getitem__)
        beginnings = [first_terms[number] for number in numbers]
        return {term: [groups[numbers[at - 1]]] for term in terms if (at := bisect_right(beginnings, term))}

    async def _groups(self, first_terms: Mapping[int, str]) -> dict[int, TermPostings]:
        """Returns groups by number, in the order given."""

        def values(missing: Sequence[Key]) -> dict[str, object]:
            return {"first_terms": [first_terms[number] for (number,) in missing]}

        found = await self._read(PostingSql.group_payloads, [(number,) for number in first_terms], values, decode_terms)
        return {number: group for (number,), group in found.items()}

    async def _read(
        self,
        sql: LiteralString,
        keys: Sequence[Key],
        values: Callable[[Sequence[Key]], dict[str, object]],
        one: Callable[[bytes], Decoded],
    ) -> dict[Key, Decoded]:
        """Returns what the rows with these keys hold, in their order; the statement, whose parameters are the `values`
        of keys, is only sent for those that are not cached.
        """
        place = self.reader.workspace_id
        found: dict[Key, Decoded | None] = {key: self.cache.get((place, *key)) for key in keys}
        if missing := [key for key, known in found.items() if known is None]:
            rows = await (await self.reader.execute(sql, values(missing), binary=True)).fetchall()
            decoded = await _decode_all([row[-1] for row in rows], one)
            for (*key, _), made in zip(rows, decoded, strict=True):
                self.cache.put((place, *key), made)
                found[tuple(key)] = made
        return {key: known for key, known in found.items() if known is not None}

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


async def _decode_all(payloads: Sequence[bytes], one: Callable[[bytes], Decoded]) -> list[Decoded]:
    """Decodes all payloads without blocking the event loop."""

    def all_of_them() -> list[Decoded]:
        return [one(payload) for payload in payloads]

    if sum(map(len, payloads)) < _OFF_LOOP:
        return all_of_them()
    return await asyncio.to_thread(all_of_them)
