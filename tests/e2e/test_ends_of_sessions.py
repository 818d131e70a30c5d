"""The ends of sessions through the whole stack: what memory keeps of a session, and who can read a shared one."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from api_calls import EXAMPLES, PATIENCE, ask, ingest, listed


@pytest.fixture
async def sessions_tenant(make_tenant: Any) -> Any:
    async with make_tenant("sessions") as tenant:
        await ingest(tenant.http, [EXAMPLES / "services.md"])
        yield tenant


async def session_of(http: httpx2.AsyncClient, run_id: object) -> str:
    return str((await http.get(f"/v1/runs/{run_id}")).json()["session_id"])


async def asked_in(http: httpx2.AsyncClient, session: dict[str, Any], question: str) -> str:
    """Asks in a new session and waits for the answer; returns the session."""
    made = (await http.post("/v1/sessions", json=session)).json()["id"]
    run = (await http.post(f"/v1/sessions/{made}/messages", json={"content": question})).json()
    async with http.stream("GET", f"/v1/runs/{run['id']}/events") as response:
        [_ async for _ in response.aiter_lines()]
    return str(made)


async def remembered(http: httpx2.AsyncClient, sessions: set[str]) -> None:
    """Waits until episodes of exactly these sessions are remembered."""
    async with asyncio.timeout(PATIENCE):
        while {one["session_id"] for one in await listed(http, "/v1/memories")} != sessions:  # noqa: ASYNC110
            await asyncio.sleep(0.2)  # the API has no event for it


async def test_memory_forgets_a_deleted_session(sessions_tenant: Any) -> None:
    http = sessions_tenant.http
    session = await session_of(http, (await ask(http, "What does BillingRouter depend on?"))["run_id"])
    kept = await session_of(http, (await ask(http, "Who owns BillingRouter?"))["run_id"])
    await remembered(http, {session, kept})
    receipt = (await http.delete(f"/v1/sessions/{session}")).json()
    assert set(receipt["remaining"].values()) == {0}
    assert receipt["removed"]["messages"] == 2
    await remembered(http, {kept})
    entries = (await http.get("/v1/audit", params={"action": "session.delete"})).json()["items"]
    assert [one["target_id"] for one in entries] == [session]


async def test_nothing_of_a_temporary_session_is_remembered(sessions_tenant: Any) -> None:
    http = sessions_tenant.http
    secret = await asked_in(http, {"temporary": True}, "Whom does BillingRouter page at night?")
    open_one = await asked_in(http, {}, "Whom does BillingRouter page by day?")
    await remembered(http, {open_one})  # the turn of the temporary session came first
    assert secret not in {one["id"] for one in (await http.get("/v1/sessions")).json()["items"]}
    assert (await http.get("/v1/sessions/search", params={"q": "night"})).json()["items"] == []


async def test_a_link_opens_the_shared_session_until_it_ends(sessions_tenant: Any) -> None:
    http = sessions_tenant.http
    session = await asked_in(http, {"title": "Billing"}, "Who owns BillingRouter?")
    (await http.patch("/v1/sharing", json={"links": True})).raise_for_status()
    path = f"/v1/sessions/{session}/shares"
    link, members = [(await http.post(path, json={"audience": one})).json() for one in ("link", "members")]
    async with httpx2.AsyncClient(base_url=http.base_url, timeout=60) as stranger:
        read = await stranger.get(f"/v1/shared/{link['token']}")
        assert read.status_code == 200, read.text
        assert read.json()["title"] == "Billing"
        assert all(citation["quote"] is None for one in read.json()["messages"] for citation in one["citations"])
        assert (await stranger.get(f"/v1/shared/{members['token']}")).status_code == 401
        whole = (await http.get(f"/v1/shared/{members['token']}")).json()
        assert any(citation["quote"] for one in whole["messages"] for citation in one["citations"])
        await http.delete(f"/v1/shares/{link['id']}")
        await http.delete(f"/v1/sessions/{session}")
        for token in (link["token"], members["token"]):
            assert (await stranger.get(f"/v1/shared/{token}")).status_code == 404
