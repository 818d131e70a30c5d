"""Starts a walled process for each piece of work, and reads its replies."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

from orchestrator.walled.child import PIECE_BYTES
from service_kit.problems import Unavailable
from service_kit.sandbox import Sandbox, SandboxConfig, SandboxedProcess, SandboxUnavailable

T = TypeVar("T")


class WalledWork:
    """Runs at most `at_once` processes at a time. The fork server is started with the first."""

    def __init__(self, config: SandboxConfig, at_once: int, waiting_for_each: int) -> None:
        """`waiting_for_each`: how many pieces of work may wait, per running one."""
        self._sandbox = Sandbox(config)
        self._places = asyncio.Semaphore(at_once)
        self._most, self._present = at_once * (1 + waiting_for_each), 0

    @property
    def is_full(self) -> bool:
        return self._present >= self._most

    async def aclose(self) -> None:
        """Ends work in progress, which fails for its callers."""
        await asyncio.to_thread(self._sandbox.close)

    async def result(self, read: Callable[[SandboxedProcess], T]) -> T:
        """Returns what `read` returns, which is called in a thread with a new process. Raises Unavailable."""
        self._present += 1
        try:
            async with self._places:
                return await self._read(read)
        finally:
            self._present -= 1

    async def _read(self, read: Callable[[SandboxedProcess], T]) -> T:
        try:
            process = await asyncio.to_thread(self._sandbox.start)
        except SandboxUnavailable as error:
            raise Unavailable("No process could be started for this") from error
        try:
            return await asyncio.to_thread(read, process)
        finally:
            await asyncio.shield(asyncio.to_thread(process.end))  # even if the caller has disconnected


class Replies:
    """The replies of a walled process, which its input may have taken over.

    Reading one raises TimeoutError `seconds` after this was created, EOFError if the process has ended, and
    ValueError if the reply is not as agreed.
    """

    def __init__(self, process: SandboxedProcess, seconds: float) -> None:
        self._process, self._deadline = process, time.monotonic() + seconds

    def body(self) -> dict[str, Any]:
        body = json.loads(self._next())
        if not isinstance(body, dict):
            raise ValueError(f"a reply is not {type(body).__name__}")
        return body

    def content(self, size: int) -> bytes:
        """Returns the content, which comes in pieces."""
        content = bytearray()
        while len(content) < size:
            content += self._next()
        if len(content) != size:
            raise ValueError(f"{len(content)} bytes instead of {size}")
        return bytes(content)

    def _next(self) -> bytes:
        message = self._process.receive(max(0.0, self._deadline - time.monotonic()), PIECE_BYTES)
        if message is None:
            raise TimeoutError
        return message
