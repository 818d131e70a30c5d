"""One deployment on two database servers."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import rearranged_stack
from api_calls import ask, client, ingest, listed
from database_servers import address, server
from rearranged_stack import DatabasePlace
from stack import PATIENT, EmbeddedStack

SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspowner = 10 AND nspname !~ '^(pg_|information_schema|public)'"


@pytest.mark.timeout(600)
async def test_a_question_is_answered_with_citations_while_services_have_servers_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    folder.mkdir()
    with server(tmp_path / "one") as one, server(tmp_path / "other") as other:
        here, there = (DatabasePlace(each.url(), address(each)) for each in (one, other))
        places = {"*": here, "memory": there, "retrieval": there, "orchestrator": there}
        settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "0"} | rearranged_stack.databases(places)
        with EmbeddedStack.started(folder, (rearranged_stack.__file__,), **settings) as stack:
            async with client(stack.url, stack.api_key) as http:
                (tmp_path / "otter.md").write_text("# Otter\n\nThe otter lives in the holt.\n")
                await ingest(http, [tmp_path / "otter.md"])
                answer = await ask(http, "Where does the otter live?")
                assert "holt" in str(answer["content"])
                assert answer["citations"]
                (await http.post("/v1/memories", json={"content": "The otter is shy."})).raise_for_status()
                assert await listed(http, "/v1/memories")
        found = []
        for each in (one, other):
            with psycopg.connect(each.url()) as connection:
                found.append({name for (name,) in connection.execute(SCHEMAS).fetchall()})
    assert found == [{"gateway", "ingestion", "knowledge_graph"}, {"memory", "orchestrator", "retrieval"}]
