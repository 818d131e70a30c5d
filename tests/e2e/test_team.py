"""A team of twenty at work at once: nobody gets an error, whoever searches, asks, uploads or recalls beside whom."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from api_calls import EXAMPLES, ingest, processed
from people import make_user
from team_at_work import Team, at_work

PEOPLE, THINKS_SECONDS, SECONDS = 20, 3.0, 60.0
QUESTIONS = [f"What does {name} depend on?" for name in ("AuthService", "UserDB", "ProjectAlpha", "BillingService")]
SHARES = {"search": 30, "answer": 20, "sessions": 10, "documents": 10, "memories": 10, "remember": 10, "upload": 10}


@pytest.mark.timeout(900)
async def test_twenty_people_at_work_see_no_error(
    make_tenant, admin: httpx2.AsyncClient, address: tuple[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "notes.md"
    page.write_text("# Notes\n\nSomebody looks after each lighthouse.\n", encoding="utf-8")
    async with make_tenant("a team") as tenant:
        await ingest(tenant.http, [EXAMPLES / "services.md"])
        people = [await make_user(admin, str(tenant.workspace_id), "editor", f"person {n}") for n in range(PEOPLE)]
        keys = [key["key"] for _, key in people]
        team = Team(PEOPLE, keys, [str(page)], QUESTIONS, SHARES, THINKS_SECONDS)
        figures = await at_work(team, address[0], SECONDS)
        assert figures.errors == {}
        assert figures.milliseconds.keys() == {*SHARES, "begin"}
        listed = (await tenant.http.get("/v1/documents", params={"limit": 200})).raise_for_status().json()["items"]
        assert len(listed) > 1
        for document in listed:
            assert (await processed(tenant.http, document["id"]))["status"] == "searchable"
