"""Which documents a search is limited to: its filters and the fields of its query, as numbers for the legs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from contracts.retrieval import SearchFilters
from retrieval.errors import FilterTooSlow, InvalidMetadataPath
from retrieval.search.reader import IndexReader

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_FIELDS = ("title", "name", "tag", "type", "language", "source")
_LISTS = ("document_ids", "source_ids", "media_types", "source_types", "tags", "languages")


@dataclass(frozen=True)
class Scope:
    """What the filters left: its documents' numbers (ascending), and how many chunks they have."""

    documents: NDArray[np.int64]
    chunks: int

    def has(self, documents: Sequence[int]) -> NDArray[np.bool_]:
        """Which of these numbers are left."""
        return np.isin(np.asarray(documents, np.int64), self.documents)

    @cached_property
    def first(self) -> int:
        """The number that the bitmap begins with."""
        return int(self.documents[0]) if len(self.documents) else 0

    @cached_property
    def bitmap(self) -> bytes:
        """A bit for each number from `first` on, as PostgreSQL's get_bit counts them."""
        if not len(self.documents):
            return b""
        bits = np.zeros(int(self.documents[-1]) - self.first + 1, np.uint8)
        bits[self.documents - self.first] = 1
        return np.packbits(bits, bitorder="little").tobytes()


async def resolve(
    reader: IndexReader,
    filters: SearchFilters,
    fields: Mapping[str, Sequence[str]],
    attached: Collection[UUID] | None,
    seconds: float,
) -> Scope | None:
    """None where nothing limits the search; an empty list leaves nothing.

    `fields` are those of the query that are about documents, all of which have to hold; `attached` are the session's
    documents, None for another scope. Raises InvalidMetadataPath, FilterTooSlow.
    """
    values = _values(filters, fields, attached)
    if all(value is None for value in values.values()):
        return None
    try:
        async with asyncio.timeout(seconds):
            predicates = await _paths(reader, filters.metadata)
            row = await reader.row("filter_documents", **values, predicates=predicates)
    except (TimeoutError, psycopg.errors.QueryCanceled) as error:
        raise FilterTooSlow(f"the filter took longer than {seconds:g} s") from error
    return Scope(np.sort(np.frombuffer(row[0], ">i8").astype(np.int64)), row[1])


def _values(
    filters: SearchFilters, fields: Mapping[str, Sequence[str]], attached: Collection[UUID] | None
) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(filters, name) for name in _LISTS}
    wanted = filters.document_ids
    if attached is not None:
        wanted = list(attached if wanted is None else set(wanted) & set(attached))
    if wanted is not None:  # there may be ten thousand, and a driver takes longer over a list
        values["document_ids"] = f"{{{','.join(f'{one.int:032x}' for one in wanted)}}}"
    for name in _FIELDS:
        asked = [value.lower() for value in fields.get(name, ())]
        values[f"in_{name}"] = asked or None
    values |= {"written_from": filters.written_from, "written_to": filters.written_to}
    return values | {"paths": list(filters.metadata) or None}


async def _paths(reader: IndexReader, paths: Sequence[str]) -> list[bool] | None:
    """Checks the expressions; which of them are predicates, that is, have to be true instead of finding something."""
    canonical = []
    for position, path in enumerate(paths):
        place = f"metadata[{position}]"
        try:
            canonical.append((await reader.row("canonical_path", path=path))[0])
        except (psycopg.DataError, psycopg.errors.SyntaxError, psycopg.errors.StatementTooComplex) as error:
            raise InvalidMetadataPath(str(error.diag.message_primary), place=place) from error
        if " like_regex " in _STRING.sub('""', canonical[-1]):
            raise InvalidMetadataPath("like_regex is not allowed: it may take for ever", place=place)
    return [not path.removeprefix("strict ").startswith("$") for path in canonical] or None
