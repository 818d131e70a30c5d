"""Memories belong to a user, not to a key: any key of the user finds them, no one else does by any way of asking."""

from __future__ import annotations

import json

import pytest
from api_calls import client
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from people import make_user

SECRET = "My locker in the gym has the number walrus-5512."
QUESTION = {"query": "Which number has my locker?", "explain": True}


@pytest.fixture(scope="module")
async def stored(make_tenant, address):
    """Returns the owner's client, one with the owner's second key, one of another member, and the memory's id."""
    async with make_tenant("memories") as tenant:
        keys = f"/v1/workspaces/{tenant.workspace_id}/keys"
        second = (await tenant.http.post(keys, json={"name": "second"})).json()
        _, key = await make_user(tenant.http, str(tenant.workspace_id), "owner", "Bea")
        noted = await tenant.http.post("/v1/memories", json={"content": SECRET})
        assert noted.status_code == 201, noted.text
        async with client(address[0], second["key"]) as same, client(address[0], key["key"]) as other:
            yield tenant.http, same, other, noted.json()["id"]


async def test_another_key_of_the_same_user_finds_the_memory_even_without_the_first(stored):
    owner, same, _, memory_id = stored
    me = (await owner.get("/v1/me")).json()
    assert (await same.get("/v1/me")).json()["user"] == me["user"]
    found = (await same.post("/v1/memories/recall", json=QUESTION)).json()
    assert [one["id"] for one in found["memories"]] == [memory_id]
    assert SECRET in (await same.get("/v1/memories")).text


async def test_another_member_finds_nothing_by_recall_list_export_or_an_agent(stored):
    _, _, other, memory_id = stored
    answers = [
        await other.post("/v1/memories/recall", json=QUESTION),
        await other.get("/v1/memories"),
        await other.get("/v1/memories/export"),
        await other.get("/v1/memories/profile"),
        await other.post("/v1/memories/forget", json={"about": "walrus", "preview": True}),
        await other.patch(f"/v1/memories/{memory_id}", json={"content": "mine"}),
        await other.delete(f"/v1/memories/{memory_id}"),
    ]
    assert [one.status_code for one in answers] == [200, 200, 200, 200, 200, 404, 404]
    async with Client(streamable_http_client(f"{other.base_url}/mcp", http_client=other)) as agent:
        asked = await agent.call_tool("memory_query", {"query": QUESTION["query"]})
        assert not asked.is_error
        deleted = await agent.call_tool("memory_delete", {"memory_id": memory_id})
        assert deleted.is_error or not deleted.structured_content["success"]
    assert "5512" not in json.dumps([one.text for one in answers]) + json.dumps(asked.structured_content)


async def test_the_owner_s_memory_is_still_there(stored):
    owner, _, _, memory_id = stored
    found = (await owner.post("/v1/memories/recall", json=QUESTION)).json()
    assert [one["id"] for one in found["memories"]] == [memory_id]
