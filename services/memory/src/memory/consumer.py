"""Consumed events: finished turns become episodes; a deleted document or session takes along what came from it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from uuid import uuid4

from contracts.events import DOCUMENTS, TURNS, DocumentDeleted, DocumentPurged, Event, SessionDeleted, TurnCompleted
from contracts.memory import MemoryKind
from contracts.registry import MEMORY
from inference.embeddings import Embedder
from memory.repository import Memories, NewMemory, embed
from memory.world.repository import WorldPlace, WorldRows
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Database
from service_kit.streams import Handler

log = logging.getLogger(__name__)
LONGEST_QUESTION = 2_000
LONGEST_ANSWER = 4_000


class MemoryConsumer:
    """Handles events of turns and documents, each once."""

    def __init__(self, database: Database, embedder: Embedder, outbox: Outbox) -> None:
        self.database, self.embedder, self.outbox = database, embedder, outbox

    @property
    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Handlers by event type, by stream."""
        return {
            TURNS: {TurnCompleted.event_type: self.turn_completed, SessionDeleted.event_type: self.session_deleted},
            DOCUMENTS: {DocumentDeleted.event_type: self.document_deleted},
        }

    async def turn_completed(self, event: Event) -> None:
        """Keeps an episode, unless its session or every document that it cites is deleted."""
        turn = TurnCompleted.model_validate(event.data)
        content = episode_text(turn)
        episode = NewMemory(uuid4(), MemoryKind.episode, content, turn.user_id, turn.session_id, turn.run_id)
        embedded = await embed(self.embedder, content)
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            await memories.lock()
            if not await first_time(connection, event):
                return
            if await memories.is_session_deleted(turn.session_id):
                return
            sources = await memories.living_documents(turn.document_ids)
            if turn.document_ids and not sources:
                return
            if await memories.insert(episode, embedded):
                await memories.insert_sources(episode.id, sources)

    async def document_deleted(self, event: Event) -> None:
        """Confirms by `document.purged` in the same transaction."""
        document_id = DocumentDeleted.model_validate(event.data).document_id
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            await memories.lock()
            if not await first_time(connection, event):
                return
            purged = DocumentPurged(
                document_id=document_id,
                service=MEMORY,
                removed=asdict(await memories.delete_document(document_id)),
                remaining={"memory_sources": await memories.count_derived(document_id)},
            )
            await self.outbox.write(connection, event.workspace_id, purged, str(document_id))

    async def session_deleted(self, event: Event) -> None:
        """Forgets what came from the session alone."""
        session_id = SessionDeleted.model_validate(event.data).session_id
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            await memories.lock()
            if await first_time(connection, event):
                count = await memories.delete_session(session_id)
                await WorldRows(connection, WorldPlace(event.workspace_id, session_id)).delete()
                log.info("session forgotten", extra={"session_id": str(session_id), "memories": count})


def episode_text(turn: TurnCompleted) -> str:
    """Returns what was asked and answered, at most about 6,000 characters."""
    return f"Question: {_cut(turn.question, LONGEST_QUESTION)}\nAnswer: {_cut(turn.answer, LONGEST_ANSWER)}"


def _cut(text: str, longest: int) -> str:
    text = text.strip()
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
