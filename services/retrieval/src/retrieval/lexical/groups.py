"""Reads groups: rows that many terms share (`retrieval.index.groups`)."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from retrieval.lexical.cache import PostingCache
from retrieval.lexical.postings import TermPostings, decode_terms
from retrieval.lexical.statements import PostingSql
from retrieval.reading.reader import IndexReader

Decoded = TypeVar("Decoded")
_OFF_LOOP = 200_000  # bytes; more are decoded in another thread


class PostingGroups:
    """The groups of one workspace in one transaction. A changed group has a new number, so cached ones stay valid."""

    def __init__(self, reader: IndexReader, cache: PostingCache[TermPostings]) -> None:
        self.reader, self.cache = reader, cache

    async def holding(self, terms: Iterable[str], first_terms: Mapping[int, str]) -> dict[str, TermPostings]:
        """Returns the group of each term that is in one; `first_terms` has the groups' first terms by number."""
        found = await self._read(first_terms)
        numbers = sorted(found, key=first_terms.__getitem__)
        beginnings = [first_terms[number] for number in numbers]
        groups = {term: found[numbers[at]] for term in terms if (at := bisect_right(beginnings, term) - 1) >= 0}
        return {term: group for term, group in groups.items() if term in group}

    async def between(self, first: str, last: str, most: int) -> list[TermPostings]:
        """Returns the first `most` groups that may have terms from `first` to before `last`, among other terms."""
        rows = await self.reader.rows(PostingSql.groups_between, first=first, last=last, most=most)
        return list((await self._read(dict(rows))).values())

    async def _read(self, first_terms: Mapping[int, str]) -> dict[int, TermPostings]:
        """Reads groups by number, in the order given."""
        place = self.reader.workspace_id
        kept = {number: self.cache.get((place, number)) for number in first_terms}
        if missing := [first_terms[number] for number, found in kept.items() if found is None]:
            rows = await self.reader.payloads(PostingSql.group_payloads, first_terms=missing)
            decoded = await decode_all([row[1] for row in rows], decode_terms)
            for (number, _), found in zip(rows, decoded, strict=True):
                self.cache.put((place, number), found)
                kept[number] = found
        return {number: found for number, found in kept.items() if found is not None}


async def decode_all(payloads: Sequence[bytes], one: Callable[[bytes], Decoded]) -> list[Decoded]:
    """Decodes all payloads without blocking the event loop."""

    def all_of_them() -> list[Decoded]:
        return [one(payload) for payload in payloads]

    if sum(map(len, payloads)) < _OFF_LOOP:
        return all_of_them()
    return await asyncio.to_thread(all_of_them)
