"""Model usage and budgets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Parameters, Transport
from contracts.base import Page
from contracts.models import UsageGroup, UsageReport
from contracts.orchestrator import RunStatus, RunUsage


class ModelUsage:
    """`client.usage`: users read their own usage, owners the workspace's."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def read(
        self,
        *,
        since: date | None = None,
        until: date | None = None,
        by: Sequence[UsageGroup] = (UsageGroup.day, UsageGroup.model),
        user_id: UUID | None = None,
    ) -> UsageReport:
        """Returns the usage of a range of days (UTC), by default the last 30, and the caller's budgets today."""
        query = {"since": since, "until": until, "by": [one.value for one in by], "user_id": user_id}
        return await self.transport.get("/v1/usage", UsageReport, query)

    def runs(self, statuses: Sequence[RunStatus] = (), user_id: UUID | None = None) -> AsyncIterator[RunUsage]:
        """Lists runs with what they used, newest first: the user's own, for owners everyone's."""
        wanted: Parameters = {"status": [one.value for one in statuses], "user_id": user_id and str(user_id)}
        return every(self.transport, "/v1/usage/runs", Page[RunUsage], wanted)
