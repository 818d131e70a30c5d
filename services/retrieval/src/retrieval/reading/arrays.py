"""Arrays in PostgreSQL's text form: the driver is much slower with long lists."""

from __future__ import annotations

from collections.abc import Iterable


def array_text(values: Iterable[object]) -> str:
    """Returns an array literal of numbers."""
    return f"{{{','.join(map(str, values))}}}"


def term_array(terms: Iterable[str]) -> str:
    """Returns an array literal of terms, which contain no quotes or backslashes."""
    return array_text(f'"{term}"' for term in terms)
