"""Exports artifacts as files in walled processes, outside the event loop."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict

from orchestrator.errors import ArtifactExportsBusy, ExportFailed, ExportTooLarge, ExportToolMissing, ExportTooSlow
from orchestrator.export.child import ExportAssignment
from orchestrator.export.limits import MISSING, PIECE_BYTES, TOO_LARGE, ExportLimits
from service_kit.problems import Unavailable
from service_kit.sandbox import Sandbox, SandboxConfig, SandboxedProcess, SandboxUnavailable

TASK, PRELOAD = "orchestrator.export.child:serve", "orchestrator.export.child"
WAITING_FOR_EACH = 8  # exports that may wait, per running export


class DocumentConverter:
    """Runs one process per export, at most `at_once` at a time. The fork server is started with the first."""

    def __init__(self, limits: ExportLimits, at_once: int) -> None:
        self.limits = limits
        self._sandbox = Sandbox(SandboxConfig(TASK, PRELOAD, programs=True))
        self._places = asyncio.Semaphore(at_once)
        self._most, self._present = at_once * (1 + WAITING_FOR_EACH), 0

    async def aclose(self) -> None:
        """Ends exports in progress; they fail for their callers."""
        await asyncio.to_thread(self._sandbox.close)

    async def convert(self, wanted: ExportAssignment) -> bytes:
        """Raises ExportTooLarge, ExportTooSlow, ExportFailed, ExportToolMissing, ArtifactExportsBusy, Unavailable."""
        size = len(wanted.text.encode())
        if size > self.limits.source_bytes:
            raise ExportTooLarge(f"The text has {size:,} bytes, of at most {self.limits.source_bytes:,}")
        if self._present >= self._most:
            raise ArtifactExportsBusy("Many artifacts are being exported; try again in a moment")
        self._present += 1
        try:
            async with self._places:
                return await self._converted(wanted)
        finally:
            self._present -= 1

    async def _converted(self, wanted: ExportAssignment) -> bytes:
        try:
            process = await asyncio.to_thread(self._sandbox.start)
        except SandboxUnavailable as error:
            raise Unavailable("No process could be started for the export") from error
        try:
            return await asyncio.to_thread(self._read, process, wanted)
        finally:
            await asyncio.shield(asyncio.to_thread(process.end))  # even if the caller has disconnected

    def _read(self, process: SandboxedProcess, wanted: ExportAssignment) -> bytes:
        deadline = time.monotonic() + self.limits.seconds
        try:
            process.send(json.dumps(asdict(wanted)).encode())
            size = self._size(json.loads(self._next(process, deadline)))
            written = bytearray()
            while len(written) < size:
                written += self._next(process, deadline)
        except (EOFError, OSError):
            raise ExportTooLarge(
                "The conversion was stopped: it takes more memory or time than an export may"
            ) from None
        except (ValueError, TypeError) as error:
            raise ExportFailed("The converter sent an invalid answer") from error
        return bytes(written[:size])

    def _size(self, reply: dict[str, object]) -> int:
        size, reason, message = reply.get("bytes"), reply.get("failed"), str(reply.get("message", ""))[:200]
        if isinstance(size, int) and 0 <= size <= self.limits.output_bytes:
            return size
        if reason == TOO_LARGE:
            raise ExportTooLarge(message)
        if reason == MISSING:
            raise ExportToolMissing(message)
        raise ExportFailed(message or None)

    def _next(self, process: SandboxedProcess, deadline: float) -> bytes:
        message = process.receive(max(0.0, deadline - time.monotonic()), PIECE_BYTES)
        if message is None:
            raise ExportTooSlow(f"It was not written within {self.limits.seconds:g} s")
        return message
