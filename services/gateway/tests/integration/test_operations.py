"""Owners see how far services are behind and what they gave up, and have it delivered again."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest
from people import bearer
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, DocumentDeleted, Event
from service_kit.outbox import new_event
from service_kit.streams import dead_letters


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


async def given_up(redis, entry: str, workspace_id: str, stream: str = DOCUMENTS, group: str = "retrieval") -> Event:
    event = new_event("ingestion", UUID(workspace_id), DocumentDeleted(document_id=uuid4()), "a document")
    letter = {"event": event.model_dump_json(), "signature": "k.ab", "group": group, "entry": "1-0"}
    letter |= {"reason": "OSError: the disk is full", "failed_at": "2026-01-01T00:00:00+00:00"}
    await redis.xadd(dead_letters(stream), letter, id=entry)
    return event


async def response_to(client, method: str, path: str, **more):
    """Repeats the request, which is idempotent, until Redis answers; on a busy machine it may not do so at once."""
    async with asyncio.timeout(120):
        while True:
            answer = await client.request(method, path, **more)
            if answer.status_code != 503:
                return answer


async def test_an_owner_reads_and_replays_the_dead_letters_of_their_workspace(gateway_client, redis):
    async with gateway_client() as admin:
        home = (await admin.get("/v1/me")).json()["workspace"]["id"]
        other = (await admin.post("/v1/workspaces", json={"name": "other"})).json()["id"]
        first = await given_up(redis, "1-0", home)
        await given_up(redis, "2-0", other)
        await given_up(redis, "3-0", home, TURNS, "memory")
        await redis.xadd(
            dead_letters(DOCUMENTS),
            {"event": "{}", "group": "memory", "reason": "not an event", "failed_at": "2026-01-01T00:00:00+00:00"},
            id="4-0",
        )

        page = (await response_to(admin, "GET", "/v1/dead-letters", params={"limit": 1})).json()
        [letter] = page["items"]
        assert (letter["type"], letter["service"]) == ("document.deleted.v1", "retrieval")
        assert (letter["reason"], letter["subject"]) == ("OSError: the disk is full", "a document")
        rest = (await response_to(admin, "GET", "/v1/dead-letters", params={"cursor": page["next_cursor"]})).json()
        assert [(one["stream"], one["service"]) for one in rest["items"]] == [("turns", "memory")]
        assert rest["next_cursor"] is None
        everything = (await response_to(admin, "GET", "/v1/dead-letters", params={"everywhere": True})).json()["items"]
        assert [one["workspace_id"] for one in everything] == [home, other, home, None]

        replay = "/v1/dead-letters/replay"
        ids = [one["id"] for one in everything]
        of_others = {"ids": [ids[1], ids[3]]}
        assert (await response_to(admin, "POST", replay, json=of_others)).json() == {"replayed": 0}
        assert (await response_to(admin, "POST", replay, json={"ids": [ids[2], ids[0], ids[0]]})).json() == {
            "replayed": 2
        }
        assert (await response_to(admin, "POST", replay, json={"ids": ids[:1]})).json() == {"replayed": 0}
        assert (await response_to(admin, "POST", replay, json={"ids": ["runs-1-1"]})).status_code == 422
        delivered = [fields for _, fields in await redis.xrange(DOCUMENTS)]
        assert {"event": first.model_dump_json(), "signature": "k.ab"} in delivered
        assert await redis.xlen(TURNS) == 1
        assert (await response_to(admin, "GET", "/v1/dead-letters")).json()["items"] == []

        key = {"name": "reader", "role": "editor"}
        reader = bearer((await admin.post(f"/v1/workspaces/{home}/keys", json=key)).json()["key"])
        for method, path in (("GET", "/v1/dead-letters"), ("POST", replay), ("GET", "/v1/backlogs")):
            refused = await response_to(admin, method, path, headers=reader, json={"ids": ids})
            assert refused.status_code == 403, path

        await redis.xgroup_create(TURNS, "memory", id="0")
        await redis.xreadgroup("memory", "reader", {TURNS: ">"}, count=1)
        await redis.xadd(TURNS, {"event": "{}"})
        behind = (await response_to(admin, "GET", "/v1/backlogs")).json()["items"]
        [turns] = [one for one in behind if one["stream"] == "turns"]
        assert (turns["service"], turns["waiting"], turns["held"]) == ("memory", 1, 1)
        assert {one["service"] for one in behind if one["stream"] == "documents"} >= {"gateway"}
