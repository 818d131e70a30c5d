"""Invitations: who makes them, who accepts, and when they are worth nothing."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from people import accept, bearer, home, invite, join, make_user

from contracts.random_secrets import new_secret
from gateway.accounts import invitation_token
from gateway.accounts.key_format import Credential
from gateway.web.files import WebFiles


def invalid_token():
    return invitation_token.render(Credential(uuid4(), new_secret()))


async def workspace(client, name):
    return (await client.post("/v1/workspaces", json={"name": name})).json()["id"]


@pytest.fixture
def rows(settings):
    """await rows(sql): runs a statement on the gateway's database, over all workspaces."""

    async def run(sql):
        url = settings().database_url.get_secret_value()
        async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
            cursor = await connection.execute(sql)
            return await cursor.fetchall() if cursor.description else []

    return run


async def test_accepting_an_invitation_creates_a_user_a_role_and_a_key(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        made = await invite(client, workspace_id, role="viewer", name="Ada", note="ada@example.org")
        assert (made["status"], made["role"], made["note"]) == ("open", "viewer", "ada@example.org")
        days = (datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)) / timedelta(days=1)
        assert 6.9 < days <= 7
        joined = (await accept(client, made["token"])).json()
        assert (joined["user"]["name"], joined["role"], joined["workspace"]["id"]) == ("Ada", "viewer", workspace_id)
        me = (await client.get("/v1/me", headers=bearer(joined["key"]["key"]))).json()
        assert (me["user"]["id"], me["role"]) == (joined["user"]["id"], "viewer")
        [listed] = (await client.get(f"/v1/workspaces/{workspace_id}/invitations")).json()["items"]
        assert (listed["status"], listed["accepted_by"]) == ("accepted", me["user"]["id"])
        assert "token" not in listed


async def test_with_a_web_ui_the_owner_gets_a_link_to_pass_on(gateway_client, monkeypatch):
    """Regression: only the command could accept an invitation, so the invited person had to install it first."""
    async with gateway_client() as client:
        workspace_id = await home(client)
        monkeypatch.setattr(WebFiles, "index", lambda _: None)
        assert (await invite(client, workspace_id, name="Ada"))["link"] is None
        monkeypatch.setattr(WebFiles, "index", lambda _: "<html></html>")
        made = await invite(client, workspace_id, name="Ada")
        assert made["link"] == f"{str(client.base_url).rstrip('/')}/join#{made['token']}"
    async with gateway_client(public_url="https://attractor.example.org") as client:
        made = await invite(client, await home(client), name="Ada")
        assert made["link"] == f"https://attractor.example.org/join#{made['token']}"


async def test_a_user_of_another_workspace_joins_with_their_own_key_and_remains_one_user(gateway_client):
    async with gateway_client() as client:
        first, second = await workspace(client, "first"), await workspace(client, "second")
        user, key = await make_user(client, first, "viewer")
        made = await join(client, second, key["key"], "editor")
        me = (await client.get("/v1/me", headers=bearer(made["key"]))).json()
        assert (me["user"]["id"], me["workspace"]["id"], me["role"]) == (user, second, "editor")


