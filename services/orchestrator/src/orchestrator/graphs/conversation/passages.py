"""Turns found chunks into state, prompt and citations, within budgets of tokens. Does no IO."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.orchestrator import Citation
from contracts.prompt_fence import fenced, neutralising
from contracts.retrieval import Hit
from orchestrator.graphs.conversation.state import Cited, FoundChunk

NONE = "(none)"
neutralised = neutralising("passage", "memory")


def passage_of(hit: Hit) -> FoundChunk:
    return FoundChunk(
        chunk_id=hit.chunk_id,
        document_id=str(hit.document_id),
        document_name=hit.document_name,
        document_title=hit.document_title,
        section=" > ".join(hit.heading_path) or hit.section_title,
        page=hit.page,
        line_start=hit.line_start,
        line_end=hit.line_end,
        score=hit.score,
        content=hit.content,
        highlights=[(one.start, one.end, one.score) for one in hit.highlights],
    )


def citation_of(cited: Cited, passage: FoundChunk) -> Citation:
    """Returns the citation with its place and its quote."""
    return Citation.model_validate(
        {
            **{name: passage[name] for name in Citation.model_fields if name in passage},  # type: ignore[literal-required]
            "number": cited["number"],
            "quote": passage["content"][cited["start"] : cited["end"]],
            "start": cited["start"],
            "end": cited["end"],
        }
    )


def fitting(passages: Sequence[FoundChunk], tokens: int) -> Sequence[FoundChunk]:
    """Returns the best passages that fit into the budget together, at least one."""
    return passages[: max(1, within_budget([passage["content"] for passage in passages], tokens))]


def numbered(passages: Sequence[FoundChunk]) -> str:
    """Returns the passages for a prompt, each in a fence that its text cannot close."""
    return (
        "\n\n".join(
            fenced(number, passage["document_name"], passage["section"], (passage["page"], None), _content(passage))
            for number, passage in enumerate(passages, 1)
        )
        or NONE
    )


def remembered(memories: Sequence[str]) -> str:
    """Returns the memories for a prompt, fenced likewise."""
    return "\n".join(f"<memory>{neutralised(memory)}</memory>" for memory in memories) or NONE


def _content(passage: FoundChunk) -> str:
    return neutralised(passage["content"])


def estimated_tokens(text: str) -> int:
    """Counts four bytes to a token: near enough for a budget, and on the safe side for other scripts."""
    return -(-len(text.encode()) // 4)


def within_budget(texts: Sequence[str], tokens: int) -> int:
    """Returns how many of the texts, from the first on, fit into the budget together."""
    used = 0
    for count, text in enumerate(texts):
        used += estimated_tokens(text)
        if used > tokens:
            return count
    return len(texts)
