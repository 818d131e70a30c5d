"""Long-term memories of the key's user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.memory import Memory, MemoryCreate, MemoryKind, RecalledMemory, RecallRequest, RecallResponse

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
        """The `k` memories (1 to 50) that are nearest to the query in meaning, best first."""
        request = RecallRequest(query=query, k=k)
        return (await self.transport.query(f"{MEMORIES}/recall", request, RecallResponse)).memories

    async def delete(self, memory_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/memories", memory_id))
