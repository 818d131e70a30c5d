"""An artifact made into a document is found and cited, replaced by its next version, and deleted with its session."""

from __future__ import annotations

import httpx2
from api_calls import PATIENCE, created, events_of, processed

QUESTION = "How often is the zebrafish tank of the Quito office cleaned?"


async def cited(http: httpx2.AsyncClient) -> list[tuple[str, str]]:
    """Asks in a new session; returns the document and the quote of each citation."""
    session = (await created(http, "/v1/sessions", {}))["id"]
    headers = {"Accept": "text/event-stream"}
    body = {"content": QUESTION}
    async with http.stream("POST", f"/v1/sessions/{session}/messages", json=body, headers=headers) as response:
        *_, (_, name, data) = [event async for event in events_of(response)]
    assert name == "run_completed", data
    return [(str(one["document_id"]), str(one["quote"])) for one in data["citations"]]


async def test_an_indexed_artifact_is_cited_and_replaced_by_its_next_version(tenant):
    http = tenant.http
    artifact = f"/v1/sessions/{(await created(http, '/v1/sessions', {}))['id']}/artifact"

    async def indexed(text: str) -> str:
        body = {"title": "Tank", "text": f"# Tank\n\n{text}\n"}
        assert (await http.put(artifact, json=body)).is_success
        document = (await http.post(f"{artifact}/index")).json()["document_id"]
        found = await processed(http, document)
        assert (found["status"], found["source_type"]) == ("searchable", "artifact")
        return str(document)

    document = await indexed("The zebrafish tank of the Quito office is cleaned every nine days.")
    assert (document, "The zebrafish tank of the Quito office is cleaned every nine days.") in await cited(http)
    assert await indexed("The zebrafish tank of the Quito office is cleaned every four days.") == document
    quotes = [quote for of, quote in await cited(http) if of == document]
    assert quotes == ["The zebrafish tank of the Quito office is cleaned every four days."]
    assert (await http.delete(artifact)).is_success
    again = await http.delete(f"/v1/documents/{document}", params={"timeout": PATIENCE})  # waits for every service
    assert again.status_code == 200, again.text
    assert document not in {of for of, _ in await cited(http)}
