"""Two workspaces never see each other: every route of the merged OpenAPI document, with the other's ids."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from isolation import (
    SECRET,
    Neighbours,
    assert_no_route_reveals_the_other,
    assert_the_first_is_unchanged,
    neighbours,
)
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client


@pytest.fixture(scope="module")
async def both(make_tenant: Any, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Neighbours]:
    async with neighbours(make_tenant, tmp_path_factory.mktemp("secret")) as made:
        yield made


async def test_no_route_reveals_data_of_the_other_workspace(both: Neighbours) -> None:
    await assert_no_route_reveals_the_other(both)


async def test_request_bodies_with_ids_of_the_other_workspace_find_nothing(both):
    first, second, ids = both.first, both.second, both.ids
    search = {"query": "code word quixotic-zebra-4711", "document_ids": [ids["document_id"]]}
    assert (await second.http.post("/v1/search", json=search)).json()["hits"] == []
    expanded = (await second.http.post("/v1/graph/expand", json={"entities": ["CodeWordService"]})).json()
    assert expanded["chunks"] == []
    for tool, body in (
        ("lookup_facts", {"entity_name": "CodeWordService"}),
        ("summarize_document", {"topic": "CodeWordService"}),
        ("run_calculation", {"query": "How many services depend on CodeWordService?"}),
        ("analyze_dependencies", {"entity": ids["entity_id"]}),
        ("shortest_path", {"source": "CodeWordService", "target": "VaultService"}),
        ("neighbours", {"entity": "CodeWordService"}),
    ):
        answer = await second.http.post(f"/v1/graph/tools/{tool}", json=body)
        assert answer.status_code == 200, (tool, answer.text)
        assert "quixotic" not in answer.text, tool
        assert "VaultService" not in answer.text, tool
        assert answer.json()["success"] is (tool == "summarize_document"), (tool, answer.text)
    for file in ("graphml", "turtle", "jsonl"):
        exported = await second.http.get("/v1/graph/export", params={"format": file})
        assert exported.status_code == 200, exported.text
        assert "CodeWordService" not in exported.text
    assert (await second.http.get("/v1/graph/subgraph", params={"entity": "CodeWordService"})).status_code == 404
    assert (await second.http.get("/v1/graph/triples")).json()["items"] == []
    assert (await second.http.get("/v1/graph/corrections")).json()["items"] == []
    recalled = (await second.http.post("/v1/memories/recall", json={"query": SECRET})).json()
    assert recalled["memories"] == []
    of_session = {"session_id": ids["session_id"]}
    for path in ("", "/history", "/diff?from=1"):
        assert "quixotic" not in (await second.http.get(f"/v1/world{path}")).text
        assert (await second.http.get(f"/v1/world{path}", params={"from": 1, **of_session})).status_code == 404, path
    assert "quixotic" not in (await second.http.get("/v1/world/status")).text
    taken = {"operations": [{"op": "remove", "path": "/topics", "value": SECRET}]}
    assert (await second.http.post("/v1/world/operations", json=taken)).status_code == 409
    assert (await second.http.post("/v1/world/operations", params=of_session, json=taken)).status_code == 404
    everything = (await second.http.post("/v1/search", json={"query": SECRET, "k": 100})).json()
    assert "quixotic" not in str(everything["hits"])
    for model, previous in (("attractor/first", None), ("attractor", ids["response_id"])):
        followed = {"model": model, "input": "What is the code word?", "previous_response_id": previous}
        assert (await second.http.post("/v1/responses", json=followed)).status_code == 404, model
    assert (await first.http.post("/v1/search", json=search)).json()["hits"]


async def test_an_agent_of_the_other_workspace_finds_nothing(both):
    second, ids = both.second, both.ids
    calls = {
        "memory_query": {"query": SECRET},
        "memory_delete": {"memory_id": ids["memory_id"]},
        "world_get": {"session_id": ids["session_id"]},
        "chat_history_tail": {"session_id": ids["session_id"]},
        "search": {"query": SECRET},
        "get_document": {"document_id": ids["document_id"]},
        "lookup_facts": {"entity_name": "CodeWordService"},
        "analyze_dependencies": {"entity": "CodeWordService"},
    }
    transport = streamable_http_client(f"{second.http.base_url}/mcp", http_client=second.http)
    async with Client(transport) as agent:
        for tool, arguments in calls.items():
            answer = await agent.call_tool(tool, arguments)
            said = json.dumps(answer.structured_content).replace(json.dumps(arguments)[1:-1], "")
            assert "VaultService" not in said, tool
            assert tool in {"memory_query", "search"} or answer.is_error or not answer.structured_content["success"]
            assert tool == "search" or "quixotic" not in said, tool
        assert ids["document_id"] not in {one.uri for one in (await agent.list_resources()).resources}
        with pytest.raises(MCPError):
            await agent.read_resource(f"attractor://documents/{ids['document_id']}")


async def test_the_first_workspace_is_unchanged(both: Neighbours) -> None:
    await assert_the_first_is_unchanged(both)
