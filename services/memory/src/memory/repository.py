"""The memories of a workspace; other users than their owner cannot find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from contracts.base import Page
from contracts.memory import Memory, MemoryKind, MemoryScope
from memory.preparation import PreparedText, SpokenText
from service_kit.pagination import decode_cursor, page
from service_kit.repository import Repository
from service_kit.statements import Statements

OF_MEMORY = "{0}.workspace_id = memory.workspace_id AND {0}.id = memory.id"
COMPUTED = {
    "document_ids": "ARRAY(SELECT document_id FROM memory_source AS source"
    " WHERE source.workspace_id = memory.workspace_id AND source.memory_id = memory.id ORDER BY document_id)",
    "said": "(SELECT jsonb_build_object('position', said.position, 'speaker', said.speaker, 'role', said.role,"  # noqa: S608  constants alone
    f" 'time_zone', said.time_zone) FROM episode AS said WHERE {OF_MEMORY.format('said')})",
    "fact": "(SELECT to_jsonb(stated) || jsonb_build_object('message_ids', ARRAY("  # noqa: S608  constants alone
    "SELECT episode_id FROM fact_source AS source WHERE source.workspace_id = memory.workspace_id"
    " AND source.fact_id = memory.id ORDER BY episode_id))"
    f" FROM fact AS stated WHERE {OF_MEMORY.format('stated')})",
}
COLUMNS = ", ".join(
    f"{COMPUTED[name]} AS {name}" if name in COMPUTED else f"memory.{name}" for name in Memory.model_fields
)


class MemorySql(Statements, file="memories.sql", columns=COLUMNS):
    lock: str
    insert: str
    edit: str
    insert_episode: str
    last_said: str
    said_before: str
    known: str
    insert_sources: str
    living_documents: str
    find: str
    page: str
    unembed_following: str
    forget: str
    pin: str
    mark_deleted: str
    delete_documents: str
    derived: str
    is_session_deleted: str
    mark_session_deleted: str
    delete_session: str


@dataclass(frozen=True)
class NewMemory:
    id: UUID
    kind: MemoryKind
    content: str
    created_by: UUID
    session_id: UUID | None = None
    run_id: UUID | None = None
    scope: MemoryScope = MemoryScope.user
    said_at: datetime | None = None


@dataclass(frozen=True)
class NewMessage:
    """A message to store. `speaker` is empty for the user. With `says_nothing` it is neither listed nor recalled."""

    id: UUID
    created_by: UUID
    session_id: UUID
    role: str
    speaker: str
    content: str
    said_at: datetime
    time_zone: str
    run_id: UUID | None = None
    says_nothing: bool = False

    @property
    def spoken(self) -> SpokenText:
        return SpokenText(self.speaker, self.content)


@dataclass(frozen=True)
class Deleted:
    """How many links to a document were deleted, and how many memories whose last source it was."""

    document_id: UUID
    memory_sources: int
    memories: int


class Memories(Repository):
    async def lock(self) -> None:
        """Serialises the transactions that derive memories from documents and those that delete documents."""
        await self.run(MemorySql.lock)

    async def insert(self, memory: NewMemory, prepared: PreparedText) -> bool:
        """Inserts a memory; returns False if it exists, or was forgotten."""
        return await self.run(MemorySql.insert, **asdict(memory), **asdict(prepared)) == 1

    async def insert_message(self, message: NewMessage, prepared: PreparedText) -> bool:
        """Appends the message to its session; returns False if it exists, or was forgotten."""
        memory = NewMemory(
            message.id,
            MemoryKind.episode,
            message.content,
            message.created_by,
            message.session_id,
            message.run_id,
            said_at=message.said_at,
        )
        if not await self.insert(memory, prepared):
            return False
        await self.run(MemorySql.insert_episode, **asdict(message))
        return True

    async def edit(self, user_id: UUID, memory_id: UUID, content: str, prepared: PreparedText) -> bool:
        """Changes the text of a note or a fact; returns False if the user has no such memory."""
        values = {"user_id": user_id, "id": memory_id, "content": content, **asdict(prepared)}
        return await self.run(MemorySql.edit, **values) == 1

    async def last_said(self, session_id: UUID) -> SpokenText | None:
        """Returns the last message of the session."""
        return await self.one(MemorySql.last_said, SpokenText, session_id=session_id)

    async def said_before(self, message: NewMessage) -> str | None:
        """Returns what the same person said last in the session before the message, which is stored."""
        values = {"session_id": message.session_id, "role": message.role, "speaker": message.speaker}
        said: str | None = await self.value(MemorySql.said_before, id=message.id, **values)
        return said

    async def known(self, ids: Sequence[UUID]) -> set[UUID]:
        """Returns which of the ids exist, for any user."""
        return set(await self.values(MemorySql.known, ids=list(ids)))

    async def insert_sources(self, memory_id: UUID, document_ids: Sequence[UUID]) -> None:
        await self.run(MemorySql.insert_sources, memory_id=memory_id, document_ids=document_ids)

    async def living_documents(self, document_ids: Sequence[UUID]) -> list[UUID]:
        """Returns which of the documents were not deleted."""
        return await self.values(MemorySql.living_documents, document_ids=document_ids)

    async def find(self, user_id: UUID, memory_id: UUID) -> Memory | None:
        return await self.one(MemorySql.find, Memory, user_id=user_id, id=memory_id)

    async def page(
        self, user_id: UUID, kind: MemoryKind | None, limit: int, cursor: str | None, *, ledger: bool = False
    ) -> Page[Memory]:
        """Returns the user's memories, newest first; with `ledger` also answers that say nothing."""
        before, before_id = decode_cursor(cursor)
        values = {"user_id": user_id, "kind": kind, "before": before, "before_id": before_id, "limit": limit + 1}
        values |= {"ledger": ledger}
        rows = await self.all(MemorySql.page, Memory, **values)
        return page(rows, limit, lambda memory: (memory.created_at, memory.id))

    async def forget(self, user_id: UUID, ids: Iterable[UUID]) -> int:
        """Deletes the memories for good: later events and imports do not restore them."""
        values = {"user_id": user_id, "ids": list(ids)}
        await self.run(MemorySql.unembed_following, **values)
        return await self.run(MemorySql.forget, **values)

    async def pin(self, user_id: UUID, memory_id: UUID, *, pinned: bool) -> bool:
        """Pins or unpins a memory; returns False if the user has no such memory."""
        return await self.run(MemorySql.pin, user_id=user_id, id=memory_id, pinned=pinned) == 1

    async def delete_documents(self, document_ids: Sequence[UUID]) -> list[Deleted]:
        """Marks the documents as deleted for good, and removes them from the memories that derive from them."""
        await self.run(MemorySql.mark_deleted, document_ids=list(document_ids))
        found = await self.all(MemorySql.delete_documents, Deleted, document_ids=list(document_ids))
        by_document = {one.document_id: one for one in found}
        return [by_document.get(one, Deleted(one, 0, 0)) for one in document_ids]

    async def count_derived(self, document_ids: Sequence[UUID]) -> Counter[UUID]:
        """Returns how many memories derive from each document."""
        return Counter(await self.values(MemorySql.derived, document_ids=list(document_ids)))

    async def is_session_deleted(self, session_id: UUID) -> bool:
        return bool(await self.value(MemorySql.is_session_deleted, session_id=session_id))

    async def delete_session(self, session_id: UUID) -> int:
        """Marks the session as deleted for good, and deletes its memories; returns how many."""
        await self.run(MemorySql.mark_session_deleted, session_id=session_id)
        return await self.run(MemorySql.delete_session, session_id=session_id)
