"""Sessions: made, listed, renamed, deleted, and seen by nobody else."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import psycopg


async def test_a_session_from_beginning_to_end(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        created = await service.client.post("/v1/sessions", json={"title": "Plans"})
        path = created.headers["location"]
        renamed = await service.client.patch(path, json={"title": "New plans"}, headers={"If-Match": '"1"'})
        stale = await service.client.patch(path, json={"title": "Old plans"}, headers={"If-Match": '"1"'})
        stale_delete = await service.client.delete(path, headers={"If-Match": '"1"'})
        read = await service.client.get(path)
        deleted = await service.client.delete(path, headers={"If-Match": read.headers["etag"]})
        gone = await service.client.get(path)
        gone_again = await service.client.delete(path)
    assert renamed.json()["version"] == 2
    assert (stale.status_code, stale_delete.status_code) == (412, 412)
    assert read.json()["title"] == "New plans"
    assert deleted.status_code == 204
    assert (gone.status_code, gone_again.status_code) == (404, 404)
    assert gone.json()["type"] == "session-not-found"


async def test_lists_are_paged(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        made = [await service.session(title=f"s{number}") for number in range(5)]
        seen, cursor = [], None
        while True:
            page = (
                await service.client.get("/v1/sessions", params={"limit": 2, **({"cursor": cursor} if cursor else {})})
            ).json()
            seen += [session["id"] for session in page["items"]]
            if not (cursor := page["next_cursor"]):
                break
        bad = await service.client.get("/v1/sessions", params={"cursor": "nonsense"})
    assert seen == made[::-1]
    assert bad.status_code == 422


async def test_messages_are_paged_in_order(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session = await service.session()
        for number in range(3):
            await service.events((await service.ask(session, f"Question {number}?"))["id"])
        path = f"/v1/sessions/{session}/messages"
        first = (await service.client.get(path, params={"limit": 4})).json()
        second = (await service.client.get(path, params={"limit": 4, "cursor": first["next_cursor"]})).json()
    roles = [message["role"] for message in first["items"] + second["items"]]
    assert roles == ["user", "assistant"] * 3
    assert second["next_cursor"] is None


async def test_an_idempotency_key_makes_one_run_and_one_session(start: Any, settings: Any) -> None:
    headers = {"Idempotency-Key": "k1"}
    async with start(settings) as service:
        sessions = [await service.client.post("/v1/sessions", json={}, headers=headers) for _ in range(2)]
        path = sessions[0].headers["location"] + "/messages"
        runs = [await service.client.post(path, json={"content": "Why?"}, headers=headers) for _ in range(2)]
        other = await service.client.post(path, json={"content": "What else?"}, headers=headers)
        await service.events(runs[0].json()["id"])
        messages = (await service.client.get(path)).json()["items"]
    assert sessions[0].json()["id"] == sessions[1].json()["id"]
    assert runs[0].json()["id"] == runs[1].json()["id"]
    assert other.status_code == 409
    assert other.json()["type"] == "idempotency-key-reused"
    assert len(messages) == 2


async def test_a_rename_survives_the_generated_title(start: Any, model_settings: Any, world: Any) -> None:
    async with start(model_settings) as service:
        session = await service.session()

        async def rename(at: int) -> None:
            if at == 0:
                await service.client.patch(f"/v1/sessions/{session}", json={"title": "Mine"})

        world.pace = rename
        run = await service.ask(session)
        await service.events(run["id"])
        named = (await service.client.get(f"/v1/sessions/{session}")).json()
    assert len(world.chats) == 2  # a title was asked for
    assert named["title"] == "Mine"
    assert named["version"] == 2


async def test_nobody_else_sees_a_session(start: Any, settings: Any, other_user: Any, auth_headers: Any) -> None:
    async with start(settings) as service:
        session = await service.session(title="Secret")
        run = await service.ask(session)
        await service.events(run["id"])
        for headers in (other_user, auth_headers(workspace_id=uuid4())):
            path = f"/v1/sessions/{session}"
            for method, where, body in (
                ("GET", path, None),
                ("PATCH", path, {"title": "Taken"}),
                ("DELETE", path, None),
                ("GET", f"{path}/messages", None),
                ("POST", f"{path}/messages", {"content": "What is in here?"}),
            ):
                response = await service.client.request(method, where, json=body, headers=headers)
                assert response.status_code == 404, (method, where)
            assert (await service.client.get("/v1/sessions", headers=headers)).json()["items"] == []
        assert (await service.client.get(f"/v1/sessions/{session}")).json()["title"] == "Secret"
        without = await service.client.get("/v1/sessions", headers={"Authorization": "Bearer nonsense"})
    assert without.status_code == 401


async def test_row_level_security_holds_without_the_application(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        await service.events((await service.ask(await service.session()))["id"])
    async with await psycopg.AsyncConnection.connect(
        settings.database_url.get_secret_value(), autocommit=True
    ) as connection:
        for setting in ("''", f"'{uuid4()}'"):
            await connection.execute(f"SET app.workspace_id = {setting}")
            for table in ("session", "message", "run", "checkpoints", "outbox"):
                cursor = await connection.execute(f"SELECT count(*) FROM {table}")
                assert await cursor.fetchone() == (0,), table


async def test_bad_input_is_refused(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session = await service.session()
        path = f"/v1/sessions/{session}/messages"
        bodies: list[Any] = [{}, {"content": "  "}, {"content": "a\x00b"}, {"content": "x", "document_ids": ["no"]}, []]
        for body in bodies:
            assert (await service.client.post(path, json=body)).status_code == 422, body
        lone = await service.client.post(
            path, content=b'{"content": "\\ud800"}', headers={"Content-Type": "application/json"}
        )
        long_key = await service.client.post(path, json={"content": "x"}, headers={"Idempotency-Key": "k" * 201})
        bad_match = await service.client.patch(
            f"/v1/sessions/{session}", json={"title": "t"}, headers={"If-Match": "soon"}
        )
    assert lone.status_code == 422
    assert long_key.status_code == 422
    assert bad_match.status_code == 412


async def test_deleting_a_session_ends_its_run(start: Any, model_settings: Any, world: Any) -> None:
    waiting = asyncio.Event()

    async def forever(_: int) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.pace = forever
    async with start(model_settings) as service, asyncio.timeout(10):
        session = await service.session()
        run = await service.ask(session)
        await waiting.wait()
        following = asyncio.create_task(service.events(run["id"]))
        await asyncio.sleep(0.2)
        await service.client.delete(f"/v1/sessions/{session}")
        events = await following
    assert events[-1].name == "run_cancelled"
    assert world.chats_cut == 1
