"""Forged events: what a stolen Redis password allows, on a whole stack.

Once, all processes shared one password, and a single XADD of `workspace.deleted` erased any workspace for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from api_calls import EXAMPLES, PATIENCE, ingest
from redis import Redis
from redis.exceptions import NoPermissionError
from stack import EmbeddedStack

from contracts.events import (
    DOCUMENTS,
    TURNS,
    DocumentConverted,
    DocumentDeleted,
    DocumentDescribed,
    Event,
    EventData,
    WorkspaceDeleted,
)
from contracts.object_keys import derived_prefix
from embedded.redis_acl import ADMINISTRATOR, MONITOR, RULES, USERS
from service_kit.event_signatures import EventSignatures
from service_kit.outbox import new_event
from service_kit.streams import dead_letters
from service_kit.token_keys import SigningKey

GROUPS = {"gateway", "ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator"}
WRITERS = sorted(GROUPS)  # all users that may write to the document stream
ATTACKER = "attacker"


def connected(stack: EmbeddedStack, user: str) -> Redis:
    lines = (stack.folder.path / "valkey" / "valkey.conf").read_text(encoding="utf-8").splitlines()
    [port] = [int(line.split()[1]) for line in lines if line.startswith("port ")]
    password = stack.folder.credentials.named(f"redis-{user}")
    return Redis(port=port, username=user, password=password, client_name=ATTACKER, decode_responses=True)


@pytest.fixture
def redis(stack: EmbeddedStack) -> Iterator[Redis]:
    """Yields a Redis client of the administrator, whose password no process of Attractor has."""
    with connected(stack, ADMINISTRATOR) as client:
        yield client


def signed(stack: EmbeddedStack, service: str, event: Event) -> dict[Any, Any]:
    """Returns the stream entry that a thief of the service's key could write."""
    key = SigningKey.parse(stack.folder.credentials.token_key(service))
    return EventSignatures(key, {}, datetime.now(UTC)).sign(DOCUMENTS, event.model_dump_json())


def described(document_id: UUID) -> DocumentDescribed:
    return DocumentDescribed(
        document_id=document_id, version=99, name="poisoned.md", title="Poisoned", tags=[], source_type="upload"
    )


def converted(document_id: UUID, foreign: str) -> DocumentConverted:
    return DocumentConverted(
        document_id=document_id,
        version=99,
        name="poisoned.md",
        title="Poisoned",
        tags=[],
        source_type="upload",
        media_type="text/markdown",
        language="en",
        chunks_key=foreign,
        chunk_count=1,
        vectors_key=None,
        embedding_model=None,
        embedding_dims=None,
    )


async def handled(redis: Redis) -> None:
    """Waits until every service has read and acknowledged everything on the stream."""
    async with asyncio.timeout(PATIENCE):
        while True:
            groups: Any = redis.xinfo_groups(DOCUMENTS)
            # After a deletion of entries, the lag of a group that has not read up to the end is unknown (None).
            behind = [one["name"] for one in groups if one["lag"] != 0 or one["pending"]]
            if {one["name"] for one in groups} == GROUPS and not behind:
                return
            await asyncio.sleep(0.1)  # Redis has no event for this state


def refusals(redis: Redis, event_id: UUID) -> dict[str, str]:
    """Returns the reasons for which an event was refused, by service."""
    letters: Any = redis.xrange(dead_letters(DOCUMENTS))
    return {one["group"]: one["reason"] for _, one in letters if str(event_id) in one["event"]}


