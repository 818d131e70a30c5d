"""A session's messages are a tree: edits are siblings, the head chooses a path, each turn knows its own path alone."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from service_kit.postgres import Database


class Tree:
    """A session's messages over HTTP."""

    def __init__(self, service: Any, session: str) -> None:
        self.service, self.session, self.path = service, session, f"/v1/sessions/{session}"

    async def ask(self, content: str, **body: Any) -> dict[str, Any]:
        run = await self.service.ask(self.session, content, **body)
        await self.service.events(run["id"])
        return dict(run)

    async def listed(self, **params: Any) -> list[dict[str, Any]]:
        response = await self.service.client.get(f"{self.path}/messages", params=params)
        assert response.status_code == 200, response.text
        return list(response.json()["items"])

    async def questions(self, **params: Any) -> list[str]:
        return [one["content"] for one in await self.listed(**params) if one["role"] == "user"]

    async def move(self, message_id: str, **body: Any) -> Any:
        return await self.service.client.put(f"{self.path}/head", json={"message_id": message_id, **body})


async def test_an_edited_message_is_a_sibling_and_each_prompt_contains_only_its_own_path(
    start: Any, model_settings: Any, world: Any
) -> None:
    async with start(model_settings) as service:
        tree = Tree(service, await service.session(title="t"))
        first = await tree.ask("First?")
        second = await tree.ask("Second?")
        edited = await tree.ask("Second, edited?", parent_id=first["answer_id"])
        prompt = [one["content"] for one in world.chats[-1]["messages"][1:]]
        path = await tree.listed()
        whole = await tree.listed(tree=True)
        back = await tree.move(second["question_id"], newest=True)
        switched = await tree.questions()
        another = await tree.ask("Another beginning?", parent_id=None)
        alone = await tree.listed()
    answer = "Tokens expire after fifteen minutes [1]. Also."
    assert prompt == ["First?", answer, "Second, edited?"]
    assert [one["content"] for one in path] == ["First?", answer, "Second, edited?", answer]
    assert [one["parent_id"] for one in path] == [None, *(one["id"] for one in path[:-1])]
    family = [second["question_id"], edited["question_id"]]
    assert path[2]["siblings"] == {"index": 1, "count": 2, "ids": family}
    assert path[0]["siblings"] == {"index": 0, "count": 1, "ids": [first["question_id"]]}
    assert [one["role"] for one in whole] == ["user", "assistant"] * 3
    assert back.json()["head_id"] == second["answer_id"]
    assert switched == ["First?", "Second?"]
    assert [one["id"] for one in alone] == [another["question_id"], another["answer_id"]]
    assert alone[0]["siblings"]["count"] == 2


async def test_a_message_can_be_sent_after_an_answer_that_is_still_being_written(
    start: Any, model_settings: Any, world: Any
) -> None:
    statuses: list[list[str]] = []
    async with start(model_settings) as service:
        tree = Tree(service, await service.session(title="t"))

        async def send(at: int) -> None:
            if at == 0 and not statuses:
                await service.ask(tree.session, "And then?")
                statuses.append([one["status"] for one in await tree.listed()])

        world.pace = send
        first = await tree.ask("First?")
        (newest, *_) = (await service.client.get("/v1/runs")).json()["items"]
        await service.events(newest["id"])
        path = await tree.listed()
    assert statuses == [["completed", "running", "completed", "pending"]]
    assert [one["status"] for one in path] == ["completed"] * 4
    assert path[1]["id"] == first["answer_id"]
    assert [one["content"] for one in world.chats[-1]["messages"][1:]] == ["First?", path[1]["content"], "And then?"]


