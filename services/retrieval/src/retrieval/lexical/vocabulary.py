"""The terms of a workspace: those with a prefix, and those that are similar to an unknown one."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import takewhile

from rapidfuzz.distance import OSA

from retrieval.lexical import edits
from retrieval.lexical.lists import PostingLists
from retrieval.lexical.postings import TermPostings
from retrieval.lexical.statements import PostingSql

MOST_EXPANSIONS = 50  # terms that a prefix stands for
MOST_CORRECTIONS = 3  # terms that may have been meant instead of an unknown one
_SCANNED, _SCANNED_GROUPS = 20_000, 300  # blocks and groups that are searched for a prefix
_MOST_COUNTED = 1000  # terms with blocks that are considered for a prefix
_FEW_GROUPS = 64  # about 4,000 terms
_BEGINNING = 3  # letters that a correction shares with the misspelt term if there are many groups
_MOST_SIMILAR = 30
_AFTER_ALL = "\U0010ffff"


class Vocabulary:
    """The terms of one workspace in one transaction."""

    def __init__(self, lists: PostingLists) -> None:
        self.lists = lists

    async def frequencies(self, terms: Iterable[str]) -> Counter[str]:
        """Counts the chunks that have each term; unknown terms are left out."""
        return Counter(await self.lists.read_headers(terms))

    async def beginning_with(self, prefix: str) -> list[str]:
        """Returns the most frequent terms that begin with the prefix."""
        values = {"first": prefix, "last": prefix + _AFTER_ALL}
        limits = {"scanned": _SCANNED, "most": _MOST_COUNTED}
        found = Counter[str](dict(await self.lists.reader.rows(PostingSql.terms_with_prefix, **values, **limits)))
        groups = await self.lists.groups_between(**values, most=_SCANNED_GROUPS)
        found.update(await asyncio.to_thread(_beginning, [*groups, *self.lists.recent], prefix))
        return _best(found, MOST_EXPANSIONS)

    async def similar(self, term: str, stems: Callable[[Collection[str]], Iterable[str]]) -> list[str]:
        """Returns the most frequent known terms one edit away; for a long term without any, two edits away.

        Identifiers and numbers are never taken to be misspelt. `stems` returns the terms of words: the stemmer may not
        have removed the ending of a misspelt one.
        """
        if not edits.may_be_misspelt(term):
            return []
        words = edits.one_edit_away(term)
        near = await self.frequencies(words.union(stems(words)))
        if not near and len(term) >= edits.SHORTEST_WITH_TWO:
            rows = await self.lists.reader.rows(PostingSql.similar_terms, term=term, most=_MOST_SIMILAR)
            near = Counter(dict(rows))
            own = [*await self._groups_near(term), *self.lists.recent]
            near.update(await asyncio.to_thread(_of_like_length, own, term))
            near = Counter({one: count for one, count in near.items() if OSA.distance(one, term) <= 2})
        return _best(near, MOST_CORRECTIONS)

    async def _groups_near(self, term: str) -> list[TermPostings]:
        """Returns all groups if there are few, else those of terms with the same beginning."""
        groups = await self.lists.groups_between("", _AFTER_ALL, _FEW_GROUPS + 1)
        if len(groups) <= _FEW_GROUPS:
            return groups
        beginning = term[:_BEGINNING]
        return await self.lists.groups_between(beginning, beginning + _AFTER_ALL, _SCANNED_GROUPS)


def _best(found: Counter[str], most: int) -> list[str]:
    return sorted(found, key=lambda term: (-found[term], term))[:most]


def _beginning(rows: Sequence[TermPostings], prefix: str) -> Counter[str]:
    found = Counter[str]()
    for row in rows:
        terms = row.terms[bisect_left(row.terms, prefix) :]
        for term in takewhile(lambda term: term.startswith(prefix), terms):
            found[term] += len(row[term])
    return found


def _of_like_length(rows: Sequence[TermPostings], wanted: str) -> Counter[str]:
    """Counts the terms that may be two edits away: they share most of the letters."""
    letters = set(wanted)
    found = Counter[str]()
    for row in rows:
        for term in row:
            if abs(len(term) - len(wanted)) <= 2 and len(letters.difference(term)) <= 2:
                found[term] += len(row[term])
    return found
