"""Indexes of users' memories in this process, kept up to date by the revisions in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import numpy as np

from inference.embeddings import EmbeddingSpace
from memory.recall.index import IndexedMemory, MemoryIndex
from memory.recall.repository import ChangedMemory, RecallRows
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces
from service_kit.postgres import Database

Result = TypeVar("Result")
Owner = tuple[UUID, UUID]
_HEADER = 4  # bytes before the numbers of a vector in pgvector's binary format


class _KeptIndex:
    """An index, the revision that it has, and the lock for changing or reading it."""

    def __init__(self, index: MemoryIndex) -> None:
        self.index, self.revision, self.lock = index, 0, asyncio.Lock()


class MemoryIndexes:
    """Indexes by workspace and user; the least recently used are dropped if all take more than `most_bytes`."""

    def __init__(self, database: Database, space: EmbeddingSpace, most_bytes: int) -> None:
        self.database, self.space, self.most_bytes = database, space, most_bytes
        self.soft_match, self.analyzer, self.tokenizer = SoftMatch(), Analyzer(), WordPieces()
        self._kept: OrderedDict[Owner, _KeptIndex] = OrderedDict()

    async def with_index(self, workspace_id: UUID, user_id: UUID, work: Callable[[MemoryIndex], Result]) -> Result:
        """Updates the user's index and runs `work` on it in a thread, under its lock."""
        kept = self._kept.setdefault((workspace_id, user_id), _KeptIndex(self._empty()))
        self._kept.move_to_end((workspace_id, user_id))
        async with kept.lock:
            await self._refresh(kept, workspace_id, user_id)
            result = await asyncio.to_thread(work, kept.index)
        self._shrink()
        return result

    def _empty(self) -> MemoryIndex:
        return MemoryIndex(self.space.dims, self.soft_match, self.analyzer, self.tokenizer)

    async def _refresh(self, kept: _KeptIndex, workspace_id: UUID, user_id: UUID) -> None:
        async with self.database.workspace(workspace_id, user_id=user_id) as connection:
            rows = RecallRows(connection, workspace_id)
            now = await rows.revision(user_id)
            if now.revision == kept.revision:
                return
            if now.removed_at_revision > kept.revision:
                kept.index, kept.revision = self._empty(), 0
            async for changed in rows.changed(user_id, kept.revision, self.space.model, self.space.dims):
                await asyncio.to_thread(kept.index.put, map(_row, changed))
        kept.revision = now.revision

    def _shrink(self) -> None:
        """Drops the least recently used indexes; the last one used stays, whatever its size."""
        total = sum(kept.index.nbytes for kept in self._kept.values())
        for owner in list(self._kept)[:-1]:
            if total <= self.most_bytes:
                return
            if not self._kept[owner].lock.locked():
                total -= self._kept.pop(owner).index.nbytes


def _row(one: ChangedMemory) -> IndexedMemory:
    vector = None if one.embedding is None else np.frombuffer(one.embedding, ">f4", offset=_HEADER).astype(np.float32)
    return IndexedMemory(
        one.id,
        one.kind,
        one.session_id,
        one.speaker,
        one.said_at,
        one.content,
        one.terms,
        one.pieces,
        vector,
    )
