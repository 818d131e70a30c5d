"""Quotes the sentences behind the steps of a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from contracts.graph_expansion import PathStep
from contracts.retrieval import GraphStep
from retrieval.graph.evidence import GraphEvidence
from retrieval.reading.reader import IndexReader


async def quote(reader: IndexReader, evidence: Mapping[int, GraphEvidence], chunks: Sequence[int]) -> None:
    """Adds the sentences of the steps to these chunks; only chunks that the leg found are read."""
    numbers = {(one.document_id, one.chunk_id): chunk for chunk, one in evidence.items()}
    explained = [evidence[chunk] for chunk in chunks if chunk in evidence]
    wanted = {numbers[place] for one in explained for step in one.steps if (place := _place(step)) in numbers}
    texts = await reader.chunks(sorted(wanted)) if wanted else {}
    for one in explained:
        one.quoted = []
        for step in one.steps:
            text = texts.get(numbers.get(_place(step), -1))
            sentence = text.content[step.start : step.end] if text and step.end else None
            one.quoted.append(GraphStep(**step.model_dump(), sentence=sentence))


def _place(step: PathStep) -> tuple[UUID, str]:
    return step.document_id, step.chunk_id
