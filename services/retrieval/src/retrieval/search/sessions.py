"""The documents attached to a session, from the orchestrator."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError

from contracts.base import Page
from contracts.orchestrator import SessionDocument
from retrieval.errors import SessionsUnavailable, UnknownSession
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

PAGE = 1_000


class SessionDocuments:
    """Queries the orchestrator on behalf of the user who searches."""

    def __init__(self, orchestrator: HttpService) -> None:
        self.orchestrator = orchestrator

    async def documents(self, caller: Principal, session_id: UUID) -> list[UUID]:
        """Returns their ids. Raises UnknownSession, also for another user's session, and SessionsUnavailable."""
        found: list[UUID] = []
        params: dict[str, str | int] = {"limit": PAGE}
        while True:
            try:
                path = f"/v1/sessions/{session_id}/documents"
                answer = await self.orchestrator.ask(caller, "GET", path, params=params)
                if answer.status_code == 404:
                    raise UnknownSession
                page = Page[SessionDocument].model_validate_json(answer.content)
            except (ServiceSilent, ValidationError) as error:
                raise SessionsUnavailable(str(error) if isinstance(error, ServiceSilent) else None) from error
            found += [one.document_id for one in page.items]
            if page.next_cursor is None:
                return found
            params["cursor"] = page.next_cursor