async def test_the_invited_person_may_choose_the_user_name_and_one_is_required(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        token = (await invite(client, workspace_id, name="A."))["token"]
        assert (await accept(client, token, name="Ada")).json()["user"]["name"] == "Ada"
        nameless = (await invite(client, workspace_id))["token"]
        refused = await accept(client, nameless)
        assert (refused.status_code, refused.json()["type"]) == (422, "name-needed")
        assert (await accept(client, nameless, name="Bob")).status_code == 201


async def test_an_invitation_is_accepted_once_even_by_concurrent_requests(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        token = (await invite(client, workspace_id))["token"]
        both = await asyncio.gather(*(accept(client, token, name=name) for name in ("Ada", "Bob", "Eve")))
        assert sorted(one.status_code for one in both) == [201, 409, 409]
        again = await accept(client, token, name="Eve")
        assert (again.status_code, again.json()["type"]) == (409, "invitation-used")
        assert len((await client.get(f"/v1/workspaces/{workspace_id}/members")).json()["items"]) == 2


async def test_a_member_does_not_use_up_an_invitation(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        _, key = await make_user(client, workspace_id, "viewer")
        made = await invite(client, workspace_id, role="owner")
        refused = await accept(client, made["token"], key["key"])
        assert (refused.status_code, refused.json()["type"]) == (409, "already-member")
        assert (await client.get("/v1/me", headers=bearer(key["key"]))).json()["role"] == "viewer"
        assert (await accept(client, made["token"], name="Bob")).status_code == 201


async def test_a_revoked_or_expired_invitation_is_refused_with_the_reason(gateway_client, rows):
    async with gateway_client() as client:
        workspace_id = await home(client)
        revoked, expired = (
            await invite(client, workspace_id, name="Ada"),
            await invite(client, workspace_id, name="Bob"),
        )
        path = f"/v1/workspaces/{workspace_id}/invitations"
        for _ in range(2):
            assert (await client.delete(f"{path}/{revoked['id']}")).status_code == 204
        await rows(f"UPDATE invitation SET expires_at = now() WHERE id = '{expired['id']}'")
        for made, slug in ((revoked, "invitation-revoked"), (expired, "invitation-expired")):
            refused = await accept(client, made["token"])
            assert (refused.status_code, refused.json()["type"]) == (409, slug)
        listed = (await client.get(path)).json()["items"]
        assert [one["status"] for one in listed] == ["revoked", "expired"]
        unknown = await client.delete(f"{path}/{uuid4()}")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "invitation-not-found")


@pytest.mark.parametrize("loss", ["removed", "demoted", "disabled"])
async def test_an_invitation_loses_its_power_when_its_creator_does(gateway_client, loss):
    async with gateway_client() as client:
        workspace_id = await home(client)
        user, key = await make_user(client, workspace_id, "owner")
        made = await invite(client, workspace_id, key=key["key"], role="owner", name="Ada again")
        member, change = f"/v1/workspaces/{workspace_id}/members/{user}", {"disabled": True}
        if loss == "removed":
            assert (await client.delete(member)).status_code == 204
        elif loss == "demoted":
            assert (await client.put(member, json={"role": "editor"})).status_code == 200
        else:
            assert (await client.patch(f"/v1/users/{user}", json=change)).status_code == 200
        refused = await accept(client, made["token"])
        assert (refused.status_code, refused.json()["type"]) == (409, "invitation-revoked")


@pytest.mark.parametrize("days", [-1, 0, 91, 36_500])
async def test_an_invitation_is_valid_for_a_limited_time(gateway_client, days):
    async with gateway_client() as client:
        expires_at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
        path = f"/v1/workspaces/{await home(client)}/invitations"
        refused = await client.post(path, json={"expires_at": expires_at})
        assert (refused.status_code, refused.json()["type"]) == (422, "bad-expiry")


@pytest.mark.parametrize(
    "expires_at", ["2026-01-01T00:00:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "x", 7e99]
)
async def test_times_out_of_range_are_422(gateway_client, expires_at):
    async with gateway_client() as client:
        workspace_id = f"/v1/workspaces/{await home(client)}"
        for path in (f"{workspace_id}/invitations", f"{workspace_id}/keys"):
            refused = await client.post(path, json={"name": "x", "expires_at": expires_at})
            assert (refused.status_code, refused.json()["type"]) == (422, "invalid-request")


async def test_only_a_hash_of_the_token_is_stored(gateway_client, rows):
    async with gateway_client() as client:
        made = await invite(client, await home(client))
        assert made["token"].split("_", 2)[2] not in str(await rows("SELECT * FROM invitation"))


async def test_wrong_tokens_are_indistinguishable(gateway_client):
    async with gateway_client() as client:
        token = (await invite(client, await home(client), name="Ada"))["token"]
        altered = token[:-1] + ("A" if token[-1] != "A" else "B")
        guesses = [await accept(client, guess) for guess in ("x", invalid_token(), altered)]
        assert [one.status_code for one in guesses] == [404, 404, 404]
        assert len({tuple(one.json().get(name) for name in ("type", "title", "detail")) for one in guesses}) == 1


async def test_guessed_tokens_are_rate_limited_like_failed_authentications(gateway_client):
    async with gateway_client(auth_failures_per_minute=1) as client:
        token = (await invite(client, await home(client), name="Ada"))["token"]
        assert (await accept(client, invalid_token())).status_code == 404
        for refused in (await accept(client, invalid_token()), await client.get("/v1/me", headers=bearer("x" * 40))):
            assert (refused.status_code, refused.json()["type"]) == (429, "too-many-failed-authentications")
        assert (await accept(client, token)).status_code == 201


async def test_an_invalid_key_does_not_create_a_new_user(gateway_client):
    async with gateway_client() as client:
        token = (await invite(client, await home(client), name="Ada"))["token"]
        assert (await accept(client, token, "x" * 40)).status_code == 401


async def test_an_invitation_is_deleted_with_its_workspace(gateway_client):
    async with gateway_client() as client:
        workspace_id = await workspace(client, "short")
        token = (await invite(client, workspace_id, name="Ada"))["token"]
        await client.delete(f"/v1/workspaces/{workspace_id}", params={"name": "short", "timeout": 0})
        assert (await accept(client, token)).status_code == 404


async def test_owners_see_who_joined(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        made = await invite(client, workspace_id, role="viewer", name="Ada")
        await accept(client, "ati_wrong")
        user = (await accept(client, made["token"])).json()["user"]["id"]
        entries = (await client.get("/v1/audit", params={"action": "invitation"})).json()["items"]
        assert [one["action"] for one in entries] == ["invitation.accept", "invitation.create"]
        assert (entries[0]["user_id"], entries[0]["detail"]) == (user, {"role": "viewer"})
        assert entries[1]["target_id"] == made["id"]
        assert made["token"] not in (await client.get("/v1/audit", params={"everywhere": True})).text
