"""Where a passage stands in its document, as people read it."""

from __future__ import annotations


def location(section: str | None, page: int | None, line_start: int | None, line_end: int | None) -> str:
    """Returns `Setup > Keys, page 3`, or `Setup > Keys, lines 3-5` if there are no pages; empty if nothing is known."""
    parts = [section] if section else []
    if page is not None:
        parts.append(f"page {page}")
    elif line_start is not None:
        many = line_end is not None and line_end != line_start
        parts.append(f"lines {line_start}-{line_end}" if many else f"line {line_start}")
    return ", ".join(parts)
