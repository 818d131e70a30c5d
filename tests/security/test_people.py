"""Limits of what users can do to each other: keys, invitations, memberships, administrators' powers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api_calls import PATIENCE, client, created, ingest
from people import accept, bearer, invite, join, make_user
from sign_in_calls import OWN_PAGE, LoneGateway, lone_gateway, member, problem, signed_in

SECRET = "My salary is 51234 and the code word is quixotic-zebra."
PLANTED = "# Salaries\n\nThe salary of everyone is 99999, says the planted-walrus memo.\n"


async def status(http: httpx2.AsyncClient, key: str) -> tuple[int, str | None]:
    answer = await http.get("/v1/me", headers=bearer(key))
    return answer.status_code, answer.json().get("type")


async def short_lived(http: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Creates something that expires soon; retries with more time if the machine is too slow."""
    for seconds in (1, 4, 16, 64):
        expires_at = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
        made = await http.post(path, json={**body, "expires_at": expires_at})
        if made.status_code == 201:
            return dict(made.json())
        assert made.json()["type"] == "bad-expiry", made.text
    raise AssertionError("a minute passed before the request arrived")


async def test_an_owner_cannot_read_sessions_and_memories_of_a_member(make_tenant, stack) -> None:
    """Regression: an owner could create a key in a member's name and read the member's private data."""
    async with make_tenant("owned") as owner:
        place = str(owner.workspace_id)
        member, key = await make_user(owner.http, place, "editor", "Mara")
        async with client(stack.url, key["key"]) as mara:
            session = (await created(mara, "/v1/sessions", {"title": SECRET}))["id"]
            await created(mara, "/v1/memories", {"content": SECRET})
            assert (await mara.get(f"/v1/sessions/{session}")).status_code == 200
        for role in ("viewer", "editor", "owner"):
            body = {"name": "mine", "role": role, "user_id": member}
            refused = await owner.http.post(f"/v1/workspaces/{place}/keys", json=body)
            assert (refused.status_code, refused.json()["type"]) == (403, "own-name-only")
        own = await created(owner.http, f"/v1/workspaces/{place}/keys", {"name": "another", "role": "owner"})
        async with client(stack.url, own["key"]) as http:
            assert (await http.get("/v1/me")).json()["user"]["id"] != member
            assert (await http.get(f"/v1/sessions/{session}")).status_code == 404
            for path in ("/v1/sessions", "/v1/memories"):
                assert "quixotic" not in (await http.get(path)).text
            recalled = await http.post("/v1/memories/recall", json={"query": SECRET})
            assert "quixotic" not in str(recalled.json()["memories"])


async def test_a_user_added_without_consent_gets_no_search_results_from_that_workspace(
    make_tenant, stack, tmp_path: Path
) -> None:
    """Regression: an owner could add any user, whose search over all workspaces then found planted text."""
    planted = tmp_path / "salaries.md"
    planted.write_text(PLANTED)
    async with make_tenant("attacker") as attacker, make_tenant("home") as one, make_tenant("second home") as two:
        await ingest(attacker.http, [planted])
        user, key = await make_user(one.http, str(one.workspace_id), "viewer", "Victim")
        wide = await join(two.http, str(two.workspace_id), key["key"], "viewer", workspaces=[str(one.workspace_id)])
        member = f"/v1/workspaces/{attacker.workspace_id}/members"
        refused = await attacker.http.put(f"{member}/{user}", json={"role": "viewer"})
        nobody = await attacker.http.put(f"{member}/{attacker.workspace_id}", json={"role": "viewer"})
        assert (refused.status_code, refused.json()["type"]) == (404, "member-not-found")
        assert refused.json()["title"] == nobody.json()["title"]
        assert "Victim" not in refused.text + (await attacker.http.get(member)).text
        async with client(stack.url, wide["key"]) as victim:
            assert await found(victim, "global") == []
        # Even after the user has joined a workspace, the key reads only the listed ones.
        joined = await join(attacker.http, str(attacker.workspace_id), key["key"], "viewer")
        async with client(stack.url, wide["key"]) as victim, client(stack.url, joined["key"]) as guest:
            assert await found(victim, "global") == []
            assert await found(guest, "workspace")


