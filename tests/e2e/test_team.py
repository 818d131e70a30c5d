"""A team of twenty at work at once: nobody gets an error, whoever searches, asks, uploads or recalls beside whom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

import httpx2
import pytest
from api_calls import EXAMPLES, ask, client, ingest, processed
from people import make_user

PEOPLE, ROUNDS = 20, 3
SUBJECTS = ("AuthService", "UserDB", "ProjectAlpha", "BillingService")


async def _search(http: httpx2.AsyncClient, subject: str) -> None:
    found = (await http.post("/v1/search", json={"query": f"Who owns {subject}?"})).raise_for_status()
    assert found.json()["hits"]


async def _ask(http: httpx2.AsyncClient, subject: str) -> None:
    assert (await ask(http, f"What does {subject} depend on?"))["content"]


async def _list(http: httpx2.AsyncClient, _: str) -> None:
    for path in ("sessions", "documents", "memories"):
        (await http.get(f"/v1/{path}")).raise_for_status()


async def _remember(http: httpx2.AsyncClient, subject: str) -> None:
    (await http.post("/v1/memories", json={"content": f"I work on {subject}."})).raise_for_status()


Way = Callable[[httpx2.AsyncClient, str], Awaitable[None]]
WAYS: Sequence[Way] = (_search, _ask, _list, _remember, _search)


async def _work(http: httpx2.AsyncClient, number: int) -> None:
    """Uploads a document of one's own, and does everything some times, each person beginning with something else."""
    page = f"# Notes of {number}\n\nPerson {number} looks after the lighthouse number {number}.\n"
    uploaded = await http.post("/v1/documents", files=[("files", (f"notes-{number}.md", page.encode()))])
    [file] = uploaded.raise_for_status().json()["files"]
    for turn in range(ROUNDS * len(WAYS)):
        await WAYS[(number + turn) % len(WAYS)](http, SUBJECTS[(number + turn) % len(SUBJECTS)])
    assert (await processed(http, file["document"]["id"]))["status"] == "searchable"


@pytest.mark.timeout(600)
async def test_twenty_people_at_work_see_no_error(
    make_tenant, admin: httpx2.AsyncClient, address: tuple[str, str]
) -> None:
    url, _ = address
    async with make_tenant("a team") as team, AsyncExitStack() as opened:
        await ingest(team.http, [EXAMPLES / "services.md"])
        people = []
        for number in range(PEOPLE):
            _, key = await make_user(admin, str(team.workspace_id), "editor", f"person {number}")
            people.append(await opened.enter_async_context(client(url, key["key"])))
        await asyncio.gather(*(_work(http, number) for number, http in enumerate(people)))
