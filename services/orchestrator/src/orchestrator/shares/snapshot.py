"""Reduces messages to what others may read. Pure."""

from __future__ import annotations

from contracts.orchestrator import AnswerMode, Citation, Message
from contracts.sharing import ShareAudience, SharedCitation, SharedMessage


def shared_message(message: Message, audience: ShareAudience) -> SharedMessage:
    """Returns the message without its feedback, checks and ids; for links also without quotes from documents.

    An extractive answer consists of quotes, so that for links its text is withheld. An answer that cites another
    workspace is withheld from everyone, with its citations.
    """
    by_link = audience is ShareAudience.link
    elsewhere = any(citation.workspace_id is not None for citation in message.citations)
    withheld = elsewhere or (by_link and message.mode is AnswerMode.extractive and bool(message.content))
    return SharedMessage(
        role=message.role,
        status=message.status,
        content="" if withheld else message.content,
        withheld=withheld,
        mode=message.mode,
        citations=[] if elsewhere else [_shared_citation(one, quoted=not by_link) for one in message.citations],
        created_at=message.created_at,
    )


def _shared_citation(citation: Citation, *, quoted: bool) -> SharedCitation:
    names = SharedCitation.model_fields.keys() - {"quote"}
    return SharedCitation(**{name: getattr(citation, name) for name in names}, quote=citation.quote if quoted else None)
