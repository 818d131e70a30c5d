"""Resolves a search's filters and the fields of its query to the numbers of documents that the legs search."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import numpy as np
import psycopg

from contracts.retrieval import SearchFilters
from relevance.analysis import Analyzer
from retrieval.errors import FilterTooSlow, InvalidMetadataPath
from retrieval.lexical.document_names import NameCheck, NamedDocument
from retrieval.reading.arrays import term_array
from retrieval.reading.reader import IndexReader
from retrieval.reading.scope import Scope
from retrieval.reading.snapshot import Snapshot
from retrieval.reading.threads import releasing_gil
from retrieval.search.statements import SearchSql

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)')
_FIELDS = ("tag", "type", "language", "source")
_LISTS = ("document_ids", "source_ids", "media_types", "source_types", "tags", "languages")


async def resolve(
    snapshot: Snapshot,
    analyzer: Analyzer,
    filters: SearchFilters,
    fields: Mapping[str, Sequence[str]],
    attached: Collection[UUID] | None,
    seconds: float,
) -> Scope | None:
    """Returns the documents to search; None if nothing limits the search. An empty list in a filter matches none.

    `fields` are the values of the query's fields; all that are about documents must match. `attached` are the
    session's documents, None in other scopes. Raises InvalidMetadataPath, FilterTooSlow.
    """
    try:
        async with asyncio.timeout(seconds):
            scope = await _filtered(snapshot.reader, _values(filters, fields, attached), filters.metadata)
            return await _named(snapshot, NameCheck(analyzer, fields), scope)
    except (TimeoutError, psycopg.errors.QueryCanceled) as error:
        raise FilterTooSlow(f"the filter took longer than {seconds:g} s") from error


async def _filtered(reader: IndexReader, values: dict[str, object], paths: Sequence[str]) -> Scope | None:
    """Applies the filters that the database can check; returns None if there are none."""
    if all(value is None for value in values.values()):
        return None
    predicates = await _paths(reader, paths)
    [(numbers, chunks)] = await reader.rows(SearchSql.filter_documents, **values, predicates=predicates)
    return Scope(np.sort(np.frombuffer(numbers, ">i8").astype(np.int64)), chunks)


async def _named(snapshot: Snapshot, check: NameCheck, scope: Scope | None) -> Scope | None:
    """Applies the fields `title:` and `name:`."""
    if not check:
        return scope
    stemmings = snapshot.state.stemmings
    wanted = {
        "stemmings": list(stemmings),
        "of_title": [term_array(check.terms(check.of_title, stemming)) for stemming in stemmings],
        "of_name": [term_array(check.terms(check.of_name, stemming)) for stemming in stemmings],
        "beginnings_of_title": check.beginnings(check.of_title),
        "beginnings_of_name": check.beginnings(check.of_name),
    }
    numbers = None if scope is None else scope.documents.tolist()
    rows = await snapshot.reader.rows(SearchSql.document_names, numbers=numbers, **wanted)
    found = releasing_gil(NamedDocument(*row) for row in rows)
    passing = await asyncio.to_thread(lambda: [document for document in found if check.passes(document)])
    documents = np.sort(np.array([document.number for document in passing], np.int64))
    return Scope(documents, sum(document.chunks for document in passing))


def _values(
    filters: SearchFilters, fields: Mapping[str, Sequence[str]], attached: Collection[UUID] | None
) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(filters, name) for name in _LISTS}
    wanted = filters.document_ids
    if attached is not None:
        wanted = list(attached if wanted is None else set(wanted) & set(attached))
    if wanted is not None:  # there may be ten thousand, and the driver is slow with long lists
        values["document_ids"] = f"{{{','.join(f'{one.int:032x}' for one in wanted)}}}"
    for name in _FIELDS:
        wanted_values = [value.lower() for value in fields.get(name, ())]
        values[f"in_{name}"] = wanted_values or None
    values |= {"written_from": filters.written_from, "written_to": filters.written_to}
    return values | {"paths": list(filters.metadata) or None}


async def _paths(reader: IndexReader, paths: Sequence[str]) -> list[bool] | None:
    """Checks the expressions; returns which are predicates: these must be true, the others must match something."""
    canonical = []
    for position, path in enumerate(paths):
        place = f"metadata[{position}]"
        try:
            canonical.append(await reader.value(SearchSql.canonical_path, path=path))
        except (psycopg.DataError, psycopg.errors.SyntaxError, psycopg.errors.StatementTooComplex) as error:
            raise InvalidMetadataPath(str(error.diag.message_primary), place=place) from error
        if " like_regex " in _STRING.sub('""', canonical[-1]):
            raise InvalidMetadataPath("like_regex is not allowed: it may take unbounded time", place=place)
    return [not path.removeprefix("strict ").startswith("$") for path in canonical] or None
