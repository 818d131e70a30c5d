"""The audit trail: who did what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport
from contracts.base import Page
from contracts.gateway import AuditEntry, AuditResult


class Audit:
    """`client.audit`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(
        self,
        *,
        action: str | None = None,
        result: AuditResult | None = None,
        user_id: UUID | None = None,
        target_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        everywhere: bool = False,
    ) -> AsyncIterator[AuditEntry]:
        """Lists the entries of the key's workspace, newest first; with `everywhere` those of the deployment.

        `action` is an action ("key.create") or its first part ("key"). Raises Forbidden unless the caller is an owner,
        or with `everywhere` an administrator.
        """
        wanted = {
            "action": action,
            "result": result,
            "user_id": user_id,
            "target_id": target_id,
            "since": since and since.isoformat(),
            "until": until and until.isoformat(),
            "everywhere": everywhere or None,
        }
        return every(self.transport, "/v1/audit", Page[AuditEntry], wanted)
