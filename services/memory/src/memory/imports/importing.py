"""Imports conversations: messages become episodes, their statements facts. Importing again adds nothing."""

from __future__ import annotations

from uuid import UUID, uuid5

from contracts.memory import ImportedConversation, ImportedMessage, ImportRequest, ImportResponse
from memory.facts.writer import FactWriter
from memory.preparation import Preparation
from memory.repository import Memories, NewMessage
from memory.secrets import without_secrets
from memory.times import zone
from service_kit.postgres import Database

IMPORTED = UUID("6f1f4a0e-5b0c-5c39-9a41-0f4f5a5d1b7e")


class Importing:
    """Imports conversations. Messages are embedded in the background; until then only lexical search finds them."""

    def __init__(self, database: Database, preparation: Preparation, writer: FactWriter) -> None:
        self.database, self.preparation, self.writer = database, preparation, writer

    async def take(self, workspace_id: UUID, user_id: UUID, request: ImportRequest) -> ImportResponse:
        """Stores each conversation in one transaction. Raises TimeZoneUnknown."""
        zone(request.time_zone)
        added = known = facts = 0
        ids: dict[str, UUID] = {}
        for conversation in request.conversations:
            session_id = _id(workspace_id, user_id, request.source, conversation.id)
            messages = [_message(one, session_id, user_id, request.time_zone) for one in conversation.messages]
            ids |= _source_ids(conversation, messages)
            prepared = await self.preparation.unembedded([one.content for one in messages])
            async with self.database.workspace(workspace_id, user_id=user_id) as connection:
                memories = Memories(connection, workspace_id)
                await memories.lock()
                if await memories.is_session_deleted(session_id):
                    continue
                for message, words in zip(messages, prepared, strict=True):
                    if await memories.insert_message(message, words):
                        added += 1
                        facts += await self.writer.write(connection, workspace_id, message)
                    else:
                        known += 1
        return ImportResponse(added=added, known=known, facts=facts, message_ids=ids)


def _message(one: ImportedMessage, session_id: UUID, user_id: UUID, time_zone: str) -> NewMessage:
    speaker = "" if one.role == "user" else one.speaker or one.role
    at = one.at if one.at.tzinfo else one.at.replace(tzinfo=zone(time_zone))
    message_id = uuid5(session_id, one.id)
    return NewMessage(message_id, user_id, session_id, one.role, speaker, without_secrets(one.content), at, time_zone)


def _source_ids(conversation: ImportedConversation, messages: list[NewMessage]) -> dict[str, UUID]:
    return {one.id: message.id for one, message in zip(conversation.messages, messages, strict=True)}


def _id(workspace_id: UUID, user_id: UUID, source: str, name: str) -> UUID:
    """Derives a session's id, which is always the same for this conversation, source and user."""
    return uuid5(uuid5(uuid5(IMPORTED, str(workspace_id)), str(user_id)), f"{source}/{name}")
