"""Documents of a session: attached and detached by its user, the limit of its answers, gone when they are deleted."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
from redis.asyncio import Redis
from sent_events import send_events

from contracts.events import DOCUMENTS, DocumentDeleted, DocumentPurged, Event
from orchestrator.sessions.attachments import MOST_DOCUMENTS


async def listed(service: Any, session: str, limit: int = 100) -> list[str]:
    """All of them, page by page."""
    found: list[str] = []
    params: dict[str, Any] = {"limit": limit}
    while True:
        response = await service.client.get(f"/v1/sessions/{session}/documents", params=params)
        assert response.status_code == 200, response.text
        page = response.json()
        found += [one["document_id"] for one in page["items"]]
        if page["next_cursor"] is None:
            return found
        params["cursor"] = page["next_cursor"]


async def test_documents_are_attached_listed_and_detached(start: Any, settings: Any) -> None:
    documents = [str(uuid4()) for _ in range(5)]
    async with start(settings) as service:
        session, other = await service.session(), await service.session()
        for document in [*documents, documents[0]]:
            response = await service.client.put(f"/v1/sessions/{session}/documents/{document}")
            assert response.status_code == 200, response.text
            assert response.json()["document_id"] == document
        await service.client.put(f"/v1/sessions/{other}/documents/{documents[0]}")
        assert await listed(service, session, limit=2) == documents
        for _ in range(2):
            gone = await service.client.delete(f"/v1/sessions/{session}/documents/{documents[0]}")
            assert gone.status_code == 204
        assert await listed(service, session) == documents[1:]
        assert await listed(service, other) == documents[:1]
        await service.client.delete(f"/v1/sessions/{session}")
        assert (await service.client.get(f"/v1/sessions/{session}/documents")).status_code == 404


async def test_other_users_cannot_see_or_change_the_documents_of_a_session(
    start: Any, settings: Any, auth_headers: Any
) -> None:
    document = uuid4()
    async with start(settings) as service:
        path = f"/v1/sessions/{await service.session()}/documents"
        await service.client.put(f"{path}/{document}")
        for theirs in (auth_headers(user_id=uuid4()), auth_headers(workspace_id=uuid4())):
            for method, at in (("GET", path), ("PUT", f"{path}/{document}"), ("DELETE", f"{path}/{document}")):
                response = await service.client.request(method, at, headers=theirs)
                assert (response.status_code, response.json()["type"]) == (404, "session-not-found")
        assert len((await service.client.get(path)).json()["items"]) == 1


async def test_the_number_of_documents_per_session_is_limited(start: Any, settings: Any, workspace_id: UUID) -> None:
    async with start(settings) as service:
        session = await service.session()
        with psycopg.connect(settings.database_url.get_secret_value()) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
            connection.execute(
                "INSERT INTO session_document (workspace_id, session_id, document_id)"
                " SELECT %s, %s, gen_random_uuid() FROM generate_series(1, %s)",
                (workspace_id, session, MOST_DOCUMENTS),
            )
        known = await listed(service, session, limit=MOST_DOCUMENTS)
        more = await service.client.put(f"/v1/sessions/{session}/documents/{uuid4()}")
        again = await service.client.put(f"/v1/sessions/{session}/documents/{known[0]}")
        assert (more.status_code, more.json()["type"]) == (409, "too-many-session-documents")
        assert again.status_code == 200
        assert sorted(await listed(service, session)) == sorted(known)


async def test_attached_documents_limit_the_answers_of_their_session(start: Any, settings: Any, world: Any) -> None:
    first, second, third = (str(uuid4()) for _ in range(3))
    async with start(settings) as service:
        session, other = await service.session(), await service.session()
        for document in (first, second):
            await service.client.put(f"/v1/sessions/{session}/documents/{document}")

        async def asked_for(in_session: str, **body: Any) -> list[str] | None:
            run = await service.ask(in_session, **body)
            assert (await service.events(run["id"]))[-1].name == "run_completed"
            documents: list[str] | None = world.searches[-1][0].get("document_ids")
            return documents and sorted(documents)

        assert await asked_for(session) == sorted([first, second])
        assert await asked_for(session, document_ids=[second, third]) == [second]
        assert await asked_for(session, document_ids=[third]) == []
        assert await asked_for(other) is None
        assert await asked_for(other, document_ids=[third]) == [third]
        for document in (first, second):
            await service.client.delete(f"/v1/sessions/{session}/documents/{document}")
        assert await asked_for(session) is None


async def test_a_missing_document_cannot_be_attached(start: Any, settings: Any, world: Any) -> None:
    document = str(uuid4())
    async with start(settings) as service:
        session = await service.session()
        path = f"/v1/sessions/{session}/documents/{document}"
        world.document_status = 404
        unknown = await service.client.put(path)
        assert (unknown.status_code, unknown.json()["type"]) == (404, "document-not-found")
        world.document_status = 500
        unchecked = await service.client.put(path)
        assert (unchecked.status_code, unchecked.json()["type"]) == (503, "service-silent")
        assert await listed(service, session) == []
        world.document_status = 200
        assert (await service.client.put(path)).status_code == 200
        world.document_status = 500  # attached already: there is nothing to check
        assert (await service.client.put(path)).status_code == 200
        assert await listed(service, session) == [document]


async def test_deleting_a_document_detaches_it_from_every_session_and_is_confirmed(
    start: Any, settings: Any, redis_url: str, workspace_id: UUID
) -> None:
    kept, deleted = str(uuid4()), str(uuid4())
    async with start(settings) as service, Redis.from_url(redis_url) as redis:
        sessions = [await service.session() for _ in range(2)]
        for session in sessions:
            for document in (kept, deleted):
                await service.client.put(f"/v1/sessions/{session}/documents/{document}")
        artifact = f"/v1/sessions/{sessions[0]}/artifact"
        shown = await service.client.put(artifact, json={"kind": "pdf", "document_id": deleted})
        assert shown.status_code == 201
        await send_events(redis, [DocumentDeleted(document_id=UUID(deleted))], workspace_id)
        async with asyncio.timeout(120):
            while [await listed(service, one) for one in sessions] != [[kept], [kept]]:  # noqa: ASYNC110  no event tells
                await asyncio.sleep(0.05)
            while not (purged := await purged_of(redis, deleted)):  # noqa: ASYNC110  no event tells
                await asyncio.sleep(0.05)
        assert (await service.client.get(artifact)).json()["type"] == "artifact-not-found"
    (confirmed,) = purged
    assert confirmed == DocumentPurged(
        document_id=UUID(deleted),
        service="orchestrator",
        removed={"session_documents": 2, "artifacts": 1},
        remaining={"session_documents": 0, "artifacts": 0},
    )


async def purged_of(redis: Redis, document_id: str) -> list[DocumentPurged]:
    entries: Any = await redis.xrange(DOCUMENTS)
    events = [Event.model_validate_json(fields[b"event"]) for _, fields in entries]
    return [
        DocumentPurged.model_validate(event.data)
        for event in events
        if event.type == DocumentPurged.event_type and event.subject == document_id
    ]
