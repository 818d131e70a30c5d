"""The text of images that are also documents of the workspace, whose text ingestion has recognised."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import Turn
from orchestrator.services import IngestionService

LONGEST_TEXT = 4_000
RECOGNISED = "The image is also the document “{name}”. This text was recognised in it:\n\n{quote}"

UNREAD = "The image is also the document “{name}”, whose text is still being recognised: ask again in a moment."


async def texts_of_images(turns: Sequence[Turn], context: ConversationContext) -> list[str]:
    """Returns a paragraph for each image of the newest message with images that is a document, read or still unread.

    Raises ServiceSilent.
    """
    shown: Sequence[str] = next((turn["images"] for turn in reversed(turns) if turn.get("images")), ())
    if context.documents is None or context.image_hash is None:
        return []
    found = [await _text(UUID(one), context, context.documents) for one in shown]
    return [text for text in found if text]


async def _text(image_id: UUID, context: ConversationContext, documents: IngestionService) -> str:
    assert context.image_hash is not None
    content_hash = await context.image_hash(image_id)
    document = None if content_hash is None else await documents.with_bytes(context.caller, content_hash)
    if document is not None and document.is_unread:
        document = await documents.awaited(context.caller, document.id, context.limits.document_wait_seconds)
    if document is not None and document.is_unread:
        return UNREAD.format(name=document.name)
    text = None if document is None else await documents.markdown(context.caller, document.id)
    if document is None or text is None or not text.strip():
        return ""
    cut = text.strip()[:LONGEST_TEXT] + ("…" if len(text.strip()) > LONGEST_TEXT else "")
    return RECOGNISED.format(name=document.name, quote="\n".join(f"> {line}".rstrip() for line in cut.splitlines()))
