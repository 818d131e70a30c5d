"""One stream of what changes in a workspace, for those who may know of it."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from people import bearer
from redis.asyncio import Redis

from contracts.events import (
    DOCUMENTS,
    ArtifactChanged,
    DocumentDeleted,
    DocumentFailed,
    DocumentStored,
    EventData,
    RunChanged,
    SyncChanged,
    TurnDiscarded,
)
from contracts.object_keys import original_key
from contracts.orchestrator import RunStatus
from contracts.registry import INGESTION, MEMORY
from contracts.sources import SyncStatus
from service_kit.event_signatures import EventSignatures
from service_kit.outbox import new_event
from service_kit.streams import dead_letters

Told = tuple[str, str, dict]


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as redis:
        yield redis


@pytest.fixture
def say(redis, token_keys):
    """`await say(workspace_id, data)` writes an event as its service would; `by`: another service signs it."""

    async def write(workspace_id: str, data: EventData, by: str | None = None) -> None:
        tokens = token_keys.tokens(by or data.sources[0])
        event = new_event(data.sources[0], UUID(workspace_id), data, "x").model_dump_json()
        await redis.xadd(
            data.stream, EventSignatures(tokens.key, tokens.known, datetime.now(UTC)).sign(data.stream, event)
        )

    return write


class Reader:
    """Reads a stream of events, of which the first has only an id."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self.lines = lines

    async def next(self) -> Told:
        found = {"event": "", "data": "{}"}
        async with asyncio.timeout(120):
            async for line in self.lines:
                name, _, value = line.partition(": ")
                if line and name:
                    found[name] = value
                elif "id" in found:
                    break
        return found["id"], found["event"], json.loads(found["data"])


@asynccontextmanager
async def following(client, last_event_id: str | None = None, headers: dict[str, str] | None = None):
    """Yields a reader after its first event."""
    sent = {**(headers or {}), **({"Last-Event-ID": last_event_id} if last_event_id else {})}
    async with client.stream("GET", "/v1/events", headers=sent) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        reader = Reader(response.aiter_lines())
        yield reader, await reader.next()


async def home_of(client) -> tuple[str, UUID]:
    me = (await client.get("/v1/me")).json()
    return me["workspace"]["id"], UUID(me["user"]["id"])


def stored(workspace_id: str, name: str) -> DocumentStored:
    content_hash = "a" * 64
    key = original_key(UUID(workspace_id), content_hash)
    return DocumentStored(document_id=uuid4(), name=name, object_key=key, bytes=1, content_hash=content_hash)


async def test_a_reader_hears_of_documents_synchronisations_runs_and_artifacts_as_they_change(gateway_client, say):
    async with gateway_client() as admin:
        home, user = await home_of(admin)
        session, run, sync, source = uuid4(), uuid4(), uuid4(), uuid4()
        document = stored(home, "plan.md")
        failed = DocumentFailed(
            service=INGESTION, document_id=document.document_id, version=1, stage="convert", error_class="too-large",
            error_message="a name that nobody should read",
        )  # fmt: skip
        async with following(admin) as (reader, _):
            await say(home, document)
            await say(home, failed)
            await say(home, SyncChanged(source_id=source, sync_id=sync, status=SyncStatus.running, dry_run=False))
            await say(home, RunChanged(session_id=session, run_id=run, user_id=user, status=RunStatus.running))
            await say(home, ArtifactChanged(session_id=session, user_id=user, index=2))
            told = [await reader.next() for _ in range(5)]
    by_name = {(name, data.get("state")): data for _, name, data in told}
    assert by_name == {
        ("document", "stored"): {
            "document_id": str(document.document_id), "state": "stored", "document_name": "plan.md"
        },
        ("document", "failed"): {
            "document_id": str(document.document_id), "state": "failed", "stage": "convert", "error_class": "too-large"
        },
        ("synchronisation", None): {
            "source_id": str(source), "sync_id": str(sync), "status": "running", "dry_run": False
        },
        ("run", None): {"run_id": str(run), "session_id": str(session), "status": "running"},
        ("artifact", None): {"session_id": str(session), "index": 2},
    }  # fmt: skip


async def test_nothing_is_missed_or_repeated_between_two_connections(gateway_client, say):
    async with gateway_client() as admin:
        home, _ = await home_of(admin)
        async with following(admin) as (_, first):
            pass
        await say(home, stored(home, "a.md"))
        await say(home, stored(home, "b.md"))
        async with following(admin, first[0]) as (reader, again):
            assert again[0] == first[0]
            seen = await reader.next()
        async with following(admin, seen[0]) as (reader, _):
            last = await reader.next()
    assert [seen[2]["document_name"], last[2]["document_name"]] == ["a.md", "b.md"]


