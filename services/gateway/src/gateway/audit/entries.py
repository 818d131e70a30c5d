"""The table of audited requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from contracts.gateway import AuditEntry, AuditResult
from service_kit.repository import SystemRepository
from service_kit.statements import Statements

DEPLOYMENT = UUID(int=0)  # in place of a workspace, for entries about the deployment
WORKSPACE = "nullif(workspace_id, '00000000-0000-0000-0000-000000000000') AS workspace_id"
COLUMNS = f"id, at, {WORKSPACE}, action, result, status, user_id, credential_id, address, target_id, detail, trace_id"
DELETED_AT_ONCE = 10_000


class AuditSql(Statements, file="audit.sql", columns=COLUMNS):
    insert: str
    list: str
    delete_old: str


@dataclass
class NewEntry:
    """What is known of a request; the caller's fields stay None if no credential was accepted."""

    action: str
    status: int
    workspace_id: UUID | None = None
    user_id: UUID | None = None
    credential_id: UUID | None = None
    address: str | None = None
    target_id: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    trace_id: str | None = None

    @property
    def result(self) -> AuditResult:
        if self.status < 400:
            return AuditResult.done
        return AuditResult.refused if self.status < 500 else AuditResult.failed


@dataclass(frozen=True)
class AuditFilter:
    """Which entries to list; None matches all. Without `workspace_id`: those of the whole deployment."""

    workspace_id: UUID | None
    action: str | None = None
    result: AuditResult | None = None
    user_id: UUID | None = None
    target_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditEntries(SystemRepository):
    async def add(self, entry: NewEntry) -> None:
        values = vars(entry) | {
            "id": uuid4(),
            "workspace_id": entry.workspace_id or DEPLOYMENT,
            "result": entry.result.value,
            "detail": Jsonb(entry.detail),
        }
        await self.run(AuditSql.insert, **values)

    async def list(self, wanted: AuditFilter, at: datetime | None, before: UUID | None, limit: int) -> list[AuditEntry]:
        """Returns entries before the given one, newest first."""
        return await self.all(AuditSql.list, AuditEntry, **vars(wanted), at=at, before=before, limit=limit)

    async def delete_old(self, days: int) -> int:
        """Deletes entries older than `days`, oldest first; returns how many, up to DELETED_AT_ONCE."""
        return await self.run(AuditSql.delete_old, days=days, limit=DELETED_AT_ONCE)
