"""Store and recall: the use cases of the routes and of the consumers."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4, uuid5

from pgvector import Vector as PgVector

from contracts.events import DocumentDeleted, DocumentPurged, Event, TurnCompleted
from contracts.memory import MemoryKind
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from memory import store
from memory.episode import episode_text
from memory.errors import EmbeddingUnavailable, IdempotencyKeyReused, MemoryNotFound
from service_kit.auth import Principal
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Database


class Memories:
    """A user's own memories in a workspace: whoever else asks for them is told that they do not exist."""

    def __init__(self, database: Database, embedder: Embedder, outbox: Outbox) -> None:
        self.database, self.embedder, self.outbox = database, embedder, outbox

    async def add_note(self, owner: Principal, content: str, idempotency_key: str | None) -> store.StoredMemory:
        """The same key with the same content gives the note of the first time.

        Raises IdempotencyKeyReused (the key came with another content) and EmbeddingUnavailable.
        """
        note_id = uuid5(owner.user_id, idempotency_key) if idempotency_key else uuid4()
        note = store.NewMemory(note_id, MemoryKind.note, content, owner.user_id, await self._asked(content))
        async with self.database.workspace(owner.workspace_id) as connection:
            await store.insert(connection, owner.workspace_id, note)
            stored = await store.find(connection, owner.workspace_id, owner.user_id, note_id)
        if stored is None or stored.content != content:
            raise IdempotencyKeyReused
        return stored

    async def page(
        self, owner: Principal, kind: MemoryKind | None, before: tuple[datetime | None, UUID | None], limit: int
    ) -> list[store.StoredMemory]:
        async with self.database.workspace(owner.workspace_id) as connection:
            return await store.page(
                connection, owner.workspace_id, owner.user_id, kind=kind, before=before, limit=limit
            )

    async def delete(self, owner: Principal, memory_id: UUID) -> None:
        """Raises MemoryNotFound."""
        async with self.database.workspace(owner.workspace_id) as connection:
            if not await store.delete(connection, owner.workspace_id, owner.user_id, memory_id):
                raise MemoryNotFound

    async def recall(self, owner: Principal, query: str, k: int) -> list[store.ScoredMemory]:
        """Raises EmbeddingUnavailable."""
        vector = await self._asked(query)
        async with self.database.workspace(owner.workspace_id) as connection:
            return await store.nearest(connection, owner.workspace_id, owner.user_id, vector, k)

    async def keep_episode(self, event: Event) -> None:
        """`turn.completed`: once per event and per run; nothing when every document that it cites is deleted."""
        turn = TurnCompleted.model_validate(event.data)
        content, workspace_id = episode_text(turn), event.workspace_id
        episode = store.NewMemory(
            uuid4(),
            MemoryKind.episode,
            content,
            turn.user_id,
            await self._embed(content),
            session_id=turn.session_id,
            run_id=turn.run_id,
        )
        async with self.database.workspace(workspace_id) as connection:
            await store.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            sources = await store.living_documents(connection, workspace_id, turn.document_ids)
            if turn.document_ids and not sources:
                return
            if await store.insert(connection, workspace_id, episode):
                await store.insert_sources(connection, workspace_id, episode.id, sources)

    async def forget_document(self, event: Event) -> None:
        """`document.deleted`: confirmed by `document.purged` in the same transaction."""
        document_id, workspace_id = DocumentDeleted.model_validate(event.data).document_id, event.workspace_id
        async with self.database.workspace(workspace_id) as connection:
            await store.lock(connection, workspace_id)
            if not await first_time(connection, event):
                return
            forgotten = await store.forget_document(connection, workspace_id, document_id)
            purged = DocumentPurged(
                document_id=document_id,
                service="memory",
                removed={"memories": forgotten.memories, "memory_sources": forgotten.sources},
                remaining={"memory_sources": await store.count_derived(connection, workspace_id, document_id)},
            )
            await self.outbox.write(connection, workspace_id, purged, str(document_id))

    async def _asked(self, text: str) -> store.Vector:
        try:
            return await self._embed(text)
        except EmbeddingError as error:
            raise EmbeddingUnavailable from error

    async def _embed(self, text: str) -> store.Vector:
        vectors = await self.embedder.embed([text])
        return store.Vector(self.embedder.space.model, PgVector(vectors[0]).to_text())
