"""The body of a request for a chat completion, as the OpenAI API wants it. Pure."""

import base64
from collections.abc import Sequence
from typing import Any

from inference.chat import AnswerSchema, ChatMessage, ImagePart, TextPart, Tool
from inference.unicode import encodable


def messages_body(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Returns the messages with images as data URLs."""
    return [_message(message) for message in messages]


def tools_body(tools: Sequence[Tool]) -> list[dict[str, Any]] | None:
    """Returns the tools, None if there are none."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ] or None


def response_format(schema: AnswerSchema) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "strict": True, "schema": dict(schema.schema)},
    }


def _message(message: ChatMessage) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role}
    if isinstance(message.content, str):
        body["content"] = encodable(message.content)
    else:
        body["content"] = [_part(part) for part in message.content]
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": encodable(part.text)}
    encoded = base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{encoded}"}}
