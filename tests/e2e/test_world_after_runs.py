"""What messages do to the world state, read right after their runs, through the gateway."""

from __future__ import annotations

from typing import Any

import httpx2
from api_calls import events_of


async def said(http: httpx2.AsyncClient, session: str, message: str, *, cancelled: bool = False) -> dict[str, Any]:
    """Returns the run that answers the message, once it has ended."""
    response = await http.post(f"/v1/sessions/{session}/messages", json={"content": message})
    run = response.raise_for_status().json()["id"]
    if cancelled:
        (await http.post(f"/v1/runs/{run}/cancel")).raise_for_status()
    async with http.stream("GET", f"/v1/runs/{run}/events") as events:
        assert [name async for _, name, _ in events_of(events)][-1] in ("run_completed", "run_cancelled")
    ended: dict[str, Any] = (await http.get(f"/v1/runs/{run}")).raise_for_status().json()
    return ended


async def read_after(http: httpx2.AsyncClient, run: dict[str, Any], **of: str) -> dict[str, Any]:
    response = await http.get("/v1/world", params={"after_run": run["id"], "timeout": 240, **of})
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()["document"]
    return document


async def test_a_read_after_a_run_agrees_with_how_the_run_ended(make_tenant) -> None:
    async with make_tenant("planning") as tenant:
        session = (await tenant.http.post("/v1/sessions", json={})).json()["id"]
        kept = []
        for number in range(6):
            goal = f"reach milestone {number}"
            run = await said(tenant.http, session, f"Add a goal: {goal}", cancelled=number % 2 == 1)
            if run["status"] == "completed":
                kept.append(goal)
            assert (await read_after(tenant.http, run))["goals"] == kept
        assert {f"reach milestone {number}" for number in (0, 2, 4)} <= set(kept)


async def test_after_a_turn_its_topics_are_in_the_world_of_its_session(make_tenant) -> None:
    async with make_tenant("talking") as tenant:
        session = (await tenant.http.post("/v1/sessions", json={})).json()["id"]
        run = await said(tenant.http, session, "What do we know about the token rotation of AuthService?")
        assert (await read_after(tenant.http, run, session_id=session))["topics"] == ["token rotation", "AuthService"]
        assert (await read_after(tenant.http, run))["topics"] == []
