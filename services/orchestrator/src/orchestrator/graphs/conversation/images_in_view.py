"""The images of a conversation, for a vision model."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from inference.chat import ChatMessage, ImagePart, TextPart
from orchestrator.errors import ImageNotFound
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import Turn

MOST_SEEN = 10  # images in one prompt; older ones are left out
GONE = "(An image stood here that was deleted.)"
TOO_MANY = "(An image stood here that is left out, as there are too many.)"

WITHOUT_IMAGES = "the answer was written without the images of the conversation"


def any_images(turns: Sequence[Turn]) -> bool:
    """Returns whether one of the messages shows images."""
    return any(turn.get("images") for turn in turns)


async def with_images(turns: Sequence[Turn], context: ConversationContext) -> list[ChatMessage]:
    """Returns the messages, with the bytes of the newest images. Raises Unavailable."""
    messages: list[ChatMessage] = []
    room = MOST_SEEN
    for turn in reversed(turns):
        if turn["role"] == "summary":
            continue
        content: str | list[TextPart | ImagePart] = turn["content"]
        if named := turn.get("images"):
            parts = [await _part(one, context) if at < room else TextPart(TOO_MANY) for at, one in enumerate(named)]
            room -= min(room, len(named))
            content = [TextPart(turn["content"]), *parts]
        messages.append(ChatMessage(turn["role"], content))
    return messages[::-1]


async def _part(image_id: str, context: ConversationContext) -> TextPart | ImagePart:
    assert context.image is not None
    try:
        return await context.image(UUID(image_id))
    except ImageNotFound:
        return TextPart(GONE)