@pytest.mark.parametrize("user", WRITERS)
async def test_a_forged_deletion_or_conversion_changes_nothing(stack, make_tenant, redis, user) -> None:
    async with make_tenant("wanted") as tenant, make_tenant("other") as other:
        [document] = (await ingest(tenant.http, [EXAMPLES / "services.md"])).values()
        [theirs] = (await ingest(other.http, [EXAMPLES / "services.md"])).values()
        note = {"content": "kept, whatever is written to a stream"}
        assert (await tenant.http.post("/v1/memories", json=note)).status_code == 201
        document_id = UUID(str(document["id"]))
        foreign = f"{derived_prefix(other.workspace_id, UUID(str(theirs['id'])))}v1/chunks.jsonl"
        forged: dict[str, tuple[EventData, set[str]]] = {
            "gateway": (WorkspaceDeleted(), GROUPS - {"gateway"}),
            "ingestion": (DocumentDeleted(document_id=document_id), GROUPS - {"gateway", "ingestion"}),
        }
        written = [(new_event(source, tenant.workspace_id, data, "x"), by) for source, (data, by) in forged.items()]
        poison = new_event("ingestion", tenant.workspace_id, converted(document_id, foreign), "x")
        written.append((poison, {"retrieval", "knowledge-graph"}))
        renaming = [new_event("ingestion", tenant.workspace_id, described(document_id), "x") for _ in range(2)]
        written += [(event, {"retrieval", "knowledge-graph", "memory"}) for event in renaming]
        with connected(stack, user) as thief:
            for event, _ in written[:-1]:
                thief.xadd(DOCUMENTS, {"event": event.model_dump_json()})
            if user == "ingestion":  # it may write this event itself, so it forges another service's
                renaming[-1] = event = renaming[-1].model_copy(update={"source": "memory"})
                written[-1] = (event, written[-1][1])
            thief.xadd(DOCUMENTS, signed(stack, user, written[-1][0]))
        await handled(redis)
        for event, by in written:
            assert set(refusals(redis, event.id)) == by, event.type

        now = (await tenant.http.get(f"/v1/documents/{document_id}")).json()
        assert (now["status"], now["name"], now["version"]) == ("searchable", "services.md", document["version"])
        hits = (await tenant.http.post("/v1/search", json={"query": "AuthService"})).json()["hits"]
        assert {hit["document_id"] for hit in hits} == {str(document_id)}
        assert (await tenant.http.get("/v1/graph/entities?min_mentions=1")).json()["items"]
        assert [one["content"] for one in (await tenant.http.get("/v1/memories")).json()["items"]] == [note["content"]]
        assert (await tenant.http.get(f"/v1/documents/{document_id}/original")).status_code == 200
        await ingest(tenant.http, [EXAMPLES / "handbook" / "onboarding.html"])


@pytest.mark.parametrize("source", ["gateway", "ingestion"])
async def test_a_validly_signed_deletion_is_applied_only_if_its_owner_confirms_it(
    stack, make_tenant, redis, source
) -> None:
    async with make_tenant("kept") as tenant:
        [document] = (await ingest(tenant.http, [EXAMPLES / "services.md"])).values()
        document_id = UUID(str(document["id"]))
        data = WorkspaceDeleted() if source == "gateway" else DocumentDeleted(document_id=document_id)
        event = new_event(source, tenant.workspace_id, data, "x")
        with connected(stack, source) as thief:
            thief.xadd(DOCUMENTS, signed(stack, source, event))
        await handled(redis)
        assert set(refusals(redis, event.id).values()) == {"refused: the owner of the fact denies it"}
        assert (await tenant.http.get(f"/v1/documents/{document_id}/original")).status_code == 200


async def test_the_worker_that_reads_hostile_files_cannot_write_to_any_stream(stack) -> None:
    event = new_event("gateway", uuid4(), WorkspaceDeleted(), "x").model_dump_json()
    with connected(stack, "ingestion-worker") as thief:
        for stream in (DOCUMENTS, TURNS, dead_letters(DOCUMENTS), f"attractor.runs.{uuid4()}"):
            with pytest.raises(NoPermissionError):
                thief.xadd(stream, {"event": event})


