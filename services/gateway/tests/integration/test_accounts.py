"""Users, workspaces, roles and keys, through the gateway_client."""

import asyncio
from uuid import uuid4

import psycopg
import pytest
from people import bearer, home, make_user


async def test_the_administrator_has_a_workspace_from_the_start(gateway_client):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        assert (me["user"]["is_admin"], me["role"], me["workspace"]["name"]) == (True, "owner", "default")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Basic YTpi",
        "Bearer",
        "Bearer short",
        "Bearer " + "0" * 64,
        f"Bearer atr_{'0' * 32}_{'x' * 43}",
        "Bearer ä" + "x" * 40,
    ],
)
async def test_without_a_valid_key_there_is_a_401_problem(gateway_client, header):
    async with gateway_client() as client:
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}
        client.headers.pop("authorization")
        for path in ("/v1/me", "/v1/documents", "/v1/status", "/v1/workspaces"):
            answer = await client.get(path, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_works_until_it_is_revoked_and_the_list_shows_the_revocation(gateway_client):
    async with gateway_client() as client:
        workspace = await home(client)
        _, made = await make_user(client, workspace, "editor")
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).json()["role"] == "editor"
        assert (await client.delete(f"/v1/workspaces/{workspace}/keys/{made['id']}")).status_code == 204
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).status_code == 401
        assert (await client.delete(f"/v1/workspaces/{workspace}/keys/{made['id']}")).status_code == 204
        keys = (await client.get(f"/v1/workspaces/{workspace}/keys")).json()["items"]
        assert [key["revoked_at"] is None for key in keys] == [True, False]
        assert all("key" not in key for key in keys)
        unknown = await client.delete(f"/v1/workspaces/{workspace}/keys/{uuid4()}")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "api-key-not-found")


async def test_only_hashes_are_stored(gateway_client, settings, admin_key):
    async with gateway_client() as client:
        workspace = await home(client)
        headers = {"Idempotency-Key": "one"}
        made = (await client.post(f"/v1/workspaces/{workspace}/keys", json={"name": "x"}, headers=headers)).json()
    with psycopg.connect(settings().database_url.get_secret_value()) as connection:
        connection.execute("SELECT set_config('app.scope', 'system', true)")
        rows = connection.execute("SELECT * FROM api_key").fetchall()
    assert len(rows) == 2
    assert made["key"].split("_", 2)[2] not in str(rows)
    assert admin_key not in str(rows)


async def test_last_use_is_recorded_once_a_minute_in_the_background(gateway_client):
    async with gateway_client() as client:
        workspace = await home(client)
        _, made = await make_user(client, workspace, "viewer")
        assert made["last_used_at"] is None
        times = set()
        for _ in range(3):
            await client.get("/v1/me", headers=bearer(made["key"]))
            async with asyncio.timeout(120):
                while (used := await last_used(client, workspace, made["id"])) is None:  # noqa: ASYNC110  another process could
                    await asyncio.sleep(0.02)
            times.add(used)
        assert len(times) == 1


async def last_used(client, workspace, key_id):
    keys = (await client.get(f"/v1/workspaces/{workspace}/keys")).json()["items"]
    return next(key["last_used_at"] for key in keys if key["id"] == key_id)


@pytest.mark.parametrize("role", ["viewer", "editor"])
async def test_only_owners_manage_a_workspace(gateway_client, role):
    async with gateway_client() as client:
        workspace = await home(client)
        user_id, made = await make_user(client, workspace, role)
        mine = bearer(made["key"])
        assert (await client.get(f"/v1/workspaces/{workspace}", headers=mine)).status_code == 200
        for method, path, body in managing(workspace, user_id):
            answer = await client.request(method, path, json=body, headers=mine)
            assert (answer.status_code, method, path) == (403, method, path)


async def test_an_owner_manages_only_their_own_workspace(gateway_client):
    async with gateway_client() as client:
        mine = (await client.post("/v1/workspaces", json={"name": "mine"})).json()["id"]
        other = (await client.post("/v1/workspaces", json={"name": "other"})).json()["id"]
        user_id, made = await make_user(client, mine, "owner")
        key = bearer(made["key"])
        answers = {}
        for workspace in (other, str(uuid4())):
            assert (await client.get(f"/v1/workspaces/{workspace}", headers=key)).status_code == 404
            for method, path, body in [*managing(workspace, user_id)[4:], *keys_of(workspace, made["id"])]:
                answer = await client.request(method, path, json=body, headers=key)
                assert (answer.status_code, path) == (404, path)
                answers.setdefault(method + path.replace(workspace, ""), []).append(answer.json()["title"])
        assert all(first == second for first, second in answers.values())
        assert [one["id"] for one in (await client.get("/v1/workspaces", headers=key)).json()["items"]] == [mine]
        assert (await client.get("/v1/users", headers=key)).status_code == 403


