"""POST /mcp, called by the official client: the keys, roles and limits of the API apply."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from contracts.gateway import Role


@asynccontextmanager
async def agent(client: httpx2.AsyncClient, mode: str = "auto") -> AsyncIterator[Client]:
    """The official client with the key of an HTTP client."""
    transport = streamable_http_client(f"{str(client.base_url).rstrip('/')}/mcp", http_client=client)
    async with Client(transport, mode=mode) as asking:
        yield asking


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_tool_calls_the_service_on_behalf_of_the_key_owner(proxied_client, seen, token_keys, mode: str) -> None:
    async with proxied_client() as client:
        me = (await client.get("/v1/me")).json()
        async with agent(client, mode) as asking:
            assert len((await asking.list_tools()).tools) == 10
            await asking.call_tool("search", {"query": "billing"})
        caller = token_keys.tokens("retrieval").verify(seen.authorization.removeprefix("Bearer "))
        assert (str(caller.user_id), str(caller.workspace_id)) == (me["user"]["id"], me["workspace"]["id"])
        assert caller.role is Role.owner


async def test_a_missing_or_invalid_key_is_refused(proxied_client, seen) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "x"}},
    }
    accept = {"Accept": "application/json, text/event-stream"}
    async with proxied_client() as client:
        wrong = ({}, {"Authorization": "Bearer nobody"}, {"Cookie": "attractor_session=x"})
        for headers in wrong:
            async with httpx2.AsyncClient(base_url=client.base_url, headers=headers) as stranger:
                refused = await stranger.post("/mcp", json=call, headers=accept)
            assert (refused.status_code, refused.headers["content-type"]) == (401, "application/problem+json")
        assert (await client.get("/mcp")).status_code == 405
    assert seen.requests == 0


async def test_an_unavailable_service_is_a_tool_error(gateway_client) -> None:
    async with gateway_client() as client, agent(client) as asking:
        failed = await asking.call_tool("search", {"query": "billing"})
        assert failed.is_error
        assert failed.structured_content["status"] == 502
