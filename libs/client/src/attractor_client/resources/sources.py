"""Sources, from which documents come automatically, and their synchronisations."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.sources import Source, SourceCreate, SourceDeletion, SourceUpdate, Sync, SyncChange, SyncStatus

SOURCES = "/v1/sources"
LONG_POLL_SECONDS = 20.0
ANSWER_SECONDS = 30.0


class Sources:
    """`client.sources`. Creating, changing and deleting a source requires an owner's key, synchronising an editor's."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(self) -> AsyncIterator[Source]:
        return every(self.transport, SOURCES, Page[Source])

    async def get(self, source_id: UUID) -> Source:
        return await self.transport.get(path("v1/sources", source_id), Source)

    async def create(self, source: SourceCreate, *, idempotency_key: str | None = None) -> Source:
        """Creates a source, which is synchronised at once. Raises InvalidRequest if its location is not allowed."""
        return await self.transport.create(SOURCES, source, Source, idempotency_key)

    async def update(self, source: Source, change: SourceUpdate) -> Source:
        """Changes the fields set in `change`, even to null; raises StaleVersion if `source` is not the newest."""
        return await self.transport.fetch(
            "PATCH",
            path("v1/sources", source.id),
            Source,
            body=change,
            nulls=True,
            headers={"If-Match": f'"{source.version}"'},
        )

    async def delete(
        self, source_id: UUID, *, keep_documents: bool = False, timeout: float = 10.0
    ) -> SourceDeletion | None:
        """Deletes the source with its documents everywhere; returns None if the documents were kept."""
        params = {"keep_documents": keep_documents, "timeout": timeout}
        answer = await self.transport.send(
            "DELETE", path("v1/sources", source_id), params=params, timeout=timeout + ANSWER_SECONDS
        )
        return None if answer.status_code == 204 else self.transport.parse(answer, SourceDeletion)

    async def receipt(self, source_id: UUID) -> SourceDeletion:
        """Returns what each service removed of a deleted source's documents."""
        return await self.transport.get(path("v1/sources", source_id, "receipt"), SourceDeletion)

    async def sync(self, source_id: UUID, *, dry_run: bool = False) -> Sync:
        """Queues a synchronisation, or returns the one already queued. A dry run changes nothing."""
        return await self.transport.fetch(
            "POST", path("v1/sources", source_id, "sync"), Sync, params={"dry_run": dry_run}, repeatable=not dry_run
        )

    def syncs(self, source_id: UUID) -> AsyncIterator[Sync]:
        """Lists the source's synchronisations, newest first."""
        return every(self.transport, path("v1/sources", source_id, "syncs"), Page[Sync])

    def changes(self, sync: Sync) -> AsyncIterator[SyncChange]:
        """Lists what a synchronisation did with each file, or would do."""
        return every(
            self.transport, path("v1/sources", sync.source_id, "syncs", str(sync.id), "changes"), Page[SyncChange]
        )

    async def poll(self, sync: Sync, timeout: float) -> Sync:
        """Returns the synchronisation once it has ended, or as it is after `timeout` seconds (at most 300)."""
        return await self.transport.get(
            path("v1/sources", sync.source_id, "syncs", str(sync.id)),
            Sync,
            {"wait": "finished", "timeout": timeout},
            timeout=timeout + ANSWER_SECONDS,
        )

    async def wait(self, sync: Sync, timeout: float | None = None) -> Sync:
        """Waits until the synchronisation has ended; raises TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONG_POLL_SECONDS if deadline is None else min(LONG_POLL_SECONDS, deadline - time.monotonic())
            found = await self.poll(sync, max(left, 0.0))
            if found.status not in (SyncStatus.queued, SyncStatus.running):
                return found
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(found.status.value)

    async def cancel(self, sync: Sync) -> Sync:
        """Stops the synchronisation; what it has done so far stays."""
        place = path("v1/sources", sync.source_id, "syncs", str(sync.id), "cancel")
        return await self.transport.fetch("POST", place, Sync)
