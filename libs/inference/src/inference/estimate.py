"""Estimates tokens where they are not counted. Pure."""

from collections.abc import Iterable

from inference.chat import ChatMessage, ImagePart

BYTES_OF_A_TOKEN = 4
TOKENS_OF_A_MESSAGE = 4  # added by chat templates around each message
TOKENS_OF_AN_IMAGE = 1_000
# The provider counted far fewer tokens than were sent: less than half, and by more than a template or another
# tokenizer would explain.
CUT_SHARE, CUT_TOKENS = 0.5, 400


def estimated_tokens(text: str) -> int:
    """Counts four bytes per token: accurate enough for a budget, and on the safe side for other scripts."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_OF_A_TOKEN)


def estimated_prompt_tokens(messages: Iterable[ChatMessage]) -> int:
    """Estimates the tokens of the messages, including the overhead of each."""
    return sum(_of_message(message) for message in messages)


def seems_cut(sent_tokens: int, reported_tokens: int) -> bool:
    """Returns whether an endpoint read far fewer tokens than were sent: it cut the prompt without saying so."""
    return (
        reported_tokens > 0 and reported_tokens < CUT_SHARE * sent_tokens and sent_tokens - reported_tokens > CUT_TOKENS
    )


def _of_message(message: ChatMessage) -> int:
    images = 0 if isinstance(message.content, str) else sum(isinstance(part, ImagePart) for part in message.content)
    calls = sum(estimated_tokens(call.name + call.arguments) for call in message.tool_calls)
    return TOKENS_OF_A_MESSAGE + estimated_tokens(message.text) + images * TOKENS_OF_AN_IMAGE + calls
