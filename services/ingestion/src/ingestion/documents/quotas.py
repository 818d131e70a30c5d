"""The quota of a workspace: documents, bytes of their originals, and sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from contracts.ingestion import QuotaChoice, QuotaState, WorkspaceQuota
from ingestion.documents.errors import QuotaExceeded
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.refusals import QUOTA_EXCEEDED, Refused
from service_kit.repository import Repository
from service_kit.statements import Statements

EXCEEDED = "the workspace's quota is {most} {what}, {used} are used{more}: delete some, or ask {whom}"


class QuotaSql(Statements, file="quotas.sql"):
    lock: LiteralString
    used: LiteralString
    count_sources: LiteralString
    needs_content: LiteralString
    chosen: LiteralString
    choose: LiteralString


@dataclass(frozen=True)
class Used:
    documents: int
    bytes: int


@dataclass(frozen=True)
class QuotaBound:
    """A limit of the operator, set by `name`, and one of the workspace's owners; 0 and None mean no limit."""

    what: str
    name: str
    operators: int
    chosen: int | None

    @property
    def most(self) -> int:
        """Returns the lower one; 0 means no limit."""
        return min((one for one in (self.operators, self.chosen) if one), default=0)

    def exceeded(self, used: int, more: str = "") -> str:
        whom = f"the operator for more ({self.name})" if self.most == self.operators else "an owner for more"
        return EXCEEDED.format(most=self.most, what=self.what, used=used, more=more, whom=whom)

    def state(self, used: int) -> QuotaState:
        return QuotaState(used=used, most=self.most or None, chosen=self.chosen)


class Quotas(Repository):
    """Checks growth against the quota. Its lock is the last that a transaction takes. A limit of 0 means no limit."""

    async def refusal(self, limits: IntakeLimits, documents: int, size: int) -> Refused | None:
        """Returns why the workspace may not grow by these documents and bytes, or None. Shrinking is always allowed.

        Other transactions that would let it grow wait until this one ends.
        """
        if documents <= 0 and size <= 0:
            return None
        of_documents, of_bytes, _ = await self._bounds(limits.max_documents, limits.max_bytes)
        counts_documents, counts_bytes = of_documents.most and documents > 0, of_bytes.most and size > 0
        if not counts_documents and not counts_bytes:
            return None
        await self.run(QuotaSql.lock)
        used = await self._used()
        if counts_documents and used.documents + documents > of_documents.most:
            return Refused(QUOTA_EXCEEDED, of_documents.exceeded(used.documents))
        if counts_bytes and used.bytes + size > of_bytes.most:
            return Refused(QUOTA_EXCEEDED, of_bytes.exceeded(used.bytes, f" and this needs {size} more"))
        return None

    async def lock_sources(self, operators: int) -> QuotaBound:
        """Returns the limit of sources. If there is one, other transactions add none until this one ends."""
        _, _, bound = await self._bounds(sources=operators)
        if bound.most:
            await self.run(QuotaSql.lock)
        return bound

    async def require_sources(self, bound: QuotaBound) -> None:
        """Raises QuotaExceeded if there are more, including the source just added. Call `lock_sources` first."""
        count = await self._sources() if bound.most else 0
        if count > bound.most:
            raise QuotaExceeded(bound.exceeded(count - 1))

    async def needs_content(self, content_hash: str) -> bool:
        """Returns whether a kept version has these bytes."""
        return bool(await self.value(QuotaSql.needs_content, content_hash=content_hash))

    async def state(self, documents: int, size: int, sources: int) -> WorkspaceQuota:
        """Returns what is used, and the limits together with these of the operator."""
        of_documents, of_bytes, of_sources = await self._bounds(documents, size, sources)
        used = await self._used()
        return WorkspaceQuota(
            documents=of_documents.state(used.documents),
            bytes=of_bytes.state(used.bytes),
            sources=of_sources.state(await self._sources()),
        )

    async def choose(self, changes: QuotaChoice) -> None:
        """Sets the owners' limits; those that are not given stay."""
        await self.run(QuotaSql.lock)
        chosen = (await self._chosen()).model_copy(update=changes.model_dump(exclude_unset=True))
        await self.run(QuotaSql.choose, **chosen.model_dump())

    async def _bounds(self, documents: int = 0, size: int = 0, sources: int = 0) -> list[QuotaBound]:
        chosen = await self._chosen()
        return [
            QuotaBound("documents", "WORKSPACE_MAX_DOCUMENTS", documents, chosen.documents),
            QuotaBound("bytes", "WORKSPACE_MAX_BYTES", size, chosen.bytes),
            QuotaBound("sources", "WORKSPACE_MAX_SOURCES", sources, chosen.sources),
        ]

    async def _chosen(self) -> QuotaChoice:
        return await self.one(QuotaSql.chosen, QuotaChoice) or QuotaChoice()

    async def _used(self) -> Used:
        used = await self.one(QuotaSql.used, Used)
        assert used is not None
        return used

    async def _sources(self) -> int:
        return int(await self.value(QuotaSql.count_sources))
