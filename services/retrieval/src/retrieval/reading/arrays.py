"""Arrays as text, which PostgreSQL reads; a driver takes much longer over a long list."""

from __future__ import annotations

from collections.abc import Iterable


def array_text(values: Iterable[object]) -> str:
    """Returns an array literal of numbers."""
    return f"{{{','.join(map(str, values))}}}"


def term_array(terms: Iterable[str]) -> str:
    """Returns an array literal of terms, which hold no quote and no backslash."""
    return array_text(f'"{term}"' for term in terms)
