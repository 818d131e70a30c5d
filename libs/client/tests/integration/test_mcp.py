"""attractor mcp with the official client: tools, resources, and errors of the API."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest
from mcp import Client, MCPError, StdioServerParameters
from starlette.responses import Response

from contracts.world import WorldDocument, WorldProject

NOW = "2026-03-01T10:00:00Z"
ONE = UUID(int=1)
WORLD = {"session_id": None, "version": 4, "document": WorldDocument(), "created_at": NOW, "updated_at": NOW}
STATUS = {"world_version": 4, "project": WorldProject(), "goals": ["Reach the moon"], "document_count": 0}
STATUS |= {name: [] for name in ("decisions", "open_questions", "documents", "activity")}
TOOLS = {
    *("memory_query", "memory_store", "memory_delete", "world_get", "world_apply_ops", "chat_history_tail"),
    *("search", "get_document", "lookup_facts", "analyze_dependencies"),
}
Asking = Callable[[str], AbstractAsyncContextManager[Client]]


@pytest.fixture
def asking(server) -> Asking:
    """Returns asking(mode): inside `async with`, the official client talks to the command in a child process."""

    @asynccontextmanager
    async def opened(mode: str) -> AsyncIterator[Client]:
        command = str(Path(sys.executable).with_name("attractor"))
        variables = {**os.environ, "ATTRACTOR_URL": server.url, "ATTRACTOR_API_KEY": "secret"}
        async with Client(StdioServerParameters(command=command, args=["mcp"], env=variables), mode=mode) as agent:
            yield agent

    return opened


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_calls_tools_and_reads_resources(server, samples, asking, mode: str) -> None:
    told = {"text": "It is frozen until March.", "memory_id": str(ONE), "about_user": False}
    server.on("POST", "/v1/memories/recall", {"memories": [samples.memory(score=0.9)], "answer": told})
    server.on("POST", "/v1/world/operations", WORLD)
    server.on("GET", "/v1/world", WORLD)
    server.on("GET", "/v1/world/status", STATUS)
    server.on("GET", "/v1/documents", {"items": [samples.document()], "next_cursor": None})
    server.on("GET", f"/v1/documents/{ONE}", samples.detail())
    server.on("GET", f"/v1/documents/{ONE}/markdown", Response("# Keys\n\nRotate them.", media_type="text/markdown"))
    async with asking(mode) as agent:
        listed = (await agent.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        assert {tool.name for tool in listed if tool.annotations and not tool.annotations.read_only_hint} == {
            *("memory_store", "memory_delete", "world_apply_ops")
        }
        found = await agent.call_tool("memory_query", {"query": "billing"})
        assert found.structured_content["memories"][0]["content"] == "Frozen until March."
        assert found.structured_content["answer"]["text"] == "It is frozen until March."
        added = {"op": "add", "path": "/topics", "value": "moon"}
        changed = await agent.call_tool("world_apply_ops", {"operations": [added], "expected_version": 3})
        assert (changed.is_error, changed.structured_content["version"]) == (False, 4)
        part = await agent.call_tool("get_document", {"document_id": str(ONE), "offset": 8, "characters": 6})
        assert (part.structured_content["content"], part.structured_content["next_offset"]) == ("Rotate", 14)
        uris = [one.uri for one in (await agent.list_resources()).resources]
        assert uris[:2] == ["attractor://world", "attractor://world/status"]
        [status] = (await agent.read_resource("attractor://world/status")).contents
        assert json.loads(status.text)["goals"] == ["Reach the moon"]
        [content] = (await agent.read_resource(f"attractor://documents/{ONE}")).contents
        assert content.text == "# Keys\n\nRotate them."
    [sent] = server.calls("POST", "/v1/world/operations")
    assert sent.headers["if-match"] == '"3"'
    assert b'"operations":[{"op":"add","path":"/topics","value":"moon"}]' in sent.body
    assert {one.headers["authorization"] for one in server.received} == {"Bearer secret"}


async def test_a_refused_call_is_a_protocol_error(server, asking) -> None:
    refused = b'{"type":"world-operation-failed","title":"It does not fit","status":409,"detail":"operation 1: x"}'
    server.on("POST", "/v1/world/operations", Response(refused, 409, media_type="application/problem+json"))
    added = {"op": "add", "path": "/topics", "value": "moon"}
    async with asking("auto") as agent:
        failed = await agent.call_tool("world_apply_ops", {"operations": [added]})
        assert failed.is_error
        assert failed.structured_content["type"] == "world-operation-failed"
        assert "operation 1" in failed.content[0].text
        missing = await agent.call_tool("get_document", {"document_id": str(ONE)})
        assert (missing.is_error, missing.structured_content["status"]) == (True, 404)
        for tool, arguments in (("memory_query", {}), ("world_apply_ops", {"operations": []}), ("rm", {})):
            with pytest.raises(MCPError):
                await agent.call_tool(tool, arguments)
        for uri in (f"attractor://documents/{ONE}", "attractor://documents/one", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await agent.read_resource(uri)