async def test_a_path_is_paginated_to_its_end_while_the_head_moves(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        tree = Tree(service, await service.session(title="t"))
        first = await tree.ask("First?")
        await tree.ask("Second?")
        page = (await service.client.get(f"{tree.path}/messages", params={"limit": 3})).json()
        await tree.move(first["question_id"])
        rest = await tree.listed(cursor=page["next_cursor"])
        short = await tree.questions()
        wrong = await service.client.get(f"{tree.path}/messages", params={"cursor": page["next_cursor"], "tree": True})
    assert [one["content"] for one in page["items"]][::2] == ["First?", "Second?"]
    assert [one["role"] for one in rest] == ["assistant"]
    assert short == ["First?"]
    assert wrong.status_code == 422


async def test_a_regenerated_answer_is_a_sibling_of_the_first(start: Any, settings: Any, world: Any) -> None:
    document = "00000000-0000-4000-8000-00000000000d"
    headers = {"Idempotency-Key": "again"}
    async with start(settings) as service:
        tree = Tree(service, await service.session(title="t"))
        first = await tree.ask("First?", document_ids=[document])
        path = f"/v1/messages/{first['answer_id']}/regenerate"
        again = [await service.client.post(path, headers=headers) for _ in range(2)]
        await service.events(again[0].json()["id"])
        by_question = await service.client.post(f"/v1/messages/{first['question_id']}/regenerate", json={})
        await service.events(by_question.json()["id"])
        limited = await service.client.post(path, json={"document_ids": []}, headers=headers)
        listed = await tree.listed()
    assert [one.status_code for one in (*again, by_question, limited)] == [202, 202, 202, 409]
    assert again[0].json()["id"] == again[1].json()["id"]
    assert {one.json()["question_id"] for one in (*again, by_question)} == {first["question_id"]}
    assert [one["role"] for one in listed] == ["user", "assistant"]
    ids = [first["answer_id"], again[0].json()["answer_id"], by_question.json()["answer_id"]]
    assert listed[1]["siblings"] == {"index": 2, "count": 3, "ids": ids}
    assert [body["document_ids"] for body, _ in world.searches] == [[document]] * 3


async def test_deleting_a_message_deletes_its_whole_subtree(start: Any, model_settings: Any, world: Any) -> None:
    waiting = asyncio.Event()

    async def forever(_: int) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with start(model_settings) as service, asyncio.timeout(120):
        tree = Tree(service, await service.session(title="t"))
        first = await tree.ask("First?")
        second = await tree.ask("Second?")
        world.pace = forever
        third = await service.ask(tree.session, "Third?")
        await waiting.wait()
        following = await service.following(third["id"])
        deleted = await service.client.delete(f"/v1/messages/{second['answer_id']}")
        events = await following
        gone = [await service.client.get(f"/v1/runs/{run['id']}") for run in (second, third)]
        left = await tree.listed(tree=True)
        head = (await service.client.get(tree.path)).json()["head_id"]
        world.pace = None
        again = (await service.client.post(f"/v1/messages/{second['question_id']}/regenerate")).json()
        await service.events(again["id"])
        path = await tree.listed()
    assert deleted.status_code == 204
    assert events[-1].name == "run_cancelled"
    assert world.chats_cut == 1
    assert [one.status_code for one in gone] == [404, 404]
    assert [one["id"] for one in left] == [first["question_id"], first["answer_id"], second["question_id"]]
    assert head == second["question_id"]
    assert [one["id"] for one in path] == [one["id"] for one in left] + [again["answer_id"]]


async def test_a_message_to_a_busy_session_is_rejected_or_interrupts_the_run(
    start: Any, model_settings: Any, world: Any
) -> None:
    waiting = asyncio.Event()

    async def forever(_: int) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.pace = forever
    async with start(model_settings) as service, asyncio.timeout(120):
        tree = Tree(service, await service.session(title="t"))
        path, headers = f"{tree.path}/messages", {"Idempotency-Key": "k"}
        body = {"content": "First?", "on_busy": "reject"}
        first = await service.client.post(path, json=body, headers=headers)
        await waiting.wait()
        repeated = await service.client.post(path, json=body, headers=headers)
        queued = await service.ask(tree.session, "Queued?")
        rejected = await service.client.post(path, json={"content": "Now?", "on_busy": "reject"})
        again = await service.client.post(
            f"/v1/messages/{first.json()['answer_id']}/regenerate", json={"on_busy": "reject"}
        )
        before = await tree.questions()
        world.pace = None
        run = await service.ask(tree.session, "Instead?", on_busy="interrupt")
        stopped = [(await service.events(one))[-1].name for one in (first.json()["id"], queued["id"])]
        last = (await service.events(run["id"]))[-1].name
        statuses = [one["status"] for one in await tree.listed() if one["role"] == "assistant"]
    assert repeated.json()["id"] == first.json()["id"]
    for refused in (rejected, again):
        assert (refused.status_code, refused.json()["type"]) == (409, "session-busy")
        assert refused.json()["active_run_ids"] == [first.json()["id"], queued["id"]]
    assert before == ["First?", "Queued?"]
    assert stopped == ["run_cancelled", "run_cancelled"]
    assert last == "run_completed"
    assert statuses == ["cancelled", "cancelled", "completed"]


async def test_a_run_can_end_while_it_is_being_cancelled(
    start: Any, model_settings: Any, world: Any, workspace_id: UUID
) -> None:
    """Regression: the two took their locks in different order, so the database ended one of them."""
    writing, written = asyncio.Event(), asyncio.Event()

    async def held(_: int) -> None:
        writing.set()
        await written.wait()

    world.pace = held
    url = model_settings.database_url.get_secret_value()
    async with start(model_settings) as service, Database(url).opened() as database, asyncio.timeout(120):
        session = await service.session(title="t")
        run = await service.ask(session, "First?")
        await writing.wait()
        async with database.workspace(workspace_id) as stopping:
            await stopping.execute("SELECT FROM session WHERE id = %s FOR NO KEY UPDATE", (session,))
            written.set()
            while True:
                waiting = await stopping.execute(
                    "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
                )
                if waiting.rowcount:
                    break
                await asyncio.sleep(0.01)  # a wait inside the server has no event
            await stopping.execute("SET LOCAL lock_timeout = '500ms'")  # before the server looks for a deadlock
            await stopping.execute("SELECT FROM run WHERE id = %s FOR UPDATE", (run["id"],))
        last = (await service.events(run["id"]))[-1].name
    assert last == "run_completed"


async def test_ids_must_belong_to_a_session_of_the_caller(
    start: Any, settings: Any, other_user: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        mine, theirs = Tree(service, await service.session(title="a")), Tree(service, await service.session(title="b"))
        foreign = (await theirs.ask("Whose?"))["answer_id"]
        run = await mine.ask("Mine?")
        answers = []
        for message_id in (foreign, str(uuid4())):
            answers.append(await mine.move(message_id))
            body = {"content": "x", "parent_id": message_id}
            answers.append(await service.client.post(f"{mine.path}/messages", json=body))
        for headers in (other_user, auth_headers(workspace_id=uuid4())):
            body = {"message_id": run["answer_id"]}
            answers.append(await service.client.put(f"{mine.path}/head", json=body, headers=headers))
            session = (await service.client.post("/v1/sessions", json={}, headers=headers)).json()["id"]
            answers.append(await service.client.put(f"/v1/sessions/{session}/head", json=body, headers=headers))
            body = {"content": "x", "parent_id": run["answer_id"]}
            answers.append(await service.client.post(f"/v1/sessions/{session}/messages", json=body, headers=headers))
            message = f"/v1/messages/{run['answer_id']}"
            answers.append(await service.client.post(f"{message}/regenerate", headers=headers))
            answers.append(await service.client.delete(message, headers=headers))
        path = await mine.questions()
    types = ["message-not-found"] * 4 + ["session-not-found", *["message-not-found"] * 4] * 2
    assert [(one.status_code, one.json()["type"]) for one in answers] == [(404, kind) for kind in types]
    assert path == ["Mine?"]


@pytest.mark.parametrize(("length", "status"), [(200_000, 202), (200_001, 422)])
async def test_a_long_message_is_searched_by_its_beginning(
    start: Any, settings: Any, world: Any, length: int, status: int
) -> None:
    content = "Tokens? " + "x" * (length - 8)
    async with start(settings) as service:
        session = await service.session(title="t")
        response = await service.client.post(f"/v1/sessions/{session}/messages", json={"content": content})
        if response.status_code == 202:
            await service.events(response.json()["id"])
    assert response.status_code == status
    assert [body["query"] for body, _ in world.searches] == ([content[:10_000]] if status == 202 else [])


async def test_an_idempotency_key_belongs_to_one_position_in_the_tree(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        tree = Tree(service, await service.session(title="t"))
        first = await tree.ask("First?")
        path, headers = f"{tree.path}/messages", {"Idempotency-Key": "k"}
        body = {"content": "Again?", "parent_id": first["answer_id"]}
        runs = [await service.client.post(path, json=body, headers=headers) for _ in range(2)]
        moved = await service.client.post(path, json={**body, "parent_id": None}, headers=headers)
    assert runs[0].json()["answer_id"] == runs[1].json()["answer_id"]
    assert (moved.status_code, moved.json()["type"]) == (409, "idempotency-key-reused")
