"""Extends leases that are due at the same time with one statement."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar
from uuid import UUID

GATHER_SECONDS = 0.02


class Leased(Protocol):
    """A claimed item."""

    @property
    def workspace_id(self) -> UUID: ...

    @property
    def lease_token(self) -> UUID: ...


Held = TypeVar("Held", bound=Leased)


class Heartbeat(Generic[Held]):
    """Collects the holders of a process that ask at about the same time, and extends their leases with one call."""

    def __init__(self, extend: Callable[[Sequence[Held]], Awaitable[Mapping[UUID, bool]]]) -> None:
        """`extend` returns, by token of each extended lease, whether its holder should stop."""
        self._extend = extend
        self._asked: dict[UUID, tuple[Held, asyncio.Future[bool | None]]] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def extend(self, held: Held) -> bool | None:
        """Returns whether the holder should stop; None if the lease was not extended. Raises what `extend` raises."""
        if not self._asked:
            task = asyncio.create_task(self._send())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        answer: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._asked[held.lease_token] = (held, answer)
        return await answer

    async def _send(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        waiting, self._asked = self._asked, {}
        try:
            stops = await self._extend([held for held, _ in waiting.values()])
        except BaseException as error:
            for _, answer in waiting.values():
                if not answer.done():
                    answer.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            for token, (_, answer) in waiting.items():
                if not answer.done():
                    answer.set_result(stops.get(token))


def until_beat(pause: float) -> float:
    """Returns the seconds to this process's next heartbeat; holders with the same pause share it."""
    return pause - asyncio.get_running_loop().time() % pause