async def found(http: httpx2.AsyncClient, scope: str) -> list[dict[str, Any]]:
    answer = await http.post("/v1/search", json={"query": "salary planted-walrus 99999", "scope": scope})
    hits: list[dict[str, Any]] = answer.raise_for_status().json()["hits"]
    return hits


async def test_a_disabled_user_is_locked_out_of_every_service_at_once(make_tenant, admin, stack) -> None:
    """Regression: no route disabled or deleted a user."""
    async with make_tenant("leaving") as tenant:
        user, key = await make_user(tenant.http, str(tenant.workspace_id), "editor", "Lee")
        async with client(stack.url, key["key"]) as lee:
            assert (await lee.get("/v1/documents")).status_code == 200
            (await admin.patch(f"/v1/users/{user}", json={"disabled": True})).raise_for_status()
            for path in ("/v1/documents", "/v1/sessions", "/v1/graph/entities", "/v1/memories", "/v1/me"):
                refused = await lee.get(path)
                assert (refused.status_code, refused.json()["type"]) == (401, "user-disabled")
            assert (await lee.post("/v1/search", json={"query": "x"})).status_code == 401
            (await admin.patch(f"/v1/users/{user}", json={"disabled": False})).raise_for_status()
            assert (await lee.get("/v1/documents")).status_code == 200
            assert (await admin.delete(f"/v1/users/{user}")).status_code == 204
            assert (await lee.get("/v1/documents")).status_code == 401


async def test_a_key_expires_as_stated(make_tenant) -> None:
    """Regression: keys never expired."""
    async with make_tenant("contractor") as tenant:
        path = f"/v1/workspaces/{tenant.workspace_id}/keys"
        key = await short_lived(tenant.http, path, {"name": "for a moment", "role": "owner"})
        async with asyncio.timeout(PATIENCE):
            while (answer := await status(tenant.http, key["key"]))[0] == 200:
                longer = await tenant.http.post(path, json={"name": "for ever"}, headers=bearer(key["key"]))
                assert longer.status_code in {401, 403}
                await asyncio.sleep(0.2)  # waits for the expiry
        assert answer == (401, "api-key-expired")


async def test_an_invitation_works_once_until_it_expires_or_is_revoked(make_tenant) -> None:
    """Checks that an old link is worthless."""
    async with make_tenant("inviting") as tenant:
        place, http = str(tenant.workspace_id), tenant.http
        used, revoked = await invite(http, place, name="Ada"), await invite(http, place, name="Bob")
        assert (await accept(http, used["token"])).status_code == 201
        assert (await http.delete(f"/v1/workspaces/{place}/invitations/{revoked['id']}")).status_code == 204
        expired = await short_lived(http, f"/v1/workspaces/{place}/invitations", {"name": "Eve"})
        async with asyncio.timeout(PATIENCE):
            while expired["id"] not in await with_status(http, place, "expired"):  # noqa: ASYNC110  the clock has no event
                await asyncio.sleep(0.2)
        for made, slug in ((used, "used"), (revoked, "revoked"), (expired, "expired")):
            refused = await accept(http, made["token"])
            assert (refused.status_code, refused.json()["type"]) == (409, f"invitation-{slug}")
        names = {one["name"] for one in (await http.get(f"/v1/workspaces/{place}/members")).json()["items"]}
        assert not names & {"Bob", "Eve"}


async def with_status(http: httpx2.AsyncClient, place: str, wanted: str) -> set[str]:
    listed = (await http.get(f"/v1/workspaces/{place}/invitations")).json()["items"]
    return {one["id"] for one in listed if one["status"] == wanted}


