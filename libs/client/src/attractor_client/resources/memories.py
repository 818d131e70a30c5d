"""Long-term memories of the key's user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.memory import (
    ImportRequest,
    ImportResponse,
    Memory,
    MemoryCreate,
    MemoryEdit,
    MemoryKind,
    RecalledMemory,
    RecallRequest,
    RecallResponse,
)

MEMORIES = "/v1/memories"


class Memories:
    """`client.memories`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(self, *, kind: MemoryKind | None = None) -> AsyncIterator[Memory]:
        """Every memory, newest first."""
        return every(self.transport, MEMORIES, Page[Memory], {"kind": kind})

    async def add(self, content: str, *, idempotency_key: str | None = None) -> Memory:
        """Stores a note of at most 10,000 characters."""
        return await self.transport.create(MEMORIES, MemoryCreate(content=content), Memory, idempotency_key)

    async def recall(self, query: str, *, k: int = 5) -> list[RecalledMemory]:
        """About `k` memories (1 to 50) that answer the query, best first; none if nothing is relevant."""
        return (await self.ask(RecallRequest(query=query, k=k))).memories

    async def ask(self, request: RecallRequest) -> RecallResponse:
        """Recalls with all that can be asked for: kinds, a time, context, and what the scores are made of."""
        return await self.transport.query(f"{MEMORIES}/recall", request, RecallResponse)

    async def edit(self, memory_id: UUID, content: str) -> Memory:
        """Gives a note or a fact another text."""
        place, body = path("v1/memories", memory_id), MemoryEdit(content=content)
        return self.transport.parse(await self.transport.send("PATCH", place, body=body, repeatable=True), Memory)

    async def take(self, request: ImportRequest) -> ImportResponse:
        """Imports conversations; what was imported before is left as it is."""
        return await self.transport.query(f"{MEMORIES}/import", request, ImportResponse)

    async def delete(self, memory_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/memories", memory_id))
