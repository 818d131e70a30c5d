"""The passages that mention an entity, with the places of its name."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.knowledge_graph import EntityPassage, TextSpan
from knowledge_graph.errors import EntityNotFound
from knowledge_graph.tools.chunks import ChunkReference, ChunkTexts, ReadChunks, ToolSql
from service_kit.repository import Repository

Position = tuple[int, UUID, str]
"""Mentions, document and chunk of a passage."""


@dataclass(frozen=True)
class MentionedPassage:
    """A chunk with the places of its mentions, which begin at `starts`."""

    document_id: UUID
    chunk_id: str
    mentions: int
    starts: list[int]
    ends: list[int]

    @property
    def position(self) -> Position:
        return self.mentions, self.document_id, self.chunk_id

    def _spans(self) -> list[tuple[int, int]]:
        """Returns the places of the name; a mention in a heading or a title has none in the text."""
        return [(start, end) for start, end in zip(self.starts, self.ends, strict=True) if end > start]

    def shown(self, read: ReadChunks) -> EntityPassage:
        chunk = read.chunks.get(ChunkReference(self.document_id, self.chunk_id))
        return EntityPassage(
            chunk_id=self.chunk_id,
            document_id=self.document_id,
            document_name=read.names.get(self.document_id, ""),
            section=(" > ".join(chunk.heading_path) or chunk.section_title) if chunk else None,
            page=chunk.page if chunk else None,
            text=chunk.content if chunk else None,
            spans=[TextSpan(start=start, end=end) for start, end in self._spans()],
        )


async def mentioned_passages(
    texts: ChunkTexts, workspace_id: UUID, entity_id: str, after: Position | None, limit: int
) -> list[MentionedPassage]:
    """Returns the chunks that mention the entity, most often first, starting after the position.

    Raises EntityNotFound.
    """
    mentions, document_id, chunk_id = after or (None, None, None)
    values = {"id": entity_id, "mentions": mentions, "document_id": document_id, "chunk_id": chunk_id, "limit": limit}
    async with texts.database.workspace(workspace_id) as connection:
        repository = Repository(connection, workspace_id)
        if not await repository.value(ToolSql.is_known, id=entity_id):
            raise EntityNotFound
        return await repository.all(ToolSql.passages, MentionedPassage, **values)