def managing(workspace, user_id):
    place = f"/v1/workspaces/{workspace}"
    return [
        ("POST", "/v1/users", {"name": "x"}),
        ("PATCH", f"/v1/users/{user_id}", {"disabled": True}),
        ("DELETE", f"/v1/users/{user_id}", None),
        ("POST", "/v1/workspaces", {"name": "x"}),
        ("GET", f"{place}/members", None),
        ("PUT", f"{place}/members/{user_id}", {"role": "owner"}),
        ("DELETE", f"{place}/members/{user_id}", None),
        ("GET", f"{place}/invitations", None),
        ("POST", f"{place}/invitations", {}),
        ("DELETE", f"{place}/invitations/{user_id}", None),
    ]


def keys_of(workspace, key_id):
    place = f"/v1/workspaces/{workspace}/keys"
    return [("GET", place, None), ("POST", place, {"name": "x"}), ("DELETE", f"{place}/{key_id}", None)]


async def test_an_owner_cannot_gain_the_power_of_an_administrator(gateway_client):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        admin, workspace = me["user"]["id"], me["workspace"]["id"]
        _, made = await make_user(client, workspace, "owner")
        key = bearer(made["key"])
        member = f"/v1/workspaces/{workspace}/members/{admin}"
        for answer in (
            await client.put(member, json={"role": "viewer"}, headers=key),
            await client.delete(member, headers=key),
            await client.delete(f"/v1/workspaces/{workspace}/keys/{me['key_id']}", headers=key),
        ):
            assert (answer.status_code, answer.json()["type"]) == (403, "admin-protected")


async def test_lowering_a_role_limits_its_keys_and_removal_revokes_them(gateway_client):
    async with gateway_client() as client:
        workspace = await home(client)
        user_id, made = await make_user(client, workspace, "owner")
        member = f"/v1/workspaces/{workspace}/members/{user_id}"
        await client.put(member, json={"role": "viewer"})
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).json()["role"] == "viewer"
        assert (await client.delete(member)).status_code == 204
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).status_code == 401
        added = await client.put(member, json={"role": "owner"})
        assert added.json() == {"user_id": user_id, "name": "Ada", "role": "owner"}
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).status_code == 401
        assert (await client.delete(f"/v1/workspaces/{workspace}/members/{uuid4()}")).status_code == 404


async def test_the_last_owner_of_a_workspace_cannot_be_removed(gateway_client):
    async with gateway_client() as client:
        workspace = (await client.post("/v1/workspaces", json={"name": "w"})).json()["id"]
        me = (await client.get("/v1/me")).json()["user"]["id"]
        member = f"/v1/workspaces/{workspace}/members/{me}"
        assert (await client.delete(member)).json()["type"] == "last-owner"
        assert (await client.put(member, json={"role": "editor"})).status_code == 409
        other, _ = await make_user(client, workspace, "owner")
        leave = [client.delete(member), client.delete(f"/v1/workspaces/{workspace}/members/{other}")]
        assert sorted(answer.status_code for answer in await asyncio.gather(*leave)) == [204, 409]