async def test_who_reconnects_to_any_process_while_changes_keep_coming_misses_and_repeats_none(gateway_client, say):
    names = [f"{number}.md" for number in range(200)]
    async with gateway_client() as one, gateway_client() as other:
        home, _ = await home_of(one)
        async with following(one) as (_, first):
            pass

        async def write() -> None:
            for name in names:
                await say(home, stored(home, name))

        writing = asyncio.create_task(write())
        seen: list[str] = []
        last, clients = first[0], itertools.cycle((one, other))
        while len(seen) < len(names):
            async with following(next(clients), last) as (reader, _):
                for _ in range(min(7, len(names) - len(seen))):
                    last, _, data = await reader.next()
                    seen.append(data["document_name"])
        await writing
    assert seen == names


async def test_a_reader_who_was_away_for_too_long_is_told_to_read_anew(gateway_client, say, redis):
    async with gateway_client() as admin:
        home, _ = await home_of(admin)
        async with following(admin) as (_, first):
            pass
        await say(home, stored(home, "a.md"))
        await redis.xtrim(DOCUMENTS, maxlen=0)
        async with following(admin, first[0]) as (reader, again):
            assert again[1] == "missed"
            await say(home, stored(home, "b.md"))
            assert (await reader.next())[2]["document_name"] == "b.md"


async def test_nobody_hears_of_other_workspaces_of_others_runs_or_of_what_another_service_signed(gateway_client, say):
    async with gateway_client() as admin:
        home, user = await home_of(admin)
        other = (await admin.post("/v1/workspaces", json={"name": "other"})).json()["id"]
        async with following(admin) as (reader, _):
            await say(other, stored(other, "secret.md"))
            stranger = RunChanged(session_id=uuid4(), run_id=uuid4(), user_id=uuid4(), status=RunStatus.running)
            await say(home, stranger)
            await say(home, ArtifactChanged(session_id=uuid4(), user_id=uuid4(), index=1))
            await say(home, stored(home, "forged.md"), by=MEMORY)
            await say(home, TurnDiscarded(session_id=uuid4(), run_id=uuid4(), user_id=user))
            await say(home, RunChanged(session_id=uuid4(), run_id=uuid4(), user_id=user, status=RunStatus.queued))
            own = await reader.next()
            await say(home, stored(home, "mine.md"))
            last = await reader.next()
    assert (own[1], own[2]["status"]) == ("run", "queued")
    assert last[2]["document_name"] == "mine.md"


async def test_only_owners_hear_of_dead_letters(gateway_client, say, redis):
    async with gateway_client() as admin:
        home, _ = await home_of(admin)
        made = await admin.post(f"/v1/workspaces/{home}/keys", json={"name": "reader", "role": "viewer"})
        viewer = bearer(made.json()["key"])
        event = new_event(INGESTION, UUID(home), DocumentDeleted(document_id=uuid4()), "a document")
        letter = {"event": event.model_dump_json(), "group": "retrieval", "reason": "OSError: the disk is full"}
        async with following(admin) as (owner, _), following(admin, headers=viewer) as (reader, _):
            await redis.xadd(dead_letters(DOCUMENTS), letter)
            told = await owner.next()
            await say(home, stored(home, "a.md"))
            other = await reader.next()
    assert told[1:] == (
        "dead_letter",
        {"service": "retrieval", "type": "document.deleted.v1", "subject": "a document"},
    )
    assert other[1] == "document"


async def test_a_stream_needs_a_key_and_an_id_of_its_own(gateway_client):
    async with gateway_client() as admin:
        assert (await admin.get("/v1/events", headers={"Authorization": "Bearer no"})).status_code == 401
        for wrong in ("x", "1-1", "1-1.1-1.1-1.1-1.1-1"):
            answer = await admin.get("/v1/events", headers={"Last-Event-ID": wrong})
            assert (answer.status_code, answer.json()["type"]) == (400, "bad-event-id")


async def test_a_stream_ends_in_time_for_a_revoked_key_and_is_resumed(gateway_client, apps):
    async with gateway_client() as admin:
        async with following(admin) as (_, first):
            pass
        apps[-1].state.workspace_events.longest_seconds = 0.0
        answer = await admin.get("/v1/events", headers={"Last-Event-ID": first[0]})
        assert answer.text == f"id: {first[0]}\n\n"


async def test_more_than_a_hundred_readers_hear_of_a_change(gateway_client, say):
    async with (
        gateway_client(waits_in_flight_per_key=0, waits_in_flight_per_workspace=0) as admin,
        AsyncExitStack() as stack,
    ):
        home, _ = await home_of(admin)
        readers = [(await stack.enter_async_context(following(admin)))[0] for _ in range(110)]
        await say(home, stored(home, "plan.md"))
        told = await asyncio.gather(*(reader.next() for reader in readers))
    assert {name for _, name, _ in told} == {"document"}
