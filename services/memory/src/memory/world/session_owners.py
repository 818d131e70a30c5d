"""Asks the orchestrator for the user of a session."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from contracts.orchestrator import SessionIds, SessionUsers
from contracts.registry import MEMORY
from service_kit.auth import ServiceCaller
from service_kit.http_service import HttpService
from service_kit.owners import SESSION_USERS_PATH


class SessionOwners(Protocol):
    """Looks up the user of a session."""

    async def owner_of(self, workspace_id: UUID, session_id: UUID) -> UUID | None:
        """Returns the user of a session that may be remembered, None if there is none. Raises ServiceSilent."""
        ...


class OrchestratorSessions(HttpService):
    """Asks the orchestrator, on this service's own behalf."""

    async def owner_of(self, workspace_id: UUID, session_id: UUID) -> UUID | None:
        caller, ids = ServiceCaller(MEMORY, workspace_id), SessionIds(session_ids=[session_id])
        answer = await self.fetch(caller, "POST", SESSION_USERS_PATH, SessionUsers, ids)
        return answer.users.get(session_id)
