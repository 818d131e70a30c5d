"""Documents attached to a session limit its answers."""

from __future__ import annotations

from uuid import uuid4

import httpx2
from api_calls import created, events_of

QUESTION = "Which projects depend on AuthService?"


async def cited(http: httpx2.AsyncClient, session: str, **limits: object) -> set[object]:
    """Asks in the session; returns the documents cited in the answer."""
    body = {"content": QUESTION, **limits}
    headers = {"Accept": "text/event-stream"}
    async with http.stream("POST", f"/v1/sessions/{session}/messages", json=body, headers=headers) as response:
        *_, (_, name, data) = [event async for event in events_of(response)]
    assert name == "run_completed", data
    refused = [one for one in data["issues"] if "answered with status" in one]
    assert refused == [], "the services answer each other in the user's name"
    citations = data["citations"]
    assert isinstance(citations, list)
    return {citation["document_id"] for citation in citations}


async def test_a_session_answers_from_its_documents(tenant):
    http = tenant.http
    page = (await http.get("/v1/documents", params={"limit": 200})).json()
    documents = {one["name"]: one["id"] for one in page["items"]}
    attached, other = documents["services.md"], documents["onboarding.html"]
    session = (await created(http, "/v1/sessions", {}))["id"]
    assert len(await cited(http, session)) > 1
    response = await http.put(f"/v1/sessions/{session}/documents/{attached}")
    assert response.status_code == 200, response.text
    assert await cited(http, session) == {attached}
    assert await cited(http, session, document_ids=[other]) == set()
    await http.delete(f"/v1/sessions/{session}/documents/{attached}")
    assert len(await cited(http, session)) > 1


async def test_only_existing_documents_can_be_attached(tenant):
    session = (await created(tenant.http, "/v1/sessions", {}))["id"]
    response = await tenant.http.put(f"/v1/sessions/{session}/documents/{uuid4()}")
    assert (response.status_code, response.json()["type"]) == (404, "document-not-found")
