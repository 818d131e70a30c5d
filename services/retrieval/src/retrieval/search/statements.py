"""The SQL statements of a search, apart from those of its legs."""

from __future__ import annotations

from typing import LiteralString

from service_kit.statements import Statements


class SearchSql(Statements, file="search.sql"):
    """Filters, facets, and the surroundings of a hit."""

    canonical_path: LiteralString
    filter_documents: LiteralString
    is_indexed: LiteralString
    document_names: LiteralString
    facets: LiteralString
    outlines: LiteralString
    chunks_of_spans: LiteralString
