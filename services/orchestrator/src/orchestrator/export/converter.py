"""Exports artifacts as files in walled processes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from orchestrator.errors import ArtifactExportsBusy, ExportFailed, ExportTooLarge, ExportToolMissing, ExportTooSlow
from orchestrator.export.child import ExportAssignment
from orchestrator.export.limits import MISSING, TOO_LARGE, ExportLimits
from orchestrator.walled.work import Replies, WalledWork
from service_kit.sandbox import SandboxConfig, SandboxedProcess

CONFIG = SandboxConfig("orchestrator.export.child:serve", "orchestrator.export.child", programs=True)
WAITING_FOR_EACH = 8  # exports that may wait, per running export


class DocumentConverter:
    """Runs one process per export, at most `at_once` at a time."""

    def __init__(self, limits: ExportLimits, at_once: int) -> None:
        self.limits = limits
        self._work = WalledWork(CONFIG, at_once, WAITING_FOR_EACH)

    async def aclose(self) -> None:
        """Ends exports in progress; they fail for their callers."""
        await self._work.aclose()

    async def convert(self, wanted: ExportAssignment) -> bytes:
        """Raises ExportTooLarge, ExportTooSlow, ExportFailed, ExportToolMissing, ArtifactExportsBusy, Unavailable."""
        size = len(wanted.text.encode())
        if size > self.limits.source_bytes:
            raise ExportTooLarge(f"The text has {size:,} bytes, of at most {self.limits.source_bytes:,}")
        if self._work.is_full:
            raise ArtifactExportsBusy("Many artifacts are being exported; try again in a moment")
        return await self._work.result(lambda process: self._read(process, wanted))

    def _read(self, process: SandboxedProcess, wanted: ExportAssignment) -> bytes:
        replies = Replies(process, self.limits.seconds)
        try:
            process.send(json.dumps(asdict(wanted)).encode())
            return replies.content(self._size(replies.body()))
        except TimeoutError:
            raise ExportTooSlow(f"It was not written within {self.limits.seconds:g} s") from None
        except (EOFError, OSError):
            raise ExportTooLarge(
                "The conversion was stopped: it takes more memory or time than an export may"
            ) from None
        except (ValueError, TypeError) as error:
            raise ExportFailed("The converter sent an invalid answer") from error

    def _size(self, reply: dict[str, Any]) -> int:
        size, reason, message = reply.get("bytes"), reply.get("refused"), str(reply.get("message", ""))[:200]
        if isinstance(size, int) and 0 <= size <= self.limits.output_bytes:
            return size
        if reason == TOO_LARGE:
            raise ExportTooLarge(message)
        if reason == MISSING:
            raise ExportToolMissing(message)
        raise ExportFailed(message or None)
