"""Long-term memories of the key's user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.memory import (
    ForgetRequest,
    ForgetResponse,
    ImportRequest,
    ImportResponse,
    Memory,
    MemoryCreate,
    MemoryEdit,
    MemoryKind,
    MemorySettings,
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
        """Lists the memories, newest first."""
        return every(self.transport, MEMORIES, Page[Memory], {"kind": kind})

    async def add(self, content: str, *, idempotency_key: str | None = None) -> Memory:
        """Stores a note of at most 10,000 characters."""
        return await self.transport.create(MEMORIES, MemoryCreate(content=content), Memory, idempotency_key)

    async def recall(self, query: str, *, k: int = 5) -> list[RecalledMemory]:
        """Returns about `k` memories (1 to 50) that answer the query, best first; none if nothing is relevant."""
        return (await self.ask(RecallRequest(query=query, k=k))).memories

    async def ask(self, request: RecallRequest) -> RecallResponse:
        """Recalls with all options: kinds, a time, context, and an explanation of the scores."""
        return await self.transport.query(f"{MEMORIES}/recall", request, RecallResponse)

    async def edit(self, memory_id: UUID, content: str) -> Memory:
        """Changes the text of a note or a fact."""
        return await self._change(memory_id, MemoryEdit(content=content))

    async def pin(self, memory_id: UUID, *, pinned: bool = True) -> Memory:
        """Protects a memory from the workspace's retention, or with `pinned=False` no longer."""
        return await self._change(memory_id, MemoryEdit(pinned=pinned))

    async def approve(self, memory_id: UUID) -> Memory:
        """Approves a fact that awaits review, so that it is recalled."""
        place = f"{path('v1/memories', memory_id)}/approve"
        return await self.transport.fetch("POST", place, Memory, repeatable=True)

    async def forget(self, request: ForgetRequest) -> ForgetResponse:
        """Forgets what the request selects, or previews it; returns counts by table."""
        return await self.transport.query(f"{MEMORIES}/forget", request, ForgetResponse)

    @asynccontextmanager
    async def export(self) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens everything known about the user as JSON Lines: `async with client.memories.export() as parts`."""
        async with self.transport.stream(f"{MEMORIES}/export") as response:
            yield response.aiter_bytes()

    async def settings(self) -> MemorySettings:
        """Returns how the workspace keeps memories."""
        return await self.transport.get(f"{MEMORIES}/settings", MemorySettings)

    async def set_settings(self, settings: MemorySettings) -> MemorySettings:
        """Sets how the workspace keeps memories. Raises Forbidden unless the caller is an owner."""
        return await self.transport.fetch("PUT", f"{MEMORIES}/settings", MemorySettings, body=settings, repeatable=True)

    async def take(self, request: ImportRequest) -> ImportResponse:
        """Imports conversations; messages that were imported before are skipped."""
        return await self.transport.query(f"{MEMORIES}/import", request, ImportResponse)

    async def _change(self, memory_id: UUID, body: MemoryEdit) -> Memory:
        place = path("v1/memories", memory_id)
        return await self.transport.fetch("PATCH", place, Memory, body=body, repeatable=True)

    async def delete(self, memory_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/memories", memory_id))
