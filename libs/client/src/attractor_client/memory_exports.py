"""Reads conversations from exports: ChatGPT's `conversations.json`, mem0's list of memories, or a plain list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from contracts.memory import ImportedConversation, ImportedMessage

AT_ONCE = 200
"""Messages of one conversation per request."""
_ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True)
class ExportedConversations:
    """The source, and the conversations in order, split into parts that fit into a request."""

    source: str
    conversations: list[ImportedConversation]


def read_export(text: str) -> ExportedConversations:
    """Reads an export, oldest conversations first. Raises ValueError if it has none of the three forms."""
    try:
        return _read(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"the file is no JSON: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the file has a conversation or message of an unknown form: {error}") from error


def _read(data: Any) -> ExportedConversations:
    entries = data.get("results", data.get("memories")) if isinstance(data, dict) else data
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise ValueError("the file contains no list of conversations or memories")
    if entries and all("mapping" in one for one in entries):
        entries.sort(key=lambda one: one.get("create_time") or 0)
        return ExportedConversations("chatgpt", [part for one in entries for part in _chatgpt(one)])
    if entries and all("memory" in one for one in entries):
        return ExportedConversations("mem0", list(_parts("memories", sorted(map(_mem0, entries), key=_at))))
    whole = [(str(one["id"]), map(ImportedMessage.model_validate, one.get("messages", []))) for one in entries]
    return ExportedConversations("file", [part for name, messages in whole for part in _parts(name, messages)])


def _chatgpt(conversation: dict[str, Any]) -> Iterator[ImportedConversation]:
    """Yields the messages of the branch that ends in `current_node`, which is the one that ChatGPT shows."""
    nodes, path = conversation["mapping"], list[ImportedMessage]()
    name = str(conversation.get("current_node"))
    seen = set[str]()
    while name in nodes and name not in seen:
        seen.add(name)
        if (message := _chatgpt_message(nodes[name].get("message"), conversation)) is not None:
            path.append(message)
        name = str(nodes[name].get("parent"))
    yield from _parts(str(conversation.get("conversation_id") or conversation.get("id")), path[::-1])


def _chatgpt_message(message: dict[str, Any] | None, conversation: dict[str, Any]) -> ImportedMessage | None:
    if not message or (role := _ROLES.get(message["author"]["role"])) is None:
        return None
    parts = message.get("content", {}).get("parts") or []
    content = "\n".join(part for part in parts if isinstance(part, str)).strip()
    if not content:
        return None
    at = message.get("create_time") or conversation.get("create_time") or 0
    return ImportedMessage(id=message["id"], role=role, content=content[:10_000], at=datetime.fromtimestamp(at, UTC))


def _mem0(memory: dict[str, Any]) -> ImportedMessage:
    at = memory.get("updated_at") or memory["created_at"]
    return ImportedMessage(id=str(memory["id"]), role="user", content=memory["memory"], at=at)


def _at(message: ImportedMessage) -> datetime:
    return message.at if message.at.tzinfo else message.at.replace(tzinfo=UTC)


def _parts(name: str, messages: Iterable[ImportedMessage]) -> Iterator[ImportedConversation]:
    every = list(messages)
    for start in range(0, len(every), AT_ONCE):
        yield ImportedConversation(id=name, messages=every[start : start + AT_ONCE])
