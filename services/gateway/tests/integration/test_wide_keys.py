"""Keys for all workspaces: who may make one, and what the services are told of its caller."""

from uuid import UUID

import pytest


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def told(seen, token_keys):
    """told(): the caller, as the service that answered the last search was told; or as another header says."""
    retrieval = token_keys.tokens("retrieval")
    return lambda header=None, by=retrieval: by.verify((header or seen.authorization).removeprefix("Bearer "))


async def workspace(client, name):
    return (await client.post("/v1/workspaces", json={"name": name})).json()["id"]


async def member(client, user, *workspaces, role="owner"):
    for place in workspaces:
        put = await client.put(f"/v1/workspaces/{place}/members/{user}", json={"role": role})
        assert put.status_code == 200, put.text


async def key(client, place, headers=None, **body):
    return await client.post(f"/v1/workspaces/{place}/keys", json={"name": "k", **body}, headers=headers)


async def test_a_wide_key_reads_all_workspaces_of_its_user_by_search_alone(proxied_client, told, token_keys):
    async with proxied_client() as client:
        first, second, foreign = [await workspace(client, name) for name in ("first", "second", "foreign")]
        user = (await client.post("/v1/users", json={"name": "Ada"})).json()["id"]
        await member(client, user, first)
        await member(client, user, second, role="viewer")
        wide = (await key(client, first, user_id=user, role="owner", all_workspaces=True)).json()
        narrow = (await key(client, first, user_id=user, role="owner")).json()
        assert (wide["all_workspaces"], narrow["all_workspaces"]) == (True, False)
        await client.post("/v1/search", json={}, headers=bearer(wide["key"]))
        assert told().readable == (UUID(first), UUID(second))
        await client.post("/v1/search", json={}, headers=bearer(narrow["key"]))
        assert told().readable is None
        listed = (await client.get(f"/v1/workspaces/{first}/keys")).json()["items"]
        assert {one["id"] for one in listed if one["all_workspaces"]} == {wide["id"]}
        echoed = (await client.get("/v1/documents/echo", headers=bearer(wide["key"]))).json()["headers"]
        there = told(echoed["authorization"], token_keys.tokens("ingestion"))
        assert (there.workspace_id, there.readable) == (UUID(first), None)
        assert (await client.get(f"/v1/workspaces/{second}", headers=bearer(wide["key"]))).status_code == 404
        await client.delete(f"/v1/workspaces/{second}/members/{user}")
        await client.post("/v1/search", json={}, headers=bearer(wide["key"]))
        assert told().readable == (UUID(first),)
        assert UUID(foreign) not in told().readable


async def test_a_key_of_one_workspace_does_not_gain_the_others_of_its_user(proxied_client):
    async with proxied_client() as client:
        first, second = await workspace(client, "first"), await workspace(client, "second")
        ada, bob = [(await client.post("/v1/users", json={"name": name})).json()["id"] for name in ("Ada", "Bob")]
        await member(client, ada, first, second)
        await member(client, bob, first, second)
        narrow = (await key(client, first, user_id=ada, role="owner")).json()["key"]
        wide = (await key(client, first, user_id=ada, role="owner", all_workspaces=True)).json()["key"]
        for user in (ada, bob):
            refused = await key(client, first, bearer(narrow), user_id=user, all_workspaces=True)
            assert (refused.status_code, refused.json()["type"]) == (403, "needs-wider-key")
        other = await key(client, first, bearer(wide), user_id=bob, all_workspaces=True)
        assert (other.status_code, other.json()["type"]) == (403, "needs-wider-key")
        assert (await key(client, first, bearer(wide), all_workspaces=True)).status_code == 201
