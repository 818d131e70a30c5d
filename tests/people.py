"""Users for tests: each joins by invitation, as there is no other way to a first key."""

from __future__ import annotations

from typing import Any

import httpx2


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def home(client: httpx2.AsyncClient) -> str:
    """Returns the workspace of the client's key."""
    return str((await client.get("/v1/me")).json()["workspace"]["id"])


async def invite(client: httpx2.AsyncClient, workspace: str, *, key: str | None = None, **body: Any) -> dict[str, Any]:
    """Returns a new invitation, with its token."""
    headers = bearer(key) if key else None
    made = await client.post(f"/v1/workspaces/{workspace}/invitations", json=body, headers=headers)
    assert made.status_code == 201, made.text
    return dict(made.json())


async def accept(client: httpx2.AsyncClient, token: str, key: str | None = None, **body: Any) -> httpx2.Response:
    """Accepts as the key's user, or as a new one; the client's own key is not sent."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = client.build_request("POST", "/v1/invitations/accept", json={"token": token, **body}, headers=headers)
    if not key:
        del request.headers["authorization"]
    return await client.send(request)


async def make_user(
    client: httpx2.AsyncClient, workspace: str, role: str, name: str = "Ada"
) -> tuple[str, dict[str, Any]]:
    """Returns the id and the first key of a new user with this role in the workspace."""
    invitation = await invite(client, workspace, role=role)
    joined = await accept(client, invitation["token"], name=name)
    assert joined.status_code == 201, joined.text
    return joined.json()["user"]["id"], joined.json()["key"]


async def join(client: httpx2.AsyncClient, workspace: str, key: str, role: str, **body: Any) -> dict[str, Any]:
    """Lets the key's user join the workspace; returns a key for it."""
    invitation = await invite(client, workspace, role=role)
    joined = await accept(client, invitation["token"], key, **body)
    assert joined.status_code == 201, joined.text
    return dict(joined.json()["key"])
