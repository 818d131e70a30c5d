"""Has the router model read a wish about the world state that the rules do not understand."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from contracts.prompt_fence import neutralising
from inference.chat import ChatMessage
from inference.prompts import Prompt
from inference.role_chat import RoleChat
from inference.structured import structured
from orchestrator.graphs.conversation.world_wish import LONGEST, WorldWish, value_of

SECONDS, TOKENS = 5.0, 200
LISTS: Mapping[str, str] = {
    "goals": "/goals",
    "decisions": "/decisions",
    "rules": "/rules",
    "topics": "/topics",
    "open questions": "/open_questions",
}
FIELDS: Mapping[str, str] = {
    "name": "/project/name",
    "status": "/project/status",
    "summary": "/project/summary",
    "time zone": "/timezone",
}
_WORD = re.compile(r"\w+")
neutralised = neutralising("message")


class AskedWish(BaseModel):
    """What a message asks of the world state, as the model reads it."""

    model_config = ConfigDict(extra="forbid")

    act: Literal["add", "remove", "set", "show", "none"]
    field: Literal["goals", "decisions", "rules", "topics", "open questions", "name", "status", "summary", "time zone"]
    value: Annotated[str, StringConstraints(max_length=400)] = ""
    of_session: bool = False
    german: bool = False


async def wish_by_model(chat: RoleChat, prompt: Prompt, message: str) -> WorldWish | None:
    """Returns the wish; None if there is none, or the message does not have its words.

    Raises ChatError, and TimeoutError after SECONDS.
    """
    if len(message) > LONGEST:
        return None
    messages = [ChatMessage("user", prompt.render(message=neutralised(message)))]
    async with asyncio.timeout(SECONDS):
        return wish_of(message, await structured(chat, messages, AskedWish, max_tokens=TOKENS))


def wish_of(message: str, messages: AskedWish) -> WorldWish | None:
    """Returns the wish if its value consists of words of the message, and its field can be changed so. Pure."""
    path = LISTS.get(messages.field) or FIELDS[messages.field]
    value = "" if messages.act == "show" else " ".join(value_of(messages.value, path).split())
    if messages.act == "none" or (messages.act in ("add", "remove") and messages.field not in LISTS):
        return None
    if (messages.act == "set" and messages.field not in FIELDS) or (messages.act != "show" and not value):
        return None
    if not _words(value) <= _words(message):
        return None
    return WorldWish(messages.act, path, value, messages.of_session, messages.german)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
