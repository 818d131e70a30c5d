"""The world state of the workspace, and of the user's sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from uuid import UUID, uuid4

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport
from contracts.base import Page
from contracts.world import ProjectStatus, World, WorldDiff, WorldEvent, WorldOperation, WorldOperations, WorldRevert

WORLD = "/v1/world"
WAIT_SECONDS = 30.0  # that the service waits for a run


class WorldState:
    """`client.world`: a session's world, or without `session_id` the workspace's, which editors may change."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def get(
        self, *, session_id: UUID | None = None, version: int | None = None, after_run: UUID | None = None
    ) -> World:
        """Returns the document, as it is or as it was at a version; with `after_run` once that run's changes are in it.

        Raises Conflict if the end of the run does not arrive within half a minute.
        """
        query = {"session_id": session_id, "version": version, "after_run": after_run}
        timeout = self.transport.timeout + (WAIT_SECONDS if after_run else 0)
        return await self.transport.get(WORLD, World, query, timeout=timeout)

    async def apply(
        self,
        operations: Sequence[WorldOperation],
        *,
        session_id: UUID | None = None,
        expected_version: int | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> World:
        """Applies all operations or none. Raises StaleVersion unless the world has `expected_version`, if given."""
        return await self._change(
            "operations",
            WorldOperations(operations=list(operations), dry_run=dry_run),
            session_id,
            expected_version,
            {"Idempotency-Key": idempotency_key or str(uuid4())},
        )

    async def status(self) -> ProjectStatus:
        """Returns what holds for the workspace now: goals, decisions, open questions, documents, recent activity."""
        return await self.transport.get(f"{WORLD}/status", ProjectStatus)

    def history(self, *, session_id: UUID | None = None) -> AsyncIterator[WorldEvent]:
        """Lists the events, newest first."""
        return every(self.transport, f"{WORLD}/history", Page[WorldEvent], {"session_id": session_id})

    async def diff(self, since: int, until: int | None = None, *, session_id: UUID | None = None) -> WorldDiff:
        """Returns what changed from one version to another, by default to the current one."""
        query = {"from": since, "to": until, "session_id": session_id}
        return await self.transport.get(f"{WORLD}/diff", WorldDiff, query)

    async def revert(
        self, version: int, *, session_id: UUID | None = None, expected_version: int | None = None
    ) -> World:
        """Restores the document to a version. Raises StaleVersion as `apply` does."""
        return await self._change("revert", WorldRevert(version=version), session_id, expected_version, {})

    async def _change(
        self,
        what: str,
        body: WorldOperations | WorldRevert,
        session_id: UUID | None,
        expected_version: int | None,
        headers: dict[str, str],
    ) -> World:
        if expected_version is not None:
            headers = {**headers, "If-Match": f'"{expected_version}"'}
        return await self.transport.fetch(
            "POST",
            f"{WORLD}/{what}",
            World,
            params={"session_id": session_id},
            # Unset fields are not sent, because a null value differs from a missing one.
            content=body.model_dump_json(exclude_unset=True).encode(),
            headers={"Content-Type": "application/json", **headers},
            repeatable="Idempotency-Key" in headers,
        )