async def test_lists_are_paginated(gateway_client):
    async with gateway_client() as client:
        made = [(await client.post("/v1/users", json={"name": f"user {n}"})).json()["id"] for n in range(5)]
        found, cursor = [], None
        while True:
            params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = (await client.get("/v1/users", params=params)).json()
            found += [user["id"] for user in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert found[1:] == made
        assert (await client.get("/v1/users", params={"cursor": "nonsense"})).json()["type"] == "bad-cursor"
        assert (await client.get("/v1/users", params={"limit": 0})).status_code == 422


async def test_repeating_a_create_with_its_idempotency_key_creates_nothing_new(gateway_client):
    async with gateway_client() as client:
        workspace = await home(client)
        for path, body, other in (
            ("/v1/users", {"name": "Ada"}, {"name": "Bob"}),
            ("/v1/workspaces", {"name": "Ada"}, {"name": "Bob"}),
        ):
            headers = {"Idempotency-Key": f"key-{path}"}
            sent = await asyncio.gather(*(client.post(path, json=body, headers=headers) for _ in range(4)))
            assert {answer.status_code for answer in sent} == {201}
            assert len({answer.text for answer in sent}) == 1
            refused = await client.post(path, json=other, headers=headers)
            assert (refused.status_code, refused.json()["type"]) == (422, "idempotency-key-reused")
        headers = {"Idempotency-Key": "key-/v1/keys"}
        path = f"/v1/workspaces/{workspace}/keys"
        sent = await asyncio.gather(*(client.post(path, json={"name": "Ada"}, headers=headers) for _ in range(4)))
        assert sorted(answer.status_code for answer in sent) == [201, 409, 409, 409]
        refused = await client.post(path, json={"name": "Bob"}, headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (422, "idempotency-key-reused")
        key = next(answer.json()["key"] for answer in sent if answer.status_code == 201)
        assert (await client.get("/v1/me", headers=bearer(key))).status_code == 200
        same = {"Idempotency-Key": "key-/v1/keys"} | bearer(key)
        another_caller = await client.post(path, json={"name": "C"}, headers=same)
        assert another_caller.status_code == 201


async def test_a_repeated_request_does_not_show_the_token_again(gateway_client):
    async with gateway_client() as client:
        path, headers = f"/v1/workspaces/{await home(client)}/invitations", {"Idempotency-Key": "one"}
        assert (await client.post(path, json={"name": "Ada"}, headers=headers)).status_code == 201
        again = await client.post(path, json={"name": "Ada"}, headers=headers)
        assert (again.status_code, again.json()["type"]) == (409, "secret-not-repeatable")
        other = await client.post(path, json={"name": "Bob"}, headers=headers)
        assert (other.status_code, other.json()["type"]) == (422, "idempotency-key-reused")
        assert [one["status"] for one in (await client.get(path)).json()["items"]] == ["open"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/users", {}),
        ("/v1/users", {"name": ""}),
        ("/v1/users", {"name": "a\u0000b"}),
        ("/v1/users", {"name": "x" * 201}),
        ("/v1/users", {"name": "x", "is_admin": True}),
        ("/v1/users", []),
        ("/v1/workspaces", {"name": 7}),
    ],
)
async def test_invalid_bodies_are_422_problems(gateway_client, path, body):
    async with gateway_client() as client:
        answer = await client.post(path, json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, "invalid-request")


async def test_malformed_json_and_ids_are_problems(gateway_client):
    async with gateway_client() as client:
        headers = {"Content-Type": "application/json"}
        for content in (b"{", b'{"name": "\\ud800"}', b"\xff\xfe", b'{"name": "a"} x'):
            answer = await client.post("/v1/users", content=content, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert (await client.get("/v1/workspaces/not-an-id")).status_code == 422
        assert (
            await client.post("/v1/users", json={"name": "x"}, headers={"Idempotency-Key": "a b"})
        ).status_code == 422


async def test_an_idempotency_key_never_recreates_a_deleted_workspace(gateway_client):
    async with gateway_client() as client:
        headers = {"Idempotency-Key": "one"}
        made = (await client.post("/v1/workspaces", json={"name": "short"}, headers=headers)).json()
        deleted = await client.delete(f"/v1/workspaces/{made['id']}", params={"name": "short", "timeout": 0})
        assert deleted.status_code == 202
        again = await client.post("/v1/workspaces", json={"name": "short"}, headers=headers)
        assert (again.status_code, again.json()["type"]) == (422, "idempotency-key-reused")


async def test_a_key_is_created_once_and_its_secret_is_shown_once(gateway_client):
    headers = {"Idempotency-Key": "one"}
    async with gateway_client() as client:
        path = f"/v1/workspaces/{await home(client)}/keys"
        made = (await client.post(path, json={"name": "x"}, headers=headers)).json()
        again = await client.post(path, json={"name": "x"}, headers=headers)
        assert (again.status_code, again.json()["type"]) == (409, "secret-not-repeatable")
        assert again.json()["key_id"] == made["id"]
        assert "key" not in again.json()
        assert (await client.get("/v1/me", headers=bearer(made["key"]))).status_code == 200
        assert len([one for one in (await client.get(path)).json()["items"] if one["name"] == "x"]) == 1


async def test_row_level_security_hides_other_workspaces_from_a_query_without_a_filter(gateway_client, settings):
    async with gateway_client() as client:
        other = (await client.post("/v1/workspaces", json={"name": "other"})).json()["id"]
        await client.post(f"/v1/workspaces/{other}/keys", json={"name": "x"})
        mine = await home(client)
    with psycopg.connect(settings().database_url.get_secret_value()) as connection:
        for workspace, rows in ((mine, 1), (other, 1), ("", 0)):
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (workspace,))
            assert connection.execute("SELECT count(*) FROM api_key").fetchone() == (rows,)
            assert connection.execute("SELECT count(*) FROM membership").fetchone() == (rows,)
