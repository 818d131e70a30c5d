"""Two workspaces never see each other: every route of the merged OpenAPI document, with the other's ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_calls import EXAMPLES, ask, ingest, listed
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from people import invite

SECRET = "The code word of the first workspace is quixotic-zebra-4711."


@pytest.fixture(scope="module")
async def neighbours(make_tenant, tmp_path_factory):
    """Two tenants, and the ids of the first one's document, session, run, memory and entities."""
    async with make_tenant("first") as first, make_tenant("second") as second:
        path = tmp_path_factory.mktemp("secret") / "secret.md"
        path.write_text(f"# CodeWordService\n\n{SECRET} CodeWordService depends on VaultService.\n")
        await ingest(second.http, [next(EXAMPLES.rglob("*.md"))])
        [document] = (await ingest(first.http, [path])).values()
        completed = await ask(first.http, "What is the code word?")
        run = (await first.http.get(f"/v1/runs/{completed['run_id']}")).json()
        note = await first.http.post("/v1/memories", json={"content": SECRET})
        topic = {"operations": [{"op": "add", "path": "/topics", "value": SECRET}]}
        for whose in ({}, {"session_id": run["session_id"]}):
            (await first.http.post("/v1/world/operations", params=whose, json=topic)).raise_for_status()
        keys = (await first.http.get(f"/v1/workspaces/{first.workspace_id}/keys")).json()["items"]
        me = (await first.http.get("/v1/me")).json()
        invitation = await invite(first.http, str(first.workspace_id), name=SECRET)
        entities = await listed(first.http, "/v1/graph/entities")
        web = {"name": SECRET, "config": {"kind": "web", "url": "http://quixotic-zebra-4711.invalid/"}}
        source = (await first.http.post("/v1/sources", json=web)).json()
        syncs = await listed(first.http, f"/v1/sources/{source['id']}/syncs")
        spaces = await listed(first.http, "/v1/embedding-spaces")
        table = "subject,predicate,object\nCodeWordService,uses,quixotic-zebra-4711\n"
        brought = await first.http.post("/v1/graph/triples", params={"name": SECRET, "format": "csv"}, content=table)
        assert brought.status_code == 201, brought.text
        fact = {"kind": "add", "entity": "CodeWordService", "relation_type": "OWNS", "other": SECRET, "reason": SECRET}
        corrected = await first.http.post("/v1/graph/corrections", json=fact)
        assert corrected.status_code == 201, corrected.text
        attached = f"/v1/sessions/{run['session_id']}/documents/{document['id']}"
        (await first.http.put(attached)).raise_for_status()
        shared = await first.http.post(f"/v1/sessions/{run['session_id']}/shares", json={})
        assert shared.status_code == 201, shared.text
        said = {"rating": "up", "comment": SECRET, "share_content": True}
        (await first.http.put(f"/v1/messages/{run['answer_id']}/feedback", json=said)).raise_for_status()
        provider = {"params": {"scope": "workspace"}, "json": {"value": "https://quixotic.example.org/v1"}}
        (await first.http.put("/v1/settings/providers.first.base_url", **provider)).raise_for_status()
        (await first.http.put("/v1/presets/first", json={"instructions": SECRET})).raise_for_status()
        action = await first.http.post("/v1/quick-actions", json={"name": "code", "prompt": SECRET, "shared": True})
        assert action.status_code == 201, action.text
        written = await first.http.put(f"/v1/sessions/{run['session_id']}/artifact", json={"text": SECRET})
        assert written.is_success, written.text
        chunks = await listed(first.http, f"/v1/documents/{document['id']}/chunks")
        red = Path(__file__).with_name("red.png").read_bytes()
        image = await first.http.post(
            f"/v1/sessions/{run['session_id']}/attachments",
            params={"name": SECRET},
            content=red,
            headers={"Content-Type": "image/png"},
        )
        assert image.status_code == 201, image.text
        ids = {
            "index": "1",
            "attachment_id": image.json()["id"],
            "action_id": action.json()["id"],
            "name": "conversation",
            "document_id": document["id"],
            "chunk_id": chunks[0]["chunk_id"],
            "session_id": run["session_id"],
            "run_id": run["id"],
            "message_id": run["answer_id"],
            "share_id": shared.json()["id"],
            "token": shared.json()["token"],
            "memory_id": note.json()["id"],
            "workspace_id": str(first.workspace_id),
            "key_id": keys[0]["id"],
            "user_id": me["user"]["id"],
            "invitation_id": invitation["id"],
            "entity_id": entities[0]["id"],
            "source_id": source["id"],
            "sync_id": syncs[0]["id"],
            "space_id": spaces[0]["id"],
            "import_id": brought.json()["id"],
            "correction_id": corrected.json()["id"],
            "model": "attractor",
            "response_id": f"resp_{run['id'].replace('-', '')}",
            "setting_key": "providers.first.base_url",
            "preset_name": "first",
        }
        yield first, second, ids


def operations(document: dict) -> Iterator[tuple[str, str]]:
    for path, methods in document["paths"].items():
        for method in methods:
            if method in {"get", "post", "put", "patch", "delete"}:
                yield method, path


async def test_no_route_reveals_data_of_the_other_workspace(neighbours):
    _, second, ids = neighbours
    document = (await second.http.get("/openapi.json")).json()
    tried = 0
    for method, path in operations(document):
        names = re.findall(r"{(\w+)}", path)
        assert set(names) <= set(ids), f"{path}: say in this test which id of the other workspace to try"
        url = path.format(**ids)
        body = {} if method in {"post", "put", "patch"} else None
        response = await second.http.request(method, url, json=body, headers={"If-Match": "1"})
        assert response.status_code < 500, (method, path, response.text)
        assert "quixotic" not in response.text, (method, path)
        assert "CodeWordService" not in response.text, (method, path)
        # Excluded: the id of an embedding space only names its model, and each workspace has its own space under it.
        # Models and graphs are shared.
        if names and not path.startswith(("/v1/users", "/v1/embedding-spaces", "/v1/models", "/v1/graphs")):
            assert response.status_code in {403, 404, 405, 412, 415, 422}, (method, path, response.status_code)
        tried += 1
    assert tried > 25


async def test_request_bodies_with_ids_of_the_other_workspace_find_nothing(neighbours):
    first, second, ids = neighbours
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


async def test_an_agent_of_the_other_workspace_finds_nothing(neighbours):
    _, second, ids = neighbours
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


async def test_the_first_workspace_is_unchanged(neighbours):
    first, _, ids = neighbours
    for path in (
        f"/v1/documents/{ids['document_id']}",
        f"/v1/sessions/{ids['session_id']}",
        f"/v1/runs/{ids['run_id']}",
        f"/v1/responses/{ids['response_id']}",
        "/v1/presets/first",
        f"/v1/graph/entities/{ids['entity_id']}",
        f"/v1/graph/triples/{ids['import_id']}",
        f"/v1/graph/corrections/{ids['correction_id']}",
        "/v1/graph/subgraph?entity=CodeWordService",
        f"/v1/sources/{ids['source_id']}",
        f"/v1/sessions/{ids['session_id']}/documents",
        f"/v1/shared/{ids['token']}",
        f"/v1/workspaces/{ids['workspace_id']}",
    ):
        assert (await first.http.get(path)).status_code == 200
