"""Reads what a user's message states: with the chat model if there is one, otherwise by rules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from prometheus_client import CollectorRegistry

from contracts.prompt_fence import attribute, neutralising
from inference.chat import ChatMessage
from inference.errors import ChatError, StructuredAnswerInvalid
from inference.prompts import Prompt, load_prompts
from inference.structured import AsksForStructure, structured
from memory.facts.clauses import clauses
from memory.facts.decided import DecidedFacts, SaidText, proved
from memory.facts.reconciliation import KnownFact
from memory.facts.repository import FactRows
from memory.facts.statements import StatedFact
from memory.preparation import SpokenText
from memory.repository import NewMessage
from service_kit.postgres import Database
from service_kit.readings import counter

log = logging.getLogger(__name__)
DEADLINE_SECONDS = 20.0
MOST_TOKENS = 800
MOST_SHOWN = 20
ENOUGH_TEXT, ENOUGH_BEFORE = 4_000, 1_000
NONE = "(nothing)"
neutralised = neutralising("message", "before", "memory")


class FindsSimilar(Protocol):
    """Finds a user's memories that resemble a text."""

    async def similar(self, workspace_id: UUID, user_id: UUID, text: str, most: int) -> list[UUID]: ...


class FactReading:
    """`chat` is None if no model is configured. Whatever the model does or answers, no message is lost."""

    def __init__(
        self, database: Database, chat: AsksForStructure | None, similar: FindsSimilar, registry: CollectorRegistry
    ) -> None:
        self.database, self.chat, self.similar = database, chat, similar
        self.prompt = decide_prompt()
        self.readings = counter(
            "attractor_memory_readings_total",
            "Messages read for facts: by the chat model (model), or by the rules because there was nothing to ask it"
            " (rules), it did not answer (failed), or its answer did not match the message (invalid)",
            registry,
            by=("model", "rules", "failed", "invalid"),
        )

    async def read(self, workspace_id: UUID, message: NewMessage, before: SpokenText | None) -> list[StatedFact] | None:
        """Returns what the model found and the user's words prove; None if the rules should read the message.

        The model is not called for messages that can state nothing: questions, quotations, suppositions.
        """
        if self.chat is None or not clauses(message.content):
            self.readings.labels("rules").inc()
            return None
        known = await self._known(workspace_id, message)
        if known is None:
            return None
        messages = decide_messages(self.prompt, message.content, before.content if before else "", known)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                found = await structured(self.chat, messages, DecidedFacts, max_tokens=MOST_TOKENS)
        except (ChatError, TimeoutError) as error:
            self._fall_back("invalid" if isinstance(error, StructuredAnswerInvalid) else "failed", message, error)
            return None
        stated = proved(SaidText(message.content, message.said_at, message.time_zone), found, known)
        if found.decisions and not stated:
            self._fall_back("invalid", message, None)
            return None
        self.readings.labels("model").inc()
        return stated

    def _fall_back(self, by: str, message: NewMessage, error: Exception | None) -> None:
        reason = repr(error)[:300] if error else "it decided on nothing that was said"
        log.warning(
            "facts extracted by rules instead of the model", extra={"message_id": str(message.id), "reason": reason}
        )
        self.readings.labels(by).inc()

    async def _known(self, workspace_id: UUID, message: NewMessage) -> list[KnownFact] | None:
        """Returns facts that resemble the message, then the latest others; None if the workspace keeps no facts."""
        user_id = message.created_by
        async with self.database.workspace(workspace_id, user_id=user_id) as connection:
            facts = FactRows(connection, workspace_id)
            if await facts.writing() == "off":
                return None
            known = await facts.known(user_id, None, message.said_at)
        if len(known) > MOST_SHOWN:
            similar = set(await self.similar.similar(workspace_id, user_id, message.content, MOST_SHOWN // 2))
            known.sort(key=lambda one: one.id not in similar)
        return known[:MOST_SHOWN]


def decide_prompt() -> Prompt:
    """Loads the prompt. Raises PromptInvalid."""
    [prompt] = load_prompts("memory.facts", {"prompts/decide.md": ("memories", "before", "message")}).values()
    return prompt


def decide_messages(prompt: Prompt, text: str, before: str, known: Sequence[KnownFact]) -> list[ChatMessage]:
    """Returns the prompt for the model; messages and memories are in fences that they cannot close."""
    memories = "\n".join(
        f'<memory number="{number}" subject="{attribute(one.subject)}" predicate="{attribute(one.predicate)}"'
        f' since="{one.valid_from.date()}">{neutralised(one.object)}</memory>'
        for number, one in enumerate(known, 1)
    )
    chat_messages = prompt.render(
        memories=memories or NONE,
        before=neutralised(before[:ENOUGH_BEFORE]) or NONE,
        message=neutralised(text[:ENOUGH_TEXT]),
    )
    return [ChatMessage("user", chat_messages)]
