"""The quota of a workspace: documents, bytes of their originals, and sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from ingestion.documents.errors import QuotaExceeded
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.refusals import QUOTA_EXCEEDED, Refused
from service_kit.repository import Repository
from service_kit.statements import Statements

EXCEEDED = (
    "the workspace's quota is {limit} {what}, {used} are used{more}: delete some, or ask the operator for more ({name})"
)


class QuotaSql(Statements, file="quotas.sql"):
    lock: LiteralString
    used: LiteralString
    count_sources: LiteralString
    needs_content: LiteralString


@dataclass(frozen=True)
class Used:
    documents: int
    bytes: int


class Quotas(Repository):
    """Checks growth against the quota. Its lock is the last that a transaction takes. A limit of 0 means no limit."""

    async def refusal(self, limits: IntakeLimits, documents: int, size: int) -> Refused | None:
        """Returns why the workspace may not grow by these documents and bytes, or None. Shrinking is always allowed.

        Other transactions that would let it grow wait until this one ends.
        """
        counts_documents, counts_bytes = limits.max_documents and documents > 0, limits.max_bytes and size > 0
        if not counts_documents and not counts_bytes:
            return None
        await self.run(QuotaSql.lock)
        used = await self.one(QuotaSql.used, Used)
        assert used is not None
        if counts_documents and used.documents + documents > limits.max_documents:
            message = _exceeded("documents", limits.max_documents, used.documents, "WORKSPACE_MAX_DOCUMENTS")
            return Refused(QUOTA_EXCEEDED, message)
        if counts_bytes and used.bytes + size > limits.max_bytes:
            more = f" and this needs {size} more"
            return Refused(
                QUOTA_EXCEEDED, _exceeded("bytes", limits.max_bytes, used.bytes, "WORKSPACE_MAX_BYTES", more)
            )
        return None

    async def lock_sources(self, limit: int) -> None:
        """Keeps other transactions from adding a source until this one ends."""
        if limit:
            await self.run(QuotaSql.lock)

    async def require_sources(self, limit: int) -> None:
        """Raises QuotaExceeded if there are more, including the source just added. Call `lock_sources` first."""
        count = int(await self.value(QuotaSql.count_sources)) if limit else 0
        if count > limit:
            raise QuotaExceeded(_exceeded("sources", limit, count - 1, "WORKSPACE_MAX_SOURCES"))

    async def needs_content(self, content_hash: str) -> bool:
        """Returns whether a kept version has these bytes."""
        return bool(await self.value(QuotaSql.needs_content, content_hash=content_hash))


def _exceeded(what: str, limit: int, used: int, name: str, more: str = "") -> str:
    return EXCEEDED.format(what=what, limit=limit, used=used, name=name, more=more)
