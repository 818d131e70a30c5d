"""Numbers the places that state what an answer says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from contracts.graph_tools import AnswerSource
from knowledge_graph.graph_store import StoredEvidence
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.chunks import ChunkReference, ChunkTexts, ReadChunks

MOST_RELATIONS = 2_000
MOST_EDGES = 40
LONGEST_QUOTE = 500
Edge = tuple[str, ...]
"""The ids of the dependent entity and of what it depends on, in the direction of the relation, and the status if it is
not current."""


class StatingPlaces:
    """The sources of one answer: `number` gives each place its number when it is first cited."""

    def __init__(self, stated: dict[Edge, StoredEvidence], texts: ReadChunks) -> None:
        self.stated, self.texts = stated, texts
        self.cited: list[AnswerSource] = []

    @classmethod
    async def read(
        cls,
        truth: PostgresStore,
        texts: ChunkTexts,
        workspace_id: UUID,
        edges: Sequence[Edge],
        types: Sequence[str] | None,
        others: Mapping[Edge, StoredEvidence] | None = None,
    ) -> StatingPlaces:
        """Reads the most certain place that states each edge, from its strongest relation of these types; `others` adds
        known places."""
        wanted = list(dict.fromkeys(edges))[:MOST_EDGES]
        ids = sorted({end for edge in wanted for end in edge})
        stated: dict[Edge, StoredEvidence] = {}
        for one in await truth.relations_among(workspace_id, ids, types, MOST_RELATIONS) if ids else ():
            edge = (one.source_id, one.target_id)
            if edge in wanted and edge not in stated:
                for evidence in await truth.evidence(workspace_id, one.source_id, one.target_id, one.relation_type, 1):
                    stated[edge] = evidence
        stated |= others or {}
        places = [ChunkReference(one.document_id, one.chunk_id) for one in stated.values()]
        return cls(stated, await texts.read(workspace_id, places))

    def number(self, edge: Edge) -> int | None:
        """Returns the number of the place that states the edge; None if no readable place does."""
        evidence = self.stated.get(edge)
        chunk = self.texts.chunks.get(ChunkReference(evidence.document_id, evidence.chunk_id)) if evidence else None
        if evidence is None or chunk is None or not chunk.content[evidence.start :].strip():
            return None
        start, end = evidence.start, min(evidence.end or len(chunk.content), evidence.start + LONGEST_QUOTE)
        for one in self.cited:
            if (one.chunk_id, one.start, one.end) == (chunk.chunk_id, start, end):
                return one.number
        source = AnswerSource(
            number=len(self.cited) + 1,
            chunk_id=chunk.chunk_id,
            document_id=evidence.document_id,
            document_name=self.texts.names[evidence.document_id],
            section=" > ".join(chunk.heading_path) or chunk.section_title,
            page=chunk.page,
            line_start=chunk.line_start,
            line_end=chunk.line_end,
            markdown_start=chunk.markdown_start,
            markdown_end=chunk.markdown_end,
            content=chunk.content,
            start=start,
            end=end,
            confidence=round(evidence.confidence, 3),
        )
        self.cited.append(source)
        return source.number
