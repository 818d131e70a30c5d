"""From real documents to a streamed answer with checked citations."""

from __future__ import annotations

import httpx2
import pytest
import waiting
from api_calls import ask, events_of, eventually, question_events

QUESTION = "Which projects depend on AuthService?"


async def test_the_answer_states_what_the_documents_say_and_cites_them(tenant):
    completed = await ask(tenant.http, QUESTION)
    for project in ("ProjectAlpha", "ProjectBeta", "ProjectGamma"):
        assert project in completed["content"]
    assert completed["mode"] == "extractive"
    assert completed["citations"]


async def test_every_citation_is_a_span_of_a_chunk_in_its_document(tenant):
    completed = await ask(tenant.http, QUESTION)
    for citation in completed["citations"]:
        assert f"[{citation['number']}]" in completed["content"]
        search = await tenant.http.post(
            "/v1/search", json={"query": citation["quote"], "document_ids": [citation["document_id"]], "k": 100}
        )
        [chunk] = [hit for hit in search.json()["hits"] if hit["chunk_id"] == citation["chunk_id"]]
        assert chunk["content"][citation["start"] : citation["end"]] == citation["quote"]
        assert chunk["document_name"] == citation["document_name"]


async def test_a_question_the_documents_do_not_answer_is_not_answered(tenant):
    completed = await ask(tenant.http, "What is the boiling point of tungsten hexafluoride?")
    assert completed["citations"] == []


async def test_an_interrupted_stream_resumes_where_it_stopped(tenant):
    events = [event async for event in question_events(tenant.http, "Who owns the BillingRouter?")]
    run = events[-1][2]["run_id"]
    assert [name for _, name, _ in events].count("run_completed") == 1
    for cut in (0, len(events) // 2, len(events) - 2):
        headers = {"Last-Event-ID": events[cut][0], "Accept": "text/event-stream"}
        async with tenant.http.stream("GET", f"/v1/runs/{run}/events", headers=headers) as response:
            assert [event async for event in events_of(response)] == events[cut + 1 :]


async def test_a_finished_run_can_be_read(tenant):
    completed = await ask(tenant.http, QUESTION)
    run = (await tenant.http.get(f"/v1/runs/{completed['run_id']}")).json()
    assert run["status"] == "completed"
    assert run["answer"]["content"] == completed["content"]
    assert run["node_trace"][0] == "generate_path"
    assert run["node_trace"][-1] in {"clean_state", "generate_title"}
    messages = (await tenant.http.get(f"/v1/sessions/{run['session_id']}/messages")).json()["items"]
    assert sorted(message["role"] for message in messages) == ["assistant", "user"]
    session = (await tenant.http.get(f"/v1/sessions/{run['session_id']}")).json()
    assert session["title"]


@pytest.mark.parametrize("mode", ["hybrid", "rrf", "lexical", "dense"])
async def test_search_finds_the_answer_in_every_mode(tenant, mode):
    body = {"query": "services that AuthService depends on", "mode": mode, "k": 5, "explain": True}
    response = await tenant.http.post("/v1/search", json=body)
    assert response.status_code == 200
    found = response.json()
    assert len(found["hits"]) == 5
    assert any("AuthService" in hit["content"] for hit in found["hits"])
    assert all(leg["error"] is None for leg in found["legs"])


async def test_the_graph_contains_the_services_and_memory_the_turn(tenant):
    await ask(tenant.http, QUESTION)
    expanded = await eventually(tenant.http, "/v1/graph/expand", {"entities": ["AuthService"]}, "chunks")
    assert "AuthService" in [entity["name"] for entity in expanded["entities"]]

    async def recalled() -> list[str]:
        found = await tenant.http.post("/v1/memories/recall", json={"query": QUESTION})
        return [memory["content"] for memory in found.raise_for_status().json()["memories"]]

    # The answer, not the question; turns before it may be remembered earlier.
    await waiting.eventually(recalled, lambda contents: any("ProjectAlpha" in one for one in contents))


async def test_health_and_api_documents_are_public(address):
    async with httpx2.AsyncClient(base_url=address[0]) as http:
        assert (await http.get("/livez")).status_code == 200
        document = (await http.get("/openapi.json")).json()
        assert "/v1/search" in document["paths"]
        assert (await http.get("/docs")).status_code == 200