# A command on data of each user, which is denied to the others.
BELONGINGS = {
    "gateway": ["HSET gateway:requests:x tokens 1", f"XDEL {DOCUMENTS} 1-1", f"XRANGE {DOCUMENTS} - +"],
    "ingestion": ["LPUSH ingestion.bulk x", "HGET unacked x", "SMEMBERS _kombu.binding.x"],
    "retrieval": ["GET retrieval:searches:x", "SET retrieval:searches:x poisoned"],
    "memory": [f"XREADGROUP GROUP memory x STREAMS {TURNS} >"],
    "orchestrator": ["XADD attractor.runs.x * name run_completed", "XREAD STREAMS attractor.runs.x 0-0"],
}
SHARED = {"ingestion-worker": "ingestion"}  # both sides of the broker
FOR_NOBODY = [
    *("FLUSHALL", "FLUSHDB", "KEYS *", "SCAN 0", "CONFIG GET requirepass", "CONFIG SET dir /tmp", "ACL LIST"),
    *("ACL SETUSER x", "DEBUG SLEEP 0", "SCRIPT FLUSH", "MONITOR", "SHUTDOWN", "CLIENT KILL ID 1", "CLIENT LIST"),
    "INFO clients",
    *("MODULE LIST", "REPLICAOF NO ONE", "BGREWRITEAOF", "SAVE", "INFO", "FUNCTION LIST", "SWAPDB 0 1", "RANDOMKEY"),
    *(f"XGROUP DESTROY {DOCUMENTS} retrieval", f"XGROUP SETID {DOCUMENTS} retrieval $", f"DEL {DOCUMENTS}"),
    *(f"RENAME {DOCUMENTS} x", f"COPY {DOCUMENTS} x", f"MIGRATE localhost 1 {DOCUMENTS} 0 1", f"DUMP {DOCUMENTS}"),
]


@pytest.mark.parametrize("user", RULES)
def test_each_redis_user_can_access_only_its_own_keys_and_no_admin_command(redis: Redis, user: str) -> None:
    def is_allowed(command: str) -> bool:
        return bool(redis.acl_dryrun(user, *command.split()) == "OK")

    for owner, commands in BELONGINGS.items():
        for command in commands:
            assert is_allowed(command) == (SHARED.get(user, user) == owner), command
    assert not [command for command in FOR_NOBODY if is_allowed(command)]
    reads = user != "ingestion-worker"  # so it may trim the stream and read the memory usage
    assert {is_allowed(command) for command in (f"MEMORY USAGE {DOCUMENTS}", "INFO memory")} == {reads}


def test_the_exporter_of_redis_sees_numbers_and_no_key(redis: Redis) -> None:
    def is_allowed(command: str) -> bool:
        return bool(redis.acl_dryrun(MONITOR, *command.split()) == "OK")

    assert is_allowed("INFO all")
    commands = [command for owned in BELONGINGS.values() for command in owned]
    others = [*commands, *FOR_NOBODY, f"MEMORY USAGE {DOCUMENTS}", "SLOWLOG GET"]
    assert not [command for command in others if is_allowed(command) and not command.startswith("INFO")]


def test_redis_requires_a_password(redis: Redis) -> None:
    users: Any = redis.acl_list()
    assert {line.split()[1] for line in users if " on " in line} == set(USERS)
    assert not [line for line in users if "nopass" in line]


async def test_a_genuine_deletion_is_confirmed_by_every_service(make_tenant, admin, redis) -> None:
    """The receipts of a document and a workspace complete, and no service exceeded its permissions in Redis."""
    async with make_tenant("doomed") as tenant:
        documents = await ingest(tenant.http, sorted((EXAMPLES / "decisions").glob("*.md")))
        first = next(iter(documents.values()))["id"]
        answer = await tenant.http.delete(f"/v1/documents/{first}", params={"timeout": 60})
        async with asyncio.timeout(PATIENCE):
            while not answer.json().get("completed_at"):
                answer = await tenant.http.get(f"/v1/documents/{first}/receipt", params={"timeout": 60})
        path = f"/v1/workspaces/{tenant.workspace_id}"
        response = await tenant.http.delete(path, params={"name": "doomed", "timeout": 60})
        assert response.status_code in {200, 202}, response.text
        async with asyncio.timeout(PATIENCE):
            while not (receipt := (await admin.get(f"{path}/receipt")).json())["completed_at"]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)  # the API has no event for it
        assert {one["service"] for one in receipt["services"]} == GROUPS
        assert {count for one in receipt["services"] for count in one["remaining"].values()} == {0}
    log: Any = redis.acl_log()
    assert not [one for one in log if one["client-info"].get("name") != ATTACKER]
