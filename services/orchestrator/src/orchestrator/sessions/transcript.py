"""A session as a file: JSON for programs, Markdown for people. Pure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from contracts.locations import location
from contracts.orchestrator import Citation, Message, MessageRole, MessageStatus, Session, TranscriptFormat

MARKUP = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|!&~$"})
Messages = AsyncIterator[Message]


@dataclass(frozen=True)
class TranscriptForm:
    """`parts` writes the file piece by piece, in UTF-8."""

    media_type: str
    extension: str
    parts: Callable[[Session, Messages], AsyncIterator[bytes]]


async def as_json(session: Session, messages: Messages) -> AsyncIterator[bytes]:
    """Yields a `Transcript`."""
    yield f'{{"session":{session.model_dump_json()},"messages":['.encode()
    before = ""
    async for message in messages:
        yield f"{before}{message.model_dump_json()}".encode()
        before = ","
    yield b"]}\n"


async def as_markdown(session: Session, messages: Messages) -> AsyncIterator[bytes]:
    """Yields the questions as quotations and the answers as they are, each with its citations below it."""
    yield f"# {_line(session.title or 'Session')}\n".encode()
    async for message in messages:
        at = f"{message.created_at:%Y-%m-%d %H:%M} UTC"
        if message.role is MessageRole.user:
            yield f"\n---\n\n**Question**, {at}\n\n{_quoted(message.content)}\n".encode()
        else:
            cited = "".join(f"\n{_cited(citation)}\n" for citation in message.citations)
            ended = "" if message.status is MessageStatus.completed else f", {message.status.value}"
            yield f"\n**Answer**, {at}{ended}\n\n{message.content}\n{cited}".encode()


def _cited(citation: Citation) -> str:
    """Returns `\\[1\\] handbook.pdf, Keys, page 3` with the quote below it."""
    where = location(citation.section, citation.page, citation.line_start, citation.line_end)
    named = _line(", ".join(filter(None, (citation.document_name, where))))
    return f"\\[{citation.number}\\] {named}\n\n{_quoted(_line(citation.quote))}"


def _line(text: str) -> str:
    """Returns text on one line with all markup escaped."""
    return " ".join(text.split()).translate(MARKUP)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


FORMS = {
    TranscriptFormat.json: TranscriptForm("application/json", "json", as_json),
    TranscriptFormat.markdown: TranscriptForm("text/markdown; charset=utf-8", "md", as_markdown),
}
