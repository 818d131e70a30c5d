"""Reads shared sessions, the only content that a link alone opens."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request

from contracts.base import ProblemBody
from contracts.share_tokens import ShareToken
from contracts.sharing import SHARES_PATH, OpenedShare, PresentedShare, ShareAudience, SharedSession
from gateway.access.authenticator import UsedAuthenticator
from gateway.access.rate_limit import Buckets
from gateway.accounts.members import Members
from gateway.client_address import client_address, network
from gateway.errors import TooManyReads, UnknownShare
from service_kit.auth import ServiceCaller
from service_kit.http_service import HttpService
from service_kit.postgres import Database
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1", tags=["gateway"])
UNINDEXED = {"x-robots-tag": "noindex, nofollow, noarchive"}
OPEN: dict[str, Any] = {"security": []}
RESPONSES: Responses = {
    401: {"model": ProblemBody, "description": "It is for members, and no valid key was sent"},
    404: {"model": ProblemBody, "description": "The token is wrong, or the share has ended"},
    429: {"model": ProblemBody, "description": "Too many requests from this address, or too many wrong tokens"},
    503: {"model": ProblemBody, "description": "The orchestrator does not answer"},
}


class SharedSessions:
    """Opens shares at the orchestrator, and looks up their users. `reads` limits each address."""

    def __init__(self, database: Database, orchestrator: HttpService, reads: Buckets) -> None:
        self.database, self.orchestrator, self.reads = database, orchestrator, reads

    async def spend(self, address: str) -> dict[str, str]:
        """Charges the address for a request; returns its RateLimit headers. Raises TooManyReads."""
        allowance = await self.reads.take(network(address))
        if allowance and not allowance.allowed:
            raise TooManyReads(headers=allowance.headers)
        return allowance.headers if allowance else {}

    async def open(self, token: ShareToken) -> SharedSession | None:
        """Returns None if the token is wrong, the share has ended, or its user is no longer an active member.

        Raises ServiceSilent.
        """
        caller = ServiceCaller("gateway", token.workspace_id)
        presented = PresentedShare(share_id=token.share_id, secret=token.secret)
        answer = await self.orchestrator.ask(caller, "POST", SHARES_PATH, json=presented.model_dump(mode="json"))
        if answer.status_code == 404:
            return None
        opened = self.orchestrator.parse(self.orchestrator.successful(answer), OpenedShare)
        return opened.session if await self._is_active(token.workspace_id, opened.created_by) else None

    async def _is_active(self, workspace_id: UUID, user_id: UUID) -> bool:
        async with self.database.workspace(workspace_id) as connection:
            return await Members(connection, workspace_id).is_active(user_id)


@router.get("/shared/{token}", summary="Read a shared session", responses=RESPONSES, openapi_extra=OPEN)
async def read_shared(
    request: Request,
    token: Annotated[str, Path(max_length=200, description="What POST /v1/sessions/{id}/shares returned")],
    shared: Annotated[SharedSessions, from_state("shared_sessions")],
    authenticator: UsedAuthenticator,
) -> SharedSession:
    """Anyone who has a link can open it without a key; its answers come without quotes from documents.

    Shares for members require a key or a web session of the workspace. Wrong tokens count as failed authentications
    from the address. The response must not be cached, nor indexed by search engines.
    """
    address = client_address(request)
    request.state.logged, request.state.response_headers = {"address": address}, UNINDEXED
    limits = await shared.spend(address)
    request.state.response_headers = UNINDEXED | limits
    presented = ShareToken.parse(token)
    session = await shared.open(presented) if presented else None
    if presented is None or session is None:
        await authenticator.count_failure(request)
        raise UnknownShare
    if session.audience is ShareAudience.members:
        caller, limits = await authenticator.admit(request)
        request.state.response_headers = UNINDEXED | limits
        if caller.workspace.id != presented.workspace_id:
            raise UnknownShare
    return session
