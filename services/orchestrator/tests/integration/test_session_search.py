"""Full-text search in one's own sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

FILLERS = 2_100  # more than are looked through without the index


async def found(service: Any, query: str, **params: Any) -> list[dict[str, Any]]:
    """All pages."""
    hits: list[dict[str, Any]] = []
    while True:
        response = await service.client.get("/v1/sessions/search", params={"q": query, **params})
        assert response.status_code == 200, response.text
        page = response.json()
        hits += page["items"]
        if not page["next_cursor"]:
            return hits
        params["cursor"] = page["next_cursor"]


async def test_titles_questions_and_answers_are_searched(start: Any, model_settings: Any, other_user: Any) -> None:
    async with start(model_settings) as service:
        session = await service.session(title="Größe der Schlüssel")
        question = "Wie lange gelten Zugriffstoken in src/token_store.py?"
        await service.events((await service.ask(session, question))["id"])
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        question_id, answer_id = (message["id"] for message in messages)

        async def ids(query: str) -> list[str | None]:
            return [hit["message_id"] for hit in await found(service, query)]

        [title] = await found(service, "grosse SCHLUSSEL")
        assert (title["session_id"], title["message_id"], title["role"]) == (session, None, None)
        assert (title["title"], title["snippet"], title["archived"]) == (*["Größe der Schlüssel"] * 2, False)
        [hit] = await found(service, "fifteen tokens")
        assert (hit["message_id"], hit["role"], hit["snippet"]) == (answer_id, "assistant", messages[1]["content"])
        for query in ("zugriff", "store", "token_store.py", "lange -fifteen", '"wie lange"', "gelten or nothing"):
            assert await ids(query) == [question_id], query
        for query in ("zug riff", '"lange wie"', "lange -gelten", "griffstoken", "lan gelten", "?!", "'", "& | ! ( :*"):
            assert await ids(query) == [], query

        await service.client.patch(f"/v1/sessions/{session}", json={"title": "Renamed", "archived": True})
        assert await ids("grosse") == []
        assert [hit["archived"] for hit in await found(service, "renamed")] == [True]
        theirs = await service.client.get("/v1/sessions/search", params={"q": "fifteen"}, headers=other_user)
        assert theirs.json()["items"] == []
        for bad in ("", "x" * 1_001, "a\x00b"):
            assert (await service.client.get("/v1/sessions/search", params={"q": bad})).status_code == 422
        await service.client.delete(f"/v1/sessions/{session}")
        assert await ids("fifteen") == await ids("renamed") == []


async def test_rare_and_old_messages_are_found_among_many_newest_first(
    start: Any, settings: Any, workspace_id: UUID, principal: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    other = uuid4()
    async with start(settings) as service:
        with psycopg.connect(settings.database_url.get_secret_value()) as connection:
            for workspace, user, title, count, year in (
                (workspace_id, principal.user_id, "Rarität", 3, 2020),
                (workspace_id, principal.user_id, "filler", FILLERS, 2021),
                (workspace_id, uuid4(), "Rarität", 5, 2022),
                (other, principal.user_id, "Rarität", 7, 2022),
            ):
                connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace),))
                connection.execute(
                    "INSERT INTO session (workspace_id, id, created_by, title, created_at) "
                    "SELECT %s, gen_random_uuid(), %s, %s, make_date(%s, 1, 1) + n * interval '1 minute' "
                    "FROM generate_series(1, %s) AS n",
                    (workspace, user, title, year, count),
                )
        rare, frequent = await found(service, "rarit", limit=2), await found(service, "filler", limit=200)
        service.client.headers.update(auth_headers(workspace_id=other))
        elsewhere = await found(service, "raritat")
    for hits, count in ((rare, 3), (frequent, FILLERS), (elsewhere, 7)):
        assert len({hit["session_id"] for hit in hits}) == len(hits) == count
        times = [hit["written_at"] for hit in hits]
        assert times == sorted(times, reverse=True)


async def test_an_old_message_is_found_while_its_last_word_is_being_typed(
    start: Any, settings: Any, workspace_id: UUID, principal: Any
) -> None:
    old = {"Rarität am Anfang": 2019, "Rarität am Ende": 2020, "Am Anfang, filler": 2018}
    async with start(settings) as service:
        with psycopg.connect(settings.database_url.get_secret_value()) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
            for title, year, count in [*((title, year, 1) for title, year in old.items()), ("filler", 2021, FILLERS)]:
                connection.execute(
                    "INSERT INTO session (workspace_id, id, created_by, title, created_at) "
                    "SELECT %s, gen_random_uuid(), %s, %s, make_date(%s, 1, 1) + n * interval '1 minute' "
                    "FROM generate_series(1, %s) AS n",
                    (workspace_id, principal.user_id, title, year, count),
                )
        for query, titles in {
            "raritat a": ["Rarität am Ende", "Rarität am Anfang"],
            "raritat an": ["Rarität am Anfang"],
            "rarität e": ["Rarität am Ende"],
            '"am e"': ["Rarität am Ende"],
            '"rarität am" anf': ["Rarität am Anfang"],
            "rarität x": [],
            "am -rarität anf": ["Am Anfang, filler"],
            "ende or anfang fill": ["Rarität am Ende", "Am Anfang, filler"],
            "filler anf": ["Am Anfang, filler"],
            "rar end": [],
        }.items():
            assert [hit["title"] for hit in await found(service, query)] == titles, query


@pytest.mark.parametrize(
    "content", ["ab " * 66_666, "".join(chr(0x4E00 + n % 20_000) + " " for n in range(33_000)) * 3]
)
async def test_a_message_of_any_length_is_stored_and_found(
    content: str, start: Any, settings: Any, workspace_id: UUID, principal: Any
) -> None:
    session, run = uuid4(), uuid4()
    async with start(settings) as service:
        with psycopg.connect(settings.database_url.get_secret_value()) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
            connection.execute(
                "INSERT INTO session (workspace_id, id, created_by) VALUES (%s, %s, %s)",
                (workspace_id, session, principal.user_id),
            )
            connection.execute(
                "INSERT INTO run (workspace_id, id, session_id, created_by, role, state, attempts_left) "
                "VALUES (%s, %s, %s, %s, 'viewer', 'completed', 1)",
                (workspace_id, run, session, principal.user_id),
            )
            connection.execute(
                "INSERT INTO message (workspace_id, id, session_id, run_id, role, content) "
                "VALUES (%s, gen_random_uuid(), %s, %s, 'user', %s)",
                (workspace_id, session, run, content),
            )
        [hit] = await found(service, content.split()[0])
    assert len(hit["snippet"]) <= 202
