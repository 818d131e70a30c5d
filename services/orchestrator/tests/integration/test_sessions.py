"""Sessions: creating, listing, renaming and deleting them, and their privacy."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import psycopg


async def test_a_session_is_created_renamed_and_deleted(start: Any, settings: Any) -> None:
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
    assert (deleted.status_code, deleted.json()["session_id"]) == (200, read.json()["id"])
    assert (gone.status_code, gone_again.status_code) == (404, 404)
    assert gone.json()["type"] == "session-not-found"


async def test_lists_are_paginated(start: Any, settings: Any) -> None:
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


async def test_pinned_sessions_come_first_and_archived_ones_are_listed_separately(start: Any, settings: Any) -> None:
    async with start(settings) as service:

        async def listed(**params: Any) -> list[str]:
            seen, cursor = [], None
            while True:
                given = {"limit": 2, **params, **({"cursor": cursor} if cursor else {})}
                page = (await service.client.get("/v1/sessions", params=given)).json()
                seen += [session["title"] for session in page["items"]]
                if not (cursor := page["next_cursor"]):
                    return seen

        async def change(which: str, **change: Any) -> Any:
            return await service.client.patch(f"/v1/sessions/{made[which]}", json=change, headers=when)

        when = {"If-Match": '"1"'}
        made = {title: await service.session(title=title) for title in "abcde"}
        pinned = [await change(title, pinned=True) for title in "bd"]
        archived = await change("e", archived=True)
        assert await listed() == ["d", "b", "c", "a"]
        assert await listed(archived=True) == ["e"]
        assert (await listed(pinned=True), await listed(pinned=False)) == (["d", "b"], ["c", "a"])
        assert [one.json()["pinned"] for one in pinned] == [True, True]
        assert (archived.json()["archived"], archived.json()["title"], archived.json()["version"]) == (True, "e", 2)
        assert (await change("d", pinned=False)).status_code == 412
        when = {}
        assert (await change("d", pinned=False, title="D")).json()["title"] == "D"
        assert (await change("e", archived=False)).status_code == 200
        assert await listed() == ["b", "D", "e", "c", "a"]
        for nothing in ({}, {"title": None}, {"starred": True}):
            assert (await change("a", **nothing)).status_code == 422, nothing


async def test_a_session_is_exported_with_its_citations(start: Any, model_settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("orchestrator.sessions.api.EXPORTED_AT_ONCE", 3)
    async with start(model_settings) as service:
        session = await service.session(title="Tokens *and*\nkeys")
        for _ in range(2):
            await service.events((await service.ask(session, "How long?\n# And why?"))["id"])
        path = f"/v1/sessions/{session}"
        messages = (await service.client.get(f"{path}/messages")).json()["items"]
        now = (await service.client.get(path)).json()
        as_json = await service.client.get(f"{path}/export", params={"format": "json"})
        as_markdown = await service.client.get(f"{path}/export")
        empty = await service.client.get(f"/v1/sessions/{await service.session()}/export", params={"format": "json"})
        unknown = await service.client.get(f"{path}/export", params={"format": "pdf"})
    exported = as_json.json()
    assert exported["messages"] == messages
    assert exported["messages"][1]["citations"][0]["document_name"] == "auth.md"
    assert exported["session"] == {
        name: value for name, value in now.items() if name not in {"active_run_ids", "artifact_index"}
    }
    assert as_markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert as_markdown.headers["content-disposition"] == f'attachment; filename="session-{session}.md"'
    text = as_markdown.text
    assert text.startswith("# Tokens \\*and\\* keys\n")
    assert text.count("\n> How long?\n> # And why?\n") == 2
    assert text.count("\\[1\\] auth.md, Services \\> Tokens, lines 3-5\n\n> Tokens expire after fifteen minutes.") == 2
    assert text.index("**Question**") < text.index(messages[1]["content"]) < text.index("auth.md")
    assert empty.json()["messages"] == []
    assert unknown.status_code == 422


async def test_messages_are_paginated_in_order(start: Any, settings: Any) -> None:
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


async def test_the_newest_messages_are_listed_in_order(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session = await service.session()
        for number in range(4):
            await service.events((await service.ask(session, f"Question {number}?"))["id"])
        path = f"/v1/sessions/{session}/messages"
        whole = [message["id"] for message in (await service.client.get(path)).json()["items"]]
        branch = await service.ask(session, "Another beginning?", parent_id=None)
        await service.events(branch["id"])
        await service.client.put(f"/v1/sessions/{session}/head", json={"message_id": whole[-1]})

        async def newest(last: int, limit: int = 50) -> list[str]:
            seen, cursor = [], None
            while True:
                given = {"last": last, "limit": limit, **({"cursor": cursor} if cursor else {})}
                page = (await service.client.get(path, params=given)).json()
                seen += [message["id"] for message in page["items"]]
                if not (cursor := page["next_cursor"]):
                    return seen

        assert await newest(3) == await newest(3, limit=1) == whole[-3:]
        assert await newest(1) == whole[-1:]
        assert await newest(100) == whole
        assert (await service.client.get(path, params={"last": 0})).status_code == 422


async def test_an_idempotency_key_creates_one_run_and_one_session(start: Any, settings: Any) -> None:
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


async def test_other_users_cannot_see_a_session(start: Any, settings: Any, other_user: Any, auth_headers: Any) -> None:
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
                ("PATCH", path, {"archived": True}),
                ("GET", f"{path}/export", None),
                ("GET", f"{path}/messages", None),
                ("GET", f"{path}/messages?tree=true", None),
                ("POST", f"{path}/messages", {"content": "What is in here?"}),
            ):
                response = await service.client.request(method, where, json=body, headers=headers)
                assert response.status_code == 404, (method, where)
            assert (await service.client.get("/v1/sessions", headers=headers)).json()["items"] == []
        assert (await service.client.get(f"/v1/sessions/{session}")).json()["title"] == "Secret"
        without = await service.client.get("/v1/sessions", headers={"Authorization": "Bearer nonsense"})
    assert without.status_code == 401


async def test_row_level_security_holds_without_filters_in_the_application(start: Any, settings: Any) -> None:
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


async def test_invalid_input_is_refused(start: Any, settings: Any) -> None:
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
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session()
        run = await service.ask(session)
        await waiting.wait()
        following = await service.following(run["id"])
        await service.client.delete(f"/v1/sessions/{session}")
        events = await following
    assert events[-1].name == "run_cancelled"
    assert world.chats_cut == 1
