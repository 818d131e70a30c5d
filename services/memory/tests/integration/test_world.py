"""The world state over HTTP: documents, operations, history, and who may see and change what."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from contracts.events import DOCUMENTS, TURNS, DocumentStored, SessionDeleted
from contracts.gateway import Role
from contracts.object_keys import original_key
from contracts.world import StagedOperations, WorldDocument, WorldOperation

DEFAULTS = WorldDocument().model_dump(mode="json")


@pytest.fixture
def world(client, auth_headers):
    class Caller:
        """A member of the workspace, whose requests arrive as the gateway forwards them."""

        async def get(self, path: str = "", *, who: dict[str, Any] | None = None, **params: Any) -> Any:
            return await client.get(f"/v1/world{path}", params=params, headers=auth_headers(**(who or {})))

        async def apply(
            self, *operations: tuple[Any, ...], who: dict[str, Any] | None = None, session: Any = None, **more: Any
        ) -> Any:
            body = {"operations": [_operation(*one) for one in operations]}
            if more.pop("dry_run", False):
                body["dry_run"] = True
            headers = {**auth_headers(**(who or {})), **more.pop("headers", {})}
            params = {"session_id": str(session)} if session else {}
            return await client.post("/v1/world/operations", json=body, params=params, headers=headers)

        async def revert(self, version: int, **headers: str) -> Any:
            body = {"version": version}
            return await client.post("/v1/world/revert", json=body, headers={**auth_headers(), **headers})

    return Caller()


def _operation(op: str, path: str, *value: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **({"value": value[0]} if value else {})}


@pytest.fixture
def session(owners, principal) -> UUID:
    """Returns a session of the caller."""
    session_id = uuid4()
    owners.users[str(session_id)] = str(principal.user_id)
    return session_id


async def test_a_new_world_state_has_defaults_and_its_creation_is_an_event(world):
    read = await world.get()
    assert (read.status_code, read.headers["etag"]) == (200, '"1"')
    assert (read.json()["version"], read.json()["document"], read.json()["session_id"]) == (1, DEFAULTS, None)
    [event] = (await world.get("/history")).json()["items"]
    assert (event["version"], event["kind"]) == (1, "created")


async def test_each_operation_is_an_event_with_its_author(world, principal):
    changed = await world.apply(
        ("set", "/project/name", "Apollo"), ("add", "/topics", "moon"), ("add", "/topics", "moon")
    )
    assert (changed.status_code, changed.json()["version"], changed.headers["etag"]) == (200, 3, '"3"')
    first = (await world.get("/history", limit=1)).json()
    assert first["items"][0]["value"] == "moon"
    rest = (await world.get("/history", cursor=first["next_cursor"])).json()["items"]
    assert [(one["op"], one["path"], one["previous"]) for one in rest] == [
        ("set", "/project/name", DEFAULTS["project"]),
        (None, None, None),
    ]
    assert {one["created_by"] for one in rest} == {str(principal.user_id), None}


async def test_operations_are_applied_atomically(world):
    failed = await world.apply(("add", "/topics", "moon"), ("test", "/project/name", "Apollo"))
    assert (failed.status_code, failed.json()["type"]) == (409, "world-operation-failed")
    assert failed.json()["detail"].startswith("operation 2 (test /project/name)")
    refused = await world.apply(("add", "/topics", "moon"), ("set", "/mood", "calm"))
    assert (refused.status_code, refused.json()["type"]) == (422, "world-operation-invalid")
    assert (await world.get()).json()["version"] == 1


async def test_a_dry_run_returns_the_result_without_storing_it(world):
    tried = await world.apply(("add", "/topics", "moon"), dry_run=True)
    assert tried.json()["document"]["topics"] == ["moon"]
    assert (await world.get()).json()["document"] == DEFAULTS


async def test_if_match_requires_the_current_version(world):
    await world.apply(("add", "/topics", "moon"))
    stale = await world.apply(("add", "/topics", "mars"), headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["detail"]) == (412, "the world now has version 2")
    assert (await world.apply(("add", "/topics", "mars"), headers={"If-Match": '"2"'})).json()["version"] == 3


async def test_a_repeated_request_is_applied_once(world):
    key = {"Idempotency-Key": "one"}
    for version in (2, 3):
        sent = await world.apply(("set", "/project/name", "Apollo"), headers=key)
        assert (sent.status_code, sent.json()["version"]) == (200, version)
        await world.apply(("set", "/project/name", "Artemis"))
    assert (await world.get()).json()["document"]["project"]["name"] == "Artemis"
    other = await world.apply(("set", "/project/name", "Gemini"), headers=key)
    assert (other.status_code, other.json()["type"]) == (409, "idempotency-key-reused")


async def test_versions_can_be_read_compared_and_restored(world):
    await world.apply(("set", "/project/name", "Apollo"), ("add", "/topics", "moon"), ("set", "/extra/crew", 3))
    await world.apply(("remove", "/topics", "moon"), ("set", "/extra/crew", 4), ("remove", "/extra/crew"))
    old = (await world.get(version=4)).json()
    assert (old["version"], old["document"]["topics"], old["document"]["extra"]) == (4, ["moon"], {"crew": 3})
    compared = (await world.get("/diff", **{"from": 2, "to": 4})).json()["changes"]
    assert compared == [
        {"path": "/topics", "before": [], "after": ["moon"]},
        {"path": "/extra/crew", "before": None, "after": 3},
    ]
    restored = await world.revert(4)
    assert (restored.json()["version"], restored.json()["document"]) == (9, old["document"])
    kinds = [one["kind"] for one in (await world.get("/history", limit=2)).json()["items"]]
    assert kinds == ["reverted", "reverted"]
    assert (await world.get("/diff", **{"from": 4})).json()["changes"] == []
    assert (await world.revert(2, **{"If-Match": "8"})).status_code == 412
    for asked in (await world.get(version=10), await world.get("/diff", **{"from": 10}), await world.revert(10)):
        assert (asked.status_code, asked.json()["type"]) == (404, "world-version-not-found")


async def test_a_malformed_document_is_repaired_on_load_with_an_event(world, app, workspace_id):
    await world.apply(("set", "/project/name", "Apollo"), ("add", "/topics", "moon"))
    damaged = {"project": {"name": "Apollo"}, "topics": 7, "goals": ["Land"], "mood": "calm"}
    with psycopg.connect(app.state.database_url) as connection:
        connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
        connection.execute("UPDATE world SET document = %s", (Jsonb(damaged),))
    read = (await world.get()).json()
    assert (read["version"], read["document"]["goals"], read["document"]["topics"]) == (4, ["Land"], [])
    assert (read["document"]["project"]["name"], read["document"]["extra"]) == ("Apollo", {"mood": "calm"})
    event = (await world.get("/history", limit=1)).json()["items"][0]
    assert event["kind"] == "repaired"
    assert {"/topics was malformed", "/rules was missing"} < set(event["repairs"])
    assert event["previous"]["/topics"] == 7
    assert (await world.get()).json()["version"] == 4


async def test_viewers_read_the_world_state_of_the_workspace_and_editors_change_it(world):
    viewer, editor = ({"role": role, "user_id": uuid4()} for role in (Role.viewer, Role.editor))
    assert (await world.get(who=viewer)).status_code == 200
    assert (await world.apply(("add", "/topics", "moon"), who=viewer)).status_code == 403
    assert (await world.apply(("add", "/topics", "moon"), who=viewer, dry_run=True)).status_code == 200
    assert (await world.apply(("add", "/topics", "moon"), who=editor)).status_code == 200
    assert (await world.get(who=viewer)).json()["document"]["topics"] == ["moon"]
    assert (await world.get(who={"workspace_id": uuid4()})).json()["document"]["topics"] == []


async def test_the_world_state_of_a_session_is_private_to_its_user(world, session, workspace_id):
    viewer = {"role": Role.viewer}
    changed = await world.apply(("add", "/topics", "quixotic"), session=session, who=viewer)
    assert (changed.status_code, changed.json()["session_id"]) == (200, str(session))
    assert (await world.get()).json()["document"]["topics"] == []
    stranger = {"user_id": uuid4()}
    for path, more in (("", {}), ("/history", {}), ("/diff", {"from": 1})):
        refused = await world.get(path, who=stranger, session_id=str(session), **more)
        assert (refused.status_code, refused.json()["type"]) == (404, "session-not-found")
    assert (await world.apply(("add", "/topics", "x"), session=session, who=stranger)).status_code == 404
    assert (await world.get(session_id=str(uuid4()))).status_code == 404
    assert (await world.get(session_id=str(workspace_id))).status_code == 404


async def test_without_the_orchestrator_a_known_session_can_still_be_read(world, session, owners):
    await world.apply(("add", "/topics", "moon"), session=session)
    owners.is_away = True
    assert (await world.get(session_id=str(session))).json()["document"]["topics"] == ["moon"]
    refused = await world.get(session_id=str(uuid4()))
    assert (refused.status_code, refused.json()["type"]) == (503, "service-silent")


async def test_the_world_state_of_a_session_is_deleted_with_it(world, session, streams, app, workspace_id):
    await world.apply(("add", "/topics", "quixotic"), session=session)
    await world.apply(("add", "/topics", "kept"))
    await streams.send(SessionDeleted(session_id=session))
    await streams.drained(TURNS)
    assert (await world.get(session_id=str(session))).status_code == 404
    assert (await world.get()).json()["document"]["topics"] == ["kept"]
    with psycopg.connect(app.state.database_url) as connection:
        connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
        [left] = connection.execute("SELECT count(*) FROM world_event WHERE world_id = %s", (session,)).fetchone()
    assert left == 0


def staged(*operations: tuple[Any, ...], of_session: bool = False) -> StagedOperations:
    """Returns the operations that the orchestrator sends with a turn."""
    made = [WorldOperation.model_validate(_operation(*one)) for one in operations]
    return StagedOperations(of_session=of_session, operations=made)


async def test_operations_staged_by_a_run_are_applied_once_despite_redelivery(world, session, streams, principal):
    turn = {"run_id": uuid4(), "question_id": uuid4(), "answer_id": uuid4(), "session_id": session}
    goal = staged(("add", "/goals", "Ship in May"), ("set", "/project/status", None))
    own = staged(("add", "/topics", "moon"), of_session=True)
    for run, change in ((turn, goal), ({**turn, "run_id": uuid4()}, own)):
        event = await streams.turn(principal.user_id, "Add a goal", [], world=change, **run)
        await streams.turn(principal.user_id, "Add a goal", [], world=change, event_id=event, **run)
        await streams.turn(principal.user_id, "Add a goal", [], world=change, **run)
    await streams.drained(TURNS)
    assert (await world.get()).json()["document"]["goals"] == ["Ship in May"]
    assert (await world.get(session_id=str(session))).json()["document"]["topics"] == ["moon"]
    made, _ = (await world.get("/history")).json()["items"]
    assert (made["kind"], made["run_id"], made["created_by"]) == (
        "operation",
        str(turn["run_id"]),
        str(principal.user_id),
    )
    # What somebody undid stays undone when the whole stream is delivered again.
    await world.apply(("remove", "/goals", "Ship in May"))
    await streams.turn(principal.user_id, "Add a goal", [], world=goal, **turn)
    await streams.drained(TURNS)
    assert (await world.get()).json()["document"]["goals"] == []


async def test_a_staged_operation_that_no_longer_applies_becomes_a_visible_conflict(world, streams, principal):
    await world.apply(("set", "/project/name", "Gemini"))
    renamed = staged(("test", "/project/name", None), ("set", "/project/name", "Apollo"))
    run_id = uuid4()
    for _ in range(2):
        await streams.turn(principal.user_id, "Rename the project to Apollo", [], world=renamed, run_id=run_id)
    await streams.drained(TURNS)
    read = (await world.get(who={"role": Role.viewer, "user_id": uuid4()})).json()
    assert (read["document"]["project"]["name"], read["version"]) == ("Gemini", 4)
    second, first, *_ = (await world.get("/history")).json()["items"]
    assert [(one["kind"], one["op"], one["value"]) for one in (first, second)] == [
        ("conflict", "test", None),
        ("conflict", "set", "Apollo"),
    ]
    assert first["run_id"] == second["run_id"] == str(run_id)
    assert second["repairs"] == ["operation 1 (test /project/name): the value there is another one"]
    assert (await world.get(version=3)).json()["document"]["project"]["name"] == "Gemini"


async def test_the_project_status_is_compiled_after_turns_and_stored(world, streams, app, workspace_id, principal):
    names = {uuid4(): "plan.md", uuid4(): "minutes.md"}
    for document_id, name in names.items():
        key = {"object_key": original_key(workspace_id, "0"), "bytes": 1, "content_hash": "0"}
        for _ in range(2):
            await streams.send(DocumentStored(document_id=document_id, name=name, **key))
    await streams.drained(DOCUMENTS)
    decided = staged(("add", "/decisions", "Use PostgreSQL"), ("add", "/open_questions", "Who hosts it?"))
    await streams.turn(principal.user_id, "Decision: use PostgreSQL", [], world=decided)
    await streams.drained(TURNS)

    def stored() -> str:
        with psycopg.connect(app.state.database_url) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
            [manifest] = connection.execute("SELECT manifest FROM project_status").fetchone()
        return manifest

    after_turn = stored()
    read = await world.get("/status", who={"role": Role.viewer, "user_id": uuid4()})
    assert (read.text, (await world.get("/status")).text) == (after_turn, after_turn)
    status = read.json()
    assert (status["decisions"], status["open_questions"]) == (["Use PostgreSQL"], ["Who hosts it?"])
    assert (status["document_count"], {one["name"] for one in status["documents"]}) == (2, set(names.values()))
    assert status["activity"][0]["text"] == "add /open_questions Who hosts it?"
    plan = next(iter(names))
    await streams.delete(plan)
    assert "plan.md" not in stored()
    assert (await world.get("/status", who={"workspace_id": uuid4()})).json()["documents"] == []


async def test_a_transaction_for_a_user_sees_no_rows_of_other_users(world, session, app, workspace_id, principal):
    await world.apply(("add", "/topics", "moon"), session=session)
    await world.get()
    with psycopg.connect(app.state.database_url, autocommit=True) as connection:
        seen = {}
        for user in (principal.user_id, uuid4()):
            connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            connection.execute("SELECT set_config('app.user_id', %s, false)", (str(user),))
            seen[user] = {one for (one,) in connection.execute("SELECT id FROM world").fetchall()}
        assert list(seen.values()) == [{session, workspace_id}, {workspace_id}]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO world (workspace_id, id, owner_id, document) VALUES (%s, %s, %s, '{}')",
                (workspace_id, uuid4(), principal.user_id),
            )


async def test_concurrent_writers_lose_no_update(world):
    writers, each = 6, 5
    await asyncio.gather(*(_count_up(world, each) for _ in range(writers)))
    topics = [f"topic {number}" for number in range(writers * each)]
    sent = await asyncio.gather(*(world.apply(("add", "/topics", topic)) for topic in topics))
    assert {one.status_code for one in sent} == {200}
    document = (await world.get()).json()["document"]
    assert document["extra"]["count"] == writers * each
    assert sorted(document["topics"]) == sorted(topics)
    events = (await world.get("/history", limit=200)).json()["items"]
    assert [one["version"] for one in events] == list(range(2 * writers * each + 1, 0, -1))


async def _count_up(world: Any, times: int) -> None:
    """Adds 1 to the value it has read, `times` times; reads again if another writer was faster."""
    while times:
        read = (await world.get()).json()
        count = read["document"]["extra"].get("count", 0)
        answer = await world.apply(("set", "/extra/count", count + 1), headers={"If-Match": str(read["version"])})
        times -= answer.status_code == 200
        assert answer.status_code in {200, 412}


# The order of the writers' turns; in each, a writer reads, or writes the successor of what it read.
TURNS_OF = st.lists(st.integers(0, 2), min_size=4, max_size=16)


async def test_no_interleaving_of_readers_and_writers_loses_an_update(world):
    """Lets each writer add 1 to the value it read, so the result equals the number of accepted writes."""
    loop, accepted = asyncio.get_running_loop(), 0

    async def play(schedule: list[int]) -> None:
        nonlocal accepted
        read: dict[int, tuple[int, int]] = {}
        for writer in schedule:
            if writer not in read:
                world_now = (await world.get()).json()
                read[writer] = world_now["version"], world_now["document"]["extra"].get("count", 0)
                continue
            version, count = read.pop(writer)
            answer = await world.apply(("set", "/extra/count", count + 1), headers={"If-Match": str(version)})
            current = (await world.get()).json()
            accepted += answer.status_code == 200
            assert answer.status_code == (200 if count == accepted - (answer.status_code == 200) else 412)
            assert current["document"]["extra"].get("count", 0) == accepted

    @settings(max_examples=25, suppress_health_check=list(HealthCheck))
    @given(schedule=TURNS_OF)
    def every(schedule: list[int]) -> None:
        asyncio.run_coroutine_threadsafe(play(schedule), loop).result(120)

    await asyncio.to_thread(every)
    assert accepted > 0
