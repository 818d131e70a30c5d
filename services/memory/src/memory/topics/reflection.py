"""Derives the topics of a user's message: with the chat model if there is one, otherwise by its words."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from contracts.prompt_fence import neutralising
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.prompts import Prompt, load_prompts
from inference.structured import AsksForStructure, structured
from memory.facts.clauses import own_words
from memory.facts.repository import FactRows
from memory.repository import NewMessage
from memory.topics.naming import ENOUGH_TEXT, LONGEST_TOPIC, MOST_OF_MESSAGE, is_topic, topics_in
from memory.world.document import repaired
from memory.world.repository import WorldPlace, WorldRows
from service_kit.postgres import Database

log = logging.getLogger(__name__)
DEADLINE_SECONDS = 20.0
MOST_TOKENS = 200
NONE = "(none)"
_WORD = re.compile(r"\w+")
neutralised = neutralising("message", "topic")


class ReflectedTopics(BaseModel):
    """What one message is about."""

    model_config = ConfigDict(extra="forbid")

    topics: Annotated[
        list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=LONGEST_TOPIC)]],
        Field(max_length=MOST_OF_MESSAGE),
    ]


class TopicReflection:
    """`chat` is None if no model is configured."""

    def __init__(self, database: Database, chat: AsksForStructure | None) -> None:
        self.database, self.chat = database, chat
        self.prompt = topics_prompt()

    async def reflect_topics(self, workspace_id: UUID, message: NewMessage) -> list[str]:
        """Returns what the message is about.

        The model's topics count only as far as the user's own words have them. If it fails, the words decide alone.
        It is not asked unless the workspace keeps facts at once.
        """
        if self.chat is None or not message.content:
            return topics_in(message.content)
        place = WorldPlace(workspace_id, message.session_id, message.created_by)
        async with self.database.workspace(workspace_id, user_id=message.created_by) as connection:
            if await FactRows(connection, workspace_id).writing() != "on":
                return []
            stored = await WorldRows(connection, place).find()
        known: list[str] = repaired(stored.document).document["topics"] if stored else []
        messages = topics_messages(self.prompt, message.content, known)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                found = await structured(self.chat, messages, ReflectedTopics, max_tokens=MOST_TOKENS)
        except (ChatError, TimeoutError) as error:
            extra = {"message_id": str(message.id), "reason": repr(error)[:300]}
            log.warning("topics derived by words instead of the model", extra=extra)
            return topics_in(message.content)
        return stated_topics(message.content, found, known)


def topics_prompt() -> Prompt:
    """Loads the prompt. Raises PromptInvalid."""
    [prompt] = load_prompts("memory.topics", {"prompts/reflect_topics.md": ("topics", "message")}).values()
    return prompt


def topics_messages(prompt: Prompt, text: str, known: Sequence[str]) -> list[ChatMessage]:
    """Returns the prompt for the model; message and topics are in fences that they cannot close."""
    topics = "\n".join(f"<topic>{neutralised(one)}</topic>" for one in known) or NONE
    return [ChatMessage("user", prompt.render(topics=topics, message=neutralised(text[:ENOUGH_TEXT])))]


def stated_topics(text: str, found: ReflectedTopics, known: Sequence[str]) -> list[str]:
    """Returns the topics whose words all occur in the message outside quotations, and known ones that it has a word of.

    Pure.
    """
    own, as_known = _words(own_words(text)), {one.casefold(): one for one in known}
    return [
        as_known.get(one.casefold(), one)
        for one in found.topics
        if is_topic(one) and (_words(one) <= own or (one.casefold() in as_known and _words(one) & own))
    ]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
