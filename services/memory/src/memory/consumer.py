"""Consumed events: messages of finished turns are stored; what derives from deleted things is deleted."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from contracts.events import (
    DOCUMENTS,
    TURNS,
    DocumentDeleted,
    DocumentDescribed,
    DocumentPurged,
    DocumentStored,
    Event,
    SessionDeleted,
    TurnCompleted,
    TurnCompletedV1,
    TurnDiscarded,
)
from contracts.registry import MEMORY
from memory.episodes.turn_events import TurnEvents
from memory.episodes.turns import messages_of, turn_of
from memory.facts.reading import FactReading
from memory.facts.repository import FactRows
from memory.facts.writer import FactWriter
from memory.preparation import Preparation, PreparedText, SpokenText, said_in_context
from memory.repository import Memories, NewMessage
from memory.topics.keeping import keep_topics
from memory.topics.reflection import TopicReflection
from memory.world.committing import commit_staged
from memory.world.repository import WorldPlace, WorldRows
from memory.world.settled_runs import SettledRunRows
from memory.world.status import StatusRows, compile_status, refresh_status
from service_kit.outbox import Outbox, first_time, first_times
from service_kit.postgres import Database
from service_kit.streams import Handler, Together

log = logging.getLogger(__name__)


class MemoryConsumer:
    """Handles events of turns and documents, each once."""

    def __init__(
        self,
        database: Database,
        preparation: Preparation,
        topics: TopicReflection,
        reading: FactReading,
        writer: FactWriter,
        turns: TurnEvents,
        outbox: Outbox,
    ) -> None:
        self.database, self.preparation, self.outbox = database, preparation, outbox
        self.topics, self.reading, self.writer, self.turns = topics, reading, writer, turns

    @property
    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Returns the handlers by event type, by stream."""
        return {
            TURNS: {
                TurnCompleted.event_type: self.turn_completed,
                TurnCompletedV1.event_type: self.turn_completed,
                TurnDiscarded.event_type: self.turn_discarded,
                SessionDeleted.event_type: self.session_deleted,
            },
            DOCUMENTS: {
                DocumentStored.event_type: self.document_named,
                DocumentDescribed.event_type: self.document_named,
                DocumentDeleted.event_type: self.document_deleted,
            },
        }

    @property
    def together(self) -> Mapping[str, Together]:
        """Handlers of events that are cheaper to handle in batches."""
        return {
            DocumentStored.event_type: self.documents_named,
            DocumentDescribed.event_type: self.documents_named,
            DocumentDeleted.event_type: self.documents_deleted,
        }

    async def turn_completed(self, event: Event) -> None:
        """Stores question and answer, unless their session is deleted; without the answer if all its sources are.

        The same transaction stores what the question is about, the facts that it states, the turn's reflections, and
        the run's changes of the world state. Nothing is learned from the answer. A chat model is asked before that
        transaction, but its decisions are applied only in it, so an event that is delivered again is applied once.
        """
        turn = turn_of(event)
        question, answer = messages_of(turn)
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            before = await memories.last_said(turn.session_id)
            is_new = not await memories.known([question.id])
        prepared = await self._prepared(question, answer, before)
        topics = await self.topics.reflect_topics(event.workspace_id, question) if is_new else []
        stated = await self.reading.read(event.workspace_id, question, before) if is_new else None
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            await memories.lock()
            if not await first_time(connection, event):
                return
            await SettledRunRows(connection, event.workspace_id).settle(turn.run_id, turn.user_id)
            if await memories.is_session_deleted(turn.session_id):
                await self.turns.erase(event.workspace_id, [turn.session_id])
                return
            sources = await memories.living_documents(turn.document_ids)
            if await memories.insert_message(question, prepared[0]):
                if topics and await FactRows(connection, event.workspace_id).writing() == "on":
                    await keep_topics(connection, event.workspace_id, turn, topics)
                await self.writer.write(connection, event.workspace_id, question, turn.reflections, stated)
            if (sources or not turn.document_ids) and await memories.insert_message(answer, prepared[1]):
                await memories.insert_sources(answer.id, sources)
            await commit_staged(connection, event.workspace_id, turn)
            await refresh_status(connection, event.workspace_id)

    async def _prepared(
        self, question: NewMessage, answer: NewMessage, before: SpokenText | None
    ) -> tuple[PreparedText, PreparedText]:
        """Prepares question and answer; an answer that says nothing is never recalled, so it costs no embedding."""
        texts, contexts = [question.content], [said_in_context(question.spoken, before)]
        if not answer.says_nothing:
            texts.append(answer.content)
            contexts.append(said_in_context(answer.spoken, question.spoken))
        prepared = await self.preparation.prepare(texts, contexts)
        return prepared[0], self.preparation.unsearched if answer.says_nothing else prepared[1]

    async def turn_discarded(self, event: Event) -> None:
        """Records that the run changes nothing, for those who wait for it."""
        turn = TurnDiscarded.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            if await first_time(connection, event):
                await SettledRunRows(connection, event.workspace_id).settle(turn.run_id, turn.user_id)

    async def document_named(self, event: Event) -> None:
        """Stores the name of a document, for the status of the project."""
        await self.documents_named([event])

    async def documents_named(self, events: Sequence[Event]) -> None:
        """Stores the names of several documents of one workspace."""
        kind: type[DocumentStored | DocumentDescribed]
        kind = DocumentStored if events[0].type == DocumentStored.event_type else DocumentDescribed
        workspace_id = events[0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            await Memories(connection, workspace_id).lock()
            document = [(kind.model_validate(one.data), one.time) for one in await first_times(connection, events)]
            if document:
                named = [(one.document_id, one.name, at) for one, at in document]
                await StatusRows(connection, workspace_id).put_documents(named)

    async def document_deleted(self, event: Event) -> None:
        """Removes the document from memories and status; confirms with `document.purged` in the same transaction."""
        await self.documents_deleted([event])

    async def documents_deleted(self, events: Sequence[Event]) -> None:
        """Removes several documents of one workspace; its status is compiled once."""
        workspace_id = events[0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            memories = Memories(connection, workspace_id)
            await memories.lock()
            new = await first_times(connection, events)
            if not new:
                return
            document_ids = [DocumentDeleted.model_validate(event.data).document_id for event in new]
            await StatusRows(connection, workspace_id).delete_documents(document_ids)
            deleted = await memories.delete_documents(document_ids)
            left = await memories.count_derived(document_ids)
            purged = [
                DocumentPurged(
                    document_id=one.document_id,
                    service=MEMORY,
                    removed={"memory_sources": one.memory_sources, "memories": one.memories},
                    remaining={"memory_sources": left[one.document_id]},
                )
                for one in deleted
            ]
            await compile_status(connection, workspace_id)
            await self.outbox.write_all(connection, workspace_id, [(one, str(one.document_id)) for one in purged])

    async def session_deleted(self, event: Event) -> None:
        """Deletes the session's memories, its world, and its turns on the stream."""
        session_id = SessionDeleted.model_validate(event.data).session_id
        async with self.database.workspace(event.workspace_id) as connection:
            memories = Memories(connection, event.workspace_id)
            await memories.lock()
            if await first_time(connection, event):
                count = await memories.delete_session(session_id)
                await WorldRows(connection, WorldPlace(event.workspace_id, session_id)).delete()
                await self.turns.erase(event.workspace_id, [session_id])
                log.info("session forgotten", extra={"session_id": str(session_id), "memories": count})
