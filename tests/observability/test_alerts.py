"""Real faults raise their alerts, which reach a receiver through Alertmanager; the runbook's commands end them."""

from __future__ import annotations

import asyncio
import os
import shlex
from uuid import uuid4

import pytest
import waiting
from api_calls import PATIENCE, Tenant
from observability.watching import FIRING, RESOLVED, Watch, eventually, runbook, shell

from contracts.events import DocumentDeleted
from contracts.registry import CONFIRM_DOCUMENT_DELETION, INGESTION
from service_kit.outbox import new_event

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ATTRACTOR_COMPOSE"), reason="needs the Compose stack: ATTRACTOR_COMPOSE=1"),
    pytest.mark.timeout(600),
]
PSQL = "docker compose exec -T postgres psql -U postgres attractor -c"
# The password goes through standard input, so that no list of processes shows it.
PASSWORD = "sed -n 's/^REDIS_ADMINISTRATOR_PASSWORD=//p' .env"
REDIS_CLI = "REDISCLI_AUTH=$(cat) redis-cli --user administrator"
DELETE = f"{PASSWORD} | docker compose exec -T redis sh -c '{REDIS_CLI} XDEL attractor.documents.dead ENTRY'"
HEARING = frozenset(CONFIRM_DOCUMENT_DELETION) - {INGESTION}  # of a deletion, by its event
DOCUMENT = ("files", ("poisoned.md", b"# Lighthouse\n\nThe keeper counts herring barrels every evening.\n"))


def test_a_killed_worker_raises_alerts_until_it_is_started(watch: Watch) -> None:
    shell("docker compose kill ingestion-worker")
    watch.receiver.wait("AttractorNoWorker", FIRING)
    watch.receiver.wait("AttractorProcessDown", FIRING, service="ingestion-worker")
    runbook("AttractorNoWorker", "docker compose up -d ingestion-worker")
    watch.receiver.wait("AttractorNoWorker", RESOLVED)
    watch.receiver.wait("AttractorProcessDown", RESOLVED, service="ingestion-worker")


def test_a_stopped_redis_raises_its_alert_until_it_is_started(watch: Watch) -> None:
    shell("docker compose stop --timeout 5 redis")
    watch.receiver.wait("AttractorRedisDown", FIRING)
    runbook("AttractorRedisDown", "docker compose up -d redis")
    watch.receiver.wait("AttractorRedisDown", RESOLVED)


async def test_an_event_that_fails_becomes_a_dead_letter_until_it_is_replayed(watch: Watch, tenant: Tenant) -> None:
    shell(f'{PSQL} "REVOKE INSERT ON retrieval.indexed_document FROM attractor_retrieval"')
    accepted = await tenant.http.post("/v1/documents", files=[DOCUMENT])
    document = accepted.json()["files"][0]["document"]["id"]
    watch.receiver.wait("AttractorDeadLetters", FIRING)
    shell(f'{PSQL} "GRANT INSERT ON retrieval.indexed_document TO attractor_retrieval"')
    runbook("AttractorDeadLetters", "attractor operations replay --everywhere")
    watch.receiver.wait("AttractorDeadLetters", RESOLVED)
    async with asyncio.timeout(PATIENCE):
        while (await tenant.http.get(f"/v1/documents/{document}")).json()["status"] != "searchable":  # noqa: ASYNC110
            await asyncio.sleep(0.5)  # it counts as failed until the event has been handled, which no wait ends


async def test_a_forged_event_raises_alerts_until_its_dead_letters_are_deleted(watch: Watch, tenant: Tenant) -> None:
    event = new_event("ingestion", tenant.workspace_id, DocumentDeleted(document_id=uuid4()), "x").model_dump_json()
    publish = f"{REDIS_CLI} XADD attractor.documents '*' event {shlex.quote(event)}"
    shell(f"{PASSWORD} | docker compose exec -T redis sh -c {shlex.quote(publish)}")
    watch.receiver.wait("AttractorEventsRefused", FIRING)
    watch.receiver.wait("AttractorDeadLetters", FIRING)

    async def refused() -> list[dict[str, str]]:
        answer = await tenant.http.get("/v1/dead-letters", params={"limit": 200})
        return list(answer.raise_for_status().json()["items"])

    # Each service that would have deleted refuses it for itself, and the alert is not over before all letters are gone.
    all_have = HEARING.issubset
    letters = await waiting.eventually(refused, lambda found: all_have(one["service"] for one in found))
    entries = " ".join(one["id"].removeprefix("documents-") for one in letters)
    runbook("AttractorEventsRefused", DELETE, ENTRY=entries)
    watch.receiver.wait("AttractorDeadLetters", RESOLVED)
    watch.receiver.wait("AttractorEventsRefused", RESOLVED)


@pytest.mark.usefixtures("backups")
def test_an_old_backup_raises_its_alert_until_one_is_taken(watch: Watch) -> None:
    recent = "SELECT count(*) FROM gateway.backup WHERE finished_at > now() - interval '1 hour'"
    eventually(lambda: "0" not in shell(f'{PSQL} "{recent}" -At').split())
    shell(f"{PSQL} \"UPDATE gateway.backup SET finished_at = finished_at - interval '27 hours'\"")
    watch.receiver.wait("AttractorBackupOld", FIRING)
    runbook("AttractorBackupOld", "docker compose run --rm --no-deps backup now")
    watch.receiver.wait("AttractorBackupOld", RESOLVED)
