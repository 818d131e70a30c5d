"""Rows that many terms share: terms with few postings, and postings of frequent terms that do not fill a block.

The postings of a term are in the group with the greatest first term not after it, in blocks of its own, and in recent
rows. Everything runs in the caller's transaction, which holds the lock of the workspace's blocks.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.index.blocks import READ_AT_ONCE, WRITTEN_AT_ONCE, PostingRows, PostingRowsSql, batches
from retrieval.lexical.postings import DEFLATED, TermPostings, decode_terms
from retrieval.reading.arrays import array_text, term_array
from retrieval.reading.threads import releasing_gil

NewGroup: TypeAlias = tuple[str, TermPostings]
"""The first term and the postings. The first term may no longer have any: it says where the group begins."""
MOST_OF_A_TERM = 128  # postings; with more it gets a block
_LARGEST, _OF_A_TERM, _OF_A_POSTING = 1600, 6, 5  # approximate bytes


@dataclass(frozen=True)
class Group:
    """A row of several terms. `payload` is empty if it was not asked for."""

    first_term: str
    payload: bytes

    @cached_property
    def terms(self) -> TermPostings:
        return decode_terms(self.payload)


class GroupRows:
    """The groups of one workspace."""

    def __init__(self, rows: PostingRows) -> None:
        self.rows = rows

    async def touched(
        self, terms: Iterable[str], part: int | None = None, parts: int = 1
    ) -> AsyncIterator[list[Group]]:
        """Yields the groups of these terms, in batches; with `part`, only those in this one of `parts` of all groups
        have their payload.
        """
        known = set[str]()
        for some in batches(sorted(set(terms)), READ_AT_ONCE):
            values = {"terms": term_array(some), "part": part, "parts": parts}
            groups = await self.rows.read(Group, PostingRowsSql.touched_groups, **values)
            yield [group for group in groups if group.first_term not in known]
            known.update(group.first_term for group in groups)

    async def put(self, groups: Sequence[NewGroup]) -> None:
        """Replaces the groups that begin with the same terms; an empty one is deleted."""
        if gone := [first_term for first_term, terms in groups if not len(terms)]:
            await self.rows.run(PostingRowsSql.remove_groups, first_terms=term_array(gone))
        for some in batches([(first_term, terms) for first_term, terms in groups if len(terms)], WRITTEN_AT_ONCE):
            await self.rows.run(PostingRowsSql.put_groups, **await asyncio.to_thread(_columns, some))


def belonging(added: TermPostings, groups: Sequence[Group]) -> NDArray[np.bool_]:
    """Returns which terms belong in no group, or in one with its payload. Terms are sorted."""
    own = np.ones(len(added), bool)
    ordered = sorted(groups, key=lambda group: group.first_term)
    places = [*(bisect_left(added.terms, group.first_term) for group in ordered), len(added)]
    for (start, end), group in zip(pairwise(places), ordered, strict=True):
        own[start:end] = bool(group.payload)
    return own


def regrouped(groups: Sequence[Group], every: TermPostings) -> tuple[list[NewGroup], TermPostings]:
    """Cuts the groups again, some of which may be empty then; returns also the terms that are too frequent for groups.

    `every` has all terms of these groups and the added ones.
    """
    frequent = every.counts > MOST_OF_A_TERM
    found: list[NewGroup] = []
    for first_term, own in releasing_gil(_cut(every.of(~frequent), sorted(group.first_term for group in groups))):
        first, *others = _split(own)
        found += [(first_term, first), *((part.terms[0], part) for part in others)]
    return found, every.of(frequent)


def _cut(every: TermPostings, first_terms: list[str]) -> Iterator[NewGroup]:
    """Yields the terms by group; those before all groups are in the workspace's first one, which begins with ""."""
    if every.terms and (not first_terms or every.terms[0] < first_terms[0]):
        first_terms = ["", *first_terms]
    places = [*(bisect_left(every.terms, first_term) for first_term in first_terms), len(every.terms)]
    for number, first_term in enumerate(first_terms):
        yield first_term, every.part(places[number], places[number + 1])


def _split(own: TermPostings) -> Iterator[TermPostings]:
    """Yields parts of about the same size, each below the limit; an empty group is one part."""
    if not len(own):
        yield own
        return
    sizes = np.cumsum(own.counts * _OF_A_POSTING + _OF_A_TERM)
    parts = int(sizes[-1]) // _LARGEST + 1
    inner = np.searchsorted(sizes, np.arange(1, parts) * (int(sizes[-1]) / parts))
    for start, end in pairwise(np.unique([0, *inner.tolist(), len(own)]).tolist()):
        yield own.part(start, end)


def _columns(groups: Sequence[NewGroup]) -> dict[str, object]:
    chunks = [own.all_postings.chunks for _, own in groups]
    return {
        "first_terms": term_array(first_term for first_term, _ in groups),
        "first": array_text(int(own.min()) for own in chunks),
        "last": array_text(int(own.max()) for own in chunks),
        "payloads": [own.encode(DEFLATED) for _, own in releasing_gil(groups)],
    }