async def test_the_last_administrator_cannot_be_removed(admin) -> None:
    """Allows several administrators, but never none."""
    me = (await admin.get("/v1/me")).json()
    path = f"/v1/users/{me['user']['id']}"
    for change in ({"disabled": True}, {"is_admin": False}):
        refused = await admin.patch(path, json=change)
        assert (refused.status_code, refused.json()["type"]) == (409, "last-administrator")
    assert (await admin.delete(path)).status_code == 409
    second, key = await make_user(admin, me["workspace"]["id"], "owner", "Second")
    assert (await admin.patch(f"/v1/users/{second}", json={"is_admin": True})).status_code == 200
    listed = await admin.get("/v1/users", headers=bearer(key["key"]))
    assert {one["id"] for one in listed.json()["items"] if one["is_admin"]} >= {me["user"]["id"], second}
    assert (await admin.delete(f"/v1/users/{second}")).status_code == 204


ISSUER = "https://login.example"
OPENID = {"oidc_issuer": ISSUER, "oidc_client_id": "attractor", "public_url": "http://localhost:8080"}
TAKE_AWAY = "UPDATE api_key SET revoked_at = now()"


@pytest.mark.parametrize(
    ("way", "counts"),
    [("password", True), (ISSUER, True), ("https://former.example", False), ("viewer", False), ("disabled", False)],
)
async def test_administrators_with_passwords_count_like_those_with_keys(
    make_database, redis_url, token_keys, way: str, counts: bool
) -> None:
    """Regression: only keys counted, so an administrator with a password could not replace the first one."""
    async with lone_gateway(make_database("gateway"), redis_url, token_keys, **OPENID) as gateway:
        admin = gateway.admin()
        first, home = await identity(admin)
        second = await member(gateway, "Second", role="viewer" if way == "viewer" else "owner")
        assert (await admin.patch(f"/v1/users/{second}", json={"is_admin": True})).status_code == 200
        if way.startswith("https"):
            gateway.sql("DELETE FROM user_password")
            gateway.sql("INSERT INTO user_identity (issuer, subject, user_id) VALUES (%s, 'second', %s)", way, second)
        elif way == "disabled":
            await admin.patch(f"/v1/users/{second}", json={"disabled": True})
        deletion = await admin.delete(f"/v1/workspaces/{home}", params={"name": "default", "timeout": 0})
        if counts:
            assert deletion.status_code == 202
            return
        assert problem(deletion) == (409, "last-admin-key")
        assert problem(await admin.patch(f"/v1/users/{first}", json={"is_admin": False})) == (409, "last-administrator")


async def test_the_last_administrator_with_a_password_cannot_be_removed_even_without_keys(
    make_database, redis_url, token_keys
) -> None:
    """A deployment whose administrator signs in needs no key, and that administrator cannot be removed."""
    database = make_database("gateway")
    async with lone_gateway(database, redis_url, token_keys) as gateway:
        first, _ = await identity(gateway.admin())
        second = await member(gateway, "Second", role="owner")
        assert (await gateway.admin().patch(f"/v1/users/{second}", json={"is_admin": True})).status_code == 200
        browser = await signed_in(gateway, "Second")
        assert (
            await browser.patch(f"/v1/users/{first}", json={"is_admin": False}, headers=OWN_PAGE)
        ).status_code == 200
        gateway.sql(TAKE_AWAY)
        await stays(gateway, second)
    async with lone_gateway(database, redis_url, token_keys, admin_api_key=None) as gateway:
        await stays(gateway, second)


async def identity(http: httpx2.AsyncClient) -> tuple[str, str]:
    """Returns the ids of the user and the workspace."""
    me = (await http.get("/v1/me")).raise_for_status().json()
    return me["user"]["id"], me["workspace"]["id"]


async def stays(gateway: LoneGateway, user: str) -> None:
    browser = await signed_in(gateway, "Second")
    for change in ({"disabled": True}, {"is_admin": False}):
        refused = await browser.patch(f"/v1/users/{user}", json=change, headers=OWN_PAGE)
        assert problem(refused) == (409, "last-administrator")
    assert problem(await browser.delete(f"/v1/users/{user}", headers=OWN_PAGE)) == (409, "last-administrator")
