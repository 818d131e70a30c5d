"""Turns passages into chunks, with an id, a position and a token count."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from contracts.ingestion import Chunk, embedding_text
from ingestion.conversion.markdown_places import markdown_places
from ingestion.conversion.passages import Passage, TokenBudget

ID_LENGTH = 32  # hexadecimal digits


def chunk_id(document_id: UUID, content: str, ordinal: int) -> str:
    """Returns a stable id for a text of a document; `ordinal` distinguishes repeats of the text, from 0."""
    return hashlib.sha256(f"{document_id}\n{ordinal}\n{content}".encode()).hexdigest()[:ID_LENGTH]


def chunks(passages: Iterable[Passage], markdown: str, document_id: UUID, budget: TokenBudget) -> list[Chunk]:
    """Returns a chunk per passage that has words. `token_count` is of the embedded text, with its special tokens."""
    repeats: Counter[str] = Counter()
    found: list[Chunk] = []
    written = [passage for passage in passages if passage.content.strip()]
    places = markdown_places([passage.content for passage in written], markdown)
    for passage, place in zip(written, places, strict=True):
        text = embedding_text(passage.heading_path, passage.content)
        found.append(
            Chunk(
                chunk_id=chunk_id(document_id, passage.content, repeats[passage.content]),
                document_id=document_id,
                chunk_index=len(found),
                section_title=passage.heading_path[-1] if passage.heading_path else None,
                heading_path=list(passage.heading_path),
                content=passage.content,
                token_count=budget.tokens(text) + budget.special_tokens,
                page=passage.page,
                page_end=passage.page_end,
                box=passage.box,
                boxes=list(passage.boxes),
                line_start=passage.line_start,
                line_end=passage.line_end,
                cells=passage.cells,
                markdown_start=place[0] if place else None,
                markdown_end=place[1] if place else None,
            )
        )
        repeats[passage.content] += 1
    return found
