"""The routes of signing in with the OpenID Connect provider, for browsers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from contracts.base import ProblemBody, Text
from gateway.access.response_headers import PAGE_POLICY
from gateway.errors import OpenIdNotConfigured
from gateway.signin.openid.sign_ins import OpenIdSignIns, ProviderAnswer
from service_kit.routes import Responses

LINKING: Responses = {403: {"model": ProblemBody, "description": "With `link`: nobody is signed in"}}
ABSENT: Responses = {404: {"model": ProblemBody, "description": "This deployment has no provider"}}
SILENT: Responses = {502: {"model": ProblemBody, "description": "The provider gave no usable answer"}}
REFUSED: Responses = {
    403: {"model": ProblemBody, "description": "Not begun in this browser, refused by the provider, or not invited"},
    409: {"model": ProblemBody, "description": "The identity is another user's, or the invitation is no longer open"},
}
OPEN: dict[str, Any] = {"security": []}
# A browser sends no SameSite=Strict cookie during the provider's redirect, so this page starts a new navigation.
ARRIVED = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Attractor</title><meta http-equiv="refresh" content="0;url=/"></head>
<body><p>You are signed in. <a href="/">Go on</a></p></body>
</html>
"""
router = APIRouter(prefix="/v1", tags=["gateway"])


async def _sign_ins(request: Request) -> OpenIdSignIns:
    sign_ins: OpenIdSignIns | None = request.app.state.openid_sign_ins
    if sign_ins is None:
        raise OpenIdNotConfigured
    return sign_ins


UsedSignIns = Annotated[OpenIdSignIns, Depends(_sign_ins)]
InvitationToken = Annotated[
    str | None, Query(pattern=r"^[A-Za-z0-9_-]{1,200}$", description="The token of the invitation that is accepted")
]
Short = Annotated[Text | None, Query(max_length=2000)]


@router.get(
    "/auth/openid",
    summary="Sign in at the OpenID Connect provider",
    status_code=303,
    response_class=Response,
    responses=LINKING | ABSENT | SILENT,
    openapi_extra=OPEN,
)
async def begin_openid(
    request: Request,
    sign_ins: UsedSignIns,
    invitation: InvitationToken = None,
    link: Annotated[bool, Query(description="Let the signed-in user also sign in this way")] = False,
) -> Response:
    """Redirects the browser to the provider."""
    return await sign_ins.begin(request, invitation, link)


@router.get(
    "/auth/openid/callback",
    summary="Return from the OpenID Connect provider",
    response_class=HTMLResponse,
    responses=REFUSED | ABSENT | SILENT,
    openapi_extra=OPEN,
)
async def finish_openid(
    request: Request,
    sign_ins: UsedSignIns,
    state: Annotated[Text, Query(max_length=200)] = "",
    code: Short = None,
    error: Annotated[str | None, Query(max_length=100, pattern=r"^[A-Za-z0-9_.-]*$")] = None,
    iss: Short = None,
) -> HTMLResponse:
    """Begins a web session for the user named by the provider, and redirects to the front page."""
    response = HTMLResponse(ARRIVED)
    await sign_ins.finish(request, response, ProviderAnswer(state, code, error, iss))
    request.state.response_headers = {"content-security-policy": PAGE_POLICY}
    return response
