"""Usage of models: identical in the run, its answer, its events and the report."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from contracts.gateway import Role

TOLD = {"prompt_tokens": 1_200, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 200}}


async def test_usage_is_reported_identically_on_every_route(start: Any, model_settings: Any, world: Any) -> None:
    world.usage = TOLD
    async with start(model_settings) as service:
        session = await service.session()
        run = await service.ask(session)
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
        _, answer = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        report = (await service.client.get("/v1/usage", params={"by": ["model", "key"]})).json()
        metrics = (await service.client.get("/metrics")).text
    calls = [event.data for event in events if event.name == "model_call"]
    assert [(call["role"], call["ended"], call["is_told"]) for call in calls] == [
        ("answer", "completed", True),
        ("title", "completed", True),
    ]
    assert calls[0]["first_token_ms"] > 0
    took = {
        "calls": 2,
        "input_tokens": 2_400,
        "output_tokens": 60,
        "cached_tokens": 400,
        "thinking_tokens": 0,
        "cost": None,
        "estimated_calls": 0,
    }
    assert (ended["usage"], ended["answer"]["usage"], answer["usage"]) == (took, took, took)
    unasked = {"day": None, "user_id": None, "key_id": None}
    assert report["items"] == [{**took, **unasked, "provider": "operator", "model": "small"}]
    for wanted in (
        'attractor_model_calls_total{ended="completed",model="small",role="answer"} 1.0',
        'attractor_model_calls_total{ended="failed",model="others",role="router"} 0.0',
        'attractor_model_tokens_total{kind="input",model="small",role="title"} 1200.0',
        'attractor_model_tokens_total{kind="cached",model="small",role="answer"} 200.0',
        'attractor_model_cost_total{model="small",role="answer"} 0.0',
        'attractor_model_first_token_seconds_count{model="small",role="answer"} 1.0',
        "attractor_run_first_words_seconds_count 1.0",
    ):
        assert wanted in metrics, wanted


async def test_a_call_that_broke_off_is_counted(start: Any, model_settings: Any, world: Any) -> None:
    world.cut = True
    async with start(model_settings) as service:
        run = await service.ask(await service.session(title="t"))
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert [event.data["ended"] for event in events if event.name == "model_call"] == ["cut"]
    assert ended["usage"]["estimated_calls"] == ended["usage"]["calls"] == 1
    assert ended["usage"]["input_tokens"] > 100
    assert ended["usage"]["output_tokens"] > 0


async def test_an_answer_that_its_user_stops_is_counted_and_nothing_stays_reserved(
    start: Any, model_settings: Any, world: Any
) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def pace(at: int) -> None:
        if at == 2:
            reached.set()
            await never.wait()

    world.pace, world.usage = pace, TOLD
    settings = model_settings.model_copy(update={"budget_user_tokens": 1_000_000})
    async with start(settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session(title="t"))
        await reached.wait()
        await service.client.post(f"/v1/runs/{run['id']}/cancel")
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
        report = (await service.client.get("/v1/usage", params={"by": ["model"]})).json()
    assert [event.data["ended"] for event in events if event.name == "model_call"] == ["cancelled"]
    assert ended["status"] == "cancelled"
    assert ended["usage"]["estimated_calls"] == ended["usage"]["calls"] == 1
    assert min(ended["usage"]["input_tokens"], ended["usage"]["output_tokens"]) > 0
    took = ended["usage"]["input_tokens"] + ended["usage"]["output_tokens"]
    [entry], [budget] = report["items"], report["budgets"]
    assert entry["input_tokens"] + entry["output_tokens"] == budget["used"] == took
    assert budget["reserved"] == 0


async def test_without_remaining_tokens_a_run_ends_with_a_named_error_and_the_reset_time(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.usage = TOLD
    settings = model_settings.model_copy(update={"budget_user_tokens": 1_000})
    async with start(settings) as service:
        session = await service.session(title="t")
        first, second = await service.ask(session), await service.ask(session)
        events = await service.events(first["id"])
        refused = await service.events(second["id"])
        failed = await service.run(second["id"])
        report = (await service.client.get("/v1/usage")).json()
    assert events[-1].name == "run_completed"
    nearly = [event.data["message"] for event in events if event.name == "issue"]
    assert any("of the 1000 tokens of the user a day are used or reserved" in message for message in nearly)
    assert refused[-1].name == "run_failed"
    assert failed["error_type"] == "budget-exceeded"
    assert failed["error_message"].startswith("all of the 1000 tokens of the user a day are used, until 20")
    assert failed["usage"] is None
    [budget] = report["budgets"]
    assert (budget["subject"], budget["most"], budget["used"], budget["reserved"]) == ("user", 1_000, 1_230, 0)


async def test_an_owner_sets_a_budget_which_holds_from_the_next_run_on_and_never_exceeds_the_operators(
    start: Any, model_settings: Any, world: Any, auth_headers: Any
) -> None:
    world.usage = TOLD
    owner = auth_headers(role=Role.owner)
    settings = model_settings.model_copy(update={"budget_user_tokens": 100_000, "budget_run_tokens": 50_000})
    async with start(settings) as service:

        async def put(key: str, most: int, headers: dict[str, str]) -> int:
            place = f"/v1/settings/budgets.{key}?scope=workspace"
            response = await service.client.put(place, json={"value": most}, headers=headers)
            return int(response.status_code)

        async def budgets() -> dict[str, int]:
            report = (await service.client.get("/v1/usage")).json()
            return {one["subject"]: one["most"] for one in report["budgets"]}

        refused = await put("user", 1_000, auth_headers(role=Role.editor))
        before = await budgets()
        changed = [await put(key, most, owner) for key, most in (("user", 1_000), ("workspace", 20_000))]
        lowered = await budgets()
        session = await service.session(title="t")
        first, second = await service.ask(session), await service.ask(session)
        completed = (await service.events(first["id"]))[-1]
        await service.events(second["id"])
        failed = await service.run(second["id"])
        raised = await put("user", 10**9, owner)
        after = await budgets()
        third = (await service.events((await service.ask(session))["id"]))[-1]
    assert (refused, changed, raised) == (403, [200, 200], 200)
    assert (before, lowered) == ({"user": 100_000}, {"user": 1_000, "workspace": 20_000})
    assert after == {"user": 100_000, "workspace": 20_000}  # the operator's holds
    assert completed.name == third.name == "run_completed"
    assert failed["error_message"].startswith("all of the 1000 tokens of the user a day are used, until 20")


async def test_owners_see_everyones_runs_with_their_usage_and_nothing_of_the_conversations(
    start: Any, model_settings: Any, world: Any, auth_headers: Any
) -> None:
    world.usage = TOLD
    owner = auth_headers(role=Role.owner, user_id=uuid4())
    asker, other = auth_headers(role=Role.editor), auth_headers(role=Role.viewer, user_id=uuid4())
    async with start(model_settings) as service:
        for temporary in (False, True):
            made = await service.client.post("/v1/sessions", json={"title": "t", "temporary": temporary})
            run = await service.ask(made.json()["id"])
            await service.events(run["id"])

        async def listed(headers: dict[str, str], **params: Any) -> Any:
            return await service.client.get("/v1/usage/runs", params=params, headers=headers)

        [shown] = (await listed(owner)).json()["items"]
        mine = (await listed(asker)).json()["items"]
        others, none_failed = (await listed(other)).json()["items"], (await listed(owner, status="failed")).json()
        refused = await listed(other, user_id=shown["user_id"])
        unread = await service.client.get(f"/v1/runs/{shown['id']}", headers=owner)
    assert shown.keys() == {
        *("id", "user_id", "status", "mode", "attempts", "error_type", "usage"),
        *("created_at", "started_at", "finished_at"),
    }
    assert (shown["status"], shown["mode"]) == ("completed", "model")
    assert (shown["usage"]["input_tokens"], shown["usage"]["output_tokens"]) == (1_200, 30)
    assert mine == [shown]
    assert (others, none_failed["items"]) == ([], [])
    assert (refused.status_code, unread.status_code) == (403, 404)


async def test_only_owners_see_the_usage_of_others(start: Any, model_settings: Any, auth_headers: Any) -> None:
    owner, viewer = auth_headers(role=Role.owner, user_id=uuid4()), auth_headers(role=Role.viewer)
    other = auth_headers(role=Role.viewer, user_id=uuid4())
    async with start(model_settings) as service:
        run = await service.ask(await service.session(title="t"))
        await service.events(run["id"])
        own, others = [
            (await service.client.get("/v1/usage", headers=headers)).json()["items"] for headers in (viewer, other)
        ]
        whole = (await service.client.get("/v1/usage?by=user", headers=owner)).json()["items"]
        user_id = whole[0]["user_id"]
        response = await service.client.get(f"/v1/usage?user_id={user_id}", headers=other)
        long_ago = await service.client.get("/v1/usage?until=0001-01-05")
        mistaken = await service.client.get("/v1/usage?since=2020-01-01&until=2026-01-01")
    assert [entry["calls"] for entry in own] == [1]
    assert others == []
    assert [entry["calls"] for entry in whole] == [1]
    assert (response.status_code, mistaken.status_code) == (403, 422)
    assert (long_ago.status_code, long_ago.json()["since"]) == (200, "0001-01-01")
    assert mistaken.json()["type"] == "bad-period"
