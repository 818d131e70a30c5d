"""Backlogs of the services on events, and dead letters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport
from contracts.base import Page
from contracts.gateway import Backlog, Backlogs, DeadLetter, LettersReplay, LettersReplayed

MOST_AT_ONCE = 200


class ServiceOperations:
    """`client.operations`: for owners."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def backlogs(self) -> list[Backlog]:
        """Returns how far each service is behind on each stream, the furthest behind first."""
        return (await self.transport.get("/v1/backlogs", Backlogs)).items

    def dead_letters(self, *, everywhere: bool = False) -> AsyncIterator[DeadLetter]:
        """Lists dead letters, oldest first; with `everywhere` those of all workspaces, for administrators."""
        return every(self.transport, "/v1/dead-letters", Page[DeadLetter], {"everywhere": everywhere or None})

    async def replay(self, ids: Sequence[str], *, everywhere: bool = False) -> int:
        """Replays dead letters; returns how many still existed."""
        replayed = 0
        for first in range(0, len(ids), MOST_AT_ONCE):
            body = LettersReplay(ids=list(ids[first : first + MOST_AT_ONCE]))
            params = {"everywhere": everywhere or None}
            answer = await self.transport.send("POST", "/v1/dead-letters/replay", params=params, body=body)
            replayed += self.transport.parse(answer, LettersReplayed).replayed
        return replayed
