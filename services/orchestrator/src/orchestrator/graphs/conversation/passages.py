"""Passages between the services' words, the state's and the prompt's. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contracts.orchestrator import Citation
from contracts.retrieval import Hit
from orchestrator.graphs.conversation.budget import within_budget
from orchestrator.graphs.conversation.state import Cited, Passage

_FENCE = re.compile(r"<(?=\s*/?\s*(?:passage|memory)\b)", re.IGNORECASE)
NONE = "(none)"


def passage_of(hit: Hit) -> Passage:
    return Passage(
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


def citation_of(cited: Cited, passage: Passage) -> Citation:
    """The citation with its place and its quote."""
    return Citation.model_validate(
        {
            **{name: passage[name] for name in Citation.model_fields if name in passage},  # type: ignore[literal-required]
            "number": cited["number"],
            "quote": passage["content"][cited["start"] : cited["end"]],
            "start": cited["start"],
            "end": cited["end"],
        }
    )


def fitting(passages: Sequence[Passage], tokens: int) -> Sequence[Passage]:
    """The best passages that fit into the budget together, at least one."""
    return passages[: max(1, within_budget([passage["content"] for passage in passages], tokens))]


def numbered(passages: Sequence[Passage]) -> str:
    """The passages for a prompt, each in a fence that its text cannot close."""
    return (
        "\n\n".join(
            f'<passage number="{number}" document="{_attribute(passage["document_name"])}"'
            f"{_place(passage)}>\n{neutralised(passage['content'])}\n</passage>"
            for number, passage in enumerate(passages, 1)
        )
        or NONE
    )


def remembered(memories: Sequence[str]) -> str:
    """The memories for a prompt, fenced likewise."""
    return "\n".join(f"<memory>{neutralised(memory)}</memory>" for memory in memories) or NONE


def neutralised(text: str) -> str:
    """The text without anything that could open or close a fence."""
    return _FENCE.sub("‹", text)


def _place(passage: Passage) -> str:
    section = f' section="{_attribute(passage["section"])}"' if passage["section"] else ""
    return section + (f' page="{passage["page"]}"' if passage["page"] else "")


def _attribute(text: str) -> str:
    return " ".join(re.sub(r'["<>]', "'", text).split())
