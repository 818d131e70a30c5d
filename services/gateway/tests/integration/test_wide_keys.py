"""Keys for several workspaces: who may create one, and what the services learn about its caller."""

from uuid import UUID, uuid4

import psycopg
import pytest
from people import accept, bearer, invite, join, make_user


@pytest.fixture
def caller_of_search(seen, token_keys):
    """caller_of_search() returns the caller in the header of the last search, or in the given header."""
    retrieval = token_keys.tokens("retrieval")
    return lambda header=None, by=retrieval: by.verify((header or seen.authorization).removeprefix("Bearer "))


async def workspace(client, name):
    return (await client.post("/v1/workspaces", json={"name": name})).json()["id"]


async def key(client, place, headers=None, **body):
    return await client.post(f"/v1/workspaces/{place}/keys", json={"name": "k", **body}, headers=headers)


async def searched(client, key, caller_of_search):
    """Returns the workspaces that a search with the key may read."""
    await client.post("/v1/search", json={}, headers=bearer(key["key"]))
    return caller_of_search().readable


async def test_a_wide_key_reads_the_other_workspaces_of_its_user_only_by_search(
    proxied_client, caller_of_search, token_keys
):
    async with proxied_client() as client:
        first, second, third = [await workspace(client, name) for name in ("first", "second", "third")]
        user, narrow = await make_user(client, first, "owner")
        wide = await join(client, second, narrow["key"], "viewer", workspaces=[first])
        assert wide["workspaces"] == [second, first]
        assert narrow["workspaces"] == [first]
        await join(client, third, narrow["key"], "owner")
        assert await searched(client, wide, caller_of_search) == (UUID(first), UUID(second))
        assert await searched(client, narrow, caller_of_search) is None
        echoed = (await client.get("/v1/documents/echo", headers=bearer(wide["key"]))).json()["headers"]
        there = caller_of_search(echoed["authorization"], token_keys.tokens("ingestion"))
        assert (there.workspace_id, there.readable) == (UUID(second), None)
        assert (await client.get(f"/v1/workspaces/{first}", headers=bearer(wide["key"]))).status_code == 404
        await client.delete(f"/v1/workspaces/{first}/members/{user}")
        assert await searched(client, wide, caller_of_search) == (UUID(second),)


async def test_a_run_receives_the_workspaces_its_caller_may_read_if_requested(
    proxied_client, caller_of_search, token_keys
):
    """Checks that the signed delegation lists them; later changes of membership apply from the next signature."""
    orchestrator, retrieval = token_keys.tokens("orchestrator"), token_keys.tokens("retrieval")

    async def readable(client, key, method="POST"):
        await client.request(method, "/v1/sessions", json={}, headers=bearer(key["key"]))
        return caller_of_search(by=orchestrator)

    async with proxied_client() as client:
        first, second = [await workspace(client, name) for name in ("first", "second")]
        user, narrow = await make_user(client, first, "owner")
        wide = await join(client, second, narrow["key"], "viewer", workspaces=[first])
        asking = await readable(client, wide)
        at_retrieval = retrieval.verify(orchestrator.sign(asking, "retrieval"))
        assert at_retrieval.readable == asking.readable == (UUID(first), UUID(second))
        assert (await readable(client, wide, "GET")).readable is None
        assert (await readable(client, narrow)).readable is None
        await client.delete(f"/v1/workspaces/{first}/members/{user}")
        assert (await readable(client, wide)).readable == (UUID(second),)


async def test_a_key_for_one_workspace_gains_no_access_to_the_others(proxied_client):
    async with proxied_client() as client:
        first, second = await workspace(client, "first"), await workspace(client, "second")
        _, narrow = await make_user(client, first, "owner")
        await join(client, second, narrow["key"], "owner")
        for wider in ({"all_workspaces": True}, {"workspaces": [second]}, {"workspaces": [str(uuid4())]}):
            refused = await key(client, first, bearer(narrow["key"]), **wider)
            assert (refused.status_code, refused.json()["type"]) == (403, "needs-wider-key")


async def test_an_invitation_widens_a_key_only_by_what_the_presented_key_reads(proxied_client):
    async with proxied_client() as client:
        first, second, third = [await workspace(client, name) for name in ("first", "second", "third")]
        _, narrow = await make_user(client, first, "owner")
        await join(client, second, narrow["key"], "owner")
        token = (await invite(client, third))["token"]
        refused = await accept(client, token, narrow["key"], workspaces=[second])
        assert (refused.status_code, refused.json()["type"]) == (403, "needs-wider-key")
        as_a_new_user = await accept(client, token, name="Eve", workspaces=[first])
        assert as_a_new_user.status_code == 403
        joined = await accept(client, token, narrow["key"], workspaces=[first])
        wide = joined.json()["key"]
        copy = await key(client, third, bearer(wide["key"]), workspaces=[first, first, third])
        assert copy.json()["workspaces"] == [third, first]
        listed = await client.get(f"/v1/workspaces/{third}/keys", headers=bearer(wide["key"]))
        assert {tuple(one["workspaces"]) for one in listed.json()["items"]} == {(third, first)}


async def test_an_all_workspaces_key_of_an_earlier_version_keeps_working_and_creates_others(
    proxied_client, caller_of_search, settings
):
    async with proxied_client() as client:
        first, second = await workspace(client, "first"), await workspace(client, "second")
        user, old = await make_user(client, first, "owner")
        url = settings().database_url.get_secret_value()
        async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
            await connection.execute("UPDATE api_key SET all_workspaces = true WHERE user_id = %s", (user,))
        await join(client, second, old["key"], "viewer")
        assert await searched(client, old, caller_of_search) == (UUID(first), UUID(second))
        for wider in ({"all_workspaces": True}, {"workspaces": [second]}):
            made = await key(client, first, bearer(old["key"]), **wider)
            assert await searched(client, made.json(), caller_of_search) == (UUID(first), UUID(second))


async def test_owners_do_not_learn_the_other_workspaces_of_a_member(gateway_client):
    async with gateway_client() as client:
        first, second = await workspace(client, "first"), await workspace(client, "second")
        _, narrow = await make_user(client, first, "viewer")
        _, owner = await make_user(client, second, "owner", "Olga")
        wide = await join(client, second, narrow["key"], "viewer", workspaces=[first])
        for reader, expected in ((owner["key"], [second]), (wide["key"], [second, first])):
            keys = (await client.get(f"/v1/workspaces/{second}/keys", headers=bearer(reader))).json()["items"]
            assert next(one["workspaces"] for one in keys if one["id"] == wide["id"]) == expected
