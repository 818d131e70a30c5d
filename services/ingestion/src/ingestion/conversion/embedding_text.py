"""What is embedded for a passage."""

from __future__ import annotations

from collections.abc import Sequence


def embedding_text(heading_path: Sequence[str], content: str) -> str:
    """The headings from the outermost to the innermost, a line each, then the content."""
    return "\n".join([*heading_path, content])
