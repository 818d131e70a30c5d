"""Administrators, disabled and deleted users, and keys that expire."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from people import accept, bearer, home, invite, join, make_user


async def change(client, user, headers=None, **body):
    return await client.patch(f"/v1/users/{user}", json=body, headers=headers)


async def workspace(client, name):
    return (await client.post("/v1/workspaces", json={"name": name})).json()["id"]


async def status(client, key):
    answer = await client.get("/v1/me", headers=bearer(key))
    return answer.status_code, answer.json().get("type")


async def test_disabling_a_user_disables_the_keys_at_once_and_enabling_restores_them(gateway_client):
    async with gateway_client() as client, gateway_client() as replica:
        workspace_id = await home(client)
        user, key = await make_user(client, workspace_id, "editor")
        assert (await status(replica, key["key"]))[0] == 200
        disabled = (await change(client, user, disabled=True)).json()
        again = (await change(client, user, disabled=True)).json()
        assert disabled["disabled_at"] == again["disabled_at"]
        for one in (client, replica):
            assert await status(one, key["key"]) == (401, "user-disabled")
        token = (await invite(client, await workspace(client, "other")))["token"]
        assert (await accept(client, token, key["key"])).status_code == 401
        listed = (await client.get("/v1/users")).json()["items"]
        assert [one["disabled_at"] is None for one in listed] == [True, False]
        assert (await change(client, user, disabled=False)).json()["disabled_at"] is None
        assert (await status(replica, key["key"]))[0] == 200


async def test_a_wrong_secret_does_not_reveal_that_the_user_is_disabled(gateway_client):
    async with gateway_client() as client:
        user, key = await make_user(client, await home(client), "editor")
        await change(client, user, disabled=True)
        assert await status(client, key["key"][:-1] + "-") == (401, "invalid-api-key")


async def test_the_last_of_several_administrators_cannot_be_removed(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        first = (await client.get("/v1/me")).json()["user"]["id"]
        second, key = await make_user(client, workspace_id, "owner")
        mine = bearer(key["key"])
        attempts = [{"disabled": True}, {"is_admin": False}]
        for attempt in attempts:
            refused = await change(client, first, **attempt)
            assert (refused.status_code, refused.json()["type"]) == (409, "last-administrator")
        assert (await client.delete(f"/v1/users/{first}")).status_code == 409
        assert (await change(client, second, mine, is_admin=True)).status_code == 403
        assert (await change(client, second, is_admin=True)).json()["is_admin"]
        assert (await client.get("/v1/users", headers=mine)).status_code == 200
        both = await asyncio.gather(change(client, first, is_admin=False), change(client, second, mine, is_admin=False))
        assert sorted(one.status_code for one in both) == [200, 409]


@pytest.mark.parametrize("way", ["viewer", "no key", "disabled", "expired"])
async def test_an_administrator_who_cannot_sign_in_does_not_count(gateway_client, settings, way):
    async with gateway_client() as client:
        workspace_id = await home(client)
        first = (await client.get("/v1/me")).json()["user"]["id"]
        second, key = await make_user(client, workspace_id, "viewer" if way == "viewer" else "owner")
        await change(client, second, is_admin=True)
        if way == "no key":
            await client.delete(f"/v1/workspaces/{workspace_id}/keys/{key['id']}")
        elif way == "disabled":
            await change(client, second, disabled=True)
        elif way == "expired":
            await expire(settings, key["id"])
        assert (await change(client, first, is_admin=False)).json()["type"] == "last-administrator"


async def expire(settings, key_id):
    url = settings().database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        await connection.execute("UPDATE api_key SET expires_at = now() WHERE id = %s", (key_id,))


async def test_a_deleted_user_leaves_no_key_membership_or_invitation(gateway_client):
    async with gateway_client() as client:
        workspace_id = await home(client)
        user, key = await make_user(client, workspace_id, "owner")
        invitation = await invite(client, workspace_id, key=key["key"], name="Bob")
        assert (await client.delete(f"/v1/users/{user}")).status_code == 204
        assert await status(client, key["key"]) == (401, "invalid-api-key")
        assert (await accept(client, invitation["token"])).status_code == 404
        assert user not in (await client.get(f"/v1/workspaces/{workspace_id}/members")).text
        assert user not in (await client.get(f"/v1/workspaces/{workspace_id}/keys")).text
        assert user not in (await client.get("/v1/users")).text
        gone = await client.delete(f"/v1/users/{user}")
        assert (gone.status_code, gone.json()["type"]) == (404, "user-not-found")
        assert (await change(client, user, disabled=True)).status_code == 404


async def test_the_only_owner_of_a_workspace_cannot_be_deleted(gateway_client):
    async with gateway_client() as client:
        workspace_id = await workspace(client, "team")
        me = (await client.get("/v1/me")).json()["user"]["id"]
        user, _ = await make_user(client, workspace_id, "owner")
        assert (await client.delete(f"/v1/workspaces/{workspace_id}/members/{me}")).status_code == 204
        refused = await client.delete(f"/v1/users/{user}")
        assert (refused.status_code, refused.json()["type"]) == (409, "sole-owner")
        assert refused.json()["workspaces"] == [workspace_id]
        await client.put(f"/v1/workspaces/{workspace_id}/members/{me}", json={"role": "owner"})
        assert (await client.delete(f"/v1/users/{user}")).status_code == 204


async def test_a_deletion_receipt_outlives_the_user_who_requested_it(gateway_client):
    async with gateway_client() as client:
        workspace_id = await workspace(client, "short")
        user, key = await make_user(client, workspace_id, "owner")
        path = f"/v1/workspaces/{workspace_id}"
        await client.delete(path, params={"name": "short", "timeout": 0}, headers=bearer(key["key"]))
        assert (await client.delete(f"/v1/users/{user}")).status_code == 204
        assert (await client.get(f"{path}/receipt")).status_code == 200


async def test_an_expired_key_is_refused_with_that_reason(gateway_client, settings):
    async with gateway_client() as client:
        workspace_id = await home(client)
        end = datetime.now(UTC) + timedelta(days=1)
        made = await client.post(
            f"/v1/workspaces/{workspace_id}/keys", json={"name": "x", "expires_at": end.isoformat()}
        )
        assert datetime.fromisoformat(made.json()["expires_at"]) == end
        key = made.json()["key"]
        assert (await status(client, key))[0] == 200
        await expire(settings, made.json()["id"])
        assert await status(client, key) == (401, "api-key-expired")
        assert await status(client, key[:-1] + "-") == (401, "invalid-api-key")


async def test_an_expiring_key_cannot_create_one_that_lives_longer(gateway_client):
    async with gateway_client() as client:
        path = f"/v1/workspaces/{await home(client)}/keys"
        end = datetime.now(UTC) + timedelta(days=1)
        key = (await client.post(path, json={"name": "x", "expires_at": end.isoformat()})).json()["key"]
        for expires_at, code in ((None, 403), (end + timedelta(hours=1), 403), (end, 201)):
            body = {"name": "y", "expires_at": expires_at.isoformat() if expires_at else None}
            assert (await client.post(path, json=body, headers=bearer(key))).status_code == code
        past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        assert (await client.post(path, json={"name": "z", "expires_at": past})).json()["type"] == "bad-expiry"


@pytest.mark.parametrize("role", ["owner", "admin"])
async def test_a_key_cannot_be_created_for_another_user(gateway_client, role):
    async with gateway_client() as client:
        workspace_id = await home(client)
        victim, _ = await make_user(client, workspace_id, "editor", "Bob")
        _, owner = await make_user(client, workspace_id, "owner")
        headers = bearer(owner["key"]) if role == "owner" else None
        for user in (victim, str(uuid4())):
            body = {"name": "mine", "role": "editor", "user_id": user}
            refused = await client.post(f"/v1/workspaces/{workspace_id}/keys", json=body, headers=headers)
            assert (refused.status_code, refused.json()["type"]) == (403, "own-name-only")


@pytest.mark.parametrize("role", ["viewer", "editor"])
async def test_a_member_manages_their_own_keys_up_to_the_role_of_the_presented_key(gateway_client, role):
    async with gateway_client() as client:
        path = f"/v1/workspaces/{await home(client)}/keys"
        user, first = await make_user(client, await home(client), role)
        mine = bearer(first["key"])
        made = await client.post(path, json={"name": "second", "role": role, "user_id": user}, headers=mine)
        assert made.status_code == 201
        refused = await client.post(path, json={"name": "third", "role": "owner"}, headers=mine)
        assert (refused.status_code, refused.json()["type"]) == (422, "role-too-high")
        listed = (await client.get(path, headers=mine)).json()["items"]
        assert {one["id"] for one in listed} == {first["id"], made.json()["id"]}
        others = next(one["id"] for one in (await client.get(path)).json()["items"] if one["user_id"] != user)
        assert (await client.delete(f"{path}/{others}", headers=mine)).status_code == 404
        assert (await client.delete(f"{path}/{made.json()['id']}", headers=mine)).status_code == 204


async def test_a_weaker_key_can_neither_create_nor_revoke_a_stronger_one_of_its_user(gateway_client):
    async with gateway_client() as client:
        path = f"/v1/workspaces/{await home(client)}/keys"
        _, strong = await make_user(client, await home(client), "owner")
        body = {"name": "weak", "role": "viewer"}
        weak = (await client.post(path, json=body, headers=bearer(strong["key"]))).json()
        refused = await client.post(path, json={"name": "x", "role": "editor"}, headers=bearer(weak["key"]))
        assert refused.json()["type"] == "role-too-high"
        assert (await client.delete(f"{path}/{strong['id']}", headers=bearer(weak["key"]))).status_code == 403
        assert (await client.delete(f"{path}/{weak['id']}", headers=bearer(weak["key"]))).status_code == 204


async def test_owners_cannot_add_existing_users_or_learn_who_exists(gateway_client):
    async with gateway_client() as client:
        mine, other = await workspace(client, "mine"), await workspace(client, "other")
        _, owner = await make_user(client, mine, "owner")
        victim, key = await make_user(client, other, "viewer", "Victim")
        answers = []
        for user in (victim, str(uuid4())):
            path = f"/v1/workspaces/{mine}/members/{user}"
            refused = await client.put(path, json={"role": "viewer"}, headers=bearer(owner["key"]))
            assert (refused.status_code, refused.json()["type"]) == (404, "member-not-found")
            answers.append({name: refused.json()[name] for name in ("type", "title", "status")})
        assert answers[0] == answers[1]
        joined = await join(client, mine, key["key"], "viewer")
        path = f"/v1/workspaces/{mine}/members/{victim}"
        assert (await client.put(path, json={"role": "editor"}, headers=bearer(owner["key"]))).status_code == 200
        assert (await client.get("/v1/me", headers=bearer(joined["key"]))).json()["role"] == "viewer"
